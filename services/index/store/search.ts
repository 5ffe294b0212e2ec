/** Events from the newest to the oldest, by what they are about. */
import { setImmediate } from 'node:timers/promises';
import { mostPageBytes, weightOf } from '../../../lib/serving/page-bytes.ts';
import type { Event } from '../../../proto/ipledger.ts';
import type { Column, Row, Store } from './store.ts';

/** SQLite answers on the spot: between steps of a millisecond or so everybody else has a turn. */
const rowsAStep = 200;
const eventsAStep = 50;
/** So many a call looks at; then it says where to go on. */
const rowsACall = 20_000;

/** By what events are found: any of these keys, and (if it is said) in this subnet. */
export interface Wanted {
  /** Absent: all events. Empty: none. */
  readonly leads?: readonly { readonly column: Column; readonly key: number }[];
  readonly subnet?: number;
}

export interface Range {
  /** From the newest … */
  readonly last: number;
  /** … back to the oldest. */
  readonly first: number;
  readonly most: number;
}

export interface Found {
  readonly events: readonly Event[];
  /** Every event that is wanted, from this one on, was found. */
  readonly searched: number;
  /** Whether there may be older ones: go on at `searched - 1`. */
  readonly more: boolean;
}

/** The newest ones. */
export async function search(store: Store, wanted: Wanted, { last, first, most }: Range): Promise<Found> {
  const seqs: number[] = [];
  let searched = last + 1;
  for (let looked = 0; searched > first && seqs.length < most && looked < rowsACall;) {
    const { rows, floor } = step(store, wanted.leads ?? [undefined], { first, last: searched - 1 });
    const matching = rows.filter(({ subnet }) => wanted.subnet === undefined || subnet === wanted.subnet);
    const taken = matching.slice(0, most - seqs.length);
    seqs.push(...taken.map(({ seq }) => seq));
    searched = taken.length < matching.length ? (seqs.at(-1) ?? floor) : floor;
    looked += Math.max(rows.length, 1);
    await setImmediate();
  }
  const events = await read(store, seqs);
  if (events.length < seqs.length) return { events, searched: events.at(-1)?.seq ?? searched, more: true };
  return { events, searched, more: searched > first };
}

type Lead = NonNullable<Wanted['leads']>[number] | undefined;

/** The newest rows of all leads together, down to where one of them may have more. */
function step(store: Store, leads: readonly Lead[], { first, last }: Pick<Range, 'first' | 'last'>) {
  const found = leads.map((lead) => store.rows(lead, { first, last, most: rowsAStep }));
  const unfinished = found.flatMap((rows) => (rows.length < rowsAStep ? [] : [(rows.at(-1) as Row).seq]));
  const floor = Math.max(first, ...unfinished);
  const rows = found.flat().filter(({ seq }) => seq >= floor);
  return { rows: leads.length > 1 ? rows.toSorted((one, other) => other.seq - one.seq) : rows, floor };
}

/** As many of them as fill a page, at least one. */
async function read(store: Store, seqs: readonly number[]): Promise<Event[]> {
  const events: Event[] = [];
  let bytes = 0;
  for (const [index, seq] of seqs.entries()) {
    if (index % eventsAStep === eventsAStep - 1) await setImmediate();
    const event = store.event(seq);
    bytes += weightOf(event);
    if (index > 0 && bytes > mostPageBytes) break;
    events.push(event);
  }
  return events;
}

/** The first event of those known that is not before an instant (milliseconds since 1970); one behind the last if there is none. */
export function firstSince(store: Store, at: number): number {
  let [before, notBefore] = [store.firstSeq - 1, store.position.seq + 1];
  while (notBefore - before > 1) {
    const middle = Math.floor((before + notBefore) / 2);
    if (store.at(middle) < at) before = middle;
    else notBefore = middle;
  }
  return notBefore;
}
