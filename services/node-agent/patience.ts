/** Trying again, for as long as it may help and somebody waits for it. */
import { backoffMs, pause } from '../../lib/deadline.ts';
import { IpledgerError } from '../../lib/errors.ts';

export interface Patience {
  /** When to give up, on the clock of performance.now(). */
  readonly until: number;
  readonly signal: AbortSignal;
}

/** Some more time from now on. */
export const patience = (ms: number, signal: AbortSignal): Patience => ({ until: performance.now() + ms, signal });

/**
 * Repeats `attempt` while it fails with a transient error, or another one that `passes`; it is told how much time is left.
 * @throws IpledgerError the last attempt's error
 */
export async function persistently<T>(
  { until, signal }: Patience,
  attempt: (leftMs: number) => Promise<T>,
  passes: (error: IpledgerError) => boolean = () => false,
): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await attempt(Math.max(1, Math.ceil(until - performance.now())));
    } catch (thrown) {
      const error = IpledgerError.from(thrown);
      const waitMs = backoffMs(tries, 50, 1_000);
      const isHopeless = error.kind !== 'transient' && !passes(error);
      if (isHopeless || performance.now() + waitMs >= until) throw error;
      await pause(waitMs, signal);
      if (signal.aborted) throw error;
    }
  }
}
