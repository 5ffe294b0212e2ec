/** Tests the order in which waiting Pods get an address. */
import { expect } from 'chai';
import { IpledgerError } from '../../../../../lib/errors.ts';
import { heldAllocation, podNamed, until } from '../../../testing/fakes.ts';
import type { Pod } from '../../../kubernetes/objects/pod.ts';
import type { HeldAllocation } from '../../../ledger/ledger-events.ts';
import {
  allocationEnded,
  waitForIdle,
  bindingEnded,
  macvlan,
  mirrorWithNetwork,
  podWithNetwork,
  createPodControllerWorld,
  type PodControllerWorldOptions,
} from '../testing/pod-controller-world.ts';

const createdAt = (second: number, name: string): Pod =>
  podWithNetwork(name, { metadata: { creationTimestamp: `2026-01-31T08:00:${String(second).padStart(2, '0')}Z` } });

const podWithAddress = (name: string, address: string): Pod =>
  podWithNetwork(name, { annotations: { 'macvlan.default.kubernetes.io/ip_address': address } });

describe('Pods that wait for an address', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  /** Makes a full subnet, which refused these Pods in this order. */
  async function createFullSubnet(waiting: readonly Pod[], options: PodControllerWorldOptions = {}) {
    const created = createPodControllerWorld(stop.signal, { longBackoff: true, ...options });
    const { allocator } = created;
    let free = 0;
    const served: string[] = [];
    allocator.refuse = () => {
      if (allocator.allocated.length === 0 || free === 0) return new IpledgerError('SUBNET_FULL', 'full');
      free -= 1;
      served.push(allocator.allocated.at(-1)?.pod?.name ?? '');
      return undefined;
    };
    created.controller.start();
    for (const pod of waiting) {
      created.pods.put(pod);
      await until(() => allocator.allocated.some((request) => request.pod?.name === pod.name));
    }
    let seq = 100;
    const release = (): void => {
      free += 1;
      created.sendEvents(++seq, allocationEnded(heldAllocation(`other${seq}`)));
    };
    return { ...created, served, release };
  }

  it('AN-7996 Pods that wait for an address get it as soon as it is free, in creation order', async () => {
    const { served, release } = await createFullSubnet([createdAt(3, 'c'), createdAt(1, 'a'), createdAt(2, 'b')]);
    for (const count of [1, 2, 3]) {
      release();
      await until(() => served.length === count);
    }
    expect(served).to.deep.equal(['a', 'b', 'c']);
  });

  it('Pods that wait for an address do not wait behind Pods of a namespace that has reached its quota', async () => {
    const world = createPodControllerWorld(stop.signal, { longBackoff: true });
    const inOther = {
      annotations: { 'k8s.v1.cni.cncf.io/networks': 'default/macvlan' },
      metadata: { namespace: 'other', creationTimestamp: '2026-01-31T08:00:09Z' },
    };
    let isFree = false;
    world.allocator.refuse = () => {
      const { namespace } = world.allocator.allocated.at(-1)?.pod ?? {};
      if (namespace === 'default') return new IpledgerError('NAMESPACE_QUOTA_EXCEEDED', 'the limit is 2');
      return isFree ? undefined : new IpledgerError('SUBNET_FULL', 'full');
    };
    const requests = (): string[] => world.allocator.allocated.map(({ pod }) => pod?.name ?? '');
    world.controller.start();
    for (const pod of [
      ...['a', 'b', 'c', 'd', 'e'].map((name, at) => createdAt(at, name)),
      podNamed('young', inOther),
    ]) {
      world.pods.put(pod);
      await until(() => requests().includes(pod.name));
    }
    await waitForIdle();
    const before = requests().length;
    isFree = true;
    world.sendEvents(101, allocationEnded(heldAllocation('other', { namespace: 'third' })));
    await until(() => world.controller.waitingPods === 5);
    await waitForIdle();
    expect(requests().slice(before)).to.deep.equal(['young']);
    // Releases an address of the namespace for which the other Pods wait.
    world.sendEvents(102, allocationEnded(heldAllocation('mine')));
    await until(() => requests().slice(before).includes('a'));
  });

  it('CA-12496 Pods that wait for an address get it when its cooldown ends, which has no event', async () => {
    const { served, release, allocator } = await createFullSubnet([createdAt(1, 'a')], { cooldownMs: 80 });
    const requested = allocator.allocated.length;
    release();
    await waitForIdle();
    expect([served.length, allocator.allocated.length]).to.deep.equal([0, requested]);
    await until(() => served.length === 1);
  });

  it('Pods that wait for an address get an address that was released before the watcher started, when its cooldown ends', async () => {
    const { served, allocator } = await createFullSubnet([createdAt(1, 'a')], { cooldownMs: 3_600_000 });
    allocator.refuse = () => (served.push('a'), undefined);
    await until(() => served.length === 1);
  });

  it('Pods that wait for an address are tried before a younger Pod that was just created', async () => {
    const { pods, served, allocator } = await createFullSubnet([createdAt(1, 'a')]);
    await new Promise((resolve) => setTimeout(resolve, 120));
    const before = allocator.allocated.length;
    pods.put(createdAt(2, 'b'));
    await until(() => allocator.allocated.length >= before + 2);
    expect(allocator.allocated.slice(before).map(({ pod }) => pod?.name)).to.deep.equal(['a', 'b']);
    expect(served).to.deep.equal([]);
  });

  it('a Pod that is created again while its name waits for an address does not let its own earlier request go first', async () => {
    const { pods, allocator } = await createFullSubnet([createdAt(1, 'a')]);
    await new Promise((resolve) => setTimeout(resolve, 120));
    pods.put({ ...createdAt(2, 'a'), uid: 'uid-next', ledgerUid: 'uid-next' });
    await until(() => allocator.allocated.some(({ pod }) => pod?.uid === 'uid-next'));
  });

  it('a Pod does not wait for an older static Pod whose mirror is outdated, and which requests nothing', async () => {
    const [hash, nextHash] = ['1', '2'].map((digit) => digit.repeat(32)) as [string, string];
    const { pods, allocator, api, lookedUp, sendEvents } = await createFullSubnet([
      { ...mirrorWithNetwork('a', hash), createdAt: createdAt(1, 'a').createdAt },
    ]);
    api.set('default/a', mirrorWithNetwork('a', nextHash));
    sendEvents(60, { kind: 'allocated', allocation: heldAllocation('a', { uid: nextHash, seq: 60 }) });
    await until(() => lookedUp.length > 0);
    await new Promise((resolve) => setTimeout(resolve, 120));
    pods.put(createdAt(2, 'b'));
    const isServed = (): boolean => allocator.allocated.some(({ pod }) => pod?.name === 'b');
    await until(() => isServed() || lookedUp.length > 100);
    expect(isServed()).to.equal(true);
  });

  it('a Pod does not wait for an older Pod whose attempts fail before its request', async () => {
    const { pods, allocator, networks, sendEvents } = await createFullSubnet([createdAt(1, 'a')]);
    let attempts = 0;
    networks.put({ ...macvlan, name: 'other', config: macvlan.config.replace('macvlan.default', 'other.default') });
    allocator.release = () => (attempts++, Promise.reject(new IpledgerError('LEDGER_FROZEN', 'frozen')));
    const detached = heldAllocation('a', { provider: 'other.default', seq: 60 });
    sendEvents(60, { kind: 'allocated', allocation: detached });
    await until(() => attempts > 0);
    await new Promise((resolve) => setTimeout(resolve, 120));
    pods.put(createdAt(2, 'b'));
    const isServed = (): boolean => allocator.allocated.some(({ pod }) => pod?.name === 'b');
    await until(() => isServed() || attempts > 100);
    expect(isServed()).to.equal(true);
  });

  it('Pods that wait for an address are tried before a younger Pod of another namespace, but not all Pods of their own', async () => {
    const { pods, allocator } = await createFullSubnet([createdAt(1, 'a')]);
    await new Promise((resolve) => setTimeout(resolve, 120));
    const before = allocator.allocated.length;
    for (let index = 0; index < 1_000; index++)
      pods.put({ ...podWithAddress(`many${index}`, '10.0.0.7'), createdAt: createdAt(5, 'many').createdAt });
    const annotations = { 'k8s.v1.cni.cncf.io/networks': 'default/macvlan' };
    const metadata = { namespace: 'other', creationTimestamp: '2026-01-31T08:00:09Z' };
    pods.put(podNamed('young', { annotations, metadata }));
    const requests = (): string[] => allocator.allocated.slice(before).map(({ pod }) => pod?.name ?? '');
    await until(() => requests().includes('young'));
    // Allows for Pods that are in progress during the turns of `a` and `young`, and for no others.
    expect(requests().indexOf('young')).to.be.lessThan(500);
    expect(requests().indexOf('a')).to.be.within(0, requests().indexOf('young'));
  });

  it('Pods that wait for an address get it during its cooldown if they request it by name', async () => {
    const annotations = { 'macvlan.default.kubernetes.io/ip_address': '10.0.0.7' };
    const world = createPodControllerWorld(stop.signal, { longBackoff: true, cooldownMs: 3_600_000 });
    world.allocator.refuse = () => new IpledgerError('ADDRESS_IN_USE', 'in use');
    world.pods.put(podWithNetwork('a', { annotations }));
    world.controller.start();
    await until(() => world.allocator.allocated.length === 1);
    world.allocator.refuse = undefined;
    const address = { address: '10.0.0.7', cidr: '10.0.0.0/24', gateway: '10.0.0.1' };
    world.sendEvents(60, allocationEnded(heldAllocation('other', { addresses: [address] })));
    await until(() => world.allocator.allocated.length === 2);
  });

  it('KO-2258 100 Pods that wait for an address are served without a backoff when 100 addresses become free', async () => {
    const pods = Array.from({ length: 100 }, (_, index) => createdAt(index % 60, `p${index}`));
    const { served, release } = await createFullSubnet(pods);
    for (let count = 0; count < 100; count++) release();
    await until(() => served.length === 100);
  });

  const allocationOf = (name: string, address: string, seq: number): HeldAllocation =>
    heldAllocation(name, { seq, addresses: [{ address, cidr: '10.0.0.0/24', gateway: '10.0.0.1' }] });

  it('Pods that wait for an address wait no longer once they are deleted', async () => {
    const deleted = createdAt(1, 'a');
    const { pods, controller, allocator, served, release } = await createFullSubnet([deleted, createdAt(2, 'b')]);
    await until(() => controller.waitingPods === 2);
    pods.drop({ ...deleted, deletionTimestamp: '2026-01-31T08:01:00Z' });
    await waitForIdle();
    expect(controller.waitingPods).to.equal(1);
    const before = allocator.allocated.length;
    release();
    await until(() => served.length === 1);
    expect(served).to.deep.equal(['b']);
    expect(allocator.allocated.slice(before).map(({ pod }) => pod?.name)).to.deep.equal(['b']);
  });

  it('Pods that wait for an address by name are woken only by that address', async () => {
    const world = createPodControllerWorld(stop.signal, { longBackoff: true, cooldownMs: 3_600_000 });
    world.allocator.refuse = () => new IpledgerError('ADDRESS_IN_USE', 'in use');
    for (const index of [1, 2, 3]) world.pods.put(podWithAddress(`p${index}`, `10.0.0.10${index}`));
    world.controller.start();
    await until(() => world.controller.waitingPods === 3);
    world.allocator.allocated.length = 0;
    for (const [seq, last] of [2, 3].entries()) {
      world.sendEvents(60 + seq, allocationEnded(allocationOf('other', `10.0.0.10${last}`, 8)));
      await until(() => world.allocator.allocated.length > seq);
    }
    expect(world.allocator.allocated.map(({ pod }) => pod?.name)).to.deep.equal(['p2', 'p3']);
  });

  it('Pods that wait for an address are woken when a container is unbound from a released address, but not from a held one', async () => {
    const held = allocationOf('owner', '10.0.0.101', 8);
    const world = createPodControllerWorld(stop.signal, {
      longBackoff: true,
      cooldownMs: 3_600_000,
      allocations: [held],
    });
    world.allocator.refuse = () => new IpledgerError('ADDRESS_IN_USE', 'in use');
    for (const pod of [podWithNetwork('owner'), podWithAddress('a', '10.0.0.101'), podWithAddress('b', '10.0.0.102')])
      world.pods.put(pod);
    world.controller.start();
    await until(() => world.controller.waitingPods === 2);
    world.allocator.allocated.length = 0;
    world.sendEvents(60, bindingEnded(held));
    world.sendEvents(61, bindingEnded(allocationOf('ended', '10.0.0.102', 5)));
    await until(() => world.allocator.allocated.length > 0);
    expect(world.allocator.allocated.map(({ pod }) => pod?.name)).to.deep.equal(['b']);
  });

  it('Pods that wait for a MAC are woken by its release, and by the end of its container', async () => {
    const mac = '02:00:00:00:00:0a';
    const held = heldAllocation('owner', { mac });
    const world = createPodControllerWorld(stop.signal, {
      longBackoff: true,
      cooldownMs: 3_600_000,
      allocations: [held],
    });
    world.allocator.refuse = () => new IpledgerError('MAC_IN_USE', 'in use');
    const annotations = { 'macvlan.default.kubernetes.io/mac_address': mac.toUpperCase() };
    for (const pod of [podWithNetwork('owner'), podWithNetwork('a', { annotations })]) world.pods.put(pod);
    world.controller.start();
    await until(() => world.controller.waitingPods === 1);
    world.allocator.allocated.length = 0;
    world.sendEvents(60, allocationEnded(held));
    const hasTried = (): boolean => world.allocator.allocated.some(({ pod }) => pod?.name === 'a');
    await until(hasTried);
    // Waits until both Pods wait for the end of the first Pod's container.
    await until(() => world.controller.waitingPods === 2);
    await waitForIdle();
    world.allocator.allocated.length = 0;
    world.sendEvents(61, bindingEnded(held));
    await until(hasTried);
  });
});
