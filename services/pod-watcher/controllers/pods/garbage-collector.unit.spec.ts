/**
 * Tests that allocations of Pods that disappeared without an event are found by comparison, and
 * released after a look-up.
 */
import { expect } from 'chai';
import { heldAllocation, until } from '../../testing/fakes.ts';
import { networksAnnotation } from '../../kubernetes/objects/pod.ts';
import type { StatefulSet } from '../../kubernetes/objects/stateful-set.ts';
import {
  beingDeleted,
  manyAllocations,
  macvlan,
  waitForIdle,
  podWithNetwork,
  createPodControllerWorld,
  type PodControllerWorldOptions,
} from './testing/pod-controller-world.ts';

describe('the garbage collector', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());
  const world = (options: PodControllerWorldOptions = {}) => createPodControllerWorld(stop.signal, options);

  it('WB-546 the garbage collector releases the allocations of a Pod that was deleted while no watcher ran, with the evidence', async () => {
    const { allocator, controller, lookedUp } = world({ allocations: [heldAllocation('a')], confirmDelayMs: 30 });
    controller.start();
    await until(() => allocator.released.length === 1);
    expect(lookedUp).to.deep.equal(['default/a']);
    expect(allocator.released[0]).to.include({ podUid: 'uid-a', cause: 'RELEASE_CAUSE_GARBAGE_COLLECTED' });
    const { evidence = '' } = allocator.released[0] ?? {};
    const [, missingSince = '', lookedUpAt = ''] = /missing since (.+Z), looked up at (.+Z)$/.exec(evidence) ?? [];
    expect(Date.parse(lookedUpAt)).to.be.greaterThanOrEqual(Date.parse(missingSince) + 29);
  });

  it('the garbage collector scans periodically, without an event', async () => {
    const { allocator, controller, allocations } = world({ garbageIntervalMs: 20 });
    controller.start();
    // Adds an allocation whose event the controller does not get.
    allocations.onEvents([{ kind: 'allocated', allocation: heldAllocation('leaked', { seq: 60 }) }], 60);
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]).to.include({ pod: 'leaked', cause: 'RELEASE_CAUSE_GARBAGE_COLLECTED' });
  });

  it('the garbage collector scans in slices, so that a scan of many names does not delay timers and requests', async () => {
    const { controller, allocations } = world({ allocations: manyAllocations(3), garbageIntervalMs: 5 });
    controller.start();
    let [turn, lateMs] = [0, 0];
    let immediate = setImmediate(function count() {
      turn++;
      immediate = setImmediate(count);
    });
    const clock = performance.now.bind(performance);
    performance.now = () => clock() + lateMs;
    const scanned = Promise.withResolvers<number[]>();
    allocations.podKeys = function* () {
      const turns: number[] = [];
      for (const name of ['p0', 'p1', 'p2']) {
        turns.push(turn);
        lateMs += 20;
        yield `default/${name}`;
      }
      scanned.resolve(turns);
    };
    const turns = await scanned.promise.finally(() => {
      performance.now = clock;
      clearImmediate(immediate);
    });
    expect(new Set(turns).size, 'turns of the event loop').to.equal(3);
  });

  it('the garbage collector does not scan if the interval is 0', async () => {
    const { allocator, controller, allocations } = world({ garbageIntervalMs: 0 });
    controller.start();
    allocations.onEvents([{ kind: 'allocated', allocation: heldAllocation('leaked', { seq: 60 }) }], 60);
    await waitForIdle();
    expect(allocator.released).to.deep.equal([]);
  });

  it('the garbage collector names the new Pod of the same name as evidence, if the API has it before the watch reports it', async () => {
    const { api, allocator, controller } = world({ allocations: [heldAllocation('a', { uid: 'old' })] });
    api.set('default/a', podWithNetwork('a', { uid: 'new' }));
    controller.start();
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]?.evidence).to.match(/Z, where the name belongs to Pod uid new$/);
  });

  it('the garbage collector names the deleted StatefulSet of a member as evidence', async () => {
    const owner = { kind: 'StatefulSet', name: 'web', uid: 'set' };
    const { allocator, controller } = world({ allocations: [heldAllocation('web-0', { owner })] });
    controller.start();
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]).to.include({ cause: 'RELEASE_CAUSE_GARBAGE_COLLECTED' });
    expect(allocator.released[0]?.evidence).to.match(
      /^there is no StatefulSet web \(uid set\); not in the Kubernetes API/,
    );
  });

  it('the garbage collector retains the allocation of a member that its StatefulSet will create again', async () => {
    const owner = { kind: 'StatefulSet', name: 'web', uid: 'set' };
    const { statefulSets, allocator, controller } = world({
      allocations: [heldAllocation('web-0', { owner })],
      garbageIntervalMs: 10,
    });
    const web: StatefulSet = {
      namespace: 'default',
      name: 'web',
      uid: 'set',
      resourceVersion: '1',
      deleting: false,
      replicas: 1,
      firstOrdinal: 0,
    };
    statefulSets.put(web);
    controller.start();
    await waitForIdle();
    await waitForIdle();
    expect(allocator.released).to.deep.equal([]);
  });

  describe('never releases the allocations of a living Pod', () => {
    const scanning = { garbageIntervalMs: 5 } as const;

    it('WB-162 the garbage collector keeps the allocations of a Pod that the API has but the watch has not reported yet', async () => {
      const { api, allocator, controller } = world({ allocations: [heldAllocation('a')], ...scanning });
      api.set('default/a', podWithNetwork('a'));
      controller.start();
      await waitForIdle();
      await waitForIdle();
      expect(allocator.released).to.deep.equal([]);
    });

    it('CA-5044 the garbage collector keeps the allocations of a living Pod whose status shows other addresses', async () => {
      const held = [heldAllocation('a'), heldAllocation('a', { seq: 8, provider: 'storage.default' })];
      const { pods, allocator, controller } = world({ allocations: held, ...scanning });
      const annotations = { [networksAnnotation]: 'macvlan,storage' };
      pods.put(podWithNetwork('a', { annotations, status: { phase: 'Running', podIPs: [{ ip: '192.0.2.1' }] } }));
      controller.start();
      await waitForIdle();
      await waitForIdle();
      expect(allocator.released).to.deep.equal([]);
    });

    it('KO-6943 the garbage collector keeps allocations whose network or Subnet is deleted, until the Pod is deleted, too', async () => {
      const { pods, networks, objects, allocator, controller, sendEvents } = world({
        allocations: [heldAllocation('a')],
        ...scanning,
      });
      pods.put(podWithNetwork('a'));
      controller.start();
      networks.drop(macvlan);
      const [subnet] = objects.objects.values();
      if (subnet) objects.drop(subnet);
      sendEvents(51, { kind: 'subnet-retired', subnet: 'macvlan' });
      await waitForIdle();
      await waitForIdle();
      expect(allocator.released).to.deep.equal([]);
      pods.drop(beingDeleted(podWithNetwork('a')));
      await until(() => allocator.released.length === 1);
      expect(allocator.released[0]).to.include({ podUid: 'uid-a', cause: 'RELEASE_CAUSE_POD_DELETED' });
    });

    it('CA-13858 the garbage collector keeps the allocations of a living Pod after a restart, if another Pod is missing', async () => {
      const { pods, allocator, controller } = world({ allocations: manyAllocations(3), ...scanning });
      for (const name of ['p0', 'p2']) pods.put(podWithNetwork(name));
      controller.start();
      await until(() => allocator.released.length === 1);
      await waitForIdle();
      expect(new Set(allocator.released.map(({ pod }) => pod))).to.deep.equal(new Set(['p1']));
    });
  });

  it('the garbage collector releases nothing while most Pods are missing', async () => {
    const { allocator, controller, alarms } = world({ allocations: manyAllocations(25), garbageIntervalMs: 5 });
    controller.start();
    await waitForIdle();
    await waitForIdle();
    expect([allocator.released.length, new Set(alarms).size]).to.deep.equal([0, 1]);
  });
});
