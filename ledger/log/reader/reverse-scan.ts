/**
 * Searches the log from its end, for queries without an index. A search of a long log is slow, so
 * each call scans a bounded number of events and returns where to continue.
 */
import { IpledgerError, isPositionGone, undefinedIfGone } from '../../../lib/errors.ts';
import type { SharedTurns } from '../../../lib/process/shared-turns.ts';
import type { Segment, Seq } from '../../domain/values/ledger.ts';
import { parseEvent, type StoredEvent } from '../chain/chain.ts';
import { type EventFilter, textPrefilter, selectEvents } from './event-filter.ts';
import type { EventReader, Ledger, StoredLine } from '../store/ledger.ts';

/** The events of one read, as many as one page of etcd has. */
const eventsPerRead = 2_000;
const readsPerCall = 10;
/** The lines that are parsed and selected at once. A page of 100 events needs one step. */
const linesPerStep = 200;

export interface ReverseScan {
  readonly filter: EventFilter;
  /** The newest event to scan. It must be in the log. */
  readonly from: Seq;
  /** The search stops at events before this time; milliseconds since 1970. */
  readonly since: number;
  readonly maxEvents: number;
  /** The turns of the event loop in which events are parsed: those of a step take up to 7 ms. */
  readonly turns: SharedTurns;
}

export interface ReverseScanPage {
  /** The matching events, newest first. */
  readonly events: readonly StoredEvent[];
  /** The oldest scanned event. */
  readonly scannedFrom: Seq;
  /** Whether older events may match: continue at `scannedFrom - 1`. */
  readonly hasMore: boolean;
}

/**
 * Searches from the newest to the oldest event, at most 20,000 events per call.
 * @throws IpledgerError LEDGER_DAMAGED if the log has a gap; errors of the ledger.
 */
export async function scanReverse(
  ledger: Ledger,
  { filter, from, since, maxEvents, turns }: ReverseScan,
  signal: AbortSignal,
): Promise<ReverseScanPage> {
  const events: StoredEvent[] = [];
  const mayMatch = textPrefilter(filter);
  const tail = new Tail(ledger, from, signal);
  let scannedFrom = from + 1;
  for (let read = 0; read < readsPerCall && scannedFrom > 1 && events.length < maxEvents; read++) {
    const lines = read === 0 ? await tail.page(0) : await undefinedIfGone(tail.page(read));
    // Returns the events found so far. The next call throws POSITION_GONE.
    if (!lines) return { events, scannedFrom, hasMore: true };
    for (let end = lines.length; end > 0; end -= linesPerStep) {
      if (events.length >= maxEvents) break;
      const step = lines.slice(Math.max(0, end - linesPerStep), end);
      const candidates = step.filter(({ text }) => mayMatch(text));
      const parsed = await turns.map(candidates, ({ text }) => parseEvent(text));
      const recent = parsed.filter(({ sequenced }) => sequenced.at >= since);
      const matching = (await selectEvents(tail, recent, filter, signal)).toReversed();
      const room = maxEvents - events.length;
      events.push(...matching.slice(0, room));
      const last = events.at(-1);
      if (last && matching.length > room) return { events, scannedFrom: last.envelope.seq, hasMore: true };
      scannedFrom -= step.length;
      const [oldest] = step;
      if (oldest && parseEvent(oldest.text).sequenced.at < since) return { events, scannedFrom, hasMore: false };
    }
  }
  return { events, scannedFrom, hasMore: scannedFrom > 1 };
}

/**
 * The part of the log that one call may scan, in pages that are read once. Most earlier events that
 * the scanned events refer to are in it, and need no further read.
 */
class Tail implements EventReader {
  readonly #ledger: Ledger;
  readonly #last: Seq;
  readonly #signal: AbortSignal;
  readonly #pages: StoredLine[][] = [];

  constructor(ledger: Ledger, last: Seq, signal: AbortSignal) {
    this.#ledger = ledger;
    this.#last = last;
    this.#signal = signal;
  }

  /** The lines of a page, oldest first. Page 0 has the last event. Sealed lines may be missing. */
  async page(number: number): Promise<readonly StoredLine[]> {
    const last = this.#last - number * eventsPerRead;
    const first = Math.max(1, last - eventsPerRead + 1);
    return (this.#pages[number] ??= await this.#read(first, last));
  }

  async #read(first: Seq, last: Seq): Promise<StoredLine[]> {
    try {
      return await readLines(this.#ledger, first, last, this.#signal);
    } catch (error) {
      if (!isPositionGone(error)) throw error;
      const logStart = 1 + (await lastThat(first - 1, last, (seq) => this.#isGone(seq)));
      if (logStart > last) throw error;
      return readLines(this.#ledger, logStart, last, this.#signal);
    }
  }

  async #isGone(seq: Seq): Promise<boolean> {
    return (await timeOf(this.#ledger, seq, this.#signal)) === -Infinity;
  }

  async readEach(seqs: readonly Seq[]): Promise<readonly (StoredLine | undefined)[]> {
    const isInTail = (seq: Seq): boolean => seq <= this.#last && seq > this.#last - readsPerCall * eventsPerRead;
    const others = seqs.filter((seq) => !isInTail(seq));
    const found = new Map<Seq, StoredLine | undefined>();
    const lines = await this.#readOthers(others);
    for (const [index, seq] of others.entries()) found.set(seq, lines[index]);
    for (const seq of seqs.filter(isInTail)) found.set(seq, await this.#lineOf(seq));
    return seqs.map((seq) => found.get(seq));
  }

  /** One line of the tail; undefined for a sealed line that is not available. */
  async #lineOf(seq: Seq): Promise<StoredLine | undefined> {
    const number = Math.floor((this.#last - seq) / eventsPerRead);
    const fromPageEnd = this.#last - number * eventsPerRead - seq;
    const page = await undefinedIfGone(this.page(number));
    return page?.at(-1 - fromPageEnd);
  }

  async #readOthers(seqs: readonly Seq[]): Promise<readonly (StoredLine | undefined)[]> {
    const all = await undefinedIfGone(this.#ledger.readEach(seqs, this.#signal));
    if (all) return all;
    const lines: (StoredLine | undefined)[] = [];
    for (const seq of seqs) lines.push((await undefinedIfGone(this.#ledger.readEach([seq], this.#signal)))?.[0]);
    return lines;
  }
}

/** Reads all lines of a range, oldest first. @throws IpledgerError LEDGER_DAMAGED for a gap. */
async function readLines(ledger: Ledger, first: Seq, last: Seq, signal: AbortSignal): Promise<StoredLine[]> {
  const lines: StoredLine[] = [];
  for await (const page of ledger.read(first, signal)) {
    lines.push(...page.slice(0, last - first + 1 - lines.length));
    if (lines.length > last - first) break;
  }
  const newest = lines.at(-1);
  if (lines.length <= last - first || !newest || numberOf(newest) !== last)
    throw new IpledgerError(
      'LEDGER_DAMAGED',
      `the log has a gap between event ${first} and event ${last}. Run: ipledger verify`,
    );
  return lines;
}

const numberOf = ({ text }: StoredLine): Seq => parseEvent(text).envelope.seq;

/**
 * A log and its sealed segments, oldest first. Segments have times, so a search unpacks at most one
 * of them.
 */
export interface SearchedLog {
  readonly ledger: EventReader;
  readonly segments: readonly Segment[];
}

/**
 * The last event before a time (milliseconds since 1970) and not after event `upTo`, which is in
 * the log; 0 for none. Uses a binary search, because times in the log never decrease.
 * @throws errors of the ledger.
 */
export async function lastSeqBefore(
  { ledger, segments }: SearchedLog,
  at: number,
  upTo: Seq,
  signal: AbortSignal,
): Promise<Seq> {
  const begun = await lastThat(0, segments.length, (number) => Date.parse(segments[number - 1]?.since ?? '') < at);
  const [last, next] = [segments[begun - 1], segments[begun]];
  const isInside = last && Date.parse(last.until) >= at;
  const first = isInside ? last.from : (last?.to ?? 0);
  const end = isInside ? last.to - 1 : next ? next.from - 1 : upTo;
  return lastThat(first, end, async (seq) => (await timeOf(ledger, seq, signal)) < at);
}

/**
 * Searches for the last number up to `last` for which `holds`, by steps that halve; `first` if
 * there is none. An empty range has no step, as it has no logarithm.
 */
async function lastThat(first: Seq, last: Seq, holds: (seq: Seq) => boolean | Promise<boolean>): Promise<Seq> {
  let found = first;
  for (let step = 2 ** Math.floor(Math.log2(last - first)); step >= 1; step /= 2)
    if (found + step <= last && (await holds(found + step))) found += step;
  return found;
}

/** The time of an event in milliseconds; -Infinity for a sealed event that is not available. */
async function timeOf(ledger: EventReader, seq: Seq, signal: AbortSignal): Promise<number> {
  try {
    const [line] = await ledger.readEach([seq], signal);
    if (!line) throw new IpledgerError('LEDGER_DAMAGED', `event ${seq} is missing from the log. Run: ipledger verify`);
    return parseEvent(line.text).sequenced.at;
  } catch (error) {
    if (isPositionGone(error)) return -Infinity;
    throw error;
  }
}
