/** Which stretch of the log a restored ledger lacks. Pure. */
import type { GetStatusReply } from '../../proto/ipledger.ts';
import { showTime, type Zone } from '../times.ts';

/** Events that somebody remembers, and the ledger does not hold. */
export interface LostStretch {
  readonly fromSeq: number;
  /** The last that anybody remembers; there may have been more. */
  readonly toSeq: number;
  /** They happened between these two, RFC 3339. */
  readonly after: string;
  readonly before: string;
}

/**
 * Undefined where that cannot be told: it is not frozen, was restored already, or more was written since the backup than is
 * remembered. What was written since it is frozen takes the place of what is lost, and is none of it.
 */
export function lostStretchOf({ position, at, freeze }: GetStatusReply): LostStretch | undefined {
  const known = freeze?.known;
  if (!known || known.epoch !== position?.epoch) return undefined;
  const { epoch, seq } = freeze.found ?? position;
  if (known.epoch !== epoch || known.seq <= seq) return undefined;
  return { fromSeq: seq + 1, toSeq: known.seq, after: freeze.found ? freeze.foundAt : at, before: freeze.at };
}

export function stretchSentence({ fromSeq, toSeq, after, before }: LostStretch, zone: Zone): string {
  const count = toSeq - fromSeq + 1;
  const which = count === 1 ? `event ${fromSeq} is` : `events ${fromSeq} to ${toSeq} are`;
  return `lost: ${which} gone, ${count} at least, of the time from ${showTime(after, zone)} to ${showTime(before, zone)}`;
}
