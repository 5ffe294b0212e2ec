/** Retry with exponential backoff, until a deadline or an abort. */
import { IpledgerError } from '../errors.ts';
import { backoffMs, pause } from './abortable.ts';

/** The end of retrying. */
export interface RetryLimit {
  /** A time of performance.now(). Infinity: only the signal ends retrying. */
  readonly until: number;
  readonly signal: AbortSignal;
}

export interface RetryOptions {
  /** Selects errors to retry besides transient ones. Default: none. */
  readonly isRetryable?: (error: IpledgerError) => boolean;
  /** Default: 50 ms. */
  readonly firstBackoffMs?: number;
  /** Default: 1 s. */
  readonly maxBackoffMs?: number;
  /** Called after each failed attempt that is retried. */
  readonly onRetry?: (error: IpledgerError) => void;
}

/** A limit of `ms` milliseconds from now. */
export const retryFor = (ms: number, signal: AbortSignal): RetryLimit => ({
  until: performance.now() + ms,
  signal,
});

/**
 * Repeats `attempt` while it fails with a retryable error. Ends early if the next wait would exceed
 * the limit. Each attempt receives the remaining milliseconds.
 * @throws IpledgerError the last attempt's error
 */
export async function retryUntil<T>(
  { until, signal }: RetryLimit,
  attempt: (remainingMs: number) => Promise<T>,
  { isRetryable = () => false, firstBackoffMs = 50, maxBackoffMs = 1_000, onRetry }: RetryOptions = {},
): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await attempt(Math.max(1, Math.ceil(until - performance.now())));
    } catch (thrown) {
      const error = IpledgerError.from(thrown);
      const waitMs = backoffMs(failures, firstBackoffMs, maxBackoffMs);
      const isRetried = error.kind === 'transient' || isRetryable(error);
      if (!isRetried || signal.aborted || performance.now() + waitMs >= until) throw error;
      onRetry?.(error);
      await pause(waitMs, signal);
      if (signal.aborted) throw error;
    }
  }
}
