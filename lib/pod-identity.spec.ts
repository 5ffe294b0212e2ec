import { expect } from 'chai';
import { identityOf, machineClaimOf, machineInstanceOf, whyNotLauncher } from './pod-identity.ts';

const pod = { name: 'p', uid: 'u-1', annotations: {} };
const machine = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: 'vm1', uid: 'u-of-vm1' };

describe('as whom the ledger knows a Pod', () => {
  it('its own name and uid', () => {
    expect(identityOf(pod)).to.deep.equal({ name: 'p', uid: 'u-1' });
  });

  it('the hash of a static Pod’s manifest, of which only a mirror is in the API', () => {
    const manifest = 'd41d8cd98f00b204e9800998ecf8427e';
    const hash = { 'kubernetes.io/config.hash': manifest };
    expect(identityOf({ ...pod, annotations: hash }).uid).to.equal('u-1');
    const mirror = { ...hash, 'kubernetes.io/config.mirror': manifest };
    expect(identityOf({ ...pod, annotations: mirror })).to.deep.equal({ name: 'p', uid: manifest });
  });

  it('its own uid where the hash is another object’s uid, or of any other form than kubelet’s', () => {
    const foreign = ['6b9f0c2e-3d1a-4c58-9c0e-2f5a7d1e8b44', 'h-1', '', 'D41D8CD98F00B204E9800998ECF8427E', 7];
    for (const hash of foreign) {
      const annotations = { 'kubernetes.io/config.hash': hash, 'kubernetes.io/config.mirror': 'x' };
      expect(identityOf({ ...pod, name: 'vm1', annotations }).uid, String(hash)).to.equal('u-1');
    }
  });

  it('the virtual machine that it claims to run, by KubeVirt’s names only', () => {
    const launcher = { name: 'virt-launcher-vm1-x7k2p', controller: machine };
    expect(machineClaimOf(launcher)).to.equal(machine);
    expect(machineClaimOf({ ...launcher, name: 'mine' })).to.equal(undefined);
    expect(machineClaimOf({ ...launcher, controller: { ...machine, apiVersion: 'example.org/v1' } })).to.equal(
      undefined,
    );
    expect(machineClaimOf({ ...launcher, controller: undefined })).to.equal(undefined);
  });

  it('and not the machine whose instance is gone, is another one, or does not list it', () => {
    const why = (raw?: object) =>
      whyNotLauncher(raw && machineInstanceOf(raw), machine, { name: 'p', uid: 'u-1' })?.kind;
    const metadata = { uid: 'u-of-vm1' };
    expect(why({ metadata })).to.equal(undefined);
    expect(why({ metadata, status: { activePods: { 'u-1': 'node-1' } } })).to.equal(undefined);
    expect(why()).to.equal('absent');
    expect(why({ metadata: { uid: 'u-other' } })).to.equal('absent');
    expect(why({ metadata, status: { activePods: { 'u-2': 'node-1' } } })).to.equal('unlisted');
  });
});
