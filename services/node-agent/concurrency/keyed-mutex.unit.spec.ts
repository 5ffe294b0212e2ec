import { expect } from 'chai';
import { getEventListeners } from 'node:events';
import { createKeyedMutex } from './keyed-mutex.ts';

const never = (): AbortSignal => new AbortController().signal;

/** Work that ends when `finish` is called. */
function controlledWork() {
  const { promise, resolve } = Promise.withResolvers<void>();
  let started = false;
  return {
    work: async () => {
      started = true;
      await promise;
    },
    finish: resolve,
    started: () => started,
  };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('Keyed mutex', () => {
  it('Keyed mutex runs work of one key one at a time in order, and work of different keys at the same time', async () => {
    const runExclusive = createKeyedMutex();
    const [first, second, other] = [controlledWork(), controlledWork(), controlledWork()];
    const running = [
      runExclusive('c1 net1', never(), first.work),
      runExclusive('c1 net1', never(), second.work),
      runExclusive('c1 net2', never(), other.work),
    ];
    await settled();
    expect([first.started(), second.started(), other.started()]).to.deep.equal([true, false, true]);
    first.finish();
    await settled();
    expect(second.started()).to.equal(true);
    second.finish();
    other.finish();
    await Promise.all(running);
  });

  it('Keyed mutex runs the next work after a failure, whose error only its own caller gets', async () => {
    const runExclusive = createKeyedMutex();
    const failed = runExclusive('k', never(), () => Promise.reject(new Error('mine'))).catch((error: unknown) => error);
    const next = runExclusive('k', never(), () => Promise.resolve('yours'));
    expect(await failed).to.have.property('message', 'mine');
    expect(await next).to.equal('yours');
  });

  it('Keyed mutex skips work whose caller disconnected, and keeps the order of the others', async () => {
    const runExclusive = createKeyedMutex();
    const [first, aborted, third] = [controlledWork(), controlledWork(), controlledWork()];
    const caller = new AbortController();
    const running = runExclusive('k', never(), first.work);
    const abortedRun = runExclusive('k', caller.signal, aborted.work).catch((error: unknown) => error);
    const waiting = runExclusive('k', never(), third.work);
    caller.abort();
    expect(await abortedRun).to.have.property('code', 'CANCELLED');
    await settled();
    expect(third.started()).to.equal(false);
    first.finish();
    await running;
    await settled();
    expect([aborted.started(), third.started()]).to.deep.equal([false, true]);
    third.finish();
    await waiting;
  });

  it('Keyed mutex leaves no listener on the caller’s signal', async () => {
    const runExclusive = createKeyedMutex();
    const { signal } = new AbortController();
    for (let times = 0; times < 3; times++) await runExclusive('k', signal, () => Promise.resolve());
    expect(getEventListeners(signal, 'abort')).to.deep.equal([]);
  });

  it('Keyed mutex rejects work when the key’s queue is full', async () => {
    const runExclusive = createKeyedMutex();
    const first = controlledWork();
    const running = [runExclusive('k', never(), first.work)];
    for (let i = 0; i < 15; i++) running.push(runExclusive('k', never(), () => Promise.resolve()));
    const rejected: unknown = await runExclusive('k', never(), () => Promise.resolve()).catch(
      (error: unknown) => error,
    );
    expect(rejected).to.have.property('code', 'OVERLOADED');
    first.finish();
    await Promise.all(running);
    expect(await runExclusive('k', never(), () => Promise.resolve('room again'))).to.equal('room again');
  });
});
