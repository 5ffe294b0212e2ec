/** Abortable waits, timeouts and backoff. */
import { setTimeout as sleepFor } from 'node:timers/promises';

/** Resolves after `ms` milliseconds, or when `signal` is aborted. Never throws. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleepFor(ms, undefined, { signal });
  } catch {
    // The caller checks whether the signal was aborted.
  }
}

/** Settles like `promise`, but rejects if the signal is aborted first. */
export async function rejectWhenAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let abort = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(signal.reason as Error);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/**
 * Resolves when the function passed to `listen` is called, or when the signal is aborted.
 * @param listen registers the function, and returns a function that removes it
 */
export function waitForCallback(signal: AbortSignal, listen: (call: () => void) => () => void): Promise<void> {
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
export function timeoutSignal(ms: number, signal?: AbortSignal): AbortSignal {
  const timeout = AbortSignal.timeout(Math.max(0, Math.ceil(ms))); // AbortSignal.timeout rejects fractions
  return signal ? AbortSignal.any([signal, timeout]) : timeout;
}

/** The wait before attempt `attempt` (from 0). It doubles up to `maxMs`, with 20 % of jitter. */
export function backoffMs(attempt: number, firstMs: number, maxMs: number): number {
  const plain = Math.min(maxMs, firstMs * 2 ** Math.min(attempt, 30));
  return Math.round(plain * (0.8 + 0.2 * Math.random()));
}
