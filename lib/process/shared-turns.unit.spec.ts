import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { SharedTurns } from './shared-turns.ts';

describe('Shared turns', () => {
  it('pieces of all callers wait for the later turn after a turn with a piece, also those of a caller that waits for its piece before', async () => {
    const later: (() => void)[] = [];
    const turns = new SharedTurns(0, (run) => void later.push(run));
    const done: string[] = [];
    const work = async (name: string): Promise<void> => {
      for (const piece of [1, 2]) await turns.do(() => done.push(`${name}${piece}`));
    };
    const all = Promise.all([work('a'), work('b')]);
    const seen: string[] = [];
    for (let count = 0; count < 6; count++) {
      for (let wait = 0; wait < 3; wait++) await turn();
      seen.push(done.join(' '));
      later.shift()?.();
    }
    await all;
    // A share of no time has one piece in each turn.
    expect(seen).to.deep.equal(['a1', 'a1 b1', 'a1 b1 a2', 'a1 b1 a2 b2', 'a1 b1 a2 b2', 'a1 b1 a2 b2']);
  });

  it('a piece that comes after a later turn without pieces runs in the next turn', async () => {
    const later: (() => void)[] = [];
    const turns = new SharedTurns(1, (run) => void later.push(run));
    await turns.do(() => undefined);
    later.shift()?.();
    expect(await turns.do(() => 7)).to.equal(7);
  });

  it('pieces that wait run in the same turn while its share lasts', async () => {
    const turns = new SharedTurns(Infinity, () => undefined);
    const done: string[] = [];
    for (const name of ['a', 'b', 'c']) void turns.do(() => done.push(name));
    for (let wait = 0; wait < 3; wait++) await turn();
    expect(done).to.deep.equal(['a', 'b', 'c']);
  });

  it('a map of 25 items maps each item once and in order, also those of a last piece that is not full', async () => {
    const items = Array.from({ length: 25 }, (_, index) => index);
    const mapped: number[] = [];
    const results = await new SharedTurns(Infinity).map(items, (item) => mapped.push(item) * 2);
    expect(mapped).to.deep.equal(items);
    expect(results).to.deep.equal(items.map((item) => (item + 1) * 2));
  });

  it('a piece of another caller runs between the pieces of a long map', async () => {
    const turns = new SharedTurns(Infinity);
    const done: string[] = [];
    const items = Array.from({ length: 25 }, () => 'item');
    const map = turns.map(items, (item) => done.push(item));
    const other = turns.do(() => done.push('other'));
    await Promise.all([map, other]);
    expect(done).to.have.length(26);
    expect(done.indexOf('other')).to.be.within(1, 24);
  });

  it('an error of a piece rejects its call, and the other pieces run', async () => {
    const turns = new SharedTurns(1);
    const failed = turns.do(() => {
      throw new Error('failed');
    });
    const other = turns.do(() => 7);
    expect(await failed.catch((error: unknown) => String(error))).to.equal('Error: failed');
    expect(await other).to.equal(7);
  });
});
