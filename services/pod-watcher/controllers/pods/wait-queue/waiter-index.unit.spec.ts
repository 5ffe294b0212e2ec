import { expect } from 'chai';
import { byCreation, UnservedNetworks, WaiterIndex } from './waiter-index.ts';

const topic = 'any:macvlan';
const queueOf = (index: WaiterIndex, of: string): string[] => index.waitersOf(of).map(({ pod }) => pod);
const on = (...topics: string[]): ReadonlySet<string> => new Set(topics);

describe('a waiting Pod', () => {
  it('a waiting Pod has its position in each queue by creation, not by arrival', () => {
    const index = new WaiterIndex();
    index.wait('default/young', on(topic, 'named:macvlan'), '2026-01-31T08:00:02Z u1');
    index.wait('default/old', on(topic), '2026-01-31T08:00:00Z u2');
    index.wait('default/b', on(topic), '2026-01-31T08:00:01Z u4');
    index.wait('default/a', on(topic), '2026-01-31T08:00:01Z u3');
    expect(queueOf(index, topic)).to.deep.equal(['default/old', 'default/a', 'default/b', 'default/young']);
    expect(queueOf(index, 'named:macvlan')).to.deep.equal(['default/young']);
  });

  it('a waiting Pod is only in the queues of its latest topics, and in none after its removal', () => {
    const index = new WaiterIndex();
    index.wait('default/a', on(topic), '1');
    index.wait('default/a', on('subnet:other'), '1');
    expect([queueOf(index, topic), queueOf(index, 'subnet:other')]).to.deep.equal([[], ['default/a']]);
    expect([index.has('default/a'), index.size]).to.deep.equal([true, 1]);
    for (let times = 0; times < 2; times++) {
      index.remove('default/a');
      expect([index.has('default/a'), index.size]).to.deep.equal([false, 0]);
    }
    expect(queueOf(index, 'subnet:other')).to.deep.equal([]);
  });

  it('a waiting Pod that was created again has the position of its new creation', () => {
    const index = new WaiterIndex();
    for (const [pod, order] of [
      ['a', '1'],
      ['b', '2'],
      ['a', '3'],
    ] as const)
      index.wait(`default/${pod}`, on(topic), order);
    expect(queueOf(index, topic)).to.deep.equal(['default/b', 'default/a']);
  });

  it('a waiting Pod is ahead of younger Pods, except for a short time after its own request', () => {
    const index = new WaiterIndex();
    for (const order of ['1', '2', '3']) index.wait(`default/p${order}`, on(topic), order);
    const ahead = (order: string, idleMs: number): string[] =>
      index.waitersAhead(topic, order, { max: 2, requestedBefore: performance.now() - idleMs });
    expect(ahead('2', -1)).to.deep.equal(['default/p1']);
    expect(ahead('9', -1)).to.deep.equal(['default/p1', 'default/p2']);
    index.markRequested('default/p1');
    expect(ahead('9', 60_000)).to.deep.equal([]);
    expect(ahead('1', -1)).to.deep.equal([]);
  });

  it('each attempt costs O(log n) comparisons with 10,000 waiting Pods', () => {
    let compared = 0;
    const index = new WaiterIndex((one, other) => ((compared += 1), byCreation(one, other)));
    const topics = on(topic, 'named:10.0.0.7', 'subnet:macvlan');
    // Adds older and younger Pods in any order.
    const orderOf = (number: number): string => String((number * 7_919) % 10_007).padStart(5, '0');
    for (let number = 0; number < 10_000; number++) index.wait(`default/p${number}`, topics, orderOf(number));
    for (let number = 0; number < 10_000; number += 997) {
      const key = `default/p${number}`;
      compared = 0;
      // Attempts once with a refusal and once with success, after which the Pod waits again.
      index.waitersAhead(topic, orderOf(number), { max: 4, requestedBefore: 0 });
      index.markRequested(key);
      index.wait(key, topics, orderOf(number));
      index.remove(key);
      index.wait(key, topics, orderOf(number));
      index.waitersOf(topic, { max: 4 });
      expect(compared).to.be.greaterThan(0).and.lessThan(150);
    }
  });
});

describe('the networks of a Pod that are not served', () => {
  const unserved = [{ about: 'macvlan', text: '' }] as unknown as Parameters<UnservedNetworks['put']>[2]['unserved'];
  const planOf = (...networks: string[]) => ({
    unserved: networks.length > 0 ? unserved : [],
    topics: new Set(['subnet:lan', ...networks.map((name) => `network:default/${name}`)]),
  });
  const podsOf = (networks: UnservedNetworks, ...names: string[]): (readonly string[])[] =>
    names.map((name) => networks.podsOf(`network:default/${name}`));

  it('the networks of a Pod that are not served are those of its latest plan, and none after its end', () => {
    const networks = new UnservedNetworks();
    const pending = { phase: 'Pending' } as const;
    networks.put('default/a', pending, planOf('one', 'two'));
    networks.put('default/b', pending, planOf('one'));
    expect(podsOf(networks, 'one', 'two')).to.deep.equal([['default/a', 'default/b'], ['default/a']]);
    expect(networks.podsOf('subnet:lan')).to.deep.equal([]);
    networks.put('default/a', pending, planOf('two'));
    expect(podsOf(networks, 'one', 'two')).to.deep.equal([['default/b'], ['default/a']]);
    networks.put('default/a', pending, planOf());
    networks.forget('default/b');
    expect(podsOf(networks, 'one', 'two')).to.deep.equal([[], []]);
  });

  it('the networks of a Pod that are not served are of no interest once it runs', () => {
    const networks = new UnservedNetworks();
    networks.put('default/a', { phase: 'Pending' }, planOf('one'));
    networks.put('default/a', { phase: 'Running' }, planOf('one'));
    expect(podsOf(networks, 'one')).to.deep.equal([[]]);
  });
});
