/** The read model's file: every event of the ledger with what it is about, and the position up to which it knows the ledger. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { decode, encode } from '../../../proto/codec.ts';
import type { Event, Position } from '../../../proto/ipledger.ts';
import { aboutSource } from './about.ts';
import { openFile } from './file.ts';
import { eventsAPage, packPage, unpackPage } from './pages.ts';

/** By which of an event's keys it is found. */
export type Column = 'subnet' | 'pod' | 'node' | 'owner';

/** One of the events that a question is about. */
export interface Row {
  readonly seq: number;
  readonly subnet: number | null;
}

/** Events as bytes, from the first one's number on. */
interface Page {
  readonly first: number;
  readonly messages: readonly Uint8Array[];
}

export class Store {
  readonly #database: DatabaseSync;
  readonly #add: (event: Event) => void;
  readonly #setPosition: StatementSync;
  readonly #byColumn = new Map<Column | undefined, StatementSync>();
  readonly #findPage: StatementSync;
  readonly #setPage: StatementSync;
  readonly #at: StatementSync;
  #position: Position;
  /** The newest; events are added to it until it is full. */
  #open: Page;
  /** The one that was unpacked last: who wants an event often wants its neighbours. */
  #unpacked: Page | undefined;

  /**
   * Opens the file, or makes it. It belongs to this process alone.
   * @throws Error when it cannot be opened, is something else's, or another process has it.
   */
  constructor(file: string) {
    this.#database = openFile(file);
    const about = this.#database.prepare('SELECT value FROM about WHERE name = ?');
    this.#position = JSON.parse(String(about.get('position')?.['value'])) as Position;
    this.#add = adding(this.#database);
    this.#setPosition = this.#database.prepare("UPDATE about SET value = ? WHERE name = 'position'");
    this.#findPage = this.#database.prepare(
      'SELECT first, packed FROM pages WHERE first <= ? ORDER BY first DESC LIMIT 1',
    );
    this.#setPage = this.#database.prepare('INSERT OR REPLACE INTO pages (first, packed) VALUES (?, ?)');
    this.#at = this.#database.prepare('SELECT at FROM events WHERE seq = ?');
    this.#open = this.#pageOf(this.#position.seq) ?? { first: 1, messages: [] };
  }

  /** The last event that it knows. */
  get position(): Position {
    return this.#position;
  }

  /** The first event that it knows; 0 while it knows none. */
  get firstSeq(): number {
    return Number(this.#database.prepare('SELECT coalesce(min(seq), 0) AS first FROM events').get()?.['first']);
  }

  /** Takes in whole commands together with the position behind them, all or nothing. */
  append(events: readonly Event[], position: Position): void {
    this.#database.exec('BEGIN IMMEDIATE');
    let open = this.#open;
    try {
      for (const event of events) this.#add(event);
      open = this.#addToPages(events);
      this.#setPosition.run(JSON.stringify(position));
      this.#database.exec('COMMIT');
    } catch (error) {
      this.#database.exec('ROLLBACK');
      throw error;
    }
    this.#position = position;
    this.#open = open;
  }

  /** Adds to the newest page until it is full, and then to another; gives the newest. */
  #addToPages(events: readonly Event[]): Page {
    let { first, messages } = { ...this.#open, messages: [...this.#open.messages] };
    for (const event of events) {
      if (messages.length === eventsAPage) messages = [];
      if (messages.length === 0) first = event.seq;
      messages.push(encode('Event', event));
      if (messages.length === eventsAPage) this.#setPage.run(first, packPage(messages));
    }
    if (messages.length < eventsAPage) this.#setPage.run(first, packPage(messages));
    return { first, messages };
  }

  /** Of the events that have this key (without a column: of all), from `last` back to `first`, the newest, at most `most`. */
  rows(
    lead: { readonly column: Column; readonly key: number } | undefined,
    { first, last, most }: { readonly first: number; readonly last: number; readonly most: number },
  ): Row[] {
    const found = lead
      ? this.#rowsBy(lead.column).all(lead.key, first, last, most)
      : this.#rowsBy(undefined).all(first, last, most);
    return found as unknown as Row[];
  }

  #rowsBy(column: Column | undefined): StatementSync {
    const known = this.#byColumn.get(column);
    if (known) return known;
    const wanted = column === undefined ? '' : `${column} = ? AND`;
    const made = this.#database.prepare(
      `SELECT seq, subnet FROM events WHERE ${wanted} seq BETWEEN ? AND ? ORDER BY seq DESC LIMIT ?`,
    );
    this.#byColumn.set(column, made);
    return made;
  }

  /** An event that it knows. */
  event(seq: number): Event {
    const isIn = (page: Page | undefined): boolean => page?.messages[seq - page.first] !== undefined;
    if (!isIn(this.#open) && !isIn(this.#unpacked)) this.#unpacked = this.#pageOf(seq);
    const { first, messages } = (isIn(this.#open) ? this.#open : this.#unpacked) ?? this.#open;
    return decode('Event', messages[seq - first] as Uint8Array) as Event;
  }

  #pageOf(seq: number): Page | undefined {
    const found = this.#findPage.get(seq) as { first: number; packed: Uint8Array } | undefined;
    return found && { first: found.first, messages: unpackPage(found.packed) };
  }

  /** When an event that it knows happened, milliseconds since 1970. */
  at(seq: number): number {
    return Number(this.#at.get(seq)?.['at']);
  }

  /** The keys under which rows of a table say all this; '' matches everything. */
  keys(
    table: 'subnets' | 'nodes' | 'pods' | 'owners',
    wanted: Readonly<Record<string, string>>,
    most: number,
  ): number[] {
    const said = Object.entries(wanted).filter(([, value]) => value !== '');
    const where = said.map(([column]) => `${column} = ?`).join(' AND ') || 'true';
    const find = this.#database.prepare(`SELECT id FROM ${table} WHERE ${where} LIMIT ?`);
    return find.all(...said.map(([, value]) => value), most).map(({ id }) => Number(id));
  }

  close(): void {
    this.#database.close();
  }
}

function adding(database: DatabaseSync): (event: Event) => void {
  const aboutOf = aboutSource(database);
  const insert = database.prepare('INSERT INTO events (seq, at, subnet, pod, node, owner) VALUES (?, ?, ?, ?, ?, ?)');
  return (event) => {
    const { subnet, pod, node, owner } = aboutOf(event);
    insert.run(event.seq, Date.parse(event.at), subnet, pod, node, owner);
  };
}
