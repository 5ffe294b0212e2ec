import { expect } from 'chai';
import { IpledgerError } from '../../../../lib/errors.ts';
import { boundEvent, heldAllocation, until } from '../../testing/fakes.ts';
import { networksAnnotation } from '../../kubernetes/objects/pod.ts';
import {
  manyAllocations,
  macvlan,
  waitForIdle,
  bindingEnded,
  podWithNetwork,
  createPodControllerWorld,
  type PodControllerWorldOptions,
} from './testing/pod-controller-world.ts';

describe('a detached attachment of a living Pod', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  /** Makes a Pod with an attachment to macvlan, and a deselected attachment to storage. */
  function world(options: PodControllerWorldOptions = {}) {
    const two = [heldAllocation('a'), heldAllocation('a', { seq: 8, provider: 'storage.default' })];
    const created = createPodControllerWorld(stop.signal, {
      longBackoff: true,
      ...options,
      allocations: [...two, ...(options.allocations ?? [])],
    });
    const [binding] = [{ containerId: 'c', interface: 'net2', node: 'node-1', bootId: 'b', at: '' }];
    const attachment = { namespace: 'default', pod: 'a', provider: 'storage.default', ordinal: 0 };
    created.allocator.bindings = [
      { attachment, subnet: 'macvlan', addresses: ['10.0.0.2'], binding, allocationSeq: 8 },
    ];
    const config = macvlan.config.replaceAll('macvlan.default', 'storage.default');
    created.networks.put({ ...macvlan, name: 'storage', config });
    created.pods.put(podWithNetwork('a', { spec: { nodeName: 'node-1' } }));
    created.controller.start();
    return created;
  }

  it('a detached attachment of a living Pod is released once no container is bound to it, without the Pod’s other attachments', async () => {
    const { allocator, sendEvents } = world();
    await waitForIdle();
    expect(allocator.released).to.deep.equal([]);
    allocator.bindings = [];
    sendEvents(51, bindingEnded(heldAllocation('a', { provider: 'storage.default' })));
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]).to.include({ podUid: 'uid-a', allocationSeq: 8, cause: 'RELEASE_CAUSE_DETACHED' });
    expect(allocator.allocated).to.deep.equal([]);
  });

  it('a detached attachment of a living Pod is released although containers of other Pods are bound to its address, as of another network', async () => {
    const { allocator, sendEvents } = world();
    await waitForIdle();
    const attachment = { namespace: 'default', pod: 'a', provider: 'storage.default', ordinal: 0 };
    const others = [
      { ...attachment, pod: 'b' },
      { ...attachment, namespace: 'other' },
    ];
    allocator.bindings = others.flatMap((other) =>
      allocator.bindings.map((binding) => ({ ...binding, attachment: other })),
    );
    sendEvents(51, bindingEnded(heldAllocation('a', { provider: 'storage.default' })));
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]).to.include({ podUid: 'uid-a', allocationSeq: 8, cause: 'RELEASE_CAUSE_DETACHED' });
  });

  it('a detached attachment of a living Pod is the one of the interface that the Pod selects no more, as bound in this run', async () => {
    const lan = (seq: number, ordinal: number) => heldAllocation('a', { seq, ordinal, provider: 'macvlan.default' });
    const created = createPodControllerWorld(stop.signal, { allocations: [lan(7, 0), lan(8, 1)] });
    const { allocator, pods, controller, sendEvents } = created;
    pods.put(podWithNetwork('a', { annotations: { [networksAnnotation]: 'macvlan, macvlan' } }));
    controller.start();
    sendEvents(51, boundEvent('a', 7, 'node-1', 'net1'));
    sendEvents(52, boundEvent('a', 8, 'node-1', 'net2'));
    await waitForIdle();
    pods.put(podWithNetwork('a', { annotations: { [networksAnnotation]: 'macvlan@net2' } }));
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]).to.include({ allocationSeq: 7, cause: 'RELEASE_CAUSE_DETACHED' });
  });

  it('a Pod without a detached attachment costs no list of bindings', async () => {
    const { allocator, pods, controller } = createPodControllerWorld(stop.signal, {});
    let listed = 0;
    allocator.listBindings = () => {
      listed += 1;
      return Promise.resolve({ bindings: [], nextPageToken: '' });
    };
    pods.put(podWithNetwork('a', { spec: { nodeName: 'node-1' } }));
    controller.start();
    await until(() => allocator.allocated.length === 1);
    await waitForIdle();
    expect(listed).to.equal(0);
  });

  it('a detached attachment of a living Pod is released after the DEL of a container that was bound after the list of bindings', async () => {
    const { allocator, sendEvents } = world();
    await waitForIdle();
    allocator.bindings = [];
    let isRefused = true;
    allocator.refuse = () => (isRefused ? new IpledgerError('ADDRESS_IN_USE', '10.0.0.2 is bound') : undefined);
    sendEvents(51, bindingEnded(heldAllocation('a', { provider: 'storage.default' })));
    await until(() => allocator.released.length === 1);
    await waitForIdle();
    isRefused = false;
    sendEvents(52, bindingEnded(heldAllocation('a', { provider: 'storage.default' })));
    await until(() => allocator.released.length === 2);
    expect(allocator.released[1]).to.include({ allocationSeq: 8, cause: 'RELEASE_CAUSE_DETACHED' });
  });

  it('a detached attachment of a living Pod is not released while most Pods are missing', async () => {
    const missing = manyAllocations(40).map((each) => ({ ...each, seq: each.seq + 100 }));
    const { allocator, controller, pods } = world({ allocations: missing });
    await waitForIdle();
    allocator.bindings = [];
    pods.put(podWithNetwork('a', { spec: { nodeName: 'node-1' } }));
    pods.put(podWithNetwork('later'));
    await until(() => allocator.allocated.length === 1);
    await waitForIdle();
    expect([controller.missingPods, allocator.released.length]).to.deep.equal([40, 0]);
  });

  it('a detached attachment of a living Pod is checked again when a container of its own Pod is unbound, and not of another Pod', async () => {
    const { allocator, sendEvents } = world({ allocations: [heldAllocation('b', { seq: 9 })] });
    await waitForIdle();
    let listed = 0;
    const { listBindings } = allocator;
    allocator.listBindings = (request) => {
      if (request?.pageToken === '') listed += 1;
      return listBindings.call(allocator, request);
    };
    sendEvents(51, bindingEnded(heldAllocation('b')));
    await waitForIdle();
    expect(listed).to.equal(0);
    sendEvents(52, bindingEnded(heldAllocation('a', { provider: 'storage.default' })));
    await until(() => listed === 1);
  });

  it('a detached attachment of a living Pod is checked with all others of its Pod by one list of bindings', async () => {
    const more = [9, 10, 11].map((seq) => heldAllocation('a', { seq, ordinal: seq, provider: 'storage.default' }));
    const { allocator, sendEvents } = world({ allocations: more });
    await waitForIdle();
    let listed = 0;
    allocator.listBindings = () => {
      listed += 1;
      return Promise.resolve({ bindings: [], nextPageToken: '' });
    };
    sendEvents(51, bindingEnded(heldAllocation('a', { provider: 'storage.default' })));
    await until(() => allocator.released.length >= 4);
    expect(listed).to.equal(1);
  });
});
