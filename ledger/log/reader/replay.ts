/**
 * Writes a ledger again from the lines of its log: the same bytes, and the other keys as the writer would have written them. Each
 * transaction has complete commands and compares the head of the previous one. So an interrupted replay leaves the beginning of
 * the same ledger, and can be resumed.
 */
import { setImmediate } from 'node:timers/promises';
import { IpledgerError } from '../../../lib/errors.ts';
import { type Event } from '../../domain/events/event.ts';
import { addressesOf } from '../../domain/events/registry.ts';
import { evolve } from '../../domain/state/evolve.ts';
import { permanent } from '../../domain/state/undo-log.ts';
import { claimKey, type ClaimName } from '../../domain/state/claim.ts';
import { claimOf, initialRecord, type State } from '../../domain/state/state.ts';
import { emptyHead, advanceHead, type Head, parseEvent, type StoredEvent } from '../chain/chain.ts';
import { configurationEntries, emptyNames, addNamesOf, sealedSegments } from '../writer/configuration-keys.ts';
import { claimText, headText } from '../store/stored-values.ts';
import type { Batch, Ledger, Revision } from '../store/ledger.ts';

/** Of the events alone; the other keys of a batch rarely take more than twice as much. */
const maxEventBytes = 128 << 10;

export interface ReplayOptions {
  readonly signal: AbortSignal;
  /** Continues a ledger that is the beginning of this one. By default the ledger must be empty. */
  readonly resume?: boolean;
  /** Called after each transaction. */
  readonly onProgress?: (head: Head) => void;
}

/**
 * Writes the lines of a log into an empty ledger.
 * @returns the head after the last line.
 * @throws IpledgerError INVALID_REQUEST for a ledger that is not empty, or not the beginning of this one; LEDGER_DAMAGED for
 *   lines that are not a log; UNAVAILABLE when a transaction failed.
 */
export async function replay(ledger: Ledger, lines: AsyncIterable<string>, options: ReplayOptions): Promise<Head> {
  const writer = await ReplayWriter.open(ledger, options);
  let command: StoredEvent[] = [];
  for await (const line of lines) {
    options.signal.throwIfAborted();
    const event = parseEvent(line);
    command.push(event);
    const [part, parts] = event.envelope.part;
    if (part < parts) continue;
    await writer.add(command);
    command = [];
  }
  if (command.length > 0) throw new IpledgerError('LEDGER_DAMAGED', 'the last command of the log is incomplete');
  return await writer.end();
}

class ReplayWriter {
  readonly #ledger: Ledger;
  readonly #options: ReplayOptions;
  readonly #state: State = initialRecord();
  readonly #revisions: Map<string, Revision>;
  /** The head that etcd already has. */
  readonly #existingHead: Head;
  /** `#written`: after the last transaction. `#head`: after all added events. */
  #written: Head = emptyHead;
  #head: Head = emptyHead;
  #events: StoredEvent[] = [];
  #bytes = 0;
  #claims = new Map<string, ClaimName>();
  #configured = emptyNames();
  #appending: Promise<void> = Promise.resolve();

  private constructor(ledger: Ledger, options: ReplayOptions, existingHead: Head, revisions: Map<string, Revision>) {
    this.#ledger = ledger;
    this.#options = options;
    this.#existingHead = existingHead;
    this.#revisions = revisions;
  }

  static async open(ledger: Ledger, options: ReplayOptions): Promise<ReplayWriter> {
    const { head, claims, subnets, pools } = await ledger.load(options.signal);
    const revisions = new Map<string, Revision>();
    for await (const page of claims)
      for (const { name, claim, revision } of page) if (claim) revisions.set(claimKey(name), revision);
    const isEmpty = head.seq === 0 && revisions.size === 0 && subnets.length === 0 && pools.length === 0;
    if (!isEmpty && !options.resume)
      throw new IpledgerError(
        'INVALID_REQUEST',
        `this ledger is not empty: it has ${head.seq} events. Replay into an empty etcd, or resume an interrupted replay`,
      );
    return new ReplayWriter(ledger, options, head, revisions);
  }

  /** Adds the events of one command. */
  async add(command: readonly StoredEvent[]): Promise<void> {
    if (!this.#fits(command)) await this.#flush();
    for (const event of command) {
      const before = this.#head;
      this.#head = advanceHead(before, event);
      evolve(this.#state, event.sequenced, permanent);
      if (this.#head.seq <= this.#existingHead.seq) this.#skipExisting();
      else this.#queueEvent(event);
    }
  }

  /** Writes the last transaction. */
  async end(): Promise<Head> {
    await this.#flush();
    await this.#appending;
    if (this.#head.seq < this.#existingHead.seq)
      throw new IpledgerError(
        'INVALID_REQUEST',
        `this ledger already has ${this.#existingHead.seq} events, but the log to replay has only ${this.#head.seq}: replay a later export`,
      );
    return this.#head;
  }

  /** Skips an event that the ledger already has. The hash of the last one shows whether all are equal. */
  #skipExisting(): void {
    this.#written = this.#head;
    if (this.#head.seq === this.#existingHead.seq && headText(this.#head) !== headText(this.#existingHead))
      throw new IpledgerError(
        'INVALID_REQUEST',
        `this is another ledger: its event ${this.#head.seq} differs from the log to replay. Replay into an empty etcd`,
      );
  }

  #queueEvent(event: StoredEvent): void {
    const { sequenced, text } = event;
    this.#events.push(event);
    this.#bytes += Buffer.byteLength(text);
    for (const name of claimsOf(sequenced)) this.#claims.set(claimKey(name), name);
    addNamesOf(this.#configured, sequenced);
  }

  #fits(command: readonly StoredEvent[]): boolean {
    const newClaims = new Set(command.flatMap(({ sequenced }) => claimsOf(sequenced).map(claimKey)));
    for (const key of this.#claims.keys()) newClaims.delete(key);
    const claims = this.#claims.size + newClaims.size;
    // Each event can change at most two other keys: a Subnet, a pool, dropped claims, or a segment and the log start.
    const { subnets, pools, dropped } = this.#configured;
    const configured = subnets.size + pools.size + dropped.size + 2 * command.length;
    const ops = this.#events.length + command.length + claims + configured + 3;
    return ops <= this.#ledger.limits.ops && this.#bytes <= maxEventBytes;
  }

  /** One transaction is in flight while the next is prepared. */
  async #flush(): Promise<void> {
    await this.#appending;
    if (this.#events.length === 0) return;
    const batch = this.#build();
    this.#written = this.#head;
    this.#events = [];
    this.#bytes = 0;
    this.#claims = new Map();
    this.#configured = emptyNames();
    this.#appending = this.#append(batch);
    this.#appending.catch(() => undefined); // the next await throws it
    await setImmediate(); // the transaction is only sent after a turn of the event loop
  }

  #build(): Batch {
    return {
      head: { before: this.#written, after: this.#head },
      events: this.#events.map(({ envelope: { seq }, text }) => ({ seq, text })),
      claims: [...this.#claims].map(([key, name]) => {
        const claim = claimOf(this.#state, name.subnet, name.address);
        return { name, text: claim && claimText(claim), knownRevision: this.#revisions.get(key) ?? 0n };
      }),
      ...configurationEntries(this.#state, this.#configured),
      requiresUnfrozen: true,
      segments: sealedSegments(this.#events),
      writer: undefined,
    };
  }

  async #append(batch: Batch): Promise<void> {
    const outcome = await this.#ledger.append(batch);
    if (outcome.kind !== 'appended') {
      const reason = 'reason' in outcome ? outcome.reason : `another program writes to the ledger (${outcome.kind})`;
      const { seq } = batch.head.before;
      throw new IpledgerError(
        'UNAVAILABLE',
        `the events after ${seq} were not written: ${reason}. The ledger has the events before: resume the replay`,
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
