/**
 * Verifies the events and the index of the store, page by page. The ledger confirms the hash of the
 * last event, each event has the hash of the previous one, and each index row must follow from the
 * events. So a replaced or edited file is detected. The hash of a page also covers the fields into
 * which the allocator has decoded its events.
 */
import { createHash } from 'node:crypto';
import { decode } from '../../../proto/codec.ts';
import type { Event } from '../../../proto/generated/ipledger.ts';
import { openDatabase, removeDatabase } from './database-file.ts';
import { createInsert } from './event-insert.ts';
import { eventsPerPage, firstPageHash, pageHash, unpackPage } from './event-pages.ts';
import type { EventStore, StoredPage } from './event-store.ts';
import { foundBy } from './index-rows.ts';

/** Thrown for a fault of the file. */
export class StoreDamaged extends Error {}

/**
 * Verifies one page with each step. It ends after the first page that is not full. Such a page may
 * grow later; the next verification then covers its new events.
 * @param scratchFile a file for a second index, with the names of all events and the rows of one
 * page. It is deleted at the end
 * @throws StoreDamaged
 */
export function* verifyStore(store: EventStore, scratchFile: string): Generator<void> {
  removeDatabase(scratchFile);
  const scratch = openDatabase(scratchFile);
  try {
    const { insert } = createInsert(scratch);
    const rowsOfPage = ['events', 'allocations', 'changes', 'keyframes', 'marks'];
    const forget = rowsOfPage.map((table) => scratch.prepare(`DELETE FROM ${table}`));
    let next = store.firstSeq;
    const withStates = next <= 1; // else they follow from a state that no event of the store has
    let [before, previous]: [Uint8Array, string | undefined] = [firstPageHash, undefined];
    while (next <= store.position.seq && store.position.seq > 0) {
      const page = store.storedPage(next);
      if (page?.first !== next) throw new StoreDamaged(`the page of event ${next} is missing`);
      const events = readPage(page, before, previous);
      const last = next + events.length - 1;
      if (events.length < eventsPerPage && last !== store.position.seq)
        throw new StoreDamaged(`the page of event ${next} ends with event ${last}`);
      scratch.exec('BEGIN');
      insert(events);
      const expected = foundBy(scratch, events, withStates);
      for (const statement of forget) statement.run();
      scratch.exec('COMMIT');
      if (expected.join('\n') !== store.foundBy(events, withStates).join('\n'))
        throw new StoreDamaged(`the index differs from the events ${next} to ${last}`);
      [next, before, previous] = [last + 1, page.hash, events.at(-1)?.hash];
      if (last === store.position.seq && previous !== store.position.hash)
        throw new StoreDamaged(`event ${last} has not the hash of the position`);
      yield;
      if (events.length < eventsPerPage) return;
    }
  } finally {
    scratch.close();
    removeDatabase(scratchFile);
  }
}

/** @throws StoreDamaged */
function readPage({ first, packed, hash }: StoredPage, before: Uint8Array, previous: string | undefined): Event[] {
  if (!Buffer.from(pageHash(before, packed)).equals(hash))
    throw new StoreDamaged(`the page of event ${first} does not have its hash`);
  let known = previous;
  const events = unpackPage(packed).map((message) => decode('Event', message) as Event);
  for (const [index, event] of events.entries()) {
    const fault = faultOf(event, first + index, known);
    if (fault !== undefined) throw new StoreDamaged(`event ${first + index} ${fault}`);
    known = event.hash;
  }
  return events;
}

/** @param previous the hash of the previous event; undefined for the first event of the store */
function faultOf(event: Event, seq: number, previous: string | undefined): string | undefined {
  if (createHash('sha256').update(event.stored).digest('hex') !== event.hash) return 'does not have its hash';
  if (previous !== undefined && event.prev !== previous) return 'does not follow the event before';
  const line = JSON.parse(event.stored) as Record<string, unknown>;
  const fields = { seq, id: event.id, cmd: event.command, subnet: event.subnet, at: event.at };
  const more = { type: event.type, actor: event.actor, prev: event.prev };
  const wrong = Object.entries({ ...fields, ...more }).find(([name, value]) => line[name] !== value);
  if (wrong || event.seq !== seq) return `differs from its line in ${wrong?.[0] ?? 'seq'}`;
  const known = new Set(textsOf(line, true));
  const { stored: _, hash: _hash, ...decoded } = event;
  const foreign = [...textsOf(decoded)].find((text) => !known.has(text) && !isEnumValue(text));
  return foreign === undefined ? undefined : `has ${JSON.stringify(foreign)}, which is not in its line`;
}

/** Whether a text is a value of the API's enumerations. The line has other values. */
const isEnumValue = (text: string): boolean => text === '' || /^[A-Z]+(_[A-Z]+)+$/.test(text);

/** Yields all texts in a value. With `withNames` also field names, which may be addresses. */
function* textsOf(value: unknown, withNames = false): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null)
    for (const [name, each] of Object.entries(value)) {
      if (withNames) yield name;
      yield* textsOf(each, withNames);
    }
}
