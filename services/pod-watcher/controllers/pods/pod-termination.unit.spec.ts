import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { IpledgerError } from '../../../../lib/errors.ts';
import { virtualMachineKind } from '../../../../lib/kubernetes/pod-identity.ts';
import { heldAllocation, until } from '../../testing/fakes.ts';
import {
  beingDeleted,
  allocationEnded,
  manyAllocations,
  waitForIdle,
  podWithNetwork,
  createPodControllerWorld,
  type PodControllerWorldOptions,
} from './testing/pod-controller-world.ts';

describe('the termination of a Pod', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());
  const world = (options: PodControllerWorldOptions = {}) => createPodControllerWorld(stop.signal, options);

  it('the Pod controller releases a Pod that was deleted without an event only after a look-up', async () => {
    const { allocator, controller, api } = world({
      allocations: [heldAllocation('missing'), heldAllocation('late', { seq: 8 })],
    });
    api.set('default/late', podWithNetwork('late'));
    controller.start();
    await until(() => allocator.released.length === 1);
    await waitForIdle();
    expect(allocator.released.map(({ pod, cause }) => [pod, cause])).to.deep.equal([
      ['missing', 'RELEASE_CAUSE_GARBAGE_COLLECTED'],
    ]);
    expect(allocator.released[0]?.evidence).to.match(
      /^not in the Kubernetes API: missing since .*Z, looked up at .*Z$/,
    );
  });

  for (const [graceSeconds, evidence] of [
    [0, 'its last deletion was at 2026-01-31T08:00:00Z, without a grace period'],
    [30, 'terminating since 2026-01-31T08:00:00Z, and overdue by a second grace period'],
  ] as const)
    it(`the Pod controller names as evidence of a Pod that terminates for too long: ${evidence}`, async () => {
      const terminatingBefore = { 'uid-a': [30, 60_000] } as const;
      const { pods, allocator, controller } = world({ allocations: [heldAllocation('a')], terminatingBefore });
      pods.put({ ...beingDeleted(podWithNetwork('a')), graceSeconds });
      controller.start();
      await until(() => allocator.released.length === 1);
      expect(allocator.released[0]).to.include({ cause: 'RELEASE_CAUSE_POD_DELETED', evidence });
    });

  it('the Pod controller waits after a Pod disappeared without a mark, but not for a later uid of its name', async () => {
    const { pods, allocator, controller, sendEvents } = world({
      allocations: [heldAllocation('a')],
      missingGraceMs: 3_600_000,
    });
    pods.put(podWithNetwork('a'));
    controller.start();
    pods.drop(podWithNetwork('a'));
    await waitForIdle();
    expect(allocator.released).to.deep.equal([]);
    sendEvents(51, allocationEnded(heldAllocation('a')));
    await waitForIdle();
    sendEvents(52, { kind: 'allocated', allocation: heldAllocation('a', { seq: 52, uid: 'next' }) });
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]).to.include({ podUid: 'next', cause: 'RELEASE_CAUSE_GARBAGE_COLLECTED' });
  });

  it('the Pod controller looks up at most 16 machines at the same time when most Pods are missing', async () => {
    const owner = { kind: virtualMachineKind, name: 'vm', uid: 'uid-vm' };
    let [running, most, done] = [0, 0, 0];
    const { controller } = world({
      allocations: manyAllocations(40).map((held) => ({ ...held, owner })),
      lookUpMachines: async () => {
        most = Math.max(most, ++running);
        await turn();
        running--;
        done++;
        return { VirtualMachine: undefined, VirtualMachineInstance: undefined };
      },
    });
    await controller.prepare();
    expect([most, done]).to.deep.equal([16, 40]);
  });

  it('the Pod controller releases nothing if most Pods are missing, unless an operator accepts that many as deleted', async () => {
    const many = manyAllocations(20);
    const held = world({ allocations: many });
    for (const { pod } of many.slice(0, 9)) held.pods.put(podWithNetwork(pod));
    held.controller.start();
    await waitForIdle();
    expect(held.allocator.released).to.deep.equal([]);
    expect(held.lookedUp).to.deep.equal([]);

    held.controller.acceptMassDeletion({ '*': 10, default: 10 }, 'cleaned up');
    await waitForIdle();
    expect(held.allocator.released).to.deep.equal([]);
    held.controller.acceptMassDeletion({ '*': 11, default: 11 }, 'cleaned up');
    await until(() => held.allocator.released.length >= 11);
    expect(held.allocator.released[0]?.evidence).to.match(/; an operator accepted the mass deletion: cleaned up$/);
    expect(held.alarms.at(-1)).to.equal(undefined);
  });

  it('the Pod controller halts if a list implies that most Pods are deleted, and looks each Pod up if they are few', async () => {
    const many = manyAllocations(20);
    const { pods, allocator, controller, lookedUp } = world({ allocations: many });
    for (const { pod } of many) pods.put(podWithNetwork(pod));
    controller.start();
    await waitForIdle();
    for (const { pod } of many.slice(0, 11)) pods.drop(podWithNetwork(pod), false);
    pods.notify({ kind: 'listed' });
    await waitForIdle();
    expect(allocator.released).to.deep.equal([]);
    for (const { pod } of many.slice(0, 9)) pods.put(podWithNetwork(pod));
    pods.notify({ kind: 'listed' });
    await until(() => allocator.released.length === 2);
    expect(lookedUp).to.have.members(['default/p9', 'default/p10']);
  });

  it('the Pod controller continues to release when a list contains the missing Pods again', async () => {
    const many = manyAllocations(20);
    const { pods, allocator, controller } = world({ allocations: many });
    controller.start();
    await waitForIdle();
    for (const { pod } of many.slice(1)) pods.put(podWithNetwork(pod));
    pods.notify({ kind: 'listed' });
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]).to.include({ pod: 'p0' });
  });

  describe('while most Pods are missing', () => {
    const many = manyAllocations(20);
    /** Makes a world in which all Pods exist, and then most are missing from a list. */
    async function createHaltedWorld(options: PodControllerWorldOptions = {}) {
      const scene = world({ allocations: many, ...options });
      for (const { pod } of many) scene.pods.put(podWithNetwork(pod));
      scene.controller.start();
      await waitForIdle();
      for (const { pod } of many.slice(0, 15)) scene.pods.drop(podWithNetwork(pod), false);
      scene.pods.notify({ kind: 'listed' });
      await waitForIdle();
      return scene;
    }

    it('while most Pods are missing, an alarm has the remedy, and the next watcher gets the number of missing Pods', async () => {
      const { alarms, controller } = await createHaltedWorld();
      expect(alarms[0]).to.equal(
        '15 of 20 Pods that hold addresses are missing from the Kubernetes API all at the same time (default/p0, default/p1, default/p2, …); nothing is released in namespace default. ' +
          'If the API server lost its data, restore it; if the Pods are really deleted, run: ipledger accept-mass-deletion --namespace ipledger-system --reason TEXT',
      );
      expect(controller.missingPods).to.equal(15);
    });

    it('while most Pods are missing, the Pod controller releases nothing and continues to allocate', async () => {
      const { pods, allocator } = await createHaltedWorld();
      pods.drop(beingDeleted(podWithNetwork('p16')));
      pods.put(podWithNetwork('p17', { spec: { restartPolicy: 'Never' }, status: { phase: 'Succeeded' } }));
      pods.put(podWithNetwork('new'));
      await until(() => allocator.allocated.length === 1);
      await waitForIdle();
      expect(allocator.released).to.deep.equal([]);
    });

    it('while most Pods are missing, the Pod controller stays halted if controllers create replacements', async () => {
      const { pods, allocator, sendEvents } = await createHaltedWorld();
      for (let index = 0; index < 30; index++) {
        pods.put(podWithNetwork(`new${index}`));
        sendEvents(100 + index, { kind: 'allocated', allocation: heldAllocation(`new${index}`, { seq: 100 + index }) });
      }
      pods.notify({ kind: 'listed' });
      await waitForIdle();
      expect(allocator.released).to.deep.equal([]);
    });

    it('while most Pods are missing, the Pod controller stays halted after a restart', async () => {
      const more = Array.from({ length: 30 }, (_, index) => heldAllocation(`new${index}`, { seq: 100 + index }));
      const { pods, allocator, controller, alarms } = world({
        allocations: [...many, ...more],
        haltedBefore: { '*': 15 },
      });
      for (const { pod } of [...many.slice(15), ...more]) pods.put(podWithNetwork(pod));
      await controller.prepare();
      controller.start();
      await waitForIdle();
      expect([allocator.released.length, new Set(alarms).size]).to.deep.equal([0, 1]);
    });

    it('the Pod controller resumes when half of the missing Pods are back, and releases the rest and Pods deleted since', async () => {
      const { pods, allocator, alarms, controller } = await createHaltedWorld();
      pods.drop(beingDeleted(podWithNetwork('p16')));
      for (const { pod } of many.slice(0, 9)) pods.put(podWithNetwork(pod));
      pods.notify({ kind: 'listed' });
      await until(() => allocator.released.length === 7);
      expect(allocator.released.map(({ pod }) => pod)).to.have.members([
        'p9',
        'p10',
        'p11',
        'p12',
        'p13',
        'p14',
        'p16',
      ]);
      expect([alarms.at(-1), controller.missingPods]).to.deep.equal([undefined, 0]);
    });
  });

  it('the Pod controller counts a missing Pod also if an earlier Pod of its name was deleted', async () => {
    const { pods, allocator, allocations, controller, sendEvents } = world({ allocations: manyAllocations(20) });
    const earlier = manyAllocations(20).map(({ pod }) => podWithNetwork(pod));
    const replacements = earlier.map(({ name }) => podWithNetwork(name, { uid: `uid-${name}-again` }));
    for (const pod of earlier) pods.put(pod);
    controller.start();
    await waitForIdle();
    // Keeps both uids under the name, because the allocator does not answer.
    allocator.refuse = () => new IpledgerError('UNAVAILABLE', 'away');
    for (const pod of earlier) pods.drop(beingDeleted(pod));
    for (const pod of replacements) pods.put(pod);
    await waitForIdle();
    allocator.refuse = undefined;
    sendEvents(60, ...manyAllocations(20).map(allocationEnded));
    await until(() => replacements.every(({ name, uid }) => allocations.uids(`default/${name}`).join() === uid));
    await waitForIdle();
    const released = allocator.released.length;
    for (const pod of replacements) pods.drop(pod, false);
    pods.notify({ kind: 'listed' });
    await waitForIdle();
    expect([controller.missingPods, allocator.released.length]).to.deep.equal([20, released]);
  });

  describe('after watch events about deletions', () => {
    it('the Pod controller waits after a Pod disappeared without a deletion mark, because others may follow', async () => {
      const { pods, allocator, controller } = world({ allocations: manyAllocations(20), missingGraceMs: 1_200 });
      for (const { pod } of manyAllocations(20)) pods.put(podWithNetwork(pod));
      controller.start();
      await waitForIdle();
      for (const { pod } of manyAllocations(15)) {
        pods.drop(podWithNetwork(pod));
        await waitForIdle();
      }
      await until(() => controller.missingPods === 15);
      await waitForIdle();
      expect(allocator.released).to.deep.equal([]);
    });

    it('the Pod controller releases a single Pod that disappeared, after a look-up', async () => {
      const { pods, allocator, controller, lookedUp } = world({ allocations: manyAllocations(20), missingGraceMs: 40 });
      for (const { pod } of manyAllocations(20)) pods.put(podWithNetwork(pod));
      controller.start();
      await waitForIdle();
      pods.drop(podWithNetwork('p3'));
      await until(() => allocator.released.length === 1);
      expect(allocator.released[0]).to.include({ pod: 'p3', cause: 'RELEASE_CAUSE_GARBAGE_COLLECTED' });
      expect(lookedUp).to.deep.equal(['default/p3']);
    });

    it('the Pod controller releases any number of Pods that were deleted, for instance with their namespace', async () => {
      const { pods, allocator, controller, alarms } = world({ allocations: manyAllocations(200) });
      for (const { pod } of manyAllocations(200)) pods.put(podWithNetwork(pod));
      controller.start();
      await waitForIdle();
      for (const { pod } of manyAllocations(190)) pods.drop(beingDeleted(podWithNetwork(pod)));
      await until(() => allocator.released.length === 190);
      expect(alarms).to.deep.equal([]);
    });
  });

  describe('after a time without a watcher in which most Pods disappeared', () => {
    const many = manyAllocations(20);
    async function* listOf(...pods: ReturnType<typeof podWithNetwork>[]) {
      yield* await Promise.resolve(pods);
    }

    it('after downtime, the Pod controller releases the Pods that the API lists as deleted', async () => {
      const deleted = many.slice(0, 15).map(({ pod }) => beingDeleted(podWithNetwork(pod)));
      const { pods, allocator, controller, alarms } = world({
        allocations: many,
        listDeleted: () => listOf(...deleted),
      });
      for (const { pod } of many.slice(15)) pods.put(podWithNetwork(pod));
      await controller.prepare();
      controller.start();
      await until(() => allocator.released.length === 15);
      expect(alarms).to.deep.equal([]);
    });

    it('after downtime, the Pod controller releases nothing if the API lost Pods without deleting them', async () => {
      const lost = many.slice(0, 15).map(({ pod }) => podWithNetwork(pod));
      const { pods, allocator, controller, alarms } = world({
        allocations: many,
        listDeleted: () => listOf(...lost),
      });
      for (const { pod } of many.slice(15)) pods.put(podWithNetwork(pod));
      await controller.prepare();
      controller.start();
      await waitForIdle();
      expect([allocator.released.length, new Set(alarms).size]).to.deep.equal([0, 1]);
    });

    it('after downtime, the Pod controller releases nothing if the API server’s history is too short', async () => {
      const expired = async function* () {
        yield beingDeleted(podWithNetwork('p0'));
        await Promise.reject(new Error('410 Expired'));
      };
      const { pods, allocator, controller, alarms } = world({ allocations: many, listDeleted: expired });
      for (const { pod } of many.slice(15)) pods.put(podWithNetwork(pod));
      await controller.prepare();
      controller.start();
      await waitForIdle();
      expect([allocator.released.length, new Set(alarms).size]).to.deep.equal([0, 1]);
    });

    it('after downtime, the Pod controller does not list deletions if few Pods are missing', async () => {
      let isListed = false;
      const listDeleted = () => ((isListed = true), listOf());
      const { pods, allocator, controller } = world({ allocations: many, listDeleted });
      for (const { pod } of many.slice(2)) pods.put(podWithNetwork(pod));
      await controller.prepare();
      controller.start();
      await until(() => allocator.released.length === 2);
      expect(isListed).to.equal(false);
    });
  });
});
