/** The event store: every event with its Subnet, Pod, node and owner, and the position of the last one. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { decode } from '../../../proto/codec.ts';
import type { Event, Position } from '../../../proto/generated/ipledger.ts';
import { encodedEvent } from '../watch-replies.ts';
import { createEventKeyResolver } from './event-keys.ts';
import { openDatabase } from './database-file.ts';
import { eventsPerPage, packPage, unpackPage } from './event-pages.ts';

/** The columns that events are searched by. */
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

export class EventStore {
  readonly #database: DatabaseSync;
  readonly #insertEvents: EventInsert;
  readonly #setPosition: StatementSync;
  readonly #byColumn = new Map<KeyColumn | undefined, StatementSync>();
  readonly #findPage: StatementSync;
  readonly #setPage: StatementSync;
  readonly #findTime: StatementSync;
  readonly #findAllocations: StatementSync;
  #position: Position;
  /** The newest page. Events are appended until it is full. */
  #openPage: Page;
  /** The last unpacked page: neighbouring events are often read together. */
  #unpackedPage: Page | undefined;

  /**
   * Opens or creates the file. One process uses it at a time.
   * @throws Error as `openDatabase`.
   */
  constructor(file: string) {
    this.#database = openDatabase(file);
    const metadata = this.#database.prepare('SELECT value FROM about WHERE name = ?');
    this.#position = JSON.parse(String(metadata.get('position')?.['value'])) as Position;
    this.#insertEvents = createInsert(this.#database);
    this.#setPosition = this.#database.prepare("UPDATE about SET value = ? WHERE name = 'position'");
    this.#findPage = this.#database.prepare(
      'SELECT first, packed FROM pages WHERE first <= ? ORDER BY first DESC LIMIT 1',
    );
    this.#setPage = this.#database.prepare('INSERT OR REPLACE INTO pages (first, packed) VALUES (?, ?)');
    this.#findAllocations = this.#database.prepare(
      `SELECT seq FROM allocations WHERE address = (SELECT id FROM addresses WHERE subnet = ? AND address = ?)
       AND seq >= ? ORDER BY seq LIMIT ?`,
    );
    this.#findTime = this.#database.prepare('SELECT at FROM events WHERE seq = ?');
    this.#openPage = this.#pageOf(this.#position.seq) ?? { first: 1, messages: [] };
  }

  /** The last event of the store. */
  get position(): Position {
    return this.#position;
  }

  /** The first event of the store; 0 while it is empty. */
  get firstSeq(): number {
    return Number(this.#database.prepare('SELECT coalesce(min(seq), 0) AS first FROM events').get()?.['first']);
  }

  /** Appends complete commands and their position in one transaction. */
  append(events: readonly Event[], position: Position): void {
    this.#database.exec('BEGIN IMMEDIATE');
    let open = this.#openPage;
    try {
      this.#insertEvents.insert(events);
      open = this.#addToPages(events);
      this.#setPosition.run(JSON.stringify(position));
      this.#database.exec('COMMIT');
    } catch (error) {
      this.#database.exec('ROLLBACK');
      this.#insertEvents.forget();
      throw error;
    }
    this.#position = position;
    this.#openPage = open;
  }

  /** Appends to the newest page, and to new ones when it is full. Returns the newest. */
  #addToPages(events: readonly Event[]): Page {
    let { first, messages } = { ...this.#openPage, messages: [...this.#openPage.messages] };
    for (const event of events) {
      if (messages.length === eventsPerPage) messages = [];
      if (messages.length === 0) first = event.seq;
      messages.push(encodedEvent(event));
      if (messages.length === eventsPerPage) this.#setPage.run(first, packPage(messages));
    }
    if (messages.length < eventsPerPage) this.#setPage.run(first, packPage(messages));
    return { first, messages };
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

  /** An event of the store. */
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

  /** The keys of the rows that match all values; '' matches every value. */
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

  close(): void {
    this.#database.close();
  }
}

interface EventInsert {
  readonly insert: (events: readonly Event[]) => void;
  /** Call it when a transaction is rolled back. */
  readonly forget: () => void;
}

/** Rows of one statement: the call of a statement takes longer than the row. */
const rowsPerInsert = 32;

function createInsert(database: DatabaseSync): EventInsert {
  const { keysOf, forget } = createEventKeyResolver(database);
  const insertRows = (rows: number): StatementSync =>
    database.prepare(
      `INSERT INTO events (seq, at, subnet, pod, node, owner) VALUES ${Array(rows).fill('(?, ?, ?, ?, ?, ?)').join(', ')}`,
    );
  const [insertMany, insertOne] = [insertRows(rowsPerInsert), insertRows(1)];
  const valuesOf = (event: Event): (number | null)[] => {
    const { subnet, pod, node, owner } = keysOf(event);
    return [event.seq, Date.parse(event.at), subnet, pod, node, owner];
  };
  return {
    insert: (events) => {
      const rows = events.map(valuesOf);
      const single = rows.length % rowsPerInsert;
      for (let first = 0; first < rows.length - single; first += rowsPerInsert)
        insertMany.run(...rows.slice(first, first + rowsPerInsert).flat());
      for (const row of rows.slice(rows.length - single)) insertOne.run(...row);
    },
    forget,
  };
}
