/** A semaphore: a limited number of tasks run, and the others wait in order of arrival. */
import { IpledgerError } from '../errors.ts';

/** Runs `work` when a slot is free. */
export type Semaphore = <T>(signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

/**
 * Creates a semaphore with `slots` slots. Work whose signal is aborted while it waits leaves the
 * queue and does not run.
 * @throws IpledgerError OVERLOADED if `maxWaiting` are already waiting; CANCELLED or
 * DEADLINE_PASSED if aborted; and the errors of `work`
 */
export function createSemaphore(slots: number, maxWaiting: number): Semaphore {
  const queue = new Set<() => void>();
  let running = 0;

  return async (signal, work) => {
    if (signal.aborted) throw IpledgerError.from(signal.reason);
    if (running < slots) running += 1;
    else if (queue.size < maxWaiting) await waitForSlot(queue, signal);
    else throw new IpledgerError('OVERLOADED', `${queue.size} requests are waiting already: try again`);
    try {
      return await work();
    } finally {
      // Passes the slot directly to the next in the queue, so that no new work overtakes it.
      const [next] = queue;
      if (next) next();
      else running -= 1;
    }
  };
}

function waitForSlot(queue: Set<() => void>, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const abort = (): void => {
    queue.delete(start);
    reject(IpledgerError.from(signal.reason));
  };
  const start = (): void => {
    queue.delete(start);
    signal.removeEventListener('abort', abort);
    resolve();
  };
  queue.add(start);
  signal.addEventListener('abort', abort, { once: true });
  return promise;
}
