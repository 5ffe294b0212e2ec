import { expect } from 'chai';
import type { SandboxBinding } from '../../../../proto/generated/ipledger.ts';
import { networksAnnotation } from '../../kubernetes/objects/pod.ts';
import { toStatefulSet } from '../../kubernetes/objects/stateful-set.ts';
import type { HeldAllocation } from '../../ledger/ledger-events.ts';
import { heldAllocation, mirrorOf, type PodParts, until } from '../../testing/fakes.ts';
import { isContainerBound } from './static-pods.ts';
import {
  allocationEnded,
  beingDeleted,
  bindingEnded,
  createPodControllerWorld,
  manyAllocations,
  mirrorWithNetwork,
  podWithNetwork,
  type PodControllerWorldOptions,
  waitForIdle,
} from './testing/pod-controller-world.ts';

const hash = 'd41d8cd98f00b204e9800998ecf8427e';
const nextHash = '0cc175b9c0f1b6a831c399e269772661';
const mirror = mirrorWithNetwork('a', hash);
const node = { kind: 'Node', name: 'node-1', uid: 'uid-node-1' };
const set = { kind: 'StatefulSet', name: 'web', uid: 'uid-web' };
const held = heldAllocation('a', { uid: hash, node: 'node-1', owner: node });

/** The mirror as the API shows it before its deletion with grace period 0. */
const deletedAtOnce = mirrorOf('a', hash, {
  annotations: { [networksAnnotation]: 'macvlan' },
  metadata: { deletionTimestamp: '2026-01-31T08:00:00Z', deletionGracePeriodSeconds: 0 },
});

const bindingTo = ({ seq, namespace, pod, provider, subnet, addresses }: HeldAllocation): SandboxBinding => ({
  attachment: { namespace, pod, provider, ordinal: 0 },
  subnet,
  addresses: addresses.map(({ address }) => address),
  binding: { containerId: 'c', interface: 'net1', node: 'node-1', bootId: 'b', at: '2026-01-31T08:00:00Z' },
  allocationSeq: seq,
});

describe('a static Pod', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());
  const world = (options: PodControllerWorldOptions = {}) => createPodControllerWorld(stop.signal, options);

  it('a static Pod keeps its address when its mirror is deleted with grace period 0 and created again', async () => {
    const { pods, allocator, controller } = world({ allocations: [held] });
    pods.put(mirror);
    controller.start();
    await waitForIdle();
    pods.put(deletedAtOnce);
    await waitForIdle();
    pods.drop(deletedAtOnce);
    await waitForIdle();
    pods.put({ ...mirror, uid: 'another mirror' });
    await waitForIdle();
    expect([allocator.released, allocator.allocated]).to.deep.equal([[], []]);
  });

  it('a static Pod passes its address on to the mirror of its changed manifest', async () => {
    const { pods, allocator, controller } = world({ allocations: [held] });
    pods.put(mirror);
    controller.start();
    pods.put(deletedAtOnce);
    await waitForIdle();
    pods.drop(deletedAtOnce);
    const releasedBefore = new Promise<number>((resolve) => {
      allocator.refuse = () => void (allocator.allocated.length === 1 && resolve(allocator.released.length));
    });
    pods.put(mirrorWithNetwork('a', nextHash));
    // Expects no release before the request, which transfers what the earlier hash holds.
    expect(await releasedBefore).to.equal(0);
    expect(allocator.allocated[0]?.pod?.uid).to.equal(nextHash);
  });

  it('a static Pod keeps its address while the watch still shows the mirror of its earlier manifest', async () => {
    const current = { ...held, uid: nextHash, seq: 20 };
    const { pods, allocator, controller, api, lookedUp } = world({ allocations: [current] });
    api.set('default/a', mirrorWithNetwork('a', nextHash));
    pods.put(mirror);
    controller.start();
    await until(() => lookedUp.length + allocator.allocated.length > 0);
    await waitForIdle();
    expect([allocator.allocated, allocator.released]).to.deep.equal([[], []]);
    // The earlier manifest is placed again
    api.delete('default/a');
    pods.put({ ...mirror, resourceVersion: '9' });
    await until(() => allocator.allocated.length === 1);
    expect(allocator.allocated[0]?.pod?.uid).to.equal(hash);
  });

  for (const witnessed of [true, false])
    it(`a static Pod keeps its address when other events trigger a reconciliation, and the deletion is ${witnessed ? 'witnessed' : 'implied by a list'}`, async () => {
      const { pods, allocator, controller, sendEvents, rewind } = world({ allocations: [held] });
      pods.put(mirror);
      controller.start();
      pods.drop(deletedAtOnce, witnessed);
      pods.notify({ kind: 'listed' });
      await waitForIdle();
      rewind(60, held);
      await waitForIdle();
      sendEvents(61, { kind: 'allocated', allocation: { ...held, seq: 61, ordinal: 1 } });
      await waitForIdle();
      expect(allocator.released).to.deep.equal([]);
    });

  it('a static Pod without a mirror keeps its address while its container is bound, and loses it after the DEL', async () => {
    const { pods, allocator, controller, sendEvents } = world({ allocations: [held], mirrorGraceMs: 20 });
    allocator.bindings = [bindingTo(held)];
    let lists = 0;
    const { listBindings } = allocator;
    allocator.listBindings = (request) => ((lists += 1), listBindings.call(allocator, request));
    pods.put(mirror);
    controller.start();
    pods.drop(deletedAtOnce);
    await until(() => lists >= 3);
    expect(allocator.released).to.deep.equal([]);
    allocator.bindings = [];
    sendEvents(60, bindingEnded(held));
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]).to.deep.include({
      podUid: hash,
      cause: 'RELEASE_CAUSE_POD_DELETED',
      evidence: 'its mirror was deleted, and no container of the static Pod is bound',
    });
  });

  it('the wait for the next mirror of a static Pod begins at the end of its last container', async () => {
    const { pods, allocator, controller, sendEvents } = world({ allocations: [held] });
    pods.put(mirror);
    controller.start();
    pods.drop(deletedAtOnce);
    sendEvents(60, bindingEnded(held));
    await waitForIdle();
    expect(allocator.released).to.deep.equal([]);
  });

  it('the wait for the next mirror of a static Pod begins again when a container ends after the first wait', async () => {
    const { pods, allocator, controller, sendEvents } = world({ allocations: [held], mirrorGraceMs: 3_600_000 });
    allocator.bindings = [bindingTo(held)];
    pods.put(mirror);
    controller.start();
    pods.drop(deletedAtOnce);
    const now = performance.now.bind(performance);
    try {
      performance.now = () => now() + 5_400_000;
      allocator.bindings = [];
      sendEvents(60, bindingEnded(held));
      // Longer than the last backoff.
      await new Promise((resolve) => setTimeout(resolve, 150));
      expect(allocator.released).to.deep.equal([]);
    } finally {
      Reflect.deleteProperty(performance, 'now');
    }
  });

  it('a static Pod loses its address when its Node is deleted, although no DEL came', async () => {
    const { pods, allocator, controller, deletedNodes } = world({ allocations: [held], mirrorGraceMs: 20 });
    allocator.bindings = [bindingTo(held)];
    deletedNodes.add('node-1');
    pods.put(mirror);
    controller.start();
    pods.drop(deletedAtOnce);
    await until(() => allocator.released.length === 1);
  });

  it('a static Pod keeps its address while an ordinary Pod has its name, as long as its container is bound', async () => {
    const { pods, allocator, controller, lookedUp } = world({ allocations: [held] });
    allocator.bindings = [bindingTo(held)];
    pods.put(podWithNetwork('a', { status: { phase: 'Succeeded' }, spec: { restartPolicy: 'Never' } }));
    controller.start();
    await waitForIdle();
    expect([allocator.released, lookedUp]).to.deep.equal([[], []]);
    allocator.bindings = [];
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]).to.deep.include({ podUid: hash, evidence: 'the name belongs to Pod uid uid-a now' });
  });

  for (const [what, first, then] of [
    ['another Pod', held, podWithNetwork('a')],
    ['a member of a StatefulSet', heldAllocation('web-0', { owner: set }), mirrorWithNetwork('web-0', hash)],
  ] as const)
    it(`a static Pod does not exchange addresses with ${what} of its name`, async () => {
      const world = createPodControllerWorld(stop.signal, { allocations: [first] });
      const { pods, statefulSets, allocator, podEvents, controller, sendEvents } = world;
      const web = { metadata: { ...set, namespace: 'default', resourceVersion: '1' }, spec: { replicas: 1 } };
      statefulSets.put(toStatefulSet(web));
      if (first === held) allocator.bindings = [bindingTo(held)];
      pods.put(then);
      controller.start();
      await until(() => podEvents.length > 0);
      expect(podEvents[0]?.podEvent.message).to.contain(`(uid ${first.uid}), which are not passed on`);
      await waitForIdle();
      expect([allocator.allocated, allocator.released]).to.deep.equal([[], []]);
      sendEvents(60, allocationEnded(first));
      await until(() => allocator.allocated.length === 1);
    });

  it('the controller waits for a static Pod whose mirror was missing at the start of the watcher', async () => {
    const allocations = [heldAllocation('static', { uid: hash }), heldAllocation('other', { seq: 8 })];
    const { pods, allocator, controller } = world({ allocations });
    controller.start();
    await until(() => allocator.released.length === 1);
    pods.put(mirrorWithNetwork('static', hash));
    await waitForIdle();
    expect(allocator.released.map(({ pod }) => pod)).to.deep.equal(['other']);

    const short = world({ allocations, mirrorGraceMs: 40 });
    short.controller.start();
    await until(() => short.allocator.released.length === 2);
  });
});

describe('a Pod with the annotations of a mirror that no Node owns', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());
  const unowned = (parts: PodParts = {}) =>
    mirrorWithNetwork('a', hash, { metadata: { ownerReferences: [] }, ...parts });
  const allocations = [{ ...held, owner: undefined }];

  it('a Pod with the annotations of a mirror that no Node owns is released like another Pod when it is deleted', async () => {
    const { pods, allocator, controller } = createPodControllerWorld(stop.signal, { allocations });
    pods.put(unowned());
    controller.start();
    await waitForIdle();
    pods.drop(beingDeleted(unowned()));
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]).to.include({ podUid: hash, cause: 'RELEASE_CAUSE_POD_DELETED' });
  });

  it('a Pod with the annotations of a mirror keeps its address while an agent has a container of it, also on a node without a Node', async () => {
    const { pods, allocator, controller, deletedNodes } = createPodControllerWorld(stop.signal, { allocations });
    deletedNodes.add('node-1');
    allocator.bindings = [bindingTo(held)];
    pods.put(unowned());
    controller.start();
    await waitForIdle();
    const deleted = unowned({
      metadata: { ownerReferences: [], deletionTimestamp: '2026-01-31T08:00:00Z', deletionGracePeriodSeconds: 0 },
    });
    pods.put(deleted);
    await waitForIdle();
    pods.drop(deleted);
    await waitForIdle();
    pods.put(unowned({ uid: 'another mirror' }));
    await waitForIdle();
    expect([allocator.released, allocator.allocated]).to.deep.equal([[], []]);
  });
});

describe('a false mirror', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  it('false mirrors that a Node owns halt no release when many of them are deleted', async () => {
    const hashOf = (index: number): string => index.toString(16).padStart(32, '0');
    const mirrors = manyAllocations(30).map((each, index) => ({ ...each, uid: hashOf(index) }));
    const other = heldAllocation('other', { seq: 99, namespace: 'other' });
    const { pods, allocator, alarms, controller, sendEvents } = createPodControllerWorld(stop.signal, {
      allocations: [...mirrors, other],
      mirrorGraceMs: 200,
    });
    const objects = mirrors.map(({ pod, uid }) => mirrorWithNetwork(pod, uid));
    for (const pod of objects) pods.put(pod);
    const annotations = { [networksAnnotation]: 'default/macvlan' };
    const otherPod = { ...podWithNetwork('other', { annotations }), namespace: 'other' };
    pods.put(otherPod);
    controller.start();
    await waitForIdle();
    for (const pod of objects) pods.drop(beingDeleted(pod));
    pods.drop(beingDeleted(otherPod));
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]).to.include({ namespace: 'other' });
    sendEvents(101, allocationEnded(other));
    await until(() => new Set(allocator.released.map(({ podUid }) => podUid)).size === 31);
    expect(allocator.released.map(({ cause }) => cause)).to.not.include('RELEASE_CAUSE_GARBAGE_COLLECTED');
    expect([alarms, controller.missingPods]).to.deep.equal([[], 0]);
  });
});

describe('isContainerBound', () => {
  /** Looks up bindings by node, on a cluster whose only Node is node-2. */
  const isBound = (allocations: readonly HeldAllocation[], bindings: Record<string, readonly SandboxBinding[]>) =>
    isContainerBound(allocations, {
      allocator: {
        call: ((_method: unknown, request: { node: string }) =>
          Promise.resolve({ bindings: bindings[request.node] ?? [], nextPageToken: '' })) as never,
      },
      nodeExists: (name) => Promise.resolve(name === 'node-2'),
      signal: new AbortController().signal,
    });
  const onNode2 = { ...held, seq: held.seq + 1, node: 'node-2' };

  it('isContainerBound ignores the bindings of other Pods on the node', async () => {
    expect(await isBound([onNode2], { 'node-2': [bindingTo({ ...onNode2, seq: onNode2.seq + 1 })] })).to.equal(false);
    expect(await isBound([onNode2], { 'node-2': [bindingTo(onNode2)] })).to.equal(true);
  });

  it('isContainerBound finds a container on an existing Node after one on a deleted Node', async () => {
    const bindings = { 'node-1': [bindingTo(held)], 'node-2': [bindingTo(onNode2)] };
    expect(await isBound([held, onNode2], bindings)).to.equal(true);
    expect(await isBound([held], bindings)).to.equal(false);
  });
});
