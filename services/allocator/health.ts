/**
 * gRPC health of a replica. The server ('') is SERVING while it answers all calls; the service "writer" is SERVING while this
 * replica is the writer.
 */
import { pause } from '../../lib/process/abortable.ts';
import type { Leadership } from './leadership.ts';

/** A standby that lags behind the log for longer is unhealthy. */
const maxLagMs = 5_000;
/** Longer than a takeover. During a takeover, calls that need the writer wait for it. */
export const maxWithoutWriterMs = 10_000;
const updateIntervalMs = 100;

/** Whether a replica answers all calls; undefined in the milliseconds between standby and writer. */
export function isReplicaHealthy({ writer, follower }: Leadership, sinceWriterSeenMs: number): boolean | undefined {
  if (writer) return true;
  return follower && follower.lagMs < maxLagMs && sinceWriterSeenMs < maxWithoutWriterMs;
}

export interface ReplicaHealthOptions {
  readonly leadership: Leadership;
  /** Milliseconds since a writer existed. */
  readonly sinceWriterSeenMs: () => number;
  readonly setStatus: (service: '' | 'writer', status: 'SERVING' | 'NOT_SERVING') => void;
}

/** Updates both statuses until the signal is aborted. */
export async function runHealthUpdates(
  { leadership, sinceWriterSeenMs, setStatus }: ReplicaHealthOptions,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const isHealthy = isReplicaHealthy(leadership, sinceWriterSeenMs());
    if (isHealthy !== undefined) setStatus('', isHealthy ? 'SERVING' : 'NOT_SERVING');
    setStatus('writer', leadership.writer ? 'SERVING' : 'NOT_SERVING');
    await pause(updateIntervalMs, signal);
  }
}
