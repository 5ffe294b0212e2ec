/** Searches events by Pod, owner, node or Subnet, from the newest to the oldest. */
import { setImmediate } from 'node:timers/promises';
import { maxPageBytes, estimateBytes } from '../../../lib/net/page-size.ts';
import type { Event } from '../../../proto/generated/ipledger.ts';
import type { KeyColumn, EventRow, EventStore } from './event-store.ts';

/** Rows per step of about a millisecond. SQLite is synchronous; other work runs between steps. */
const rowsPerStep = 200;
const eventsPerStep = 50;
/** The most rows that one call reads. Then it returns where to continue. */
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

/** Finds the newest matching events of a range. */
export async function searchEvents(
  store: EventStore,
  criteria: SearchCriteria,
  { last, first, limit }: SearchRange,
): Promise<SearchResult> {
  const seqs: number[] = [];
  let searched = last + 1;
  for (let rowCount = 0; searched > first && seqs.length < limit && rowCount < maxRowsPerCall;) {
    const { rows, floor } = readStep(store, criteria.anyOf ?? [undefined], { first, last: searched - 1 });
    const matching = rows.filter(({ subnet }) => criteria.subnet === undefined || subnet === criteria.subnet);
    const taken = matching.slice(0, limit - seqs.length);
    seqs.push(...taken.map(({ seq }) => seq));
    searched = taken.length < matching.length ? (seqs.at(-1) ?? floor) : floor;
    rowCount += Math.max(rows.length, 1);
    await setImmediate();
  }
  const events = await readEvents(store, seqs);
  if (events.length < seqs.length) return { events, searched: events.at(-1)?.seq ?? searched, more: true };
  return { events, searched, more: searched > first };
}

type SearchKey = NonNullable<SearchCriteria['anyOf']>[number] | undefined;

/** Reads the newest rows of all keys, down to the first row that may be incomplete for a key. */
function readStep(store: EventStore, keys: readonly SearchKey[], { first, last }: Pick<SearchRange, 'first' | 'last'>) {
  const found = keys.map((key) => store.rows(key, { first, last, limit: rowsPerStep }));
  const unfinished = found.flatMap((rows) => (rows.length < rowsPerStep ? [] : [(rows.at(-1) as EventRow).seq]));
  const floor = Math.max(first, ...unfinished);
  const rows = found.flat().filter(({ seq }) => seq >= floor);
  return { rows: keys.length > 1 ? rows.toSorted((one, other) => other.seq - one.seq) : rows, floor };
}

/** Reads as many events as fit into a page, at least one. */
async function readEvents(store: EventStore, seqs: readonly number[]): Promise<Event[]> {
  const events: Event[] = [];
  let bytes = 0;
  for (const [index, seq] of seqs.entries()) {
    if (index % eventsPerStep === eventsPerStep - 1) await setImmediate();
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
