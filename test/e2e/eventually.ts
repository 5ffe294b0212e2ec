/** Waiting for what other processes are about to do. */
import { setTimeout as sleep } from 'node:timers/promises';

const pollMs = 50;
/** Ends the wait of a test that fails; one that passes is over as soon as what it waits for has happened. */
const usualPatienceMs = 60_000;

/**
 * Looks again and again until `look` succeeds; gives what it gave.
 * @throws whatever the last look threw, when it did not succeed in time.
 */
export async function eventually<T>(look: () => T | Promise<T>, patienceMs = usualPatienceMs): Promise<T> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    try {
      return await look();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await sleep(pollMs);
  }
}
