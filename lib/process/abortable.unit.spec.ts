import { expect } from 'chai';
import fc from 'fast-check';
import { backoffMs, pause, rejectWhenAborted, waitForCallback, timeoutSignal } from './abortable.ts';

const anHourMs = 3_600_000;

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

describe('pause', () => {
  it('pause resolves after its time', async () => {
    await pause(1, new AbortController().signal);
  });

  it('pause resolves immediately when it is aborted', async () => {
    const controller = new AbortController();
    const paused = pause(anHourMs, controller.signal);
    controller.abort();
    await paused;
    await pause(anHourMs, controller.signal);
  });
});

describe('rejectWhenAborted', () => {
  const never = new Promise<never>(() => undefined);

  it('rejectWhenAborted returns the result or the error of the promise', async () => {
    const { signal } = new AbortController();
    expect(await rejectWhenAborted(Promise.resolve(7), signal)).to.equal(7);
    const failed = await rejectWhenAborted(Promise.reject(new Error('lost')), signal).catch((error: unknown) => error);
    expect(failed).to.have.property('message', 'lost');
  });

  it('rejectWhenAborted rejects when the signal is aborted, or already was', async () => {
    const controller = new AbortController();
    const waiting = rejectWhenAborted(never, controller.signal).catch((error: unknown) => error);
    const why = new Error('enough');
    controller.abort(why);
    expect(await waiting).to.equal(why);
    expect(await rejectWhenAborted(never, controller.signal).catch((error: unknown) => error)).to.equal(why);
  });
});

describe('waitForCallback', () => {
  let call: () => void;
  let listening: boolean;
  const wait = (signal: AbortSignal): Promise<void> =>
    waitForCallback(signal, (called) => {
      [call, listening] = [called, true];
      return () => (listening = false);
    });

  it('waitForCallback resolves when the function is called, and removes its listener', async () => {
    const waiting = wait(new AbortController().signal);
    expect(listening).to.equal(true);
    call();
    await waiting;
    expect(listening).to.equal(false);
  });

  it('waitForCallback resolves when the signal is aborted, or already was', async () => {
    const controller = new AbortController();
    const waiting = wait(controller.signal);
    controller.abort();
    await waiting;
    expect(listening).to.equal(false);
    await wait(controller.signal);
    expect(listening).to.equal(false);
  });
});

describe('timeoutSignal', () => {
  it('timeoutSignal aborts after its time', async () => {
    const signal = timeoutSignal(1);
    await aborted(signal);
    expect(signal.reason).to.have.property('name', 'TimeoutError');
  });

  it('timeoutSignal accepts fractions and negative numbers', () => {
    timeoutSignal(anHourMs + 0.25);
    timeoutSignal(-0.5);
  });

  it('timeoutSignal aborts with its signal', () => {
    const controller = new AbortController();
    const signal = timeoutSignal(anHourMs, controller.signal);
    expect(signal.aborted).to.equal(false);
    controller.abort(new Error('stopping'));
    expect(signal.aborted).to.equal(true);
    expect(signal.reason).to.have.property('message', 'stopping');
  });

  it('timeoutSignal aborts after its time when its signal does not abort', async () => {
    await aborted(timeoutSignal(1, new AbortController().signal));
  });
});

describe('backoffMs', () => {
  it('backoffMs doubles with each attempt up to the maximum, with up to 20 % less', () => {
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

  it('backoffMs differs between calls', () => {
    const waits = new Set(Array.from({ length: 100 }, () => backoffMs(10, 100, 60_000)));
    expect(waits.size).to.be.above(1);
  });
});
