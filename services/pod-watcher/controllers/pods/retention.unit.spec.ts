import { expect } from 'chai';
import { virtualMachineKind } from '../../../../lib/kubernetes/pod-identity.ts';
import { Retention, type VirtualMachines } from './retention.ts';

describe('the retention of what a stopped virtual machine had', () => {
  const owner = { kind: virtualMachineKind, name: 'vm1', uid: 'uid-vm1' };
  const key = 'default/vm1';
  const exists = { uid: 'uid-of-machine', deleting: false };

  function open() {
    const machines: { -readonly [Kind in keyof VirtualMachines]: VirtualMachines[Kind] } = {
      VirtualMachine: exists,
      VirtualMachineInstance: undefined,
    };
    const retention = new Retention({
      statefulSets: { objects: new Map() },
      lookUpStatefulSet: () => Promise.resolve(undefined),
      lookUpMachines: () => Promise.resolve({ ...machines }),
      signal: new AbortController().signal,
    });
    const state = () => [[...retention.stoppedMachines], retention.isExpectedBack(key, undefined)];
    return { machines, retention, state };
  }

  it('the retention of what a stopped virtual machine had lasts until the machine is deleted', async () => {
    const { machines, retention, state } = open();
    expect(state()).to.deep.equal([[], false]);
    expect(await retention.releaseReasonOf(key, owner)).to.equal('retained');
    expect(state()).to.deep.equal([[key], true]);
    machines.VirtualMachine = { ...exists, deleting: true };
    expect(await retention.releaseReasonOf(key, owner)).to.have.property('cause', 'RELEASE_CAUSE_OWNER_DELETED');
    expect(state()).to.deep.equal([[], false]);
  });

  it('the retention of what a stopped virtual machine had does not extend to a later Pod of its name', async () => {
    const { retention, state } = open();
    await retention.releaseReasonOf(key, owner);
    retention.forget(key);
    expect(state()).to.deep.equal([[], false]);
  });
});
