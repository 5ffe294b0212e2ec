/** The range of events that a restored ledger lacks. Pure. */
import type { GetStatusReply } from '../../../proto/generated/ipledger.ts';
import { formatTime, type TimeZone } from '../../time/times.ts';

/** Events that a client has seen, and the ledger lacks. */
export interface LostEventRange {
  readonly fromSeq: number;
  /** The newest event that a client has seen. There may have been later ones. */
  readonly toSeq: number;
  /** Times before and after the events, RFC 3339. */
  readonly after: string;
  readonly before: string;
}

/**
 * Undefined if the ledger is not frozen or was recovered already, and if it has more events than the client has seen. Events that
 * the frozen ledger recorded reuse lost sequence numbers, and do not count.
 */
export function findLostEventRange({ position, at, freeze }: GetStatusReply): LostEventRange | undefined {
  const known = freeze?.known;
  if (!known || known.epoch !== position?.epoch) return undefined;
  const { epoch, seq } = freeze.head ?? position;
  if (known.epoch !== epoch || known.seq <= seq) return undefined;
  return { fromSeq: seq + 1, toSeq: known.seq, after: freeze.head ? freeze.headAt : at, before: freeze.reportedAt };
}

export function formatLostEventRange({ fromSeq, toSeq, after, before }: LostEventRange, zone: TimeZone): string {
  const count = toSeq - fromSeq + 1;
  const which = count === 1 ? `event ${fromSeq}` : `events ${fromSeq} to ${toSeq}`;
  return `lost: ${which}, at least ${count}, of the time from ${formatTime(after, zone)} to ${formatTime(before, zone)}`;
}
