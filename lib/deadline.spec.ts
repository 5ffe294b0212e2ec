import { expect } from 'chai';
import fc from 'fast-check';
import { backoffMs, pause, unlessAborted, untilCalled, within } from './deadline.ts';

const anHourMs = 3_600_000;

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

describe('a pause', () => {
  it('ends by itself', async () => {
    await pause(1, new AbortController().signal);
  });

  it('ends at once, without throwing, when it is aborted', async () => {
    const controller = new AbortController();
    const paused = pause(anHourMs, controller.signal);
    controller.abort();
    await paused;
    await pause(anHourMs, controller.signal);
  });
});

describe('what is waited for unless that is aborted', () => {
  const never = new Promise<never>(() => undefined);

  it('is given when it comes first, or thrown', async () => {
    const { signal } = new AbortController();
    expect(await unlessAborted(Promise.resolve(7), signal)).to.equal(7);
    const failed = await unlessAborted(Promise.reject(new Error('lost')), signal).catch((error: unknown) => error);
    expect(failed).to.have.property('message', 'lost');
  });

  it('is not waited for any more when the signal is aborted, or was', async () => {
    const controller = new AbortController();
    const waiting = unlessAborted(never, controller.signal).catch((error: unknown) => error);
    const why = new Error('enough');
    controller.abort(why);
    expect(await waiting).to.equal(why);
    expect(await unlessAborted(never, controller.signal).catch((error: unknown) => error)).to.equal(why);
  });
});

describe('a call that is waited for', () => {
  let call: () => void;
  let listening: boolean;
  const wait = (signal: AbortSignal): Promise<void> =>
    untilCalled(signal, (called) => {
      [call, listening] = [called, true];
      return () => (listening = false);
    });

  it('ends the waiting, and the listening for it', async () => {
    const waiting = wait(new AbortController().signal);
    expect(listening).to.equal(true);
    call();
    await waiting;
    expect(listening).to.equal(false);
  });

  it('is not waited for any more when the signal is aborted, or was', async () => {
    const controller = new AbortController();
    const waiting = wait(controller.signal);
    controller.abort();
    await waiting;
    expect(listening).to.equal(false);
    await wait(controller.signal);
    expect(listening).to.equal(false);
  });
});

describe('within', () => {
  it('aborts when the time is over', async () => {
    const signal = within(1);
    await aborted(signal);
    expect(signal.reason).to.have.property('name', 'TimeoutError');
  });

  it('takes what is left of a budget, whatever that is', () => {
    within(anHourMs + 0.25);
    within(-0.5);
  });

  it('aborts with the signal that it was given', () => {
    const controller = new AbortController();
    const signal = within(anHourMs, controller.signal);
    expect(signal.aborted).to.equal(false);
    controller.abort(new Error('stopping'));
    expect(signal.aborted).to.equal(true);
    expect(signal.reason).to.have.property('message', 'stopping');
  });

  it('aborts when the time is over, though the signal that it was given never does', async () => {
    await aborted(within(1, new AbortController().signal));
  });
});

describe('a backoff', () => {
  it('doubles with each attempt up to the most, less a fifth at most', () => {
    fc.assert(
      fc.property(
        fc.nat(1_000),
        fc.integer({ min: 1, max: 1_000 }),
        fc.integer({ min: 1, max: 100 }),
        (attempt, firstMs, times) => {
          const mostMs = firstMs * times;
          const plain = attempt < 20 ? Math.min(mostMs, firstMs * 2 ** attempt) : mostMs;
          expect(backoffMs(attempt, firstMs, mostMs)).to.be.within(Math.floor(plain * 0.8), plain);
        },
      ),
    );
  });

  it('is not the same for everybody', () => {
    const waits = new Set(Array.from({ length: 100 }, () => backoffMs(10, 100, 60_000)));
    expect(waits.size).to.be.above(1);
  });
});
