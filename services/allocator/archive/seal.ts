/**
 * Sealing: the oldest live events go to the archive. A crash at any step leaves everything safe, and whoever is next goes on:
 *   1 the events, the state at their end and the manifest are written, and read back    before: nothing has happened; the files are written again
 *   2 one transaction appends SegmentSealed, puts the segment's key and raises the floor  after: readers know where to look
 *   3 the events below the floor are deleted, page by page                                what is left is deleted next time
 */
import type { SegmentSealed, Seq } from '../domain/event.ts';
import type { StoredEvent } from '../ledger/chain.ts';
import { fold } from '../ledger/fold.ts';
import type { ArchivedLedger } from './archived-ledger.ts';
import type { Archive } from './archive.ts';
import { writeSegment, type WritingStep } from './segment.ts';

export type SealingStep = WritingStep | 'sealed' | 'pruned';

export interface Sealing {
  readonly ledger: ArchivedLedger;
  readonly archive: Archive;
  /** Has the writer append SegmentSealed. @throws IpledgerError SEGMENT_SEALED when somebody else did. */
  readonly submit: (segment: SegmentSealed['data']) => Promise<void>;
  /** Told after each step. */
  readonly after?: (step: SealingStep) => void;
}

/**
 * Deletes what an earlier writer sealed and did not get to delete.
 * @throws IpledgerError LEDGER_DAMAGED unless all of it is in this archive: then nothing is deleted; UNAVAILABLE
 */
export async function prune(sealing: Sealing, signal: AbortSignal): Promise<void> {
  await sealing.ledger.refuseUnkept(signal);
  await deleteSealed(sealing, signal);
}

async function deleteSealed({ ledger, after = () => undefined }: Sealing, signal: AbortSignal): Promise<void> {
  for (let more = true; more;) {
    more = await ledger.prune(signal);
    after('pruned');
  }
}

/**
 * Seals the oldest live events, up to event `to` and whatever else belongs to its command.
 * @throws IpledgerError UNAVAILABLE, NOT_WRITER or SEGMENT_SEALED: then somebody goes on later; LEDGER_DAMAGED.
 */
export async function seal(sealing: Sealing, to: Seq, signal: AbortSignal): Promise<SegmentSealed['data']> {
  const { ledger, archive, submit, after = () => undefined } = sealing;
  const floor = await ledger.floor(signal);
  const start = await ledger.placeBefore({ seq: floor - 1 }, signal);
  const before = start.head;
  const events: StoredEvent[] = [];
  const end = await fold(ledger, start, { seq: to }, { signal, before: (some) => events.push(...some) });
  const stretch = { before, end, lines: events.map(({ text }) => text), since: events[0]?.envelope.at ?? '' };
  const segment = await writeSegment(archive, stretch, signal, after);
  await submit(segment);
  after('sealed');
  await deleteSealed(sealing, signal);
  return segment;
}
