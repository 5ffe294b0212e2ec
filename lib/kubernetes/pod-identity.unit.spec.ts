import { expect } from 'chai';
import { podIdentityOf, assertedMachineOf, machineInstanceOf, launcherMismatch } from './pod-identity.ts';

const pod = { name: 'p', uid: 'u-1', annotations: {} };
const machine = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: 'vm1', uid: 'u-of-vm1' };

describe('Identity of a Pod in the ledger', () => {
  it('Identity of a Pod in the ledger is its own name and uid', () => {
    expect(podIdentityOf(pod)).to.deep.equal({ name: 'p', uid: 'u-1' });
  });

  it('Identity of a Pod in the ledger is the manifest hash of a static Pod, read from its mirror', () => {
    const manifest = 'd41d8cd98f00b204e9800998ecf8427e';
    const hash = { 'kubernetes.io/config.hash': manifest };
    expect(podIdentityOf({ ...pod, annotations: hash }).uid).to.equal('u-1');
    expect(podIdentityOf({ ...pod, annotations: { ...hash, 'kubernetes.io/config.mirror': 'x' } }).uid).to.equal('u-1');
    const mirror = { ...hash, 'kubernetes.io/config.mirror': manifest };
    expect(podIdentityOf({ ...pod, annotations: mirror })).to.deep.equal({ name: 'p', uid: manifest });
  });

  it('a Pod keeps its own uid if the hash is not in kubelet’s format, such as the uid of another object', () => {
    const foreign = ['6b9f0c2e-3d1a-4c58-9c0e-2f5a7d1e8b44', 'h-1', '', 'D41D8CD98F00B204E9800998ECF8427E', 7];
    for (const hash of foreign) {
      const annotations = { 'kubernetes.io/config.hash': hash, 'kubernetes.io/config.mirror': hash };
      expect(podIdentityOf({ ...pod, name: 'vm1', annotations }).uid, String(hash)).to.equal('u-1');
    }
  });

  it('a Pod can claim a virtual machine only with KubeVirt’s names', () => {
    const launcher = { name: 'virt-launcher-vm1-x7k2p', controller: machine };
    expect(assertedMachineOf(launcher)).to.equal(machine);
    expect(assertedMachineOf({ ...launcher, name: 'mine' })).to.equal(undefined);
    expect(assertedMachineOf({ ...launcher, controller: { ...machine, apiVersion: 'example.org/v1' } })).to.equal(
      undefined,
    );
    expect(assertedMachineOf({ ...launcher, controller: undefined })).to.equal(undefined);
  });

  it('a Pod is not accepted as launcher if the instance is absent, is another instance, or does not list the Pod', () => {
    const why = (raw?: object) =>
      launcherMismatch(raw && machineInstanceOf(raw), machine, { name: 'p', uid: 'u-1' })?.kind;
    const metadata = { uid: 'u-of-vm1' };
    expect(why({ metadata })).to.equal(undefined);
    expect(why({ metadata, status: { activePods: { 'u-1': 'node-1' } } })).to.equal(undefined);
    expect(why()).to.equal('absent');
    expect(why({ metadata: { uid: 'u-other' } })).to.equal('absent');
    expect(why({ metadata, status: { activePods: { 'u-2': 'node-1' } } })).to.equal('unlisted');
  });
});
