/** Tests Pods without an owner that are created again under their name. */
import { expect } from 'chai';
import { IpledgerError } from '../../../../lib/errors.ts';
import { networksAnnotation } from '../../kubernetes/objects/pod.ts';
import { heldAllocation, until } from '../../testing/fakes.ts';
import { allocationEnded, createPodControllerWorld, podWithNetwork } from './testing/pod-controller-world.ts';

describe('a Pod that is created again under its name', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  it('a Pod that is created again under its name loses the earlier allocations if it selects no network', async () => {
    const { pods, allocator, controller } = createPodControllerWorld(stop.signal, {
      allocations: [heldAllocation('a', { uid: 'old' })],
    });
    pods.put(podWithNetwork('a', { uid: 'new', annotations: { [networksAnnotation]: '' } }));
    controller.start();
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]).to.include({ podUid: 'old', cause: 'RELEASE_CAUSE_POD_DELETED' });
    expect(allocator.released[0]?.evidence).to.equal('the name belongs to Pod uid new now');
  });

  it('a Pod that is created again under its name loses earlier allocations that do not fit when it is refused, so that two Pods do not wait for each other', async () => {
    const held = [heldAllocation('a', { uid: 'old', subnet: 'retired' })];
    const { pods, allocator, controller } = createPodControllerWorld(stop.signal, {
      allocations: held,
      longBackoff: true,
    });
    let isRefused = true;
    allocator.refuse = () => (isRefused ? ((isRefused = false), new IpledgerError('SUBNET_FULL', 'full')) : undefined);
    pods.put(podWithNetwork('a', { uid: 'new' }));
    controller.start();
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]).to.include({ podUid: 'old' });
  });

  for (const code of ['ADDRESS_OUT_OF_RANGE', 'POOL_UNKNOWN', 'ADDRESS_RESERVED'] as const)
    it(`a Pod that is created again under its name loses the earlier address, which no owner retains, while its request is refused: ${code}`, async () => {
      const { pods, allocator, controller } = createPodControllerWorld(stop.signal, {
        allocations: [heldAllocation('a', { uid: 'old' })],
      });
      allocator.refuse = () => new IpledgerError(code, 'never');
      pods.put(podWithNetwork('a', { uid: 'new' }));
      controller.start();
      await until(() => allocator.released.length === 1);
      expect(allocator.released[0]).to.include({ podUid: 'old', cause: 'RELEASE_CAUSE_POD_DELETED' });
    });

  it('a Pod that is created again under its name loses the earlier address while its annotation is wrong', async () => {
    const { pods, allocator, controller } = createPodControllerWorld(stop.signal, {
      allocations: [heldAllocation('a', { uid: 'old' })],
    });
    const annotations = { 'macvlan.default.kubernetes.io/ip_address': 'no address' };
    pods.put(podWithNetwork('a', { uid: 'new', annotations: { [networksAnnotation]: 'macvlan', ...annotations } }));
    controller.start();
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]).to.include({ podUid: 'old' });
  });

  for (const [annotation, value] of [
    ['ip_pool', '10.0.0.99,10.0.0.2'],
    ['ip_address', '10.0.0.2,fd00::2'],
  ] as const)
    it(`a Pod that is created again under its name loses the earlier address 10.0.0.2, which no owner retains, while its ${annotation} ${value} is refused`, async () => {
      const { pods, allocator, controller } = createPodControllerWorld(stop.signal, {
        allocations: [heldAllocation('a', { uid: 'old' })],
        longBackoff: true,
      });
      allocator.refuse = () =>
        allocator.released.length > 0 ? undefined : new IpledgerError('ADDRESS_IN_USE', 'used');
      const annotations = { [`macvlan.default.kubernetes.io/${annotation}`]: value };
      pods.put(podWithNetwork('a', { uid: 'new', annotations }));
      controller.start();
      await until(() => allocator.released.length === 1);
      expect(allocator.released[0]).to.include({ podUid: 'old' });
    });

  it('two Pods that are created again under their names, and request what the other one had, do not wait for each other', async () => {
    const macs = { a: '02:00:00:00:00:0a', b: '02:00:00:00:00:0b' };
    const earlier = (name: 'a' | 'b', seq: number) =>
      heldAllocation(name, { uid: `old-${name}`, seq, mac: macs[name] });
    const { pods, allocator, controller, sendEvents } = createPodControllerWorld(stop.signal, {
      allocations: [earlier('a', 7), earlier('b', 8)],
      longBackoff: true,
    });
    const freed = new Set<string>();
    const granted = new Set<string>();
    allocator.refuse = () => {
      const { name = '' } = allocator.allocated.at(-1)?.pod ?? {};
      if (!freed.has(name === 'a' ? 'b' : 'a')) return new IpledgerError('MAC_IN_USE', 'used');
      granted.add(name);
      return undefined;
    };
    allocator.release = (request) => {
      const name = request.pod === 'a' ? 'a' : 'b';
      allocator.released.push(request);
      freed.add(name);
      sendEvents(60 + freed.size, allocationEnded(earlier(name, name === 'a' ? 7 : 8)));
      return Promise.resolve({ position: { epoch: 1, seq: 60 + freed.size, hash: '' }, released: 1 });
    };
    for (const [name, mac] of [
      ['a', macs.b],
      ['b', macs.a],
    ] as const)
      pods.put(
        podWithNetwork(name, { uid: `new-${name}`, annotations: { 'macvlan.default.kubernetes.io/mac_address': mac } }),
      );
    controller.start();
    await until(() => granted.size === 2);
    expect(allocator.released.map(({ podUid }) => podUid)).to.have.members(['old-a', 'old-b']);
  });
});
