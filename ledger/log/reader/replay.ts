/**
 * Writes a ledger again from the lines of its log: the same bytes, and the other keys as the writer would have written them.
 *
 *   events, in transactions of complete commands ─► claims of the last state ─► the head without its mark
 *
 * Each transaction compares the head of the previous one. Until the end the head has a mark, with which no allocator starts and no
 * append succeeds. So an interrupted replay leaves the beginning of the same ledger, which only a replay can continue.
 */
import { setImmediate } from 'node:timers/promises';
import { IpledgerError } from '../../../lib/errors.ts';
import { evolve } from '../../domain/state/evolve.ts';
import { permanent } from '../../domain/state/undo-log.ts';
import { claimKey, type ClaimName } from '../../domain/state/claim.ts';
import { initialRecord, type State } from '../../domain/state/state.ts';
import { emptyHead, advanceHead, type Head, parseEvent, type StoredEvent } from '../chain/chain.ts';
import {
  configurationEntries,
  changesConfiguration,
  emptyNames,
  addNamesOf,
  sealedSegments,
} from '../writer/configuration-keys.ts';
import { claimText, headText } from '../store/stored-values.ts';
import type { Batch, Ledger, Revision } from '../store/ledger.ts';

/** Of the events, or of the claims; the other keys rarely take more than twice as much. */
const maxValueBytes = 128 << 10;

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
  /** The claims that etcd had at the start, by key. */
  readonly #existingClaims: Map<string, ExistingClaim>;
  /** The head that etcd had at the start. */
  readonly #existingHead: Head;
  /** `#written`: after the last transaction. `#head`: after all added events. */
  #written: Head = emptyHead;
  #head: Head = emptyHead;
  #events: StoredEvent[] = [];
  #bytes = 0;
  #configured = emptyNames();
  #appending: Promise<void> = Promise.resolve();

  private constructor(ledger: Ledger, options: ReplayOptions, { head, claims }: ExistingLedger) {
    this.#ledger = ledger;
    this.#options = options;
    this.#existingHead = head;
    this.#existingClaims = claims;
  }

  static async open(ledger: Ledger, options: ReplayOptions): Promise<ReplayWriter> {
    const { head, claims, subnets, pools } = await ledger.load(options.signal, 'any');
    const existing = new Map<string, ExistingClaim>();
    for await (const page of claims)
      for (const { name, revision } of page) existing.set(claimKey(name), { name, revision });
    const isEmpty = head.seq === 0 && existing.size === 0 && subnets.length === 0 && pools.length === 0;
    if (!isEmpty && !options.resume) throw new IpledgerError('INVALID_REQUEST', notEmpty(head));
    return new ReplayWriter(ledger, options, { head, claims: existing });
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

  /** Writes what is left: the last events, and then the claims. */
  async end(): Promise<Head> {
    await this.#flush();
    if (this.#head.seq < this.#existingHead.seq)
      throw new IpledgerError(
        'INVALID_REQUEST',
        `this ledger already has ${this.#existingHead.seq} events, but the log to replay has only ${this.#head.seq}: replay a later export`,
      );
    if (this.#written.claims === 'pending') await this.#writeClaims();
    await this.#appending;
    return this.#head;
  }

  /** Skips an event that the ledger already has. The hash of the last one shows whether all are equal. */
  #skipExisting(): void {
    const existing = this.#existingHead;
    if (this.#head.seq < existing.seq) return;
    this.#written = existing;
    const expected = existing.claims === 'pending' ? withClaimsPending(this.#head) : this.#head;
    if (headText(expected) !== headText(existing))
      throw new IpledgerError(
        'INVALID_REQUEST',
        `this is another ledger: its event ${this.#head.seq} differs from the log to replay. Replay into an empty etcd`,
      );
  }

  #queueEvent(event: StoredEvent): void {
    const { sequenced, text } = event;
    this.#events.push(event);
    this.#bytes += Buffer.byteLength(text);
    addNamesOf(this.#configured, sequenced);
  }

  #fits(command: readonly StoredEvent[]): boolean {
    // Each event can change at most two other keys: a Subnet, a pool, dropped claims, or a segment and the log start.
    const { subnets, pools, dropped } = this.#configured;
    const changed = command.filter(({ sequenced }) => changesConfiguration(sequenced)).length;
    const configured = subnets.size + pools.size + dropped.size + 2 * changed;
    const ops = this.#events.length + command.length + configured + headOps;
    return ops <= this.#ledger.limits.ops && this.#bytes <= maxValueBytes;
  }

  /** Sends the events. */
  async #flush(): Promise<void> {
    if (this.#events.length === 0) return;
    const events = this.#events.map(({ envelope: { seq }, text }) => ({ seq, text }));
    const configured = configurationEntries(this.#state, this.#configured);
    await this.#send(withClaimsPending(this.#head), { events, ...configured, segments: sealedSegments(this.#events) });
    this.#events = [];
    this.#bytes = 0;
    this.#configured = emptyNames();
  }

  /** Writes the claims of the last state, and deletes others that an earlier replay left. The last transaction removes the mark. */
  async #writeClaims(): Promise<void> {
    let claims: Batch['claims'][number][] = [];
    let bytes = 0;
    for (const claim of this.#lastClaims()) {
      if (claims.length + headOps >= this.#ledger.limits.ops || bytes > maxValueBytes) {
        await this.#send(this.#written, { claims });
        claims = [];
        bytes = 0;
      }
      claims.push(claim);
      bytes += claim.text?.length ?? 0;
    }
    await this.#send(this.#head, { claims });
  }

  *#lastClaims(): Generator<Batch['claims'][number]> {
    for (const [subnet, claims] of this.#state.claims)
      for (const [address, claim] of claims) {
        const name = { subnet, address };
        const key = claimKey(name);
        yield { name, text: claimText(claim), knownRevision: this.#existingClaims.get(key)?.revision ?? 0n };
        this.#existingClaims.delete(key);
      }
    for (const { name, revision } of this.#existingClaims.values())
      yield { name, text: undefined, knownRevision: revision };
  }

  /** Sends a transaction when the one before it has ended. It is in flight while the caller prepares the next one. */
  async #send(after: Head, changes: Partial<Batch>): Promise<void> {
    await this.#appending;
    const head = { before: this.#written, after };
    this.#written = after;
    this.#appending = this.#append({ ...emptyBatch, ...changes, head });
    this.#appending.catch(() => undefined); // the next await throws it
    await setImmediate(); // the transaction is only sent after a turn of the event loop
  }

  async #append(batch: Batch): Promise<void> {
    const outcome = await this.#ledger.append(batch);
    if (outcome.kind !== 'appended') {
      const reason = 'reason' in outcome ? outcome.reason : `another program writes to the ledger (${outcome.kind})`;
      const { seq } = batch.head.before;
      const what = batch.events.length > 0 ? `the events after ${seq}` : 'the last claims';
      throw new IpledgerError(
        'UNAVAILABLE',
        `${what} were not written: ${reason}. The ledger has what was before: resume the replay`,
      );
    }
    this.#options.onProgress?.(batch.head.after);
  }
}

interface ExistingClaim {
  readonly name: ClaimName;
  readonly revision: Revision;
}

interface ExistingLedger {
  readonly head: Head;
  readonly claims: Map<string, ExistingClaim>;
}

/** The keys of a transaction besides events, claims and configuration: the head, the log after it, and the freeze. */
const headOps = 3;

const emptyBatch: Omit<Batch, 'head'> = {
  events: [],
  claims: [],
  dropped: [],
  subnets: [],
  pools: [],
  segments: [],
  requiresUnfrozen: true,
  writer: undefined,
};

const withClaimsPending = (head: Head): Head => ({ ...head, claims: 'pending' });

const notEmpty = ({ seq, claims }: Head): string =>
  claims === 'pending'
    ? `this ledger has ${seq} events of a replay that has not ended. To continue it with the same export, use --resume`
    : `this ledger is not empty: it has ${seq} events. Replay into an empty etcd, or resume an interrupted replay`;
