import { expect } from 'chai';
import { Waiting } from './waiting.ts';

const topic = 'any:macvlan';
const on = (...topics: string[]): ReadonlySet<string> => new Set(topics);

describe('who waits', () => {
  it('stands in each of its lines by its age, however late it came', () => {
    const waiting = new Waiting();
    waiting.wait('default/young', on(topic, 'named:macvlan'), '2026-01-31T08:00:02Z u1');
    waiting.wait('default/old', on(topic), '2026-01-31T08:00:00Z u2');
    waiting.wait('default/b', on(topic), '2026-01-31T08:00:01Z u4');
    waiting.wait('default/a', on(topic), '2026-01-31T08:00:01Z u3');
    expect(waiting.on(topic)).to.deep.equal(['default/old', 'default/a', 'default/b', 'default/young']);
    expect(waiting.on('named:macvlan')).to.deep.equal(['default/young']);
  });

  it('waits for what it said last, and no more when it was served', () => {
    const waiting = new Waiting();
    waiting.wait('default/a', on(topic), '1');
    waiting.wait('default/a', on('subnet:other'), '1');
    expect([waiting.on(topic), waiting.on('subnet:other')]).to.deep.equal([[], ['default/a']]);
    expect([waiting.end('default/a'), waiting.end('default/a'), waiting.has('default/a')]).to.deep.equal([
      true,
      false,
      false,
    ]);
    expect(waiting.on('subnet:other')).to.deep.equal([]);
  });

  it('goes before who is younger, but for a moment after it has asked', () => {
    const waiting = new Waiting();
    for (const age of ['1', '2', '3']) waiting.wait(`default/p${age}`, on(topic), age);
    const ahead = (age: string, idleMs: number): string[] => waiting.ahead(topic, age, { most: 2, idleMs });
    expect(ahead('2', -1)).to.deep.equal(['default/p1']);
    expect(ahead('9', -1)).to.deep.equal(['default/p1', 'default/p2']);
    waiting.asks('default/p1');
    expect(ahead('9', 60_000)).to.deep.equal([]);
    expect(ahead('1', -1)).to.deep.equal([]);
  });
});
