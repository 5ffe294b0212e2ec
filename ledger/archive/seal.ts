/**
 * Sealing: moves the oldest events to the archive. A crash at any step is safe, and the next writer
 * continues:
 *
 *   1. write events, end state and manifest to the archive, and read them back. After a crash the
 *      files are written again. The difference of two end states is the segments between them, so
 *      most segments have none.
 *   2. append SegmentSealed, write the segment's key and move the log start, in one transaction.
 *      Readers use the archive from now on.
 *   3. delete the events before the log start, in pages. After a crash the next writer deletes the
 *      rest.
 */
import { IpledgerError } from '../../lib/errors.ts';
import { TurnBudget } from '../../lib/process/turn-budget.ts';
import { hasEndState, type SealedSegment, type Seq } from '../domain/values/ledger.ts';
import { advanceHead, type Head, type StoredEvent } from '../log/chain/chain.ts';
import { fold, type StateAtHead } from '../log/reader/fold.ts';
import { parseLine } from '../log/store/stored-line.ts';
import type { ArchivedLedger } from './archived-ledger.ts';
import type { Archive } from './archive.ts';
import { writeSegment, type WritingStep } from './segment.ts';

export type SealingStep = WritingStep | 'sealed' | 'pruned';

export interface SealingContext {
  readonly ledger: ArchivedLedger;
  readonly archive: Archive;
  /** Replaces `prepareSegment`, in order to run it in a thread. */
  readonly prepare?: typeof prepareSegment;
  /** Appends SegmentSealed. @throws IpledgerError SEGMENT_SEALED if another writer has done so */
  readonly submit: (segment: SealedSegment) => Promise<void>;
  /** Whether all live replicas can fold through a segment that has no end state. */
  readonly canOmitEndState: () => boolean;
  /** Called after each step, for tests. */
  readonly after?: (step: SealingStep) => void;
}

/**
 * Deletes the sealed events that an earlier writer left in etcd.
 * @throws IpledgerError LEDGER_DAMAGED unless this archive has all of them: then none is deleted;
 * UNAVAILABLE
 */
export async function pruneSealed(sealing: SealingContext, signal: AbortSignal): Promise<void> {
  await sealing.ledger.assertArchived(signal);
  await deleteSealed(sealing, signal);
}

async function deleteSealed({ ledger, after = () => undefined }: SealingContext, signal: AbortSignal): Promise<void> {
  for (let more = true; more;) {
    more = await ledger.prune(signal);
    after('pruned');
  }
}

/**
 * Seals the oldest events up to event `to`, and further to the end of its command.
 * @throws IpledgerError UNAVAILABLE, NOT_WRITER or SEGMENT_SEALED: call it again later;
 * LEDGER_DAMAGED.
 */
export async function sealOldestEvents(sealing: SealingContext, to: Seq, signal: AbortSignal): Promise<SealedSegment> {
  const { prepare = prepareSegment } = sealing;
  const segment = await prepare(sealing, to, signal);
  await sealing.submit(segment);
  sealing.after?.('sealed');
  await deleteSealed(sealing, signal);
  return segment;
}

/**
 * Writes the next segment to the archive. The cost grows with the segment. For a segment with an
 * end state it also grows with the state: that is a fold from the last end state.
 */
export async function prepareSegment(
  { ledger, archive, canOmitEndState, after }: Pick<SealingContext, 'ledger' | 'archive' | 'canOmitEndState' | 'after'>,
  to: Seq,
  signal: AbortSignal,
): Promise<SealedSegment> {
  const { segments, head: before } = await ledger.sealed(signal);
  const { events, end } = await readCommands(ledger, before, to, signal);
  const endState = async (bytes: number): Promise<StateAtHead | undefined> => {
    if (canOmitEndState() && !isEndStateDue(segments, bytes)) return undefined;
    const start = await ledger.lastEndState({ seq: before.seq }, signal);
    return fold(ledger, start, { seq: end.seq }, { signal });
  };
  const content = { before, end, lines: events.map(({ text }) => text), since: events[0]?.envelope.at ?? '', endState };
  return writeSegment(archive, content, signal, after);
}

/**
 * Whether the segments since the last end state, including a new segment of `bytes`, are at least
 * as large as the segment with that end state. So the archive takes at most twice the bytes of the
 * events, while the state does not grow.
 */
export function isEndStateDue(segments: readonly SealedSegment[], bytes: number): boolean {
  const last = segments.findLastIndex(hasEndState);
  const sizeOf = (segment: SealedSegment | undefined): number => segment?.files?.bytes ?? 0;
  const since = segments.slice(last + 1).reduce((sum, segment) => sum + sizeOf(segment), bytes);
  return last < 0 || since >= sizeOf(segments[last]);
}

/**
 * Reads complete commands after the head, up to the command of event `to`.
 * @throws IpledgerError POSITION_GONE if the log ends before; LEDGER_DAMAGED for a gap or a broken
 * chain
 */
async function readCommands(
  ledger: ArchivedLedger,
  before: Head,
  to: Seq,
  signal: AbortSignal,
): Promise<{ readonly events: readonly StoredEvent[]; readonly end: Head }> {
  const events: StoredEvent[] = [];
  let end = before;
  const turn = new TurnBudget();
  for await (const lines of ledger.read(before.seq + 1, signal))
    for (const line of lines) {
      const event = parseLine(line);
      end = advanceHead(end, event);
      events.push(event);
      const [part, parts] = event.envelope.part;
      if (end.seq >= to && part === parts) return { events, end };
      if (turn.isSpent) await turn.nextTurn(signal);
    }
  throw new IpledgerError('POSITION_GONE', `event ${to} is beyond the ledger, whose last event is ${end.seq}`);
}
