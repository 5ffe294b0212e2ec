/** In which order those who wait for an address get it. */
import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import { holding, podNamed, until } from '../fakes.ts';
import type { Pod } from '../kubernetes/objects.ts';
import type { Holding } from '../ledger/facts.ts';
import { ended, settled, unbound, wanting, worldOf, type WorldOptions } from './specification.ts';

const madeAt = (second: number, name: string): Pod =>
  wanting(name, { metadata: { creationTimestamp: `2026-01-31T08:00:${String(second).padStart(2, '0')}Z` } });

describe('those who wait for an address', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  /** A subnet with so many addresses, all taken; the given Pods have asked in vain, in this order. */
  async function full(names: readonly Pod[], options: WorldOptions = {}) {
    const there = worldOf(stop.signal, { patient: true, ...options });
    let free = 0;
    const served: string[] = [];
    there.allocator.refuse = () => {
      if (there.allocator.allocated.length === 0 || free === 0) return new IpledgerError('SUBNET_FULL', 'full');
      free -= 1;
      served.push(there.allocator.allocated.at(-1)?.pod?.name ?? '');
      return undefined;
    };
    there.reconciler.start();
    for (const [index, pod] of names.entries()) {
      there.pods.put(pod);
      await until(() => there.allocator.allocated.some((request) => request.pod?.name === pod.name));
      expect(index).to.be.lessThan(names.length);
    }
    let seq = 100;
    const release = (): void => {
      free += 1;
      there.facts(++seq, ended(holding(`other${seq}`)));
    };
    return { ...there, served, release };
  }

  it('get it as soon as it is free, in the order in which they were made', async () => {
    const { served, release } = await full([madeAt(3, 'c'), madeAt(1, 'a'), madeAt(2, 'b')]);
    for (const count of [1, 2, 3]) {
      release();
      await until(() => served.length === count);
    }
    expect(served).to.deep.equal(['a', 'b', 'c']);
  });

  it('do not stand behind Pods of a namespace that holds as many addresses as it may', async () => {
    const there = worldOf(stop.signal, { patient: true });
    const inOther = {
      annotations: { 'k8s.v1.cni.cncf.io/networks': 'default/macvlan' },
      metadata: { namespace: 'other', creationTimestamp: '2026-01-31T08:00:09Z' },
    };
    let mayServe = false;
    there.allocator.refuse = () => {
      const { namespace } = there.allocator.allocated.at(-1)?.pod ?? {};
      if (namespace === 'default') return new IpledgerError('NAMESPACE_QUOTA_EXCEEDED', 'the limit is 2');
      return mayServe ? undefined : new IpledgerError('SUBNET_FULL', 'full');
    };
    const asks = (): string[] => there.allocator.allocated.map(({ pod }) => pod?.name ?? '');
    there.reconciler.start();
    for (const pod of [...['a', 'b', 'c', 'd', 'e'].map((name, at) => madeAt(at, name)), podNamed('young', inOther)]) {
      there.pods.put(pod);
      await until(() => asks().includes(pod.name));
    }
    await settled();
    const before = asks().length;
    mayServe = true;
    there.facts(101, ended(holding('other', { namespace: 'third' })));
    await until(() => there.reconciler.waiting === 5);
    await settled();
    expect(asks().slice(before)).to.deep.equal(['young']);
    // A release of their own namespace is what they wait for.
    there.facts(102, ended(holding('mine')));
    await until(() => asks().slice(before).includes('a'));
  });

  it('get it when it has cooled down, which no event tells', async () => {
    const { served, release, allocator } = await full([madeAt(1, 'a')], { cooldownMs: 80 });
    const asked = allocator.allocated.length;
    release();
    await settled();
    expect([served.length, allocator.allocated.length]).to.deep.equal([0, asked]);
    await until(() => served.length === 1);
  });

  it('get what was released before the watcher started, when it has cooled down', async () => {
    const { served, allocator } = await full([madeAt(1, 'a')], { cooldownMs: 3_600_000 });
    allocator.refuse = () => (served.push('a'), undefined);
    await until(() => served.length === 1);
  });

  it('are asked before somebody younger who has just come', async () => {
    const { pods, served, allocator } = await full([madeAt(1, 'a')]);
    await new Promise((resolve) => setTimeout(resolve, 120));
    const before = allocator.allocated.length;
    pods.put(madeAt(2, 'b'));
    await until(() => allocator.allocated.length >= before + 2);
    expect(allocator.allocated.slice(before).map(({ pod }) => pod?.name)).to.deep.equal(['a', 'b']);
    expect(served).to.deep.equal([]);
  });

  it('by name are told at once: an address that cools down is given to who names it', async () => {
    const annotations = { 'macvlan.default.kubernetes.io/ip_address': '10.0.0.7' };
    const there = worldOf(stop.signal, { patient: true, cooldownMs: 3_600_000 });
    there.allocator.refuse = () => new IpledgerError('ADDRESS_IN_USE', 'in use');
    there.pods.put(wanting('a', { annotations }));
    there.reconciler.start();
    await until(() => there.allocator.allocated.length === 1);
    there.allocator.refuse = undefined;
    const address = { address: '10.0.0.7', cidr: '10.0.0.0/24', gateway: '10.0.0.1' };
    there.facts(60, ended(holding('other', { addresses: [address] })));
    await until(() => there.allocator.allocated.length === 2);
  });

  it('KO-2258 need no backoff of minutes: a hundred are served as a hundred addresses become free', async () => {
    const pods = Array.from({ length: 100 }, (_, index) => madeAt(index % 60, `p${index}`));
    const { served, release } = await full(pods);
    for (let count = 0; count < 100; count++) release();
    await until(() => served.length === 100);
  });

  const naming = (name: string, address: string): Pod =>
    wanting(name, { annotations: { 'macvlan.default.kubernetes.io/ip_address': address } });
  const holds = (name: string, address: string, seq: number): Holding =>
    holding(name, { seq, addresses: [{ address, cidr: '10.0.0.0/24', gateway: '10.0.0.1' }] });

  it('by name are woken by the address that they name, and by no other', async () => {
    const there = worldOf(stop.signal, { patient: true, cooldownMs: 3_600_000 });
    there.allocator.refuse = () => new IpledgerError('ADDRESS_IN_USE', 'in use');
    for (const index of [1, 2, 3]) there.pods.put(naming(`p${index}`, `10.0.0.10${index}`));
    there.reconciler.start();
    await until(() => there.reconciler.waiting === 3);
    there.allocator.allocated.length = 0;
    for (const [seq, last] of [2, 3].entries()) {
      there.facts(60 + seq, ended(holds('other', `10.0.0.10${last}`, 8)));
      await until(() => there.allocator.allocated.length > seq);
    }
    expect(there.allocator.allocated.map(({ pod }) => pod?.name)).to.deep.equal(['p2', 'p3']);
  });

  it('by name are woken when a container ends that may have answered on a released address, not while a Pod holds it', async () => {
    const held = holds('owner', '10.0.0.101', 8);
    const there = worldOf(stop.signal, { patient: true, cooldownMs: 3_600_000, holdings: [held] });
    there.allocator.refuse = () => new IpledgerError('ADDRESS_IN_USE', 'in use');
    for (const pod of [wanting('owner'), naming('a', '10.0.0.101'), naming('b', '10.0.0.102')]) there.pods.put(pod);
    there.reconciler.start();
    await until(() => there.reconciler.waiting === 2);
    there.allocator.allocated.length = 0;
    there.facts(60, unbound(held));
    there.facts(61, unbound(holds('gone', '10.0.0.102', 5)));
    await until(() => there.allocator.allocated.length > 0);
    expect(there.allocator.allocated.map(({ pod }) => pod?.name)).to.deep.equal(['b']);
  });

  it('for a MAC are woken when the Pod that has it gives it up', async () => {
    const mac = '02:00:00:00:00:0a';
    const held = holding('owner', { mac });
    const there = worldOf(stop.signal, { patient: true, cooldownMs: 3_600_000, holdings: [held] });
    there.allocator.refuse = () => new IpledgerError('MAC_IN_USE', 'in use');
    const annotations = { 'macvlan.default.kubernetes.io/mac_address': mac.toUpperCase() };
    for (const pod of [wanting('owner'), wanting('a', { annotations })]) there.pods.put(pod);
    there.reconciler.start();
    await until(() => there.reconciler.waiting === 1);
    there.allocator.allocated.length = 0;
    there.facts(60, ended(held));
    await until(() => there.allocator.allocated.some(({ pod }) => pod?.name === 'a'));
  });
});
