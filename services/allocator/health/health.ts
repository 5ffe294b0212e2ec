/**
 * The gRPC health of a replica. The server ('') is SERVING while it answers reads. The service
 * "writer" is SERVING while this replica is the writer.
 */
import { pause } from '../../../lib/process/abortable.ts';
import type { Leadership } from '../leadership/leadership.ts';

/** A standby that lags further behind the log is unhealthy. */
const maxLagMs = 5_000;
/** Longer than a takeover takes. During a takeover, calls that need the writer wait for it. */
export const maxWithoutWriterMs = 10_000;
const updateIntervalMs = 100;

/** The time at which this replica last saw a writer. */
export class LastWriter {
  #isSeen = false;
  /** The time of the start until a writer is seen. */
  #at = performance.now();

  /** Records that there is a writer. The caller repeats this while the writer exists. */
  onSeen(): void {
    this.#isSeen = true;
    this.#at = performance.now();
  }

  /** Milliseconds since the last writer, or since the start of the replica if it has seen none. */
  get agoMs(): number {
    return performance.now() - this.#at;
  }

  /** Whether the replica has seen a writer, or has waited longer than a takeover takes. */
  get isKnown(): boolean {
    return this.#isSeen || this.agoMs >= maxWithoutWriterMs;
  }
}

/**
 * Whether a replica answers; undefined in the milliseconds between standby and writer. Without a
 * writer, it still answers reads and reports why nothing can be written: if it were unhealthy, the
 * Service would hide both. In its first seconds a replica waits for a writer.
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
