import { expect } from 'chai';
import { identityOf } from './pod-identity.ts';

const pod = { name: 'p', uid: 'u-1', annotations: {}, controller: undefined };
const machine = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: 'vm1', uid: 'u-of-vm1' };

describe('as whom the ledger knows a Pod', () => {
  it('its own name and uid', () => {
    expect(identityOf(pod)).to.deep.equal({ name: 'p', uid: 'u-1' });
    const controller = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'p-5d4', uid: 'u-of-set' };
    expect(identityOf({ ...pod, controller })).to.deep.equal({ name: 'p', uid: 'u-1' });
  });

  it('the hash of a static Pod’s manifest, of which only a mirror is in the API', () => {
    const hash = { 'kubernetes.io/config.hash': 'h-1' };
    expect(identityOf({ ...pod, annotations: hash }).uid).to.equal('u-1');
    const mirror = { ...hash, 'kubernetes.io/config.mirror': 'h-1' };
    expect(identityOf({ ...pod, annotations: mirror })).to.deep.equal({ name: 'p', uid: 'h-1' });
  });

  it('the virtual machine that a launcher runs, of KubeVirt’s group only', () => {
    const launcher = { ...pod, name: 'virt-launcher-vm1-x7k2p', controller: machine };
    expect(identityOf(launcher)).to.deep.equal({ name: 'vm1', uid: 'u-of-vm1' });
    const other = { ...machine, apiVersion: 'example.org/v1' };
    expect(identityOf({ ...launcher, controller: other }).name).to.equal(launcher.name);
  });
});
