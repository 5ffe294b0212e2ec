/** Repeats a check until other processes have done their part. */
import { setTimeout as sleep } from 'node:timers/promises';

const pollMs = 50;
/** Limits a failing test. A passing test continues as soon as the check succeeds. */
const defaultTimeoutMs = 60_000;

/**
 * Repeats `check` until it succeeds, and returns its result.
 * @throws the error of the last attempt at the timeout
 */
export async function eventually<T>(check: () => T | Promise<T>, timeoutMs = defaultTimeoutMs): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await sleep(pollMs);
  }
}
