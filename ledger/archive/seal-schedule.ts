/**
 * Seals old events while this replica is the writer. It seals only complete segments, so etcd holds at most one segment more than
 * the schedule requires.
 */
import { pause } from '../../lib/process/abortable.ts';
import { type ErrorKind, IpledgerError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/process/log.ts';
import type { SealedSegment, Seq } from '../domain/values/ledger.ts';
import { lastSealedSeq } from '../domain/state/state.ts';
import { parseEvent } from '../log/chain/chain.ts';
import type { Replica } from '../log/reader/replica.ts';
import type { Writer } from '../log/writer/writer.ts';
import { pruneSealed, sealOldestEvents, type SealingContext } from './seal.ts';

/** An event stays in etcd while `keepEvents` or `keepMs` requires it. */
export interface SealSchedule {
  /** The number of newest events that stay. */
  readonly keepEvents: number;
  /** Events that are younger stay; 0: no limit by age. */
  readonly keepMs: number;
  /** Events per segment. */
  readonly segmentEvents: number;
}

const defaultIntervalMs = 1_000;
const maxBackoffMs = 60_000;

export interface SealScheduleOptions extends Pick<
  SealingContext,
  'ledger' | 'archive' | 'canOmitEndState' | 'prepare' | 'after'
> {
  readonly replica: Replica;
  /** undefined while another replica is the writer. */
  readonly writer: () => Writer | undefined;
  readonly schedule: SealSchedule;
  readonly log: Logger;
  /** Called after each attempt to seal or delete events, with the kind of its failure. */
  readonly onOutcome?: (failure: ErrorKind | undefined) => void;
  /** For specs. */
  readonly intervalMs?: number;
}

/** Runs until the signal is aborted. Failures are logged, reported and retried: none ends the writer. */
export async function runSealSchedule(options: SealScheduleOptions, signal: AbortSignal): Promise<void> {
  const { replica, writer, ledger, schedule, log, onOutcome, intervalMs = defaultIntervalMs } = options;
  const submit = (segment: SealedSegment): Promise<void> => appendSealed(options, segment, signal);
  let pruned: Writer | undefined;
  let waitMs = intervalMs;
  while (!signal.aborted) {
    await pause(waitMs, signal);
    const current = writer();
    if (!current) onOutcome?.(undefined);
    if (!current || signal.aborted) continue;
    try {
      // An earlier writer may have sealed events without deleting them.
      if (pruned !== current) await pruneSealed({ ...options, submit }, signal);
      pruned = current;
      const to = lastSealedSeq(replica.state) + schedule.segmentEvents;
      const isDue = to <= replica.head.seq - schedule.keepEvents && (await isOldEnough(options, to, signal));
      waitMs = isDue ? 0 : intervalMs;
      if (isDue) {
        const { from, to: last, archive } = await sealOldestEvents({ ...options, ledger, submit }, to, signal);
        log.info({ from, to: last, archive }, 'events sealed');
      }
      onOutcome?.(undefined);
    } catch (error) {
      if (signal.aborted) return;
      waitMs = Math.min(maxBackoffMs, Math.max(intervalMs, waitMs * 2));
      const { code, kind, message: reason } = IpledgerError.from(error);
      onOutcome?.(kind);
      const level = kind === 'damaged' ? 'error' : 'warn';
      log[level]({ code, reason }, 'sealing events failed; retrying');
    }
  }
}

async function appendSealed(
  { writer }: SealScheduleOptions,
  segment: SealedSegment,
  signal: AbortSignal,
): Promise<void> {
  const current = writer();
  if (!current) throw new IpledgerError('NOT_WRITER', 'another replica is now the writer: it seals the events');
  const answer = (): undefined => undefined;
  await current.submit({
    command: (now) => ({ type: 'SealSegment', now, segment }),
    answer,
    actor: 'allocator',
    signal,
  });
}

async function isOldEnough(
  { ledger, replica, schedule: { keepMs } }: SealScheduleOptions,
  seq: Seq,
  signal: AbortSignal,
): Promise<boolean> {
  if (keepMs === 0) return true;
  const [line] = await ledger.readEach([seq], signal);
  return line !== undefined && parseEvent(line.text).sequenced.at <= replica.clock.read().at - keepMs;
}
