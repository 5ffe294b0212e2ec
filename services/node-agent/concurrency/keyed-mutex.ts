/**
 * Keyed mutex: work of one key runs one at a time, in order of arrival. Without it a repeated ADD
 * could overtake the first ADD, and a DEL its ADD.
 */
import { IpledgerError } from '../../../lib/errors.ts';

const maxQueued = 16;

/** Runs `work` when all earlier work of the key has ended. */
export type KeyedMutex = <T>(key: string, signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

/**
 * Makes a keyed mutex. Work whose signal is aborted while it waits leaves the queue and does not
 * run.
 * @throws IpledgerError OVERLOADED when the key's queue is full, CANCELLED when aborted; and the
 * errors of `work`
 */
export function createKeyedMutex(): KeyedMutex {
  const queues = new Map<string, { length: number; end: Promise<void> }>();

  return async (key, signal, work) => {
    const queue = queues.get(key) ?? { length: 0, end: Promise.resolve() };
    if (queue.length >= maxQueued)
      throw new IpledgerError('OVERLOADED', `${queue.length} requests for ${key} are waiting already: try again`);
    const before = queue.end;
    const done = Promise.withResolvers<void>();
    queue.length += 1;
    queue.end = before.then(() => done.promise);
    queues.set(key, queue);
    try {
      await settleOrAbort(before, signal);
      if (signal.aborted) throw new IpledgerError('CANCELLED', `the caller of ${key} disconnected`);
      return await work();
    } finally {
      done.resolve();
      queue.length -= 1;
      if (queue.length === 0) queues.delete(key);
    }
  };
}

/** Removes its listener at the end: a signal may live as long as the process. */
async function settleOrAbort(end: Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise: aborted, resolve } = Promise.withResolvers<void>();
  const listener = (): void => resolve();
  signal.addEventListener('abort', listener);
  try {
    await Promise.race([end, aborted]);
  } finally {
    signal.removeEventListener('abort', listener);
  }
}
