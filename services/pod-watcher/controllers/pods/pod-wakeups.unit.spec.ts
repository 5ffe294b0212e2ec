/** Tests what wakes the work on a name without a backoff: refused work waits for an hour here. */
import { expect } from 'chai';
import { IpledgerError } from '../../../../lib/errors.ts';
import { heldAllocation, until } from '../../testing/fakes.ts';
import {
  beingDeleted,
  createPodControllerWorld,
  manyAllocations,
  podWithNetwork,
  type PodControllerWorldOptions,
  waitForIdle,
} from './testing/pod-controller-world.ts';

describe('the Pod controller, without a backoff,', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());
  const world = (options: PodControllerWorldOptions = {}) =>
    createPodControllerWorld(stop.signal, { longBackoff: true, ...options });
  const many = manyAllocations(20);

  /** Makes a world in which most Pods are missing, and nothing is released. */
  async function createHaltedWorld() {
    const created = world({ allocations: many });
    for (const { pod } of many.slice(15)) created.pods.put(podWithNetwork(pod));
    created.controller.start();
    await until(() => created.controller.missingPods === 15);
    await waitForIdle();
    expect(created.allocator.released).to.deep.equal([]);
    return created;
  }

  it('the Pod controller releases missing Pods as soon as an operator accepts their deletion', async () => {
    const { allocator, controller } = await createHaltedWorld();
    controller.acceptMassDeletion({ '*': 15, default: 15 }, 'cleaned up');
    expect(controller.accepted).to.deep.equal(['default']);
    await until(() => allocator.released.length === 15);
  });

  it('the Pod controller releases the Pods that are still missing as soon as a list has most of the others', async () => {
    const { pods, allocator } = await createHaltedWorld();
    for (const { pod } of many.slice(2, 15)) pods.put(podWithNetwork(pod));
    await waitForIdle();
    pods.notify({ kind: 'listed' });
    await until(() => allocator.released.length === 2);
    expect(allocator.released.map(({ pod }) => pod)).to.have.members(['p0', 'p1']);
  });

  it('the Pod controller raises no alarm about missing Pods before its start, when the Pods are not read yet', async () => {
    const { pods, alarms, controller } = world({ allocations: many });
    await waitForIdle();
    for (const { pod } of many) pods.put(podWithNetwork(pod));
    controller.start();
    await waitForIdle();
    expect(alarms).to.deep.equal([]);
  });

  it('the Pod controller lets a Pod wait no longer that is deleted before it has an address', async () => {
    const { pods, allocator, controller } = world();
    allocator.refuse = () => new IpledgerError('SUBNET_FULL', 'full');
    pods.put(podWithNetwork('a'));
    controller.start();
    await until(() => controller.waitingPods === 1);
    pods.put(beingDeleted(podWithNetwork('a')));
    await until(() => controller.waitingPods === 0);
    expect(allocator.allocated).to.have.length(1);
  });

  it('the Pod controller releases a Pod when it has terminated for twice its grace period, which no event reports', async () => {
    const terminatingBefore = { 'uid-a': [30, 59_900], 'uid-gone': [30, 1] } as const;
    const { pods, allocator, controller } = world({ allocations: [heldAllocation('a')], terminatingBefore });
    pods.put(beingDeleted(podWithNetwork('a')));
    controller.start();
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]).to.include({ podUid: 'uid-a', cause: 'RELEASE_CAUSE_POD_DELETED' });
    pods.drop(beingDeleted(podWithNetwork('a')));
    expect(Object.keys(controller.terminatingPods)).to.deep.equal(['uid-gone']);
  });

  it('the Pod controller does not scan for garbage after the watcher has stopped', async () => {
    const { allocations, controller } = world({ allocations: many.slice(0, 1), garbageIntervalMs: 1 });
    let scans = 0;
    const { podKeys } = allocations;
    allocations.podKeys = function* () {
      scans += 1;
      yield* podKeys.call(allocations);
    };
    controller.start();
    await until(() => scans > 2);
    stop.abort();
    scans = 0;
    await waitForIdle();
    expect(scans).to.equal(0);
  });
});
