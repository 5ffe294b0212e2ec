import { expect } from 'chai';
import { claimant, holding, launcher, podNamed, until } from '../fakes.ts';
import { networksAnnotation } from '../kubernetes/objects.ts';
import { whyNoMachine } from './machines.ts';
import { beingDeleted, settled, type WorldOptions, wanting, worldOf } from './specification.ts';

const annotations = { [networksAnnotation]: 'macvlan' };
const owner = { kind: 'VirtualMachineInstance', name: 'vm1', uid: 'uid-vm1' };
const held = holding('vm1', { owner });
const there = { uid: 'uid-of-machine', deleting: false };

describe('virtual machines', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());
  const world = (options: WorldOptions = {}) => worldOf(stop.signal, options);

  it('ask as the machine, whichever Pod they run in', async () => {
    const { pods, allocator, reconciler } = world();
    pods.put(launcher('one', { annotations }));
    reconciler.start();
    await until(() => allocator.allocated.length === 1);
    expect(allocator.allocated[0]?.pod).to.include({ namespace: 'default', name: 'vm1', uid: 'uid-vm1' });
    expect(allocator.allocated[0]?.pod?.owner).to.deep.equal(owner);
  });

  it('kubevirt-14320 ask once while they move, and give nothing back when the Pod that they left goes', async () => {
    const { pods, allocator, machines, reconciler } = world({ holdings: [held] });
    machines.set('default/vm1', { VirtualMachine: there });
    const [source, target] = [launcher('source', { annotations }), launcher('target', { annotations })];
    pods.put(source);
    reconciler.start();
    pods.put(target);
    await settled();
    pods.drop(beingDeleted(source));
    await settled();
    expect(allocator.allocated).to.deep.equal([]);
    expect(allocator.released).to.deep.equal([]);
  });

  it('KO-5556 keep their addresses while they are stopped', async () => {
    const { pods, allocator, machines, reconciler } = world({ holdings: [held] });
    machines.set('default/vm1', { VirtualMachine: there });
    const pod = launcher('one', { annotations });
    pods.put(pod);
    reconciler.start();
    pods.drop(beingDeleted(pod));
    await settled();
    expect(allocator.released).to.deep.equal([]);
  });

  it('also when their Pod has completed', async () => {
    const { pods, allocator, machines, reconciler } = world({ holdings: [held] });
    machines.set('default/vm1', { VirtualMachine: there });
    pods.put(launcher('one', { annotations, status: { phase: 'Succeeded' }, spec: { restartPolicy: 'Never' } }));
    reconciler.start();
    await settled();
    expect(allocator.released).to.deep.equal([]);
  });

  it('KO-5367 release them when there is no such machine any more', async () => {
    const { pods, allocator, reconciler } = world({ holdings: [held] });
    const pod = launcher('one', { annotations });
    pods.put(pod);
    reconciler.start();
    pods.drop(beingDeleted(pod));
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]).to.include({ pod: 'vm1', podUid: 'uid-vm1', cause: 'RELEASE_CAUSE_OWNER_DELETED' });
    expect(allocator.released[0]?.evidence).to.match(
      /^there is no VirtualMachine vm1, and no VirtualMachineInstance vm1/,
    );
  });

  it('that are stopped are not taken for Pods that the API forgot', async () => {
    const stopped = Array.from({ length: 30 }, (_, index) =>
      holding(`vm${index}`, { seq: index + 1, owner: { ...owner, name: `vm${index}`, uid: `uid-vm${index}` } }),
    );
    const { allocator, alarms, machines, reconciler } = world({ holdings: stopped });
    for (const { pod } of stopped) machines.set(`default/${pod}`, { VirtualMachine: there });
    await reconciler.prepare();
    reconciler.start();
    await settled();
    expect(alarms).to.deep.equal([]);
    expect(allocator.released).to.deep.equal([]);
  });

  describe('are believed in only once their object was seen', () => {
    const instance = (parts: object = {}) => ({ uid: 'uid-vm1', deleting: false, ...parts });
    const nothing = [] as const;

    it('two Pods that name an instance which does not exist get no address, and are told why', async () => {
      const { pods, allocator, said, reconciler } = world();
      pods.put(claimant('one', { annotations }));
      pods.put(claimant('two', { annotations }));
      reconciler.start();
      await until(() => said.length >= 2);
      await settled();
      expect(allocator.allocated).to.deep.equal(nothing);
      expect(said[0]?.happening.message).to.contain(
        'names VirtualMachineInstance vm1 (uid uid-vm1) as its controller, and there is no such object',
      );
    });

    it('a Pod that names one of another uid, or one that does not list it, gets nothing of that machine', async () => {
      for (const there of [
        instance({ uid: 'uid-other' }),
        instance({ activePods: new Set(['uid-virt-launcher-vm1-real']) }),
      ]) {
        const { pods, allocator, machines, reconciler } = world({ holdings: [held] });
        machines.set('default/vm1', { VirtualMachine: instance(), VirtualMachineInstance: there });
        pods.put(claimant('forged', { annotations: { [networksAnnotation]: 'macvlan, other' } }));
        reconciler.start();
        await settled();
        expect([allocator.allocated, allocator.released]).to.deep.equal([nothing, nothing]);
      }
    });

    it('a launcher whose instance is seen a moment later is served then, as the machine', async () => {
      const { pods, allocator, machines, reconciler } = world();
      machines.set('default/vm1', { VirtualMachineInstance: instance({ activePods: new Set() }) });
      const pod = claimant('one', { annotations });
      pods.put(pod);
      reconciler.start();
      await settled();
      expect(allocator.allocated).to.deep.equal(nothing);
      machines.set('default/vm1', { VirtualMachineInstance: instance({ activePods: new Set([pod.uid]) }) });
      await until(() => allocator.allocated.length === 1);
      expect(allocator.allocated[0]?.pod).to.include({ name: 'vm1', uid: 'uid-vm1' });
      expect(allocator.allocated[0]?.pod?.owner).to.deep.equal(owner);
    });

    it('what a machine holds stays until its launcher was looked up, and is not taken for missing', async () => {
      const { pods, allocator, machines, reconciler, alarms } = world({ holdings: [held] });
      machines.set('default/vm1', { VirtualMachineInstance: instance() });
      pods.put(claimant('one', { annotations }));
      await reconciler.prepare();
      reconciler.start();
      await settled();
      expect([allocator.allocated, allocator.released, alarms]).to.deep.equal([nothing, nothing, nothing]);
    });

    it('a launcher stays who it is, whatever is edited into its ownerReferences, and while its instance goes', async () => {
      const { pods, allocator, machines, reconciler } = world({ holdings: [held] });
      machines.set('default/vm1', { VirtualMachine: instance(), VirtualMachineInstance: instance() });
      pods.put(claimant('one', { annotations }));
      reconciler.start();
      await settled();
      machines.clear();
      pods.put(claimant('one', { annotations, metadata: { ownerReferences: [] } }));
      pods.put(claimant('one', { annotations, instance: 'uid-other' }));
      await settled();
      expect([allocator.allocated, allocator.released]).to.deep.equal([nothing, nothing]);
    });

    it('a Pod that is not called as KubeVirt calls them is a plain Pod, without such an owner', async () => {
      const { pods, allocator, reconciler } = world();
      const { controller } = claimant('one');
      pods.put({ ...wanting('mine'), controller });
      reconciler.start();
      await until(() => allocator.allocated.length === 1);
      expect(allocator.allocated[0]?.pod).to.include({ name: 'mine', uid: 'uid-mine', owner: undefined });
    });
  });

  it('keep what they have from a Pod that is called like them, which is told so', async () => {
    const { pods, allocator, said, reconciler } = world({ holdings: [held] });
    pods.put(launcher('one', { annotations, metadata: { creationTimestamp: '2026-01-31T08:00:00Z' } }));
    pods.put(wanting('vm1', { uid: 'uid-of-pod', metadata: { creationTimestamp: '2026-01-31T09:00:00Z' } }));
    reconciler.start();
    await until(() => said.length > 0);
    expect(said[0]?.pod).to.equal('vm1');
    expect(said[0]?.happening.message).to.contain('the name vm1 belongs to a virtual machine');
    expect(allocator.allocated).to.deep.equal([]);
    expect(allocator.released).to.deep.equal([]);
    pods.drop(podNamed('vm1', { uid: 'uid-of-pod' }));
    await settled();
    expect(allocator.released).to.deep.equal([]);
  });
});

describe('whether a virtual machine may be started again', () => {
  const why = (machine: typeof there | undefined, instance?: typeof there) =>
    whyNoMachine({ VirtualMachine: machine, VirtualMachineInstance: instance }, owner)?.evidence;

  it('as long as there is one of its name that is not being deleted', () => {
    expect(why(there)).to.equal(undefined);
    expect(why({ ...there, deleting: true })).to.equal('VirtualMachine vm1 is being deleted');
  });

  it('of an instance that nobody keeps: as long as it is the same', () => {
    expect(why(undefined, { uid: 'uid-vm1', deleting: false })).to.equal(undefined);
    expect(why(undefined, { uid: 'uid-vm1', deleting: true })).to.contain('is being deleted');
    expect(why(undefined, { uid: 'another', deleting: false })).to.contain('no VirtualMachineInstance vm1');
    expect(why(undefined)).to.contain('there is no VirtualMachine vm1');
  });
});
