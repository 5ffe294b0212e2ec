/**
 * Drops the oldest sealed segments of an archive of limited size. A crash at any step is safe, and
 * the next writer continues:
 *
 *   1. append HistoryDropped: the last dropped segment is marked in its key, and the keys of the
 *      earlier ones are deleted, in one transaction. The history now begins after that segment,
 *      with its end state. Readers and verification start there.
 *   2. delete the files of the earlier segments.
 */
import { droppedSegment, hasEndState, type Segment, type Seq } from '../domain/values/ledger.ts';
import type { State } from '../domain/state/state.ts';
import type { BoundedArchive } from './archive.ts';
import { folderOf, namePrefix } from './segment.ts';

export type DroppingStep = 'dropped' | 'deleted';

export interface DroppingContext {
  readonly archive: BoundedArchive;
  /** The state of the writer. */
  readonly state: State;
  /** Appends HistoryDropped. @throws IpledgerError SEGMENT_SEALED if another writer has done so */
  readonly submitDrop: (to: Seq, reason: string) => Promise<void>;
  /** Called after each step, for tests. */
  readonly after?: (step: DroppingStep) => void;
}

/**
 * Drops segments until the archive is within its limit.
 * @returns the first remaining event, if it changed.
 * @throws IpledgerError UNAVAILABLE, NOT_WRITER or SEGMENT_SEALED: call it again later
 */
export async function dropOldestSegments(dropping: DroppingContext, signal: AbortSignal): Promise<Seq | undefined> {
  const { archive } = dropping;
  let first: Seq | undefined;
  while ((await archive.size(signal)) > archive.maxBytes) {
    const next = await dropNext(dropping, `the archive (${archive.location}) is full`, signal);
    if (next === undefined) break;
    first = next;
  }
  return first;
}

/**
 * Drops the events up to the next end state.
 * @returns the first remaining event; undefined if there is no such end state.
 */
export async function dropNext(
  dropping: DroppingContext,
  reason: string,
  signal: AbortSignal,
): Promise<Seq | undefined> {
  const { state, submitDrop, after } = dropping;
  const next = nextDropped(state.segments);
  if (!next) return undefined;
  await submitDrop(next.to, reason);
  after?.('dropped');
  await deleteDropped(dropping, signal);
  return next.to + 1;
}

/**
 * Deletes the files of dropped segments. Keeps the files of the last dropped segment, because the
 * history begins with its end state.
 */
export async function deleteDropped({ archive, state, after }: DroppingContext, signal: AbortSignal): Promise<void> {
  const last = droppedSegment(state.segments);
  if (!last) return;
  await archive.deleteBefore(folderOf(state.ledger), namePrefix(state.ledger, last.from), signal);
  after?.('deleted');
}

/**
 * Skips the oldest segment: its files would stay, so dropping only that segment would free nothing.
 */
const nextDropped = ([, ...segments]: readonly Segment[]): Segment | undefined => segments.find(hasEndState);
