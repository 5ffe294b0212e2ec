/**
 * The log searched from its end, for questions that no index answers. That is always right, and slow on a long log: so each call
 * looks at a bounded number of events, and says where to go on.
 */
import { IpledgerError, isGone, unlessGone } from '../../../lib/errors.ts';
import type { Seq } from '../domain/event.ts';
import { parseEvent, type StoredEvent } from './chain.ts';
import { type EventFilter, quickLook, select } from './filter.ts';
import type { EventReader, Ledger, StoredLine } from './ledger.ts';

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
  const tail = new Tail(ledger, from, signal);
  let searched = from + 1;
  for (let read = 0; read < readsACall && searched > 1 && events.length < most; read++) {
    const lines = read === 0 ? await tail.stretch(0) : await unlessGone(tail.stretch(read));
    // What was found is told first; whoever goes on is told why there is no more.
    if (!lines) return { events, searched, more: true };
    const candidates = lines.filter(({ text }) => mayMatch(text)).map(({ text }) => parseEvent(text));
    const recent = candidates.filter(({ sequenced }) => sequenced.at >= since);
    const matching = (await select(tail, recent, filter, signal)).toReversed();
    const room = most - events.length;
    events.push(...matching.slice(0, room));
    const last = events.at(-1);
    if (last && matching.length > room) return { events, searched: last.envelope.seq, more: true };
    searched -= lines.length;
    const [oldest] = lines;
    if (oldest && parseEvent(oldest.text).sequenced.at < since) return { events, searched, more: false };
  }
  return { events, searched, more: searched > 1 };
}

/**
 * The part of the log that a call may look at, read in stretches, each once. Most of the earlier events that an event refers to
 * are in it, and are then found without a read of their own.
 */
class Tail implements EventReader {
  readonly #ledger: Ledger;
  readonly #last: Seq;
  readonly #signal: AbortSignal;
  readonly #stretches: StoredLine[][] = [];

  constructor(ledger: Ledger, last: Seq, signal: AbortSignal) {
    this.#ledger = ledger;
    this.#last = last;
    this.#signal = signal;
  }

  /** The lines of a stretch, oldest first; number 0 ends with the last event. Of a partly sealed one, the lines that are at hand. */
  async stretch(number: number): Promise<readonly StoredLine[]> {
    const last = this.#last - number * eventsARead;
    const first = Math.max(1, last - eventsARead + 1);
    return (this.#stretches[number] ??= await this.#read(first, last));
  }

  async #read(first: Seq, last: Seq): Promise<StoredLine[]> {
    try {
      return await readStretch(this.#ledger, first, last, this.#signal);
    } catch (error) {
      if (!isGone(error)) throw error;
      const floor = 1 + (await lastThat(first - 1, last, (seq) => this.#isGone(seq)));
      if (floor > last) throw error;
      return readStretch(this.#ledger, floor, last, this.#signal);
    }
  }

  async #isGone(seq: Seq): Promise<boolean> {
    return (await timeOf(this.#ledger, seq, this.#signal)) === -Infinity;
  }

  async readEach(seqs: readonly Seq[]): Promise<readonly (StoredLine | undefined)[]> {
    const within = (seq: Seq): boolean => seq <= this.#last && seq > this.#last - readsACall * eventsARead;
    const elsewhere = seqs.filter((seq) => !within(seq));
    const found = new Map<Seq, StoredLine | undefined>();
    const lines = await this.#readFurther(elsewhere);
    for (const [index, seq] of elsewhere.entries()) found.set(seq, lines[index]);
    for (const seq of seqs.filter(within)) found.set(seq, await this.#lineOf(seq));
    return seqs.map((seq) => found.get(seq));
  }

  /** One line of this part; undefined for one that is sealed and not at hand. */
  async #lineOf(seq: Seq): Promise<StoredLine | undefined> {
    const number = Math.floor((this.#last - seq) / eventsARead);
    const fromItsEnd = this.#last - number * eventsARead - seq;
    const stretch = await unlessGone(this.stretch(number));
    return stretch?.at(-1 - fromItsEnd);
  }

  async #readFurther(seqs: readonly Seq[]): Promise<readonly (StoredLine | undefined)[]> {
    const all = await unlessGone(this.#ledger.readEach(seqs, this.#signal));
    if (all) return all;
    const lines: (StoredLine | undefined)[] = [];
    for (const seq of seqs) lines.push((await unlessGone(this.#ledger.readEach([seq], this.#signal)))?.[0]);
    return lines;
  }
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
  return lastThat(0, upTo, async (seq) => (await timeOf(ledger, seq, signal)) < at);
}

/** Binary search: the last number from `first + 1` to `last` for which `holds`, which must hold for all before it; `first` for none. */
async function lastThat(first: Seq, last: Seq, holds: (seq: Seq) => Promise<boolean>): Promise<Seq> {
  let [before, after] = [first, last + 1];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (await holds(middle)) before = middle;
    else after = middle;
  }
  return before;
}

/** When an event happened, milliseconds since 1970; -Infinity for one that is sealed and not at hand: it is older than all others. */
async function timeOf(ledger: Ledger, seq: Seq, signal: AbortSignal): Promise<number> {
  try {
    const [line] = await ledger.readEach([seq], signal);
    if (!line) throw new IpledgerError('LEDGER_DAMAGED', `event ${seq} is not in the log`);
    return parseEvent(line.text).sequenced.at;
  } catch (error) {
    if (isGone(error)) return -Infinity;
    throw error;
  }
}
