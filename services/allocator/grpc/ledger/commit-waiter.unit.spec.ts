import { expect } from 'chai';
import { CommitWaiter } from './watch.ts';

describe('CommitWaiter', () => {
  let listeners: Set<() => void>;
  let ended: AbortController;
  let waiter: CommitWaiter;
  const onCommitted = (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  const commit = (): void => {
    for (const listener of listeners) listener();
  };
  const never = 2 ** 30;
  beforeEach(() => {
    listeners = new Set();
    ended = new AbortController();
    waiter = new CommitWaiter({ onCommitted } as never, ended.signal);
  });

  it('CommitWaiter ends a wait at the next commit', async () => {
    const waiting = waiter.wait(never);
    commit();
    await waiting;
    expect(waiter.hasCommitted).to.be.true;
  });

  it('CommitWaiter does not wait after a commit, until it is reset', async () => {
    commit();
    await waiter.wait(never);
    waiter.reset();
    expect(waiter.hasCommitted).to.be.false;
    const waiting = waiter.wait(never);
    commit();
    await waiting;
  });

  it('a wait without a commit ends after its time', async () => {
    await waiter.wait(1);
    expect(waiter.hasCommitted).to.be.false;
  });

  it('a wait ends when the signal is aborted, and later waits end at once', async () => {
    const waiting = waiter.wait(never);
    ended.abort();
    await waiting;
    await waiter.wait(never);
    expect(waiter.hasCommitted).to.be.false;
  });

  it('CommitWaiter listens until it is stopped', () => {
    expect(listeners.size).to.equal(1);
    waiter.stop();
    expect(listeners.size).to.equal(0);
  });
});
