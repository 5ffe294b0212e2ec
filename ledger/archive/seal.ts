/**
 * Sealing: moves the oldest events to the archive. A crash at any step is safe, and the next writer continues:
 *   1 write events, end state and manifest to the archive, and read them back. After a crash the files are written again.
 *   2 append SegmentSealed, write the segment's key and move the log start, in one transaction. From now on readers use the archive.
 *   3 delete the events before the log start, in pages. After a crash the next writer deletes the rest.
 */
import type { SealedSegment, Seq } from '../domain/values/ledger.ts';
import type { StoredEvent } from '../log/chain/chain.ts';
import { fold } from '../log/reader/fold.ts';
import type { ArchivedLedger } from './archived-ledger.ts';
import type { Archive } from './archive.ts';
import { writeSegment, type WritingStep } from './segment.ts';

export type SealingStep = WritingStep | 'sealed' | 'pruned';

export interface SealingContext {
  readonly ledger: ArchivedLedger;
  readonly archive: Archive;
  /** Appends SegmentSealed. @throws IpledgerError SEGMENT_SEALED when another writer did. */
  readonly submit: (segment: SealedSegment) => Promise<void>;
  /** Called after each step, for tests. */
  readonly after?: (step: SealingStep) => void;
}

/**
 * Deletes the sealed events that an earlier writer left in etcd.
 * @throws IpledgerError LEDGER_DAMAGED unless all of them are in this archive: then none is deleted; UNAVAILABLE
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
 * Seals the oldest events, up to event `to` and the other events of its command.
 * @throws IpledgerError UNAVAILABLE, NOT_WRITER or SEGMENT_SEALED: call it again later; LEDGER_DAMAGED.
 */
export async function sealOldestEvents(sealing: SealingContext, to: Seq, signal: AbortSignal): Promise<SealedSegment> {
  const { ledger, archive, submit, after = () => undefined } = sealing;
  const logStart = await ledger.logStart(signal);
  const start = await ledger.lastEndState({ seq: logStart - 1 }, signal);
  const before = start.head;
  const events: StoredEvent[] = [];
  const end = await fold(ledger, start, { seq: to }, { signal, onCommand: (part) => events.push(...part) });
  const content = { before, end, lines: events.map(({ text }) => text), since: events[0]?.envelope.at ?? '' };
  const segment = await writeSegment(archive, content, signal, after);
  await submit(segment);
  after('sealed');
  await deleteSealed(sealing, signal);
  return segment;
}
