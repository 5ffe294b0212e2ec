import { expect } from 'chai';
import { getEventListeners } from 'node:events';
import { createTurns } from './turns.ts';

const never = (): AbortSignal => new AbortController().signal;

/** Work that ends when it is told to. */
function step() {
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

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('turns', () => {
  it('run one at a time for a key, in the order of asking, and side by side for different keys', async () => {
    const inTurn = createTurns();
    const [first, second, other] = [step(), step(), step()];
    const running = [
      inTurn('c1 net1', never(), first.work),
      inTurn('c1 net1', never(), second.work),
      inTurn('c1 net2', never(), other.work),
    ];
    await settle();
    expect([first.started(), second.started(), other.started()]).to.deep.equal([true, false, true]);
    first.finish();
    await settle();
    expect(second.started()).to.equal(true);
    second.finish();
    other.finish();
    await Promise.all(running);
  });

  it('pass on when the one before fails, with its error to its own caller only', async () => {
    const inTurn = createTurns();
    const failed = inTurn('k', never(), () => Promise.reject(new Error('mine'))).catch((error: unknown) => error);
    const next = inTurn('k', never(), () => Promise.resolve('yours'));
    expect(await failed).to.have.property('message', 'mine');
    expect(await next).to.equal('yours');
  });

  it('are given up by a caller that is gone, and the order of the others stays', async () => {
    const inTurn = createTurns();
    const [first, gone, third] = [step(), step(), step()];
    const caller = new AbortController();
    const running = inTurn('k', never(), first.work);
    const leaving = inTurn('k', caller.signal, gone.work).catch((error: unknown) => error);
    const waiting = inTurn('k', never(), third.work);
    caller.abort();
    expect(await leaving).to.have.property('code', 'CANCELLED');
    await settle();
    expect(third.started()).to.equal(false);
    first.finish();
    await running;
    await settle();
    expect([gone.started(), third.started()]).to.deep.equal([false, true]);
    third.finish();
    await waiting;
  });

  it('leave nothing on the signal of their caller', async () => {
    const inTurn = createTurns();
    const { signal } = new AbortController();
    for (let turn = 0; turn < 3; turn++) await inTurn('k', signal, () => Promise.resolve());
    expect(getEventListeners(signal, 'abort')).to.deep.equal([]);
  });

  it('have a longest line', async () => {
    const inTurn = createTurns();
    const first = step();
    const running = [inTurn('k', never(), first.work)];
    for (let i = 0; i < 15; i++) running.push(inTurn('k', never(), () => Promise.resolve()));
    const refused: unknown = await inTurn('k', never(), () => Promise.resolve()).catch((error: unknown) => error);
    expect(refused).to.have.property('code', 'OVERLOADED');
    first.finish();
    await Promise.all(running);
    expect(await inTurn('k', never(), () => Promise.resolve('room again'))).to.equal('room again');
  });
});
