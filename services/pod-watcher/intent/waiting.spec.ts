import { expect } from 'chai';
import { byAge, Waiting } from './waiting.ts';

const topic = 'any:macvlan';
const line = (waiting: Waiting, of: string): string[] => waiting.on(of).map(({ pod }) => pod);
const on = (...topics: string[]): ReadonlySet<string> => new Set(topics);

describe('who waits', () => {
  it('stands in each of its lines by its age, however late it came', () => {
    const waiting = new Waiting();
    waiting.wait('default/young', on(topic, 'named:macvlan'), '2026-01-31T08:00:02Z u1');
    waiting.wait('default/old', on(topic), '2026-01-31T08:00:00Z u2');
    waiting.wait('default/b', on(topic), '2026-01-31T08:00:01Z u4');
    waiting.wait('default/a', on(topic), '2026-01-31T08:00:01Z u3');
    expect(line(waiting, topic)).to.deep.equal(['default/old', 'default/a', 'default/b', 'default/young']);
    expect(line(waiting, 'named:macvlan')).to.deep.equal(['default/young']);
  });

  it('waits for what it said last, and no more when it was served', () => {
    const waiting = new Waiting();
    waiting.wait('default/a', on(topic), '1');
    waiting.wait('default/a', on('subnet:other'), '1');
    expect([line(waiting, topic), line(waiting, 'subnet:other')]).to.deep.equal([[], ['default/a']]);
    expect([waiting.end('default/a'), waiting.end('default/a'), waiting.has('default/a')]).to.deep.equal([
      true,
      false,
      false,
    ]);
    expect(line(waiting, 'subnet:other')).to.deep.equal([]);
  });

  it('goes before who is younger, but for a moment after it has asked', () => {
    const waiting = new Waiting();
    for (const age of ['1', '2', '3']) waiting.wait(`default/p${age}`, on(topic), age);
    const ahead = (age: string, idleMs: number): string[] =>
      waiting.ahead(topic, age, { most: 2, since: performance.now() - idleMs });
    expect(ahead('2', -1)).to.deep.equal(['default/p1']);
    expect(ahead('9', -1)).to.deep.equal(['default/p1', 'default/p2']);
    waiting.asks('default/p1');
    expect(ahead('9', 60_000)).to.deep.equal([]);
    expect(ahead('1', -1)).to.deep.equal([]);
  });

  it('costs a turn a logarithm of how many wait: a few comparisons with 10,000 in the line', () => {
    let compared = 0;
    const waiting = new Waiting((one, other) => ((compared += 1), byAge(one, other)));
    const topics = on(topic, 'named:10.0.0.7', 'subnet:macvlan');
    // Older and younger ones come as it happens.
    const ageOf = (index: number): string => String((index * 7_919) % 10_007).padStart(5, '0');
    for (let index = 0; index < 10_000; index++) waiting.wait(`default/p${index}`, topics, ageOf(index));
    for (let index = 0; index < 10_000; index += 997) {
      const key = `default/p${index}`;
      compared = 0;
      // What a turn does that is refused, and one that is served and comes again.
      waiting.ahead(topic, ageOf(index), { most: 4, since: 0 });
      waiting.asks(key);
      waiting.wait(key, topics, ageOf(index));
      waiting.end(key);
      waiting.wait(key, topics, ageOf(index));
      waiting.on(topic, { most: 4 });
      expect(compared).to.be.greaterThan(0).and.lessThan(150);
    }
  });
});
