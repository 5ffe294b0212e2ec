import { expect } from 'chai';
import { IpledgerError } from '../../../../lib/errors.ts';
import { unverifiedLauncher, heldAllocation, launcher, podNamed, until } from '../../testing/fakes.ts';
import { networksAnnotation } from '../../kubernetes/objects/pod.ts';
import { virtualMachineReleaseReason } from './retention.ts';
import {
  beingDeleted,
  waitForIdle,
  type PodControllerWorldOptions,
  podWithNetwork,
  createPodControllerWorld,
} from './testing/pod-controller-world.ts';

const annotations = { [networksAnnotation]: 'macvlan' };
const owner = { kind: 'VirtualMachineInstance', name: 'vm1', uid: 'uid-vm1' };
const held = heldAllocation('vm1', { owner });
const existing = { uid: 'uid-of-machine', deleting: false };

describe('a virtual machine', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());
  const world = (options: PodControllerWorldOptions = {}) => createPodControllerWorld(stop.signal, options);

  it('a virtual machine gets addresses under its own name, in any Pod', async () => {
    const { pods, allocator, controller } = world();
    pods.put(launcher('one', { annotations }));
    controller.start();
    await until(() => allocator.allocated.length === 1);
    expect(allocator.allocated[0]?.pod).to.include({ namespace: 'default', name: 'vm1', uid: 'uid-vm1' });
    expect(allocator.allocated[0]?.pod?.owner).to.deep.equal(owner);
  });

  it('kubevirt-14320 a virtual machine keeps its addresses while it migrates, and when its first Pod is deleted', async () => {
    const { pods, allocator, machines, controller } = world({ allocations: [held] });
    machines.set('default/vm1', { VirtualMachine: existing });
    const [source, target] = [launcher('source', { annotations }), launcher('target', { annotations })];
    pods.put(source);
    controller.start();
    pods.put(target);
    await waitForIdle();
    pods.drop(beingDeleted(source));
    await waitForIdle();
    expect(allocator.allocated).to.deep.equal([]);
    expect(allocator.released).to.deep.equal([]);
  });

  it('KO-5556 a virtual machine keeps its addresses while it is stopped', async () => {
    const { pods, allocator, machines, controller } = world({ allocations: [held] });
    machines.set('default/vm1', { VirtualMachine: existing });
    const pod = launcher('one', { annotations });
    pods.put(pod);
    controller.start();
    pods.drop(beingDeleted(pod));
    await waitForIdle();
    expect(allocator.released).to.deep.equal([]);
  });

  it('a virtual machine keeps its addresses when its Pod has completed', async () => {
    const { pods, allocator, machines, controller } = world({ allocations: [held] });
    machines.set('default/vm1', { VirtualMachine: existing });
    pods.put(launcher('one', { annotations, status: { phase: 'Succeeded' }, spec: { restartPolicy: 'Never' } }));
    controller.start();
    await waitForIdle();
    expect(allocator.released).to.deep.equal([]);
  });

  it('KO-5367 a virtual machine loses its addresses when the VirtualMachine is deleted', async () => {
    const { pods, allocator, controller } = world({ allocations: [held] });
    const pod = launcher('one', { annotations });
    pods.put(pod);
    controller.start();
    pods.drop(beingDeleted(pod));
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]).to.include({ pod: 'vm1', podUid: 'uid-vm1', cause: 'RELEASE_CAUSE_OWNER_DELETED' });
    expect(allocator.released[0]?.evidence).to.match(
      /^there is no VirtualMachine vm1, and no VirtualMachineInstance vm1/,
    );
  });

  describe('that was deleted while it was stopped loses its addresses without the garbage collector', () => {
    const object = { namespace: 'default', name: 'vm1', uid: 'uid-of-machine', resourceVersion: '1', deleting: false };
    const stopMachine = async (machine: Parameters<ReturnType<typeof world>['machines']['set']>[1]) => {
      const scene = world({ allocations: [held], garbageIntervalMs: 0 });
      scene.machines.set('default/vm1', machine);
      const lookUps: string[] = [];
      scene.machines.get = (key) => {
        lookUps.push(key);
        return Map.prototype.get.call(scene.machines, key) as typeof machine;
      };
      const pod = launcher('one', { annotations });
      scene.pods.put(pod);
      scene.controller.start();
      scene.pods.drop(beingDeleted(pod));
      // Waits until both look-ups have read the machine, which a test then changes.
      await until(() => lookUps.length === 2);
      expect(scene.allocator.released).to.deep.equal([]);
      return { ...scene, lookUps };
    };

    it('a stopped virtual machine loses its addresses when its VirtualMachine is deleted', async () => {
      const { allocator, machines, machineObjects } = await stopMachine({ VirtualMachine: existing });
      machineObjects.VirtualMachine.put(object);
      machines.clear();
      machineObjects.VirtualMachine.drop(object);
      await until(() => allocator.released.length === 1);
      expect(allocator.released[0]).to.include({ podUid: 'uid-vm1', cause: 'RELEASE_CAUSE_OWNER_DELETED' });
    });

    it('a stopped virtual machine loses its addresses when the deletion starts, although finalizers may delay it', async () => {
      const { allocator, machines, machineObjects } = await stopMachine({ VirtualMachine: existing });
      machineObjects.VirtualMachine.put(object);
      machines.set('default/vm1', { VirtualMachine: { ...existing, deleting: true } });
      machineObjects.VirtualMachine.put({ ...object, resourceVersion: '2', deleting: true });
      await until(() => allocator.released.length === 1);
    });

    it('a stopped virtual machine without a VirtualMachine loses its addresses when its VirtualMachineInstance is deleted', async () => {
      const { allocator, machines, machineObjects } = await stopMachine({
        VirtualMachineInstance: { uid: 'uid-vm1', deleting: false },
      });
      const instance = { ...object, uid: 'uid-vm1' };
      machineObjects.VirtualMachineInstance.put(instance);
      machines.clear();
      machineObjects.VirtualMachineInstance.drop(instance);
      await until(() => allocator.released.length === 1);
    });

    it('a stopped virtual machine loses its addresses when a list lacks it, after the watch missed the deletion', async () => {
      const { allocator, machines, machineObjects } = await stopMachine({ VirtualMachine: existing });
      machines.clear();
      machineObjects.VirtualMachine.notify({ kind: 'listed' });
      await until(() => allocator.released.length === 1);
    });

    it('a stopped virtual machine that a list contains is not looked up', async () => {
      const { machineObjects, lookUps } = await stopMachine({ VirtualMachine: existing });
      machineObjects.VirtualMachine.put(object);
      machineObjects.VirtualMachine.notify({ kind: 'listed' });
      await waitForIdle();
      expect(lookUps).to.have.length(2);
    });
  });

  it('a stopped virtual machine does not count as missing', async () => {
    const stopped = Array.from({ length: 30 }, (_, index) =>
      heldAllocation(`vm${index}`, { seq: index + 1, owner: { ...owner, name: `vm${index}`, uid: `uid-vm${index}` } }),
    );
    const { allocator, alarms, machines, controller } = world({ allocations: stopped });
    for (const { pod } of stopped) machines.set(`default/${pod}`, { VirtualMachine: existing });
    await controller.prepare();
    controller.start();
    await waitForIdle();
    expect(alarms).to.deep.equal([]);
    expect(allocator.released).to.deep.equal([]);
  });

  describe('is verified by its object', () => {
    const instance = (parts: object = {}) => ({ uid: 'uid-vm1', deleting: false, ...parts });
    const nothing = [] as const;

    it('two Pods that name a missing VirtualMachineInstance get no address, and an Event has the reason', async () => {
      const { pods, allocator, podEvents, controller } = world();
      pods.put(unverifiedLauncher('one', { annotations }));
      pods.put(unverifiedLauncher('two', { annotations }));
      controller.start();
      await until(() => podEvents.length >= 2);
      await waitForIdle();
      expect(allocator.allocated).to.deep.equal(nothing);
      expect(podEvents[0]?.podEvent.message).to.contain(
        'names VirtualMachineInstance vm1 (uid uid-vm1) as its controller, and there is no such object',
      );
    });

    it('a Pod gets no address of a machine with another uid, or that does not list the Pod', async () => {
      for (const actual of [
        instance({ uid: 'uid-other' }),
        instance({ activePods: new Set(['uid-virt-launcher-vm1-real']) }),
      ]) {
        const { pods, allocator, machines, controller } = world({ allocations: [held] });
        machines.set('default/vm1', { VirtualMachine: instance(), VirtualMachineInstance: actual });
        pods.put(unverifiedLauncher('forged', { annotations: { [networksAnnotation]: 'macvlan, other' } }));
        controller.start();
        await waitForIdle();
        expect([allocator.allocated, allocator.released]).to.deep.equal([nothing, nothing]);
      }
    });

    it('a launcher is served as soon as its instance lists it', async () => {
      const { pods, allocator, machines, controller } = world();
      machines.set('default/vm1', { VirtualMachineInstance: instance({ activePods: new Set() }) });
      const pod = unverifiedLauncher('one', { annotations });
      pods.put(pod);
      controller.start();
      await waitForIdle();
      expect(allocator.allocated).to.deep.equal(nothing);
      machines.set('default/vm1', { VirtualMachineInstance: instance({ activePods: new Set([pod.uid]) }) });
      await until(() => allocator.allocated.length === 1);
      expect(allocator.allocated[0]?.pod).to.include({ name: 'vm1', uid: 'uid-vm1' });
      expect(allocator.allocated[0]?.pod?.owner).to.deep.equal(owner);
    });

    it('a virtual machine keeps its addresses until its launcher was looked up', async () => {
      const { pods, allocator, machines, controller, alarms } = world({ allocations: [held] });
      machines.set('default/vm1', { VirtualMachineInstance: instance() });
      pods.put(unverifiedLauncher('one', { annotations }));
      await controller.prepare();
      controller.start();
      await waitForIdle();
      expect([allocator.allocated, allocator.released, alarms]).to.deep.equal([nothing, nothing, nothing]);
    });

    it('a machine that is deleted keeps its addresses while a launcher runs that its instance lists, but listed too late', async () => {
      const { pods, allocator, machines, controller } = world({ allocations: [held] });
      machines.set('default/vm1', {
        VirtualMachine: instance(),
        VirtualMachineInstance: instance({ activePods: new Set() }),
      });
      const target = unverifiedLauncher('target', { annotations });
      for (const pod of [launcher('source', { annotations }), target]) pods.put(pod);
      controller.start();
      await waitForIdle();
      const listed = instance({ activePods: new Set([target.uid]) });
      machines.set('default/vm1', { VirtualMachine: instance({ deleting: true }), VirtualMachineInstance: listed });
      pods.put(launcher('source', { annotations, status: { phase: 'Succeeded' }, spec: { restartPolicy: 'Never' } }));
      await waitForIdle();
      expect(allocator.released).to.deep.equal(nothing);
      pods.drop(beingDeleted(target));
      machines.clear();
      pods.put(launcher('source', { annotations, status: { phase: 'Failed' }, spec: { restartPolicy: 'Never' } }));
      await until(() => allocator.released.length > 0);
    });

    it('a launcher remains verified if its ownerReferences change or its instance is deleted', async () => {
      const { pods, allocator, machines, controller } = world({ allocations: [held] });
      machines.set('default/vm1', { VirtualMachine: instance(), VirtualMachineInstance: instance() });
      pods.put(unverifiedLauncher('one', { annotations }));
      controller.start();
      await waitForIdle();
      machines.clear();
      pods.put(unverifiedLauncher('one', { annotations, metadata: { ownerReferences: [] } }));
      pods.put(unverifiedLauncher('one', { annotations, instance: 'uid-other' }));
      await waitForIdle();
      expect([allocator.allocated, allocator.released]).to.deep.equal([nothing, nothing]);
    });

    it('a Pod without KubeVirt’s naming counts as a plain Pod, without an owner', async () => {
      const { pods, allocator, controller } = world();
      const claimed = unverifiedLauncher('one');
      pods.put({ ...podWithNetwork('mine'), controller: claimed.controller });
      controller.start();
      await until(() => allocator.allocated.length === 1);
      expect(allocator.allocated[0]?.pod).to.include({ name: 'mine', uid: 'uid-mine', owner: undefined });
    });
  });

  it('a virtual machine keeps its addresses if a Pod has its name, and that Pod gets an Event', async () => {
    const { pods, allocator, podEvents, controller } = world({ allocations: [held] });
    pods.put(launcher('one', { annotations, metadata: { creationTimestamp: '2026-01-31T08:00:00Z' } }));
    pods.put(podWithNetwork('vm1', { uid: 'uid-of-pod', metadata: { creationTimestamp: '2026-01-31T09:00:00Z' } }));
    controller.start();
    await until(() => podEvents.length > 0);
    expect(podEvents[0]?.pod).to.equal('vm1');
    expect(podEvents[0]?.podEvent.message).to.contain('the name vm1 belongs to a virtual machine');
    expect(allocator.allocated).to.deep.equal([]);
    expect(allocator.released).to.deep.equal([]);
    pods.drop(podNamed('vm1', { uid: 'uid-of-pod' }));
    await waitForIdle();
    expect(allocator.released).to.deep.equal([]);
  });
});

describe('a Pod with the name of a virtual machine', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  const completed = { status: { phase: 'Succeeded' }, spec: { restartPolicy: 'Never' } };
  const another = podWithNetwork('vm1', { uid: 'uid-of-pod' });
  const notPassedOn = 'addresses of a virtual machine (uid uid-vm1), which are not passed on to a Pod';

  it('A Pod with the name of a virtual machine gets no address of the machine at the end of a migration, before the instance lists the next launcher', async () => {
    const { pods, allocator, machines, podEvents, controller } = createPodControllerWorld(stop.signal, {
      allocations: [held],
    });
    const instance = { uid: 'uid-vm1', deleting: false, activePods: new Set<string>() };
    machines.set('default/vm1', { VirtualMachine: existing, VirtualMachineInstance: instance });
    for (const pod of [another, launcher('source', { annotations, ...completed })]) pods.put(pod);
    pods.put(unverifiedLauncher('target', { annotations }));
    controller.start();
    await until(() => podEvents.some(({ podEvent }) => podEvent.message.includes(notPassedOn)));
    expect([allocator.allocated, allocator.released]).to.deep.equal([[], []]);
  });

  it('A Pod with the name of a virtual machine gets no address of the machine while that is stopped, and they are released once the machine is deleted', async () => {
    const { pods, allocator, machines, podEvents, controller } = createPodControllerWorld(stop.signal, {
      allocations: [held],
    });
    machines.set('default/vm1', { VirtualMachine: existing });
    pods.put(another);
    controller.start();
    await until(() => podEvents.some(({ podEvent }) => podEvent.message.includes(notPassedOn)));
    expect([allocator.allocated, allocator.released]).to.deep.equal([[], []]);
    machines.clear();
    await until(() => allocator.released.length > 0);
    expect(allocator.released[0]).to.include({ pod: 'vm1', podUid: 'uid-vm1' });
  });

  for (const [which, parts] of [
    ['uses the network of its node', { spec: { hostNetwork: true } }],
    ['selects no network', { annotations: { [networksAnnotation]: '' } }],
  ] as const) {
    const other = podWithNetwork('vm1', { uid: 'uid-of-pod', ...parts });

    it(`A Pod with the name of a virtual machine costs the machine no address when a migration ends, if the Pod ${which}`, async () => {
      const { pods, allocator, machines, controller, lookedUp } = createPodControllerWorld(stop.signal, {
        allocations: [held],
      });
      const instance = { uid: 'uid-vm1', deleting: false, activePods: new Set<string>() };
      machines.set('default/vm1', { VirtualMachine: existing, VirtualMachineInstance: instance });
      for (const pod of [other, launcher('source', { annotations, ...completed })]) pods.put(pod);
      pods.put(unverifiedLauncher('target', { annotations }));
      controller.start();
      await waitForIdle();
      expect([allocator.released, lookedUp]).to.deep.equal([[], []]);
    });

    it(`A Pod with the name of a virtual machine costs a stopped machine no address, if the Pod ${which}, and they are released once the machine is deleted`, async () => {
      const { pods, allocator, machines, machineObjects, controller, lookedUp } = createPodControllerWorld(
        stop.signal,
        { allocations: [held] },
      );
      const machine = {
        namespace: 'default',
        name: 'vm1',
        uid: 'uid-of-machine',
        resourceVersion: '1',
        deleting: false,
      };
      machineObjects.VirtualMachine.put(machine);
      machines.set('default/vm1', { VirtualMachine: existing });
      pods.put(other);
      controller.start();
      await until(() => lookedUp.length > 0);
      await waitForIdle();
      expect(allocator.released).to.deep.equal([]);
      machines.clear();
      machineObjects.VirtualMachine.drop(machine);
      await until(() => allocator.released.length > 0);
      expect(allocator.released[0]).to.include({ podUid: 'uid-vm1', cause: 'RELEASE_CAUSE_OWNER_DELETED' });
    });
  }

  it('A Pod with the name of a virtual machine does not keep the machine from its addresses, if the Pod is newer and uses the network of its node', async () => {
    const { pods, allocator, controller } = createPodControllerWorld(stop.signal, {});
    pods.put(launcher('one', { annotations, metadata: { creationTimestamp: '2026-01-31T08:00:00Z' } }));
    const newer = { metadata: { creationTimestamp: '2026-01-31T09:00:00Z' }, spec: { hostNetwork: true } };
    pods.put(podWithNetwork('vm1', { uid: 'uid-of-pod', ...newer }));
    controller.start();
    await until(() => allocator.allocated.length > 0);
    expect(allocator.allocated[0]?.pod).to.include({ name: 'vm1', uid: 'uid-vm1' });
  });

  for (const [what, allocations] of [
    ['waits for addresses', []],
    ['is started again', [{ ...held, uid: 'uid-of-first-run', owner: { ...owner, uid: 'uid-of-first-run' } }]],
  ] as const)
    it(`A Pod with the name of a virtual machine waits behind a machine that ${what}, if the Pod is newer`, async () => {
      const { pods, allocator, machines, podEvents, controller } = createPodControllerWorld(stop.signal, {
        allocations,
      });
      machines.set('default/vm1', { VirtualMachine: existing });
      allocator.refuse = () => (allocator.allocated.length < 3 ? new IpledgerError('SUBNET_FULL', 'full') : undefined);
      pods.put(launcher('one', { annotations, metadata: { creationTimestamp: '2026-01-31T08:00:00Z' } }));
      pods.put({ ...another, createdAt: '2026-01-31T09:00:00Z' });
      controller.start();
      await until(() => podEvents.some(({ podEvent }) => podEvent.message.includes('belongs to a virtual machine')));
      expect(allocator.allocated.map(({ pod }) => pod?.uid)).to.deep.equal(['uid-vm1', 'uid-vm1', 'uid-vm1']);
    });
});

describe('a virtual machine that is started again', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  it('A virtual machine that is started again loses the addresses that its next instance no longer requests', async () => {
    const { pods, allocator, machines, controller } = createPodControllerWorld(stop.signal, {
      allocations: [{ ...held, uid: 'uid-of-first-run', owner: { ...owner, uid: 'uid-of-first-run' } }],
    });
    machines.set('default/vm1', { VirtualMachine: existing });
    pods.put(launcher('next', { annotations: { [networksAnnotation]: '' } }));
    controller.start();
    await until(() => allocator.released.length > 0);
    expect(allocator.released[0]).to.include({ pod: 'vm1', podUid: 'uid-of-first-run' });
  });
});

describe('a stopped virtual machine', () => {
  const releaseEvidence = (machine: typeof existing | undefined, instance?: typeof existing) =>
    virtualMachineReleaseReason({ VirtualMachine: machine, VirtualMachineInstance: instance }, owner)?.evidence;

  it('a stopped virtual machine may start again while a VirtualMachine of its name exists and is not being deleted', () => {
    expect(releaseEvidence(existing)).to.equal(undefined);
    expect(releaseEvidence({ ...existing, deleting: true })).to.equal('VirtualMachine vm1 is being deleted');
  });

  it('a stopped virtual machine without a VirtualMachine may continue to run while its instance has the same uid', () => {
    expect(releaseEvidence(undefined, { uid: 'uid-vm1', deleting: false })).to.equal(undefined);
    expect(releaseEvidence(undefined, { uid: 'uid-vm1', deleting: true })).to.contain('is being deleted');
    expect(releaseEvidence(undefined, { uid: 'another', deleting: false })).to.contain('no VirtualMachineInstance vm1');
    expect(releaseEvidence(undefined)).to.contain('there is no VirtualMachine vm1');
  });
});
