/** The event store: every event, with its Subnet, Pod, node and owner. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { decode } from '../../../proto/codec.ts';
import type { Event, Position } from '../../../proto/generated/ipledger.ts';
import { encodedEvent } from '../watch-replies.ts';
import { createInsert, type EventInsert } from './event-insert.ts';
import { foundBy } from './index-rows.ts';
import { type StartState, writeStartState } from './start-state.ts';
import { openDatabase } from './database-file.ts';
import { createMapQuery, type MapQuery } from './map-query.ts';
import { createNameSearch, type Hit } from './name-search.ts';
import { eventsPerPage, firstPageHash, packPage, pageHash, unpackPage } from './event-pages.ts';

/** The columns by which events are searched. */
export type KeyColumn = 'subnet' | 'pod' | 'node' | 'owner';

/** A matching event. */
export interface EventRow {
  readonly seq: number;
  readonly subnet: number | null;
}

/** Consecutive events as bytes, from event `first` on. */
interface Page {
  readonly first: number;
  readonly messages: readonly Uint8Array[];
}

export interface StoredPage {
  readonly first: number;
  readonly packed: Uint8Array;
  readonly hash: Uint8Array;
}

export class EventStore {
  readonly #database: DatabaseSync;
  readonly #insertEvents: EventInsert;
  readonly #setPosition: StatementSync;
  readonly #byColumn = new Map<KeyColumn | undefined, StatementSync>();
  readonly #findPage: StatementSync;
  readonly #setPage: StatementSync;
  readonly #nextPage: StatementSync;
  readonly #findTime: StatementSync;
  readonly #findAllocations: StatementSync;
  /** Reads address maps. */
  readonly maps: MapQuery;
  /** Finds things by name. */
  readonly search: (text: string) => Hit[];
  #position: Position;
  /** The newest page, to which events are appended until it is full. */
  #openPage: Page;
  /** The hash of the page before `#openPage`. */
  #hashBefore: Uint8Array;
  /** The last unpacked page, because neighbouring events are often read together. */
  #unpackedPage: Page | undefined;

  /**
   * Opens or creates the file. Only one process can use it.
   * @throws Error as `openDatabase`
   */
  constructor(file: string) {
    this.#database = openDatabase(file);
    const metadata = this.#database.prepare('SELECT value FROM about WHERE name = ?');
    this.#position = JSON.parse(String(metadata.get('position')?.['value'])) as Position;
    this.#insertEvents = createInsert(this.#database);
    this.#setPosition = this.#database.prepare("UPDATE about SET value = ? WHERE name = 'position'");
    this.#findPage = this.#database.prepare(
      'SELECT first, packed, hash FROM pages WHERE first <= ? ORDER BY first DESC LIMIT 1',
    );
    this.#setPage = this.#database.prepare('INSERT OR REPLACE INTO pages (first, packed, hash) VALUES (?, ?, ?)');
    this.#nextPage = this.#database.prepare(
      'SELECT first, packed, hash FROM pages WHERE first >= ? ORDER BY first LIMIT 1',
    );
    this.#findAllocations = this.#database.prepare(
      `SELECT seq FROM allocations WHERE address = (SELECT id FROM addresses WHERE subnet = ? AND address = ?)
       AND seq >= ? ORDER BY seq LIMIT ?`,
    );
    this.maps = createMapQuery(this.#database);
    this.search = createNameSearch(this.#database, (seq) => this.event(seq));
    this.#findTime = this.#database.prepare('SELECT at FROM events WHERE seq = ?');
    this.#openPage = this.#pageOf(this.#position.seq) ?? { first: 1, messages: [] };
    this.#hashBefore = this.#readHashBefore(this.#openPage.first);
  }

  /** The last event of the store. */
  get position(): Position {
    return this.#position;
  }

  /** The first event of the store; 0 while it is empty. */
  get firstSeq(): number {
    return Number(this.#database.prepare('SELECT coalesce(min(seq), 0) AS first FROM events').get()?.['first']);
  }

  /** The first event whose maps are known; undefined if the store begins later without a state. */
  get mapsFromSeq(): number | undefined {
    const { firstSeq } = this;
    const start = this.#database.prepare("SELECT value FROM about WHERE name = 'start'").get()?.['value'];
    return firstSeq <= 1 || start === firstSeq - 1 ? firstSeq : undefined;
  }

  /** Writes the state before the first event, into an empty store. */
  beginWith(state: StartState): void {
    writeStartState(this.#database, state);
  }

  /** Appends complete commands and their position in one transaction. */
  append(events: readonly Event[], position: Position): void {
    this.#database.exec('BEGIN IMMEDIATE');
    let [open, hashBefore] = [this.#openPage, this.#hashBefore];
    try {
      this.#insertEvents.insert(events);
      [open, hashBefore] = this.#addToPages(events);
      this.#setPosition.run(JSON.stringify(position));
      this.#database.exec('COMMIT');
    } catch (error) {
      this.#database.exec('ROLLBACK');
      this.#insertEvents.forget();
      throw error;
    }
    this.#position = position;
    this.#openPage = open;
    this.#hashBefore = hashBefore;
  }

  /** Appends to the newest page and to new pages. Returns the newest, and the hash before it. */
  #addToPages(events: readonly Event[]): [Page, Uint8Array] {
    let { first, messages } = { ...this.#openPage, messages: [...this.#openPage.messages] };
    let [hashBefore, hash] = [this.#hashBefore, firstPageHash];
    const write = (): void => {
      const packed = packPage(messages);
      hash = pageHash(hashBefore, packed);
      this.#setPage.run(first, packed, hash);
    };
    if (messages.length === eventsPerPage) hash = this.#readHashBefore(first + eventsPerPage);
    for (const event of events) {
      if (messages.length === eventsPerPage) [messages, hashBefore] = [[], hash];
      if (messages.length === 0) first = event.seq;
      messages.push(encodedEvent(event));
      if (messages.length === eventsPerPage) write();
    }
    if (messages.length < eventsPerPage) write();
    return [{ first, messages }, hashBefore];
  }

  #readHashBefore(first: number): Uint8Array {
    const found = this.#findPage.get(first - 1) as { first: number; hash: Uint8Array } | undefined;
    return found?.hash ?? firstPageHash;
  }

  /** The first stored page that begins at event `first` or later. */
  storedPage(first: number): StoredPage | undefined {
    return this.#nextPage.get(first) as StoredPage | undefined;
  }

  /** Describes the rows by which events are found. */
  foundBy(events: readonly Event[], withStates: boolean): string[] {
    return foundBy(this.#database, events, withStates);
  }

  /** The hash of an event of the store. */
  hashOf(seq: number): string {
    return seq === this.#position.seq ? this.#position.hash : this.event(seq).hash;
  }

  /** The newest events with a key (undefined: all events), from `last` down to `first`. */
  rows(
    search: { readonly column: KeyColumn; readonly key: number } | undefined,
    { first, last, limit }: { readonly first: number; readonly last: number; readonly limit: number },
  ): EventRow[] {
    const found = search
      ? this.#rowsBy(search.column).all(search.key, first, last, limit)
      : this.#rowsBy(undefined).all(first, last, limit);
    return found as unknown as EventRow[];
  }

  #rowsBy(column: KeyColumn | undefined): StatementSync {
    const prepared = this.#byColumn.get(column);
    if (prepared) return prepared;
    const condition = column === undefined ? '' : `${column} = ? AND`;
    const statement = this.#database.prepare(
      `SELECT seq, subnet FROM events WHERE ${condition} seq BETWEEN ? AND ? ORDER BY seq DESC LIMIT ?`,
    );
    this.#byColumn.set(column, statement);
    return statement;
  }

  event(seq: number): Event {
    const isIn = (page: Page | undefined): boolean => page?.messages[seq - page.first] !== undefined;
    if (!isIn(this.#openPage) && !isIn(this.#unpackedPage)) this.#unpackedPage = this.#pageOf(seq);
    const { first, messages } = (isIn(this.#openPage) ? this.#openPage : this.#unpackedPage) ?? this.#openPage;
    return decode('Event', messages[seq - first] as Uint8Array) as Event;
  }

  #pageOf(seq: number): Page | undefined {
    const found = this.#findPage.get(seq) as { first: number; packed: Uint8Array } | undefined;
    return found && { first: found.first, messages: unpackPage(found.packed) };
  }

  /** The time of an event of the store, milliseconds since 1970. */
  timeOf(seq: number): number {
    return Number(this.#findTime.get(seq)?.['at']);
  }

  /** The first events from `first` on that allocated an address, oldest first. */
  allocationsFrom(
    { subnet, address }: { readonly subnet: string; readonly address: string },
    first: number,
    limit: number,
  ): number[] {
    return this.#findAllocations.all(subnet, address, first, limit).map(({ seq }) => Number(seq));
  }

  /** The keys of the rows that match all values. '' matches every value. */
  findKeys(
    table: 'subnets' | 'nodes' | 'pods' | 'owners',
    values: Readonly<Record<string, string>>,
    limit: number,
  ): number[] {
    const given = Object.entries(values).filter(([, value]) => value !== '');
    const where = given.map(([column]) => `${column} = ?`).join(' AND ') || 'true';
    const find = this.#database.prepare(`SELECT id FROM ${table} WHERE ${where} LIMIT ?`);
    return find.all(...given.map(([, value]) => value), limit).map(({ id }) => Number(id));
  }

  /** The Subnets of the store, or only the Subnet with this name. */
  subnets(name: string): { readonly id: number; readonly name: string }[] {
    const find = this.#database.prepare("SELECT id, name FROM subnets WHERE ?1 IN ('', name) ORDER BY name");
    return find.all(name) as unknown as { id: number; name: string }[];
  }

  close(): void {
    this.#database.close();
  }
}
