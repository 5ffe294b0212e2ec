/**
 * Seals old events while this replica is the writer. Only full segments are sealed, so etcd holds
 * at most one segment more than the schedule requires.
 */
import { pause } from '../../lib/process/abortable.ts';
import { type ErrorKind, IpledgerError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/process/log.ts';
import type { SealedSegment, Seq } from '../domain/values/ledger.ts';
import { lastSealedSeq } from '../domain/state/state.ts';
import { parseEvent } from '../log/chain/chain.ts';
import type { Command } from '../domain/commands/command.ts';
import type { Replica } from '../log/reader/replica.ts';
import type { Writer } from '../log/writer/writer.ts';
import { isBounded } from './archive.ts';
import { deleteDropped, dropNext, dropOldestSegments } from './drop-history.ts';
import { pruneSealed, sealOldestEvents, type SealingContext } from './seal.ts';

/** An event stays in etcd while `keepEvents` or `keepMs` requires it. */
export interface SealSchedule {
  /** The number of newest events that stay. */
  readonly keepEvents: number;
  /** Younger events stay; 0 means no limit by age. */
  readonly keepMs: number;
  /** Events per segment. */
  readonly segmentEvents: number;
}

const defaultIntervalMs = 1_000;
/**
 * If etcd uses more than this share of its quota, events are sealed early: all except those of one
 * segment.
 */
const sealEarlyAbove = 0.4;
/**
 * Above this share of the quota, the archive drops more than its limit requires, one step per
 * interval. Between steps etcd has time to free the space.
 */
const dropMoreAbove = 0.8;
const dropMoreIntervalMs = 10_000;
const maxBackoffMs = 60_000;

export interface SealScheduleOptions extends Pick<
  SealingContext,
  'ledger' | 'archive' | 'canOmitEndState' | 'prepare' | 'after'
> {
  readonly replica: Replica;
  /** Returns undefined while another replica is the writer. */
  readonly writer: () => Writer | undefined;
  readonly schedule: SealSchedule;
  readonly log: Logger;
  /** Returns the used share of etcd's quota, if it is known. */
  readonly usedShare?: () => number;
  /** Called after each attempt to seal or delete events, with the kind of failure, if it failed. */
  readonly onOutcome?: (failure: ErrorKind | undefined) => void;
  /** Set by specs only. */
  readonly intervalMs?: number;
}

/**
 * Runs until the signal is aborted. Failures are logged, reported and retried, and never stop the
 * writer.
 */
export async function runSealSchedule(options: SealScheduleOptions, signal: AbortSignal): Promise<void> {
  const { replica, writer, schedule, log, onOutcome, intervalMs = defaultIntervalMs } = options;
  const submit = (segment: SealedSegment): Promise<void> =>
    append(options, (now) => ({ type: 'SealSegment', now, segment }), signal);
  const sealing: SealingContext = { ...options, submit };
  const dropOldest = createDropping(options, signal);
  let pruned: Writer | undefined;
  let waitMs = intervalMs;
  while (!signal.aborted) {
    await pause(waitMs, signal);
    const current = writer();
    if (!current) onOutcome?.(undefined);
    if (!current || signal.aborted) continue;
    try {
      const isFirst = pruned !== current;
      // An earlier writer may have sealed events without deleting them.
      if (isFirst) await pruneSealed(sealing, signal);
      await dropOldest(isFirst);
      pruned = current;
      const { keepEvents, segmentEvents } = schedule;
      const to = lastSealedSeq(replica.state) + segmentEvents;
      const isEarly = (options.usedShare?.() ?? 0) > sealEarlyAbove;
      const isDue =
        to <= replica.head.seq - (isEarly ? Math.min(keepEvents, segmentEvents) : keepEvents) &&
        (isEarly || (await isOldEnough(options, to, signal)));
      waitMs = isDue ? 0 : intervalMs;
      if (isDue) {
        const { from, to: last, archive } = await sealOldestEvents(sealing, to, signal);
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

async function append(
  { writer }: SealScheduleOptions,
  command: (now: number) => Command,
  signal: AbortSignal,
): Promise<void> {
  const current = writer();
  if (!current) throw new IpledgerError('NOT_WRITER', 'another replica is now the writer: it seals the events');
  await current.submit({ command, answer: () => undefined, actor: 'allocator', signal });
}

/**
 * Returns a function that drops history as the limits require. Its first call also deletes files of
 * dropped segments that an earlier writer left.
 */
function createDropping(options: SealScheduleOptions, signal: AbortSignal): (isFirst: boolean) => Promise<void> {
  const { archive, replica, usedShare, log } = options;
  if (!isBounded(archive)) return () => Promise.resolve();
  const submitDrop = (to: Seq, reason: string): Promise<void> =>
    append(options, (now) => ({ type: 'DropHistory', now, to, reason }), signal);
  const dropping = { archive, state: replica.state, submitDrop };
  let droppedMoreAt = -Infinity;
  let checkedAt: Seq | undefined;
  return async (isFirst) => {
    if (isFirst) await deleteDropped(dropping, signal);
    // Measures the archive only after a new segment: measuring counts all its keys in etcd.
    const sealed = lastSealedSeq(replica.state);
    let first = isFirst || sealed !== checkedAt ? await dropOldestSegments(dropping, signal) : undefined;
    checkedAt = sealed;
    if ((usedShare?.() ?? 0) > dropMoreAbove && performance.now() > droppedMoreAt + dropMoreIntervalMs) {
      const next = await dropNext(dropping, 'etcd is nearly full', signal);
      if (next !== undefined) [droppedMoreAt, first] = [performance.now(), next];
    }
    if (first !== undefined) log.info({ first }, 'old history dropped: it begins with this event');
  };
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
