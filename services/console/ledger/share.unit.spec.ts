import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { shareByKey, shareFor } from './share.ts';

describe('shareFor', () => {
  it('reads once for all viewers that need the result at the same time', async () => {
    let count = 0;
    const read = shareFor(60_000, async () => ++count);
    expect(await Promise.all([read(), read(), read()])).to.deep.equal([1, 1, 1]);
    expect(await read()).to.equal(1);
  });

  it('reads again when the result is too old, and after a failure', async () => {
    let count = 0;
    const always = shareFor(0, async () => ++count);
    expect([await always(), await always()]).to.deep.equal([1, 2]);
    const failing = shareFor(60_000, () =>
      ++count === 3 ? Promise.reject(new Error('away')) : Promise.resolve(count),
    );
    expect(await failing().catch((error: unknown) => (error as Error).message)).to.equal('away');
    await setImmediate();
    expect(await failing()).to.equal(4);
  });
});

describe('shareByKey', () => {
  it('keeps the most recently used results', async () => {
    const read: string[] = [];
    const shared = shareByKey(
      2,
      () => 60_000,
      async (key) => void read.push(key),
    );
    for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) await shared(key);
    expect(read).to.deep.equal(['a', 'b', 'c', 'b']);
  });
});
