import { expect } from 'chai';
import { IpledgerError } from '../../../../lib/errors.ts';
import { heldAllocation, appliedSubnet, podNamed, subnetNamed, until } from '../../testing/fakes.ts';
import { networksAnnotation } from '../../kubernetes/objects/pod.ts';
import {
  beingDeleted,
  allocationEnded,
  manyAllocations,
  macvlan,
  waitForIdle,
  bindingEnded,
  podWithNetwork,
  createPodControllerWorld,
  type PodControllerWorldOptions,
  mirrorWithNetwork,
} from './testing/pod-controller-world.ts';

describe('the Pod controller', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());
  const world = (options: PodControllerWorldOptions = {}) => createPodControllerWorld(stop.signal, options);

  it('the Pod controller allocates once for a Pod that selects a network, also before it is scheduled', async () => {
    const { pods, allocator, controller } = world();
    controller.start();
    pods.put(podWithNetwork('a'));
    await until(() => allocator.allocated.length === 1);
    pods.put(podWithNetwork('a', { status: { phase: 'Running' } }));
    await waitForIdle();
    expect(allocator.allocated).to.have.length(1);
    expect(allocator.allocated[0]).to.deep.include({
      pod: { namespace: 'default', name: 'a', uid: 'uid-a', node: '', owner: undefined },
    });
    expect(allocator.allocated[0]?.validMs).to.be.greaterThan(0);
  });

  it('the Pod controller issues no command for Pods that hold their addresses, use the host network, have completed or select no network', async () => {
    const { pods, allocator, controller } = world({ allocations: [heldAllocation('held')] });
    for (const pod of [
      podWithNetwork('held'),
      podWithNetwork('host', { spec: { hostNetwork: true } }),
      podWithNetwork('done', { spec: { restartPolicy: 'Never' }, status: { phase: 'Succeeded' } }),
      podNamed('plain'),
    ])
      pods.put(pod);
    controller.start();
    await waitForIdle();
    expect(allocator.allocated).to.deep.equal([]);
    expect(allocator.released).to.deep.equal([]);
  });

  it('the Pod controller retries the waiting Pods of a namespace whose Subnets or IPPools have changed', async () => {
    const { pods, allocator, controller } = world({ longBackoff: true });
    allocator.refuse = () => new IpledgerError('SUBNET_FULL', 'full');
    pods.put(podWithNetwork('a'));
    const annotations = { [networksAnnotation]: 'default/macvlan' };
    pods.put(podWithNetwork('b', { metadata: { namespace: 'other' }, annotations }));
    pods.put(podWithNetwork('c'));
    controller.enqueueNamespace('default');
    controller.start();
    const tried = (): (string | undefined)[] => allocator.allocated.map(({ pod }) => pod?.name);
    await until(() => tried().length === 3);
    allocator.allocated.length = 0;
    controller.enqueueNamespace('default');
    await until(() => tried().length === 2);
    await waitForIdle();
    expect(tried()).to.have.members(['a', 'c']);
  });

  it('the Pod controller releases the allocations of a deleted Pod by its uid, without a look-up', async () => {
    const { pods, allocator, controller, lookedUp } = world({ allocations: [heldAllocation('a')] });
    pods.put(podWithNetwork('a'));
    controller.start();
    pods.drop(beingDeleted(podWithNetwork('a')));
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]).to.deep.include({
      namespace: 'default',
      pod: 'a',
      podUid: 'uid-a',
      cause: 'RELEASE_CAUSE_POD_DELETED',
    });
    expect(lookedUp).to.deep.equal([]);
  });

  it('the Pod controller serves a new Pod before most releases of its namespace, in any number', async () => {
    const held = manyAllocations(600);
    const { pods, allocator, controller } = world({ allocations: held });
    for (const { pod } of held) {
      pods.put(podWithNetwork(pod));
      pods.drop(beingDeleted(podWithNetwork(pod)));
    }
    pods.put(podWithNetwork('new'));
    const allocate = allocator.allocate.bind(allocator);
    let releasedBefore = Infinity;
    allocator.allocate = (request) => {
      releasedBefore = allocator.released.length;
      return allocate(request);
    };
    controller.start();
    await until(() => allocator.allocated.length === 1 && allocator.released.length >= held.length);
    expect(releasedBefore).to.be.below(100);
  });

  it('the Pod controller releases the allocations of a completed Pod, with its phase as evidence', async () => {
    const { pods, allocator, controller } = world({ allocations: [heldAllocation('a')] });
    pods.put(podWithNetwork('a'));
    controller.start();
    pods.put(podWithNetwork('a', { spec: { restartPolicy: 'Never' }, status: { phase: 'Failed' } }));
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]).to.include({ cause: 'RELEASE_CAUSE_POD_COMPLETED', evidence: 'phase Failed' });
    await waitForIdle();
    expect(allocator.allocated).to.deep.equal([]);
  });

  describe('never allocates again for a Pod that has ended', () => {
    const dying = (deletionTimestamp: string, deletionGracePeriodSeconds: number, spec?: object) =>
      podWithNetwork('a', { ...(spec && { spec }), metadata: { deletionTimestamp, deletionGracePeriodSeconds } });
    const inAnHour = (): string => new Date(Date.now() + 3_600_000).toISOString();

    for (const [when, first, later] of [
      ['its kubelet deletes it finally', () => dying('2026-01-31T08:00:30Z', 30), () => dying(inAnHour(), 0)],
      ['its object has a later deletion time', () => dying('2026-01-31T08:00:30Z', 30), () => dying(inAnHour(), 30)],
      [
        'its phase is Running again',
        () => podWithNetwork('a', { spec: { restartPolicy: 'Never' }, status: { phase: 'Succeeded' } }),
        () => podWithNetwork('a', { spec: { restartPolicy: 'Never' }, status: { phase: 'Running' } }),
      ],
    ] as const)
      it(`the Pod controller never allocates again for a Pod that has ended when ${when}`, async () => {
        const held = heldAllocation('a');
        const terminatingBefore = { 'uid-a': [30, 60_000] } as const;
        const { pods, allocator, controller, sendEvents } = world({ allocations: [held], terminatingBefore });
        pods.put(first());
        controller.start();
        await until(() => allocator.released.length === 1);
        sendEvents(101, allocationEnded(held));
        pods.put(later());
        await waitForIdle();
        expect(allocator.allocated).to.deep.equal([]);
      });
  });

  it('the Pod controller allocates nothing for a Pod that is being deleted and holds nothing, because it gets no sandbox', async () => {
    const { pods, allocator, controller } = world();
    const metadata = { deletionTimestamp: new Date(Date.now() + 3_600_000).toISOString() };
    pods.put(podWithNetwork('going', { metadata }));
    pods.put(podWithNetwork('living'));
    controller.start();
    await until(() => allocator.allocated.length > 0);
    await waitForIdle();
    expect(allocator.allocated.map(({ pod }) => pod?.name)).to.deep.equal(['living']);
  });

  it('KO-1026 the Pod controller allocates for a new Pod of a name before it releases the allocations of the old Pod', async () => {
    const { pods, allocator, controller } = world({ allocations: [heldAllocation('a', { uid: 'old' })] });
    const order: string[] = [];
    const { allocate, release } = allocator;
    allocator.allocate = (request) => (order.push(`allocate ${request.pod?.uid}`), allocate.call(allocator, request));
    allocator.release = (request) => (order.push(`release ${request.podUid}`), release.call(allocator, request));
    pods.put(podWithNetwork('a', { uid: 'new' }));
    controller.start();
    await until(() => order.length === 2);
    expect(order).to.deep.equal(['allocate new', 'release old']);
  });

  it('the Pod controller identifies a static Pod by the hash of its mirror', async () => {
    const { pods, allocator, controller } = world();
    controller.start();
    pods.put(mirrorWithNetwork('a', 'd41d8cd98f00b204e9800998ecf8427e'));
    await until(() => allocator.allocated.length === 1);
    expect(allocator.allocated[0]?.pod?.uid).to.equal('d41d8cd98f00b204e9800998ecf8427e');
  });

  for (const order of ['before', 'after'] as const)
    it(`the Pod controller repeats a release that left a fenced address, if the event about the rest arrives ${order} the reply`, async () => {
      const held = [
        heldAllocation('a', { seq: 7 }),
        heldAllocation('a', { seq: 8, provider: 'storage.default' }),
      ] as const;
      const { allocator, controller, sendEvents } = world({ allocations: held });
      const sendRelease = (): void => sendEvents(100, allocationEnded(held[1]));
      if (order === 'before') allocator.refuse = () => void (allocator.released.length === 1 && sendRelease());
      controller.start();
      await until(() => allocator.released.length > 0);
      if (order === 'after') sendRelease();
      await until(() => allocator.released.length > 1);
      expect(allocator.released[1]).to.include({ podUid: 'uid-a' });
    });

  it('the Pod controller releases once, even if the event arrives late', async () => {
    const { allocator, controller, sendEvents, allocations } = world({ allocations: [heldAllocation('a')] });
    controller.start();
    await until(() => allocator.released.length === 1);
    await waitForIdle();
    sendEvents(60, bindingEnded(heldAllocation('a')));
    await waitForIdle();
    sendEvents(100, allocationEnded(heldAllocation('a')));
    expect(allocator.released).to.have.length(1);
    expect(allocations.uidCount).to.equal(0);
  });

  it('the Pod controller records an Event with the reason why a Pod waits, and an Event when it is served', async () => {
    const { pods, allocator, podEvents, controller, sendEvents } = world({ longBackoff: true });
    allocator.refuse = () => new IpledgerError('SUBNET_FULL', 'subnet macvlan has no free address');
    controller.start();
    pods.put(podWithNetwork('a'));
    await until(() => podEvents.length === 1);
    expect(podEvents[0]).to.deep.equal({
      pod: 'a',
      podEvent: {
        type: 'Warning',
        reason: 'AcquireAddressFailed',
        message:
          'stage=acquireAddress provider=macvlan.default error=subnet macvlan has no free address; the Pod waits until one is free',
      },
    });
    allocator.refuse = undefined;
    sendEvents(51, allocationEnded(heldAllocation('other')));
    await until(() => podEvents.length === 2);
    expect(podEvents[1]?.podEvent).to.include({ type: 'Normal', reason: 'PodNetworkAllocated' });
  });

  it('the Pod controller retries when a container is unbound that may have used the address', async () => {
    const { pods, allocator, controller, sendEvents } = world({ longBackoff: true });
    allocator.refuse = () => new IpledgerError('ADDRESS_IN_USE', 'container c may still answer on it');
    controller.start();
    pods.put(podWithNetwork('a'));
    await until(() => allocator.allocated.length === 1);
    allocator.refuse = undefined;
    sendEvents(51, bindingEnded(heldAllocation('other')));
    await until(() => allocator.allocated.length === 2);
  });

  it('the Pod controller keeps a Pod waiting until its network and Subnet exist and are correct', async () => {
    const { pods, networks, objects, allocator, podEvents, controller, sendEvents } = world({ subnets: [] });
    networks.drop(macvlan);
    controller.start();
    pods.put(podWithNetwork('a'));
    await until(() => podEvents.length === 1);
    expect(podEvents[0]?.podEvent.message).to.contain('there is no NetworkAttachmentDefinition default/macvlan');
    networks.put({ ...macvlan, config: '{' });
    await until(() => podEvents.at(-1)?.podEvent.message.includes('not valid JSON') === true);
    networks.put(macvlan);
    await until(() => podEvents.at(-1)?.podEvent.message.includes('is not bound to any subnet') === true);
    expect(allocator.allocated).to.deep.equal([]);
    objects.put(subnetNamed('macvlan'));
    sendEvents(51, { kind: 'subnet-configured', subnet: appliedSubnet('macvlan') });
    await until(() => allocator.allocated.length === 1);
  });

  it('the Pod controller records an Event about a wrong annotation at the first attempt, also if a network is missing', async () => {
    const { pods, allocator, podEvents, controller } = world({ longBackoff: true });
    controller.start();
    const annotations = {
      [networksAnnotation]: 'macvlan,missing',
      'macvlan.default.kubernetes.io/mac_address': 'no MAC',
    };
    pods.put(podWithNetwork('a', { annotations }));
    await until(() => podEvents.length > 0);
    expect(podEvents[0]?.podEvent.message).to.contain('mac_address').and.contain('default/missing');
    expect(allocator.allocated).to.deep.equal([]);
  });

  it('the Pod controller allocates as soon as the network exists', async () => {
    const { pods, networks, allocator, controller } = world({ longBackoff: true });
    networks.drop(macvlan);
    controller.start();
    pods.put(podWithNetwork('a'));
    await waitForIdle();
    networks.put(macvlan);
    await until(() => allocator.allocated.length === 1);
  });

  it('the Pod controller records no Event if a Subnet is applied together with its Pods', async () => {
    const { pods, objects, allocator, podEvents, controller, sendEvents } = world({ subnets: [], longBackoff: true });
    controller.start();
    pods.put(podWithNetwork('a'));
    objects.put(subnetNamed('macvlan'));
    sendEvents(51, { kind: 'subnet-configured', subnet: appliedSubnet('macvlan') });
    await until(() => allocator.allocated.length === 1);
    expect(podEvents).to.deep.equal([]);
  });

  it('the Pod controller records one Event about networks that are not served here, and serves the others', async () => {
    const { pods, networks, allocator, podEvents, controller } = world();
    networks.put({ ...macvlan, name: 'empty', config: '' });
    controller.start();
    const both = { annotations: { [networksAnnotation]: 'empty,macvlan' } };
    pods.put(podWithNetwork('a', both));
    await until(() => allocator.allocated.length === 1);
    pods.put(podWithNetwork('a', { ...both, spec: { nodeName: 'n' } }));
    await waitForIdle();
    expect(podEvents.map(({ podEvent }) => podEvent.reason)).to.deep.equal(['PodNetworkNotServed']);
    expect(podEvents[0]?.podEvent.message).to.contain('default/empty is not served');
  });

  it('the Pod controller serves a starting Pod once its network has the plugin of ipledger, but no running Pod', async () => {
    const { pods, networks, allocator, controller } = world();
    networks.put({ ...macvlan, config: '{"type":"macvlan","ipam":{"type":"whereabouts"}}' });
    controller.start();
    pods.put(podWithNetwork('a'));
    pods.put(podWithNetwork('b', { status: { phase: 'Running' } }));
    await waitForIdle();
    expect(allocator.allocated).to.deep.equal([]);
    networks.put(macvlan);
    await until(() => allocator.allocated.length === 1);
    await waitForIdle();
    expect(allocator.allocated.map(({ pod }) => pod?.name)).to.deep.equal(['a']);
  });

  it('the Pod controller records one Event if the CNI result will not show a static MAC, and serves the Pod', async () => {
    const { pods, allocator, podEvents, controller } = world();
    controller.start();
    const parts = { annotations: { [networksAnnotation]: '[{"name":"macvlan","mac":"02:00:00:00:00:01"}]' } };
    pods.put(podWithNetwork('a', parts));
    await until(() => allocator.allocated.length === 1);
    pods.put(podWithNetwork('a', { ...parts, spec: { nodeName: 'n' } }));
    await waitForIdle();
    expect(podEvents.map(({ podEvent }) => [podEvent.type, podEvent.reason])).to.deep.equal([
      ['Warning', 'PodNetworkMacNotInResult'],
    ]);
  });

  it('the Pod controller releases the uid of a deleted Pod whose request got no reply', async () => {
    const { pods, allocator, controller } = world();
    allocator.refuse = () => new IpledgerError('UNAVAILABLE', 'connection lost');
    controller.start();
    pods.put(podWithNetwork('a'));
    await until(() => allocator.allocated.length === 1);
    allocator.refuse = undefined;
    pods.drop(beingDeleted(podWithNetwork('a')));
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]).to.include({ podUid: 'uid-a' });
  });

  it('the Pod controller removes the reason of a wait once the Pod has its addresses, also if another watcher wrote the reason', async () => {
    const { pods, controller, endedWaits } = world({ allocations: [heldAllocation('a')] });
    controller.start();
    pods.put(podWithNetwork('a', { annotations: { 'ipledger.io/waiting': 'stage=a error=e' } }));
    await until(() => endedWaits.length === 1);
    expect(endedWaits).to.deep.equal(['a']);
  });

  it('the Pod controller allocates again for a living Pod whose address an operator released', async () => {
    const { pods, allocator, controller, sendEvents } = world({ allocations: [heldAllocation('a')] });
    pods.put(podWithNetwork('a'));
    controller.start();
    await waitForIdle();
    expect(allocator.allocated).to.deep.equal([]);
    sendEvents(51, allocationEnded(heldAllocation('a')));
    await until(() => allocator.allocated.length === 1);
  });

  it('the Pod controller allocates again what a rewound ledger lacks, and releases what was allocated twice', async () => {
    const { pods, allocator, controller, rewind, sendEvents } = world({
      allocations: [heldAllocation('a'), heldAllocation('b', { seq: 8 })],
    });
    for (const name of ['a', 'b']) pods.put(podWithNetwork(name));
    controller.start();
    await waitForIdle();
    rewind(20, heldAllocation('b', { seq: 8 }));
    await until(() => allocator.allocated.length === 1);
    expect(allocator.allocated[0]?.pod?.name).to.equal('a');
    sendEvents(21, { kind: 'allocated', allocation: heldAllocation('a', { seq: 21 }) });
    pods.drop(beingDeleted(podWithNetwork('a')));
    await until(() => allocator.released.length > 0);
    expect(allocator.released[0]).to.include({ podUid: 'uid-a' });
  });

  it('the Pod controller releases an allocation to a Pod that is already deleted', async () => {
    const { allocator, controller, sendEvents } = world();
    controller.start();
    sendEvents(51, { kind: 'allocated', allocation: heldAllocation('ghost', { seq: 51 }) });
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]).to.include({ podUid: 'uid-ghost' });
  });

  it('the Pod controller issues one command for each of 5,000 Pods that completed while no watcher ran', async () => {
    const completed = { spec: { restartPolicy: 'Never' }, status: { phase: 'Succeeded' } };
    const held = manyAllocations(5_000);
    const { pods, allocator, controller, allocations, lookedUp, sendEvents, rewind } = world({ allocations: held });
    for (const { pod } of held) pods.put(podWithNetwork(pod, completed));
    // Adds as many Pods that were created and completed without ever holding an allocation.
    for (const { pod } of held) pods.put(podWithNetwork(`late-${pod}`, completed));
    controller.start();
    await until(() => allocator.released.length >= held.length);
    let seq = 10_000;
    for (const each of held) sendEvents(++seq, allocationEnded(each));
    pods.notify({ kind: 'listed' });
    rewind(seq);
    await waitForIdle();
    expect(new Set(allocator.released.map(({ pod }) => pod)).size).to.equal(held.length);
    expect(allocator.released).to.have.length(held.length);
    expect([allocator.allocated.length, lookedUp.length, allocations.uidCount]).to.deep.equal([0, 0, 0]);
  });
});
