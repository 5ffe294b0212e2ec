/**
 * The log read from the end: what answers questions for which there is no index. Right always, and slow on a long log, so that
 * each call looks at a bounded number of events and says where to go on.
 */
import { IpledgerError } from '../../../lib/errors.ts';
import type { Seq } from '../domain/event.ts';
import { parseEvent, type StoredEvent } from './chain.ts';
import { type EventFilter, quickLook, select } from './filter.ts';
import type { Ledger, StoredLine } from './ledger.ts';

/** One page of etcd's. */
const eventsARead = 2_000;
const readsACall = 10;

export interface Search {
  readonly filter: EventFilter;
  /** The last event to look at; it is in the log. */
  readonly from: Seq;
  /** Nothing older is looked for, milliseconds since 1970. */
  readonly since: number;
  /** How many events to find at most. */
  readonly most: number;
}

export interface Found {
  /** Newest first. */
  readonly events: readonly StoredEvent[];
  /** All from this one on were looked at; 1 is the first there is. */
  readonly searched: Seq;
  /** Whether older ones may match too: go on at `searched - 1`. */
  readonly more: boolean;
}

/**
 * Looks for events from the newest to the oldest, and ends early once it has looked at 20,000.
 * @throws IpledgerError LEDGER_DAMAGED where the log has a hole; what the ledger throws.
 */
export async function searchBackwards(
  ledger: Ledger,
  { filter, from, since, most }: Search,
  signal: AbortSignal,
): Promise<Found> {
  const events: StoredEvent[] = [];
  const mayMatch = quickLook(filter);
  let searched = from + 1;
  for (let read = 0; read < readsACall && searched > 1 && events.length < most; read++) {
    const lines = await readStretch(ledger, Math.max(1, searched - eventsARead), searched - 1, signal);
    const candidates = lines.filter(({ text }) => mayMatch(text)).map(({ text }) => parseEvent(text));
    const recent = candidates.filter(({ sequenced }) => sequenced.at >= since);
    const matching = (await select(ledger, recent, filter, signal)).toReversed();
    const room = most - events.length;
    events.push(...matching.slice(0, room));
    const last = events.at(-1);
    if (last && matching.length > room) return { events, searched: last.envelope.seq, more: true };
    searched = Math.max(1, searched - eventsARead);
    const [oldest] = lines;
    if (oldest && parseEvent(oldest.text).sequenced.at < since) return { events, searched, more: false };
  }
  return { events, searched, more: searched > 1 };
}

/** These lines, oldest first: each is there. */
async function readStretch(ledger: Ledger, first: Seq, last: Seq, signal: AbortSignal): Promise<StoredLine[]> {
  const lines: StoredLine[] = [];
  for await (const page of ledger.read(first, signal)) {
    lines.push(...page.slice(0, last - first + 1 - lines.length));
    if (lines.length > last - first) break;
  }
  const newest = lines.at(-1);
  if (lines.length <= last - first || !newest || numberOf(newest) !== last)
    throw new IpledgerError('LEDGER_DAMAGED', `the log is not dense between event ${first} and event ${last}`);
  return lines;
}

const numberOf = ({ text }: StoredLine): Seq => parseEvent(text).envelope.seq;

/**
 * The last event before an instant (milliseconds since 1970), of those up to one that is in the log; 0 for none. Times in the
 * log never go back, so it is found in a few reads.
 * @throws what the ledger throws.
 */
export async function lastBefore(ledger: Ledger, at: number, upTo: Seq, signal: AbortSignal): Promise<Seq> {
  let [before, after] = [0, upTo + 1];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if ((await timeOf(ledger, middle, signal)) < at) before = middle;
    else after = middle;
  }
  return before;
}

/** An event that is gone happened before all that is left. */
async function timeOf(ledger: Ledger, seq: Seq, signal: AbortSignal): Promise<number> {
  try {
    const [line] = await ledger.readEach([seq], signal);
    if (!line) throw new IpledgerError('LEDGER_DAMAGED', `event ${seq} is not in the log`);
    return parseEvent(line.text).sequenced.at;
  } catch (error) {
    if (error instanceof IpledgerError && error.code === 'POSITION_GONE') return -Infinity;
    throw error;
  }
}
