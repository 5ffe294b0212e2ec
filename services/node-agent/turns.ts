/** One at a time for each key, in the order of asking: a repeated ADD must not overtake the first, nor a DEL its ADD. */
import { IpledgerError } from '../../lib/errors.ts';

const mostInLine = 16;

export type TakeTurn = <T>(key: string, signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

/**
 * Makes a set of queues. The function that it returns runs `work` when all earlier work of the same key is done; one whose
 * signal is aborted meanwhile leaves the line without having run.
 * @throws IpledgerError OVERLOADED when too many stand in that line, CANCELLED when aborted; and whatever `work` throws.
 */
export function createTurns(): TakeTurn {
  const lines = new Map<string, { length: number; end: Promise<void> }>();

  return async (key, signal, work) => {
    const line = lines.get(key) ?? { length: 0, end: Promise.resolve() };
    if (line.length >= mostInLine)
      throw new IpledgerError('OVERLOADED', `${line.length} requests for ${key} are waiting already`);
    const before = line.end;
    const done = Promise.withResolvers<void>();
    line.length += 1;
    line.end = before.then(() => done.promise);
    lines.set(key, line);
    try {
      await endOrAbort(before, signal);
      if (signal.aborted) throw new IpledgerError('CANCELLED', `the caller of ${key} is gone`);
      return await work();
    } finally {
      done.resolve();
      line.length -= 1;
      if (line.length === 0) lines.delete(key);
    }
  };
}

/** Leaves no listener behind: a signal that lives as long as the process is passed for many turns. */
async function endOrAbort(end: Promise<void>, signal: AbortSignal): Promise<void> {
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
