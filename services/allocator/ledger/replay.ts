/**
 * A ledger written anew from the lines of its log: the same bytes, and with them the other keys as the writer would have put them.
 * Each transaction holds whole commands and expects the head that the one before it left. So an interrupted replay leaves the
 * beginning of the same ledger, and can be resumed.
 */
import { IpledgerError } from '../../../lib/errors.ts';
import { addressesOf, type Event } from '../domain/event.ts';
import { evolve } from '../domain/evolve.ts';
import { claimKey, type ClaimName, Journal } from '../domain/journal.ts';
import { claimOf, initialState, type State } from '../domain/state.ts';
import { emptyHead, follow, type Head, parseEvent, type StoredEvent } from './chain.ts';
import { configurationOf, noNames, note, segmentsOf } from './configured.ts';
import { claimText, headText } from './keys.ts';
import type { Batch, Ledger, Revision } from './ledger.ts';

/** Of the events alone; what is written beside them is seldom more than twice as much. */
const mostEventBytes = 128 << 10;

export interface ReplayOptions {
  readonly signal: AbortSignal;
  /** Goes on with a ledger that is the beginning of this one; else it has to be empty. */
  readonly resume?: boolean;
  /** Told after each transaction. */
  readonly onProgress?: (head: Head) => void;
}

/**
 * Writes the lines of a log into an empty ledger.
 * @returns the head in the end.
 * @throws IpledgerError INVALID_REQUEST for a ledger that is not empty, or not the beginning of this one; LEDGER_DAMAGED for
 *   lines that are no log; UNAVAILABLE when a transaction failed, with what to do.
 */
export async function replay(ledger: Ledger, lines: AsyncIterable<string>, options: ReplayOptions): Promise<Head> {
  const writing = await Replay.open(ledger, options);
  let command: StoredEvent[] = [];
  for await (const line of lines) {
    options.signal.throwIfAborted();
    const event = parseEvent(line);
    command.push(event);
    const [part, parts] = event.envelope.part;
    if (part < parts) continue;
    await writing.add(command);
    command = [];
  }
  if (command.length > 0) throw new IpledgerError('LEDGER_DAMAGED', 'the last command of the log is not whole');
  return await writing.end();
}

class Replay {
  readonly #ledger: Ledger;
  readonly #options: ReplayOptions;
  readonly #state: State = initialState();
  readonly #revisions: Map<string, Revision>;
  /** What stands in etcd already. */
  readonly #there: Head;
  /** Behind the last transaction, and behind all that was added. */
  #written: Head = emptyHead;
  #head: Head = emptyHead;
  #events: StoredEvent[] = [];
  #bytes = 0;
  #claims = new Map<string, ClaimName>();
  #configured = noNames();
  #appending: Promise<void> = Promise.resolve();

  private constructor(ledger: Ledger, options: ReplayOptions, there: Head, revisions: Map<string, Revision>) {
    this.#ledger = ledger;
    this.#options = options;
    this.#there = there;
    this.#revisions = revisions;
  }

  static async open(ledger: Ledger, options: ReplayOptions): Promise<Replay> {
    const { head, revisions, subnets, pools } = await ledger.load(options.signal);
    const isEmpty = head.seq === 0 && revisions.length === 0 && subnets.length === 0 && pools.length === 0;
    if (!isEmpty && !options.resume)
      throw new IpledgerError(
        'INVALID_REQUEST',
        `this ledger is not empty: it has ${head.seq} events. A replay makes a ledger of its own; where one was interrupted, let it resume`,
      );
    const known = revisions.map(({ revision, ...name }) => [claimKey(name), revision] as const);
    return new Replay(ledger, options, head, new Map(known));
  }

  /** Takes the events of one command. */
  async add(command: readonly StoredEvent[]): Promise<void> {
    if (!this.#fits(command)) await this.#flush();
    for (const event of command) {
      const before = this.#head;
      this.#head = follow(before, event);
      evolve(this.#state, event.sequenced, new Journal());
      if (this.#head.seq <= this.#there.seq) this.#pass();
      else this.#put(event);
    }
  }

  /** Writes what is left. */
  async end(): Promise<Head> {
    await this.#flush();
    await this.#appending;
    if (this.#head.seq < this.#there.seq)
      throw new IpledgerError(
        'INVALID_REQUEST',
        `this ledger has ${this.#there.seq} events already, and these are ${this.#head.seq}`,
      );
    return this.#head;
  }

  /** Passes over an event that stands there already. The hash of the last of them tells whether all are the same. */
  #pass(): void {
    this.#written = this.#head;
    if (this.#head.seq === this.#there.seq && headText(this.#head) !== headText(this.#there))
      throw new IpledgerError(
        'INVALID_REQUEST',
        `this ledger is another: its event ${this.#head.seq} is not the one of these lines`,
      );
  }

  #put(event: StoredEvent): void {
    const { sequenced: said, text } = event;
    this.#events.push(event);
    this.#bytes += Buffer.byteLength(text);
    for (const name of claimsOf(said)) this.#claims.set(claimKey(name), name);
    note(this.#configured, said);
  }

  #fits(command: readonly StoredEvent[]): boolean {
    const fresh = new Set(command.flatMap(({ sequenced }) => claimsOf(sequenced).map(claimKey)));
    for (const key of this.#claims.keys()) fresh.delete(key);
    const claims = this.#claims.size + fresh.size;
    // Each event may put a subnet or a pool in force, too, or say which claims were dropped, or a segment and the floor.
    const { subnets, pools, dropped } = this.#configured;
    const configured = subnets.size + pools.size + dropped.size + 2 * command.length;
    const ops = this.#events.length + command.length + claims + configured + 3;
    return ops <= this.#ledger.limits.ops && this.#bytes <= mostEventBytes;
  }

  /** One transaction is on its way while the next is prepared. */
  async #flush(): Promise<void> {
    await this.#appending;
    if (this.#events.length === 0) return;
    const batch = this.#build();
    this.#written = this.#head;
    this.#events = [];
    this.#bytes = 0;
    this.#claims = new Map();
    this.#configured = noNames();
    this.#appending = this.#append(batch);
    this.#appending.catch(() => undefined); // told when it is waited for
  }

  #build(): Batch {
    return {
      head: { before: this.#written, after: this.#head },
      events: this.#events.map(({ envelope: { seq }, text }) => ({ seq, text })),
      claims: [...this.#claims].map(([key, name]) => {
        const claim = claimOf(this.#state, name.subnet, name.address);
        return { name, text: claim && claimText(claim), known: this.#revisions.get(key) ?? 0n };
      }),
      ...configurationOf(this.#state, this.#configured),
      notWhileFrozen: true,
      segments: segmentsOf(this.#events),
      writer: undefined,
    };
  }

  async #append(batch: Batch): Promise<void> {
    const outcome = await this.#ledger.append(batch);
    if (outcome.kind !== 'appended') {
      const reason = 'reason' in outcome ? outcome.reason : `somebody else writes to it (${outcome.kind})`;
      const { seq } = batch.head.before;
      throw new IpledgerError(
        'UNAVAILABLE',
        `the events behind ${seq} could not be written: ${reason}. What is written is the beginning of the ledger: let the replay resume`,
      );
    }
    for (const { name, text } of batch.claims)
      if (text === undefined) this.#revisions.delete(claimKey(name));
      else this.#revisions.set(claimKey(name), outcome.revision);
    this.#options.onProgress?.(batch.head.after);
  }
}

const claimsOf = (event: Event): ClaimName[] =>
  addressesOf(event).map((address) => ({ subnet: event.subnet, address }));
