/** Searches events by Pod, owner, node or Subnet, from the newest to the oldest. */
import { setImmediate } from 'node:timers/promises';
import { maxPageBytes, estimateBytes } from '../../../lib/net/page-size.ts';
import type { Event } from '../../../proto/generated/ipledger.ts';
import type { KeyColumn, EventRow, EventStore } from './event-store.ts';

/** Rows per step of about a millisecond. SQLite is synchronous; other work runs between steps. */
const rowsPerStep = 200;
const eventsPerStep = 50;
/**
 * The most rows that one call reads, also those that do not match. Then it returns where to go on.
 */
const maxRowsPerCall = 20_000;

/** Selects events with any of these keys, optionally of one Subnet. */
export interface SearchCriteria {
  /** If absent, all events match; if empty, none. */
  readonly anyOf?: readonly { readonly column: KeyColumn; readonly key: number }[];
  readonly subnet?: number;
}

export interface SearchRange {
  /** The newest event to read. */
  readonly last: number;
  /** The oldest event to read. */
  readonly first: number;
  readonly limit: number;
}

export interface SearchResult {
  readonly events: readonly Event[];
  /** The oldest event of the searched range: all matching events from it on were found. */
  readonly searched: number;
  /** Whether older events may match: continue at `searched - 1`. */
  readonly more: boolean;
}

/** Finds the newest matching events of a range. @throws the reason of the signal */
export async function searchEvents(
  store: EventStore,
  { anyOf, subnet }: SearchCriteria,
  { last, first, limit }: SearchRange,
  signal?: AbortSignal,
): Promise<SearchResult> {
  const seqs: number[] = [];
  let searched = last + 1;
  const rows = new NewestRows(store, anyOf ?? [undefined], { first, last });
  for (;;) {
    const row = await rows.newest(signal);
    if (!row) {
      searched = Math.min(searched, first);
      break;
    }
    const isMatch = subnet === undefined || row.subnet === subnet;
    if (isMatch && seqs.length === limit) break;
    if (isMatch) seqs.push(row.seq);
    searched = row.seq;
    if (rows.count >= maxRowsPerCall) break;
    rows.take();
  }
  const events = await readEvents(store, seqs, signal);
  if (events.length < seqs.length) return { events, searched: events.at(-1)?.seq ?? searched, more: true };
  return { events, searched, more: searched > first };
}

type SearchKey = NonNullable<SearchCriteria['anyOf']>[number] | undefined;

interface KeyRows {
  readonly key: SearchKey;
  /** Those that were read and not taken, the newest first. */
  rows: EventRow[];
  next: number;
  /** The newest row that was not read. */
  last: number;
}

/** The rows of several keys together, the newest first. Each row is read once. */
class NewestRows {
  readonly #store: EventStore;
  readonly #first: number;
  readonly #keys: readonly KeyRows[];
  readonly #atOnce: number;
  /** Those whose next row is not known. */
  #unread: KeyRows[];
  #current: KeyRows | undefined;
  #paused = 0;
  /** The rows that were read. */
  count = 0;

  constructor(store: EventStore, keys: readonly SearchKey[], { first, last }: Pick<SearchRange, 'first' | 'last'>) {
    this.#store = store;
    this.#first = first;
    this.#keys = keys.map((key) => ({ key, rows: [], next: 0, last }));
    this.#unread = [...this.#keys];
    this.#atOnce = Math.max(1, Math.floor(rowsPerStep / Math.max(1, keys.length)));
  }

  /** The newest row that was not taken. */
  async newest(signal: AbortSignal | undefined): Promise<EventRow | undefined> {
    for (const each of this.#unread.splice(0)) {
      this.#read(each);
      if (this.count - this.#paused < rowsPerStep) continue;
      this.#paused = this.count;
      await setImmediate();
      signal?.throwIfAborted();
    }
    let newest: EventRow | undefined;
    for (const each of this.#keys) {
      const row = each.rows[each.next];
      if (row && row.seq > (newest?.seq ?? 0)) [newest, this.#current] = [row, each];
    }
    return newest;
  }

  /** Takes the row that `newest` has returned. */
  take(): void {
    const current = this.#current;
    if (current && ++current.next === current.rows.length) this.#unread.push(current);
  }

  #read(of: KeyRows): void {
    const { key, last } = of;
    const rows = last < this.#first ? [] : this.#store.rows(key, { first: this.#first, last, limit: this.#atOnce });
    of.rows = rows;
    of.next = 0;
    of.last = rows.length < this.#atOnce ? 0 : (rows.at(-1)?.seq ?? 1) - 1;
    this.count += Math.max(rows.length, 1); // a look for none, too
  }
}

/** Reads as many events as fit into a page, at least one. */
async function readEvents(
  store: EventStore,
  seqs: readonly number[],
  signal: AbortSignal | undefined,
): Promise<Event[]> {
  const events: Event[] = [];
  let bytes = 0;
  for (const [index, seq] of seqs.entries()) {
    if (index % eventsPerStep === eventsPerStep - 1) await setImmediate();
    signal?.throwIfAborted();
    const event = store.event(seq);
    bytes += estimateBytes(event);
    if (index > 0 && bytes > maxPageBytes) break;
    events.push(event);
  }
  return events;
}

/** The first event at or after an instant in milliseconds; the next event number if none. */
export function firstSeqSince(store: EventStore, at: number): number {
  let [before, notBefore] = [store.firstSeq - 1, store.position.seq + 1];
  while (notBefore - before > 1) {
    const middle = Math.floor((before + notBefore) / 2);
    if (store.timeOf(middle) < at) before = middle;
    else notBefore = middle;
  }
  return notBefore;
}
