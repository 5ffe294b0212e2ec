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
