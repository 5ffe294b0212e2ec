/** Some at a time, the others in line: whatever a crowd of ADDs wants at once is done a little at a time. */
import { IpledgerError } from '../../lib/errors.ts';

export type Pass = <T>(signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

/**
 * Makes a gate. The function that it returns runs `work` once fewer than `atOnce` others run, in the order of asking; one
 * whose signal is aborted meanwhile leaves the line without having run.
 * @throws IpledgerError OVERLOADED when `mostWaiting` stand in line already, CANCELLED or DEADLINE_PASSED when aborted; and
 * whatever `work` throws.
 */
export function createGate(atOnce: number, mostWaiting: number): Pass {
  const line = new Set<() => void>();
  let inside = 0;

  return async (signal, work) => {
    if (signal.aborted) throw IpledgerError.from(signal.reason);
    if (inside < atOnce) inside += 1;
    else if (line.size < mostWaiting) await called(line, signal);
    else throw new IpledgerError('OVERLOADED', `${line.size} wait for the same already: try again`);
    try {
      return await work();
    } finally {
      // Whoever is called takes the place of who leaves: nobody gets in between.
      const [next] = line;
      if (next) next();
      else inside -= 1;
    }
  };
}

function called(line: Set<() => void>, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const leave = (): void => {
    line.delete(enter);
    reject(IpledgerError.from(signal.reason));
  };
  const enter = (): void => {
    line.delete(enter);
    signal.removeEventListener('abort', leave);
    resolve();
  };
  line.add(enter);
  signal.addEventListener('abort', leave, { once: true });
  return promise;
}
