/** Waiting, with an end to it. */
import { setTimeout as sleepFor } from 'node:timers/promises';

/** Resolves after `ms` milliseconds, or at once (without throwing) when `signal` is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleepFor(ms, undefined, { signal });
  } catch {
    // aborted: the caller looks at the signal
  }
}

/**
 * What `promise` gives, unless `signal` is aborted first: then its reason is thrown at once, and what becomes of the promise
 * concerns nobody any more.
 */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let giveUp = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    giveUp = () => reject(signal.reason as Error);
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

/**
 * Resolves once a function is called, or with the signal.
 * @param listen hands the function on to whoever will call it, later; what it returns takes it back, and is called in the end.
 */
export function untilCalled(signal: AbortSignal, listen: (call: () => void) => () => void): Promise<void> {
  return new Promise((resolve) => {
    let stop = (): void => undefined;
    const done = (): void => {
      signal.removeEventListener('abort', done);
      stop();
      resolve();
    };
    signal.addEventListener('abort', done, { once: true });
    stop = listen(done);
    if (signal.aborted) done();
  });
}

/** A signal that is aborted after `ms` milliseconds, or with `signal`. */
export function within(ms: number, signal?: AbortSignal): AbortSignal {
  const timeout = AbortSignal.timeout(Math.max(0, Math.ceil(ms))); // it refuses fractions, which what is left of a budget often is
  return signal ? AbortSignal.any([signal, timeout]) : timeout;
}

/** How long to wait before try number `attempt` (from 0): doubling from `firstMs` up to `mostMs`, with up to a fifth of jitter. */
export function backoffMs(attempt: number, firstMs: number, mostMs: number): number {
  const plain = Math.min(mostMs, firstMs * 2 ** Math.min(attempt, 30));
  return Math.round(plain * (0.8 + 0.2 * Math.random()));
}
