/**
 * gRPC health of a replica. The server ('') is SERVING while it answers reads; the service "writer"
 * is SERVING while this replica is the writer.
 */
import { pause } from '../../../lib/process/abortable.ts';
import type { Leadership } from '../leadership/leadership.ts';

/** A standby that lags behind the log for longer is unhealthy. */
const maxLagMs = 5_000;
/** Longer than a takeover. During a takeover, calls that need the writer wait for it. */
export const maxWithoutWriterMs = 10_000;
const updateIntervalMs = 100;

/** When this replica saw a writer for the last time. */
export class LastWriter {
  #isSeen = false;
  /** The start of the replica, before the first one. */
  #at = performance.now();

  /** Records that there is a writer. The caller repeats it while that is so. */
  onSeen(): void {
    this.#isSeen = true;
    this.#at = performance.now();
  }

  /** Milliseconds since then; since the start of the replica, if it has seen none. */
  get agoMs(): number {
    return performance.now() - this.#at;
  }

  /** Whether the replica has seen a writer, or waited longer than a takeover takes. */
  get isKnown(): boolean {
    return this.#isSeen || this.agoMs >= maxWithoutWriterMs;
  }
}

/**
 * Whether a replica answers; undefined in the milliseconds between standby and writer. Without a
 * writer it answers reads, and reports why nothing can be written: a Service without a replica
 * would hide both. In its first seconds a replica waits for a writer.
 */
export function isReplicaHealthy(
  { writer, follower }: Leadership,
  { isKnown }: Pick<LastWriter, 'isKnown'>,
): boolean | undefined {
  if (writer) return true;
  return follower && follower.lagMs < maxLagMs && isKnown;
}

export interface ReplicaHealthOptions {
  readonly leadership: Leadership;
  readonly lastWriter: Pick<LastWriter, 'isKnown'>;
  readonly setStatus: (service: '' | 'writer', status: 'SERVING' | 'NOT_SERVING') => void;
}

/** Updates both statuses until the signal is aborted. */
export async function runHealthUpdates(
  { leadership, lastWriter, setStatus }: ReplicaHealthOptions,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const isHealthy = isReplicaHealthy(leadership, lastWriter);
    if (isHealthy !== undefined) setStatus('', isHealthy ? 'SERVING' : 'NOT_SERVING');
    setStatus('writer', leadership.writer ? 'SERVING' : 'NOT_SERVING');
    await pause(updateIntervalMs, signal);
  }
}
