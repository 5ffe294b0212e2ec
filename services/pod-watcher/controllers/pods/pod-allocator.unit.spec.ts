import { expect } from 'chai';
import { type ErrorCode, IpledgerError } from '../../../../lib/errors.ts';
import type { Span } from '../../../../lib/tracing/span.ts';
import { networksAnnotation } from '../../kubernetes/objects/pod.ts';
import { heldAllocation, podNamed, until } from '../../testing/fakes.ts';
import {
  allocationEnded,
  createPodControllerWorld,
  macvlan,
  podWithNetwork,
  type PodControllerWorldOptions,
  waitForIdle,
} from './testing/pod-controller-world.ts';

describe('the request of a Pod for its addresses', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());
  const world = (options: PodControllerWorldOptions = {}) => createPodControllerWorld(stop.signal, options);

  /** Refuses requests, and records how many Events there were at each. */
  function refuseAll({ allocator, podEvents }: ReturnType<typeof world>, code: ErrorCode): number[] {
    const eventsBefore: number[] = [];
    allocator.refuse = () => {
      eventsBefore.push(podEvents.length);
      return new IpledgerError(code, 'the reason');
    };
    return eventsBefore;
  }

  it('the request of a Pod for its addresses is reported as unanswered after the fourth failure, because most outages are shorter', async () => {
    const created = world();
    const eventsBefore = refuseAll(created, 'UNAVAILABLE');
    created.pods.put(podWithNetwork('a'));
    created.controller.start();
    await until(() => eventsBefore.length >= 6);
    expect(eventsBefore.slice(0, 6)).to.deep.equal([0, 0, 0, 0, 1, 2]);
    expect(created.podEvents[0]?.podEvent.message).to.contain('error=the reason; the watcher tries again');
  });

  for (const code of ['LEDGER_NOT_WRITABLE', 'SUBNET_FULL', 'LEDGER_FROZEN'] as const)
    it(`the request of a Pod for its addresses is reported at the first failure if its cause is known: ${code}`, async () => {
      const created = world();
      const eventsBefore = refuseAll(created, code);
      created.pods.put(podWithNetwork('a'));
      created.controller.start();
      await until(() => eventsBefore.length >= 2);
      expect(eventsBefore.slice(0, 2)).to.deep.equal([0, 1]);
    });

  it('the request of a Pod for its addresses is no reason for an Event when the watcher stops before the answer', async () => {
    const created = world();
    refuseAll(created, 'SUBNET_FULL');
    const { allocate } = created.allocator;
    created.allocator.allocate = (request) => {
      stop.abort();
      return allocate.call(created.allocator, request);
    };
    created.pods.put(podWithNetwork('a'));
    created.controller.start();
    await until(() => created.allocator.allocated.length === 1);
    await waitForIdle();
    expect([created.podEvents, created.controller.waitingPods]).to.deep.equal([[], 0]);
  });

  it('the request of a Pod whose Subnet or network is missing is reported at the second attempt, as both may be applied with the Pod', async () => {
    const { pods, networks, podEvents, controller } = world({ longBackoff: true });
    networks.drop(macvlan);
    pods.put(podWithNetwork('a'));
    controller.start();
    await waitForIdle();
    expect(podEvents).to.deep.equal([]);
    networks.put({ ...macvlan, config: '{' });
    await until(() => podEvents.length === 1);
    expect(podEvents[0]?.podEvent.message).to.contain('default/macvlan: its spec.config is not valid JSON');
  });

  it('the request of a Pod for its addresses has a span, with the addresses or the error of its answer', async () => {
    const spans: unknown[] = [];
    const startRequest = () => {
      const span = { set: (attributes: object) => void spans.push(Object.keys(attributes).length > 0) };
      const end = (error?: string): void => void spans.push(error);
      return { ...span, end, context: undefined } as unknown as Span;
    };
    const { pods, allocator, controller } = world({ traces: { startRequest } });
    allocator.refuse = () => (allocator.allocated.length === 1 ? new IpledgerError('SUBNET_FULL', 'full') : undefined);
    pods.put(podWithNetwork('a'));
    controller.start();
    await until(() => spans.length >= 3);
    expect(spans).to.deep.equal(['SUBNET_FULL', true, undefined]);
  });

  it('the request of a Pod for its addresses is followed by an Event that the Pod is served, only if it was refused before', async () => {
    const { pods, allocator, podEvents, controller, sendEvents } = world({ longBackoff: true });
    const normal = () => podEvents.filter(({ podEvent }) => podEvent.type === 'Normal').map(({ pod }) => pod);
    pods.put(podWithNetwork('served'));
    controller.start();
    await until(() => allocator.allocated.length === 1);
    allocator.refuse = () => new IpledgerError('SUBNET_FULL', 'full');
    pods.put(podWithNetwork('refused'));
    await until(() => podEvents.length === 1);
    allocator.refuse = undefined;
    sendEvents(151, allocationEnded(heldAllocation('other')));
    await until(() => normal().length === 1);
    // Given: the address of the served Pod is released by an operator, and it gets another one.
    sendEvents(152, allocationEnded(heldAllocation('refused', { seq: 102 })));
    await until(() => allocator.allocated.length === 4);
    await waitForIdle();
    expect(normal()).to.deep.equal(['refused']);
  });

  it('the request of a Pod is not delayed by annotations of another Pod that could not be removed, which is tried again', async () => {
    const { pods, allocator, controller, removals } = world({ failingRemovals: 1 });
    allocator.refuse = () => new IpledgerError('ADDRESS_OUT_OF_RANGE', 'outside');
    const annotations = { 'macvlan.default.kubernetes.io/allocated': 'true' };
    pods.put(podWithNetwork('a', { annotations }));
    controller.start();
    await until(() => removals() >= 2);
    expect(allocator.allocated.length).to.be.at.least(2);
  });

  it('the request of a Pod is for what it lacks, in the order of its networks, and not for what it holds', async () => {
    const { pods, networks, allocator, controller } = world({
      allocations: [heldAllocation('a', { ordinal: 1, seq: 7 }), heldAllocation('a', { ordinal: 0, seq: 9 })],
    });
    networks.put({ ...macvlan, name: 'missing' });
    pods.put(podNamed('a', { annotations: { [networksAnnotation]: 'macvlan,macvlan,macvlan' } }));
    controller.start();
    await until(() => allocator.allocated.length === 1);
    expect(allocator.allocated[0]?.attachments?.map(({ ordinal }) => ordinal)).to.deep.equal([2]);
  });

  it('the request of a Pod that has ended leaves nothing for the next Pod of its name: neither its Events nor its IPAMClaims', async () => {
    const { pods, allocator, podEvents, controller, ipamClaimsOf } = world({ longBackoff: true });
    allocator.refuse = () => new IpledgerError('SUBNET_FULL', 'full');
    pods.put(podWithNetwork('a'));
    controller.start();
    await until(() => podEvents.length === 1);
    ipamClaimsOf.clear();
    const completed = { spec: { restartPolicy: 'Never' }, status: { phase: 'Succeeded' } };
    pods.put(podWithNetwork('a', completed));
    await until(() => ipamClaimsOf.has('default/a'));
    expect([...ipamClaimsOf]).to.deep.equal([['default/a', 0]]);
    allocator.refuse = undefined;
    pods.put(podWithNetwork('a', { uid: 'next' }));
    await until(() => allocator.allocated.length === 2);
    await waitForIdle();
    expect(podEvents).to.have.length(1);
  });
});
