import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { createSemaphore } from '../../../lib/process/semaphore.ts';
import { SharedReads, shareFor } from './share.ts';

describe('shareFor', () => {
  it('shareFor reads once for all viewers that need the result at the same time', async () => {
    let count = 0;
    const read = shareFor(60_000, async () => ++count);
    expect(await Promise.all([read(), read(), read()])).to.deep.equal([1, 1, 1]);
    expect(await read()).to.equal(1);
  });

  it('shareFor waits for a read that takes longer than its result is kept, in place of another one', async () => {
    let count = 0;
    const replied = Promise.withResolvers<void>();
    const read = shareFor(0, async () => {
      count++;
      await replied.promise;
    });
    const all = [read(), read()];
    replied.resolve();
    await Promise.all(all);
    expect(count).to.equal(1);
  });

  it('shareFor reads again when the result is too old, and after a failure', async () => {
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

describe('SharedReads', () => {
  const staying = new AbortController().signal;
  /** A read whose reply the spec sends. */
  const slow = () => {
    const reply = Promise.withResolvers<string>();
    const signals: AbortSignal[] = [];
    const call = (signal: AbortSignal): Promise<string> => {
      signals.push(signal);
      return reply.promise;
    };
    return { reply, signals, call };
  };
  const keptForLong = { maxKept: 2, maxAgeMs: () => 60_000 };

  it('SharedReads keeps the results that were used last', async () => {
    const reads: string[] = [];
    const shared = new SharedReads<number>(keptForLong);
    for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) await shared.read(key, staying, async () => reads.push(key));
    expect(reads).to.deep.equal(['a', 'b', 'c', 'b']);
  });

  it('SharedReads keeps a read that a caller waits for, however many others follow', async () => {
    const { reply, signals, call } = slow();
    const shared = new SharedReads<string>(keptForLong);
    const first = shared.read('a', staying, call);
    for (const key of ['b', 'c', 'd']) await shared.read(key, staying, async () => key);
    const second = shared.read('a', staying, call);
    reply.resolve('a');
    expect([await first, await second, signals.length]).to.deep.equal(['a', 'a', 1]);
  });

  it('SharedReads ends a read when all of its callers have gone, and not before', async () => {
    const { signals, call } = slow();
    const shared = new SharedReads<string>(keptForLong);
    const [one, other] = [new AbortController(), new AbortController()];
    const calls = [one, other].map(({ signal }) =>
      shared.read('a', signal, call).catch((error: unknown) => (error as Error).message),
    );
    one.abort(new Error('one has gone'));
    expect([await calls[0], signals[0]?.aborted]).to.deep.equal(['one has gone', false]);
    other.abort(new Error('the other has gone'));
    expect([await calls[1], signals[0]?.aborted]).to.deep.equal(['the other has gone', true]);
    expect(await shared.read('a', staying, async () => 'again')).to.equal('again');
  });

  it('SharedReads leaves the queue when all callers of a read have gone', async () => {
    const { reply, call } = slow();
    const shared = new SharedReads<string>({ ...keptForLong, limited: createSemaphore(1, 1) });
    const first = shared.read('a', staying, call);
    for (let count = 0; count < 3; count++) {
      const leaving = new AbortController();
      const gone = shared.read('b', leaving.signal, call).catch((error: unknown) => (error as Error).message);
      leaving.abort(new Error('gone'));
      expect(await gone).to.equal('gone');
    }
    const last = shared.read('c', staying, async () => 'c');
    reply.resolve('a');
    expect([await first, await last]).to.deep.equal(['a', 'c']);
  });

  it('SharedReads reads again after a change, also while an earlier read is in progress', async () => {
    const { reply, call } = slow();
    const shared = new SharedReads<string>(keptForLong);
    const before = shared.read('a', staying, call);
    shared.forgetAll();
    expect(await shared.read('a', staying, async () => 'changed')).to.equal('changed');
    reply.resolve('before');
    expect([await before, await shared.read('a', staying, call)]).to.deep.equal(['before', 'changed']);
  });
});
