/**
 * Checks whether the allocator answers. A pod-watcher that reaches Kubernetes but no allocator, as
 * on an isolated node, would keep its Lease and serve no Pod. So it hands the Lease over, and takes
 * it back only after the allocator has answered again.
 */
import { IpledgerError } from '../../../lib/errors.ts';
import { call, type Connection } from '../../../lib/grpc/client.ts';
import { pause } from '../../../lib/process/abortable.ts';
import type { Logger } from '../../../lib/process/log.ts';
import { type GetStatusReply, LedgerService } from '../../../proto/generated/ipledger.ts';

const timeoutMs = 5_000;
const probeEveryMs = 5_000;

/** Resolves to whether an allocator answers. An error that the allocator returns is an answer. */
export type ReachProbe = (signal: AbortSignal) => Promise<boolean>;

/** @param onStatus called with each answer */
export const createReachProbe =
  (connection: Connection, onStatus: (status: GetStatusReply) => void): ReachProbe =>
  async (signal) => {
    try {
      onStatus(await call(connection, LedgerService.getStatus, {}, { timeoutMs, signal }));
      return true;
    } catch (error) {
      return IpledgerError.from(error).kind !== 'transient';
    }
  };

export interface ReachOptions {
  readonly log: Pick<Logger, 'warn'>;
  readonly signal: AbortSignal;
  /** The time between two probes. */
  readonly everyMs?: number;
}

/** Waits until the allocator answers, or an abort. @param onSilent called once */
export async function waitUntilReachable(
  probe: ReachProbe,
  { log, signal, everyMs = probeEveryMs }: ReachOptions,
  onSilent: () => void,
): Promise<void> {
  for (let probes = 0; !signal.aborted; probes++) {
    if (await probe(signal)) return;
    if (signal.aborted) return;
    if (probes === 0) {
      onSilent();
      log.warn('no allocator answers: waiting for one before this pod-watcher takes the Lease');
    }
    await pause(everyMs, signal);
  }
}

/**
 * Resolves to true when no probe was answered for a time, to false when the signal is aborted. A
 * process that was suspended for that time sends more than one probe before it decides.
 */
export async function isUnreachableFor(
  silentMs: number,
  probe: ReachProbe,
  { signal, everyMs = probeEveryMs }: Omit<ReachOptions, 'log'>,
): Promise<boolean> {
  let firstSilentAt: number | undefined;
  while (!signal.aborted) {
    await pause(Math.min(everyMs, silentMs), signal);
    const sentAt = performance.now();
    if (await probe(signal)) firstSilentAt = undefined;
    else if (sentAt - (firstSilentAt ??= sentAt) >= silentMs) return !signal.aborted;
  }
  return false;
}
