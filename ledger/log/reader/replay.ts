/**
 * Writes a ledger again from the lines of its log: the same bytes, and the other keys as the writer
 * would have written them.
 *
 *   events, in transactions of complete commands ─► claims of the last state ─► the head without its mark
 *
 * Each transaction compares the head of the previous one, and that there is no writer. Until the
 * end the head has a mark: the number of written claims. With it no allocator starts, and no append
 * succeeds. So an interrupted replay leaves the beginning of the same ledger, which only a replay
 * can continue.
 */
import { setImmediate } from 'node:timers/promises';
import { IpledgerError } from '../../../lib/errors.ts';
import type { OtherKey } from '../../domain/events/event-definition.ts';
import { otherKeyOf, evolve } from '../../domain/events/registry.ts';
import { permanent } from '../../domain/state/undo-log.ts';
import { initialRecord, type State } from '../../domain/state/state.ts';
import { emptyHead, advanceHead, type Head, parseEvent, type StoredEvent, withReadableData } from '../chain/chain.ts';
import {
  configurationEntries,
  emptyNames,
  endedEntries,
  addNameOf,
  movedHistoryStart,
  sealedSegments,
} from '../store/configuration-keys.ts';
import { addressKey, claimNameOf } from '../store/keys.ts';
import { claimText, headText } from '../store/stored-values.ts';
import { type AppendOutcome, type Batch, type Ledger, noChanges, type Revision } from '../store/ledger.ts';

/** The bytes of the events, or of the claims. With the other keys, rarely three times as much. */
const maxValueBytes = 128 << 10;

export interface ReplayOptions {
  readonly signal: AbortSignal;
  /** Continues an interrupted replay of the same log. By default the ledger must be empty. */
  readonly resume?: boolean;
  /** Called after each transaction. */
  readonly onProgress?: (head: Head) => void;
}

/**
 * Writes the lines of a log into an empty ledger.
 * @returns the head after the last line.
 * @throws IpledgerError INVALID_REQUEST for a ledger that is not empty, or not the beginning of
 * this log; LEDGER_DAMAGED for lines that are not a log; UNAVAILABLE if a transaction failed.
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
  readonly #existingClaims: Map<string, Revision>;
  /** The head that etcd had at the start. */
  readonly #existingHead: Head;
  /** `#written` is the head after the last transaction, `#head` the head after all added events. */
  #written: Head = emptyHead;
  #head: Head = emptyHead;
  #events: StoredEvent[] = [];
  #bytes = 0;
  #configured = emptyNames();
  /** The number of ended Pods after the last transaction. */
  #endedBefore = 0;
  /** The keys that `#events` change besides log and claims. */
  #otherKeys: OtherKey[] = [];
  #appending: Promise<void> = Promise.resolve();

  private constructor(ledger: Ledger, options: ReplayOptions, { head, claims }: ExistingLedger) {
    this.#ledger = ledger;
    this.#options = options;
    this.#existingHead = head;
    this.#existingClaims = claims;
  }

  static async open(ledger: Ledger, options: ReplayOptions): Promise<ReplayWriter> {
    const { head, claims, subnets, pools } = await ledger.load(options.signal, 'any');
    const existing = new Map<string, Revision>();
    for await (const page of claims) for (const { name, revision } of page) existing.set(addressKey(name), revision);
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
      withReadableData(event.envelope, () => evolve(this.#state, event.sequenced, permanent));
      if (this.#head.seq <= this.#existingHead.seq) this.#skipExisting();
      else this.#queueEvent(event);
    }
  }

  /** Writes the remaining events, then the claims. */
  async end(): Promise<Head> {
    await this.#flush();
    if (this.#head.seq < this.#existingHead.seq)
      throw new IpledgerError(
        'INVALID_REQUEST',
        `this ledger already has ${this.#existingHead.seq} events, but the log to replay has only ${this.#head.seq}: replay a later export`,
      );
    if (this.#written.claims !== undefined) await this.#writeClaims();
    await this.#appending;
    return this.#head;
  }

  /** Skips an event that the ledger has. The last hash shows whether all of them are equal. */
  #skipExisting(): void {
    const existing = this.#existingHead;
    this.#endedBefore = this.#state.ended.end;
    if (this.#head.seq < existing.seq) return;
    this.#written = existing;
    const { claims } = existing;
    const expected = claims === undefined ? this.#head : { ...this.#head, claims };
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
    const key = otherKeyOf(sequenced);
    if (!key) return;
    addNameOf(this.#configured, key);
    this.#otherKeys.push(key);
  }

  #fits(command: readonly StoredEvent[]): boolean {
    // An event can change one more key: a Subnet, a pool, dropped claims, or a segment and the log
    // start.
    const { subnets, pools, dropped } = this.#configured;
    const configured = subnets.size + pools.size + dropped.size + this.#otherKeys.length + command.length + 2;
    const ended = this.#state.ended.changedSince(this.#endedBefore).length + maxEndedKeysPerCommand;
    const ops = this.#events.length + command.length + configured + ended + headOps;
    return ops <= this.#ledger.limits.ops && this.#bytes <= maxValueBytes;
  }

  async #flush(): Promise<void> {
    if (this.#events.length === 0) return;
    const events = this.#events.map(({ envelope: { seq }, text }) => ({ seq, text }));
    const configured = configurationEntries(this.#state, this.#configured);
    const ended = endedEntries(this.#state, this.#endedBefore);
    const after = { ...this.#head, claims: this.#written.claims ?? 0 };
    const historyStart = movedHistoryStart(this.#state, this.#otherKeys);
    const segments = sealedSegments(this.#otherKeys).filter(({ from }) => from > (historyStart?.from ?? 0));
    await this.#send(after, { events, ...configured, ended, segments, historyStart });
    this.#endedBefore = this.#state.ended.end;
    this.#events = [];
    this.#bytes = 0;
    this.#configured = emptyNames();
    this.#otherKeys = [];
  }

  /** Writes the claims of the last state, deletes others, and removes the mark of the replay. */
  async #writeClaims(): Promise<void> {
    let claims: Batch['claims'][number][] = [];
    let bytes = 0;
    for (const claim of this.#lastClaims()) {
      const size = Buffer.byteLength(claim.text ?? '');
      if (claims.length + headOps === this.#ledger.limits.ops || (claims.length > 0 && bytes + size > maxValueBytes)) {
        await this.#send({ ...this.#written, claims: (this.#written.claims ?? 0) + claims.length }, { claims });
        claims = [];
        bytes = 0;
      }
      claims.push(claim);
      bytes += size;
    }
    await this.#send(this.#head, { claims });
  }

  *#lastClaims(): Generator<Batch['claims'][number]> {
    for (const [subnet, claims] of this.#state.claims)
      for (const [address, claim] of claims) {
        const name = { subnet, address };
        const key = addressKey(name);
        yield { name, text: claimText(claim), knownRevision: this.#existingClaims.get(key) ?? 0n };
        this.#existingClaims.delete(key);
      }
    for (const [key, knownRevision] of this.#existingClaims)
      yield { name: claimNameOf(key), text: undefined, knownRevision };
  }

  /** Sends a transaction after the previous one, while the caller prepares the next. */
  async #send(after: Head, changes: Partial<Changes>): Promise<void> {
    await this.#appending;
    this.#options.signal.throwIfAborted();
    const head = { before: this.#written, after };
    this.#written = after;
    this.#appending = this.#append({ ...noChanges, requiresUnfrozen: true, writer: 0n, ...changes, head });
    this.#appending.catch(() => undefined); // the next await throws it
    await setImmediate(); // the transaction is only sent after a turn of the event loop
  }

  async #append(batch: Batch): Promise<void> {
    const outcome = await this.#ledger.append(batch);
    if (outcome.kind !== 'appended') throw notWritten(batch, outcome);
    this.#options.onProgress?.(batch.head.after);
  }
}

type Changes = Omit<Batch, 'head' | 'requiresUnfrozen' | 'writer'>;

interface ExistingLedger {
  readonly head: Head;
  readonly claims: Map<string, Revision>;
}

/** The other keys that a transaction compares: head, next events, writer and freeze. */
const headOps = 4;
/** A command ends fewer Pods than fit a chunk: two chunks change, and one is forgotten. */
const maxEndedKeysPerCommand = 3;

function notWritten({ head, events }: Batch, outcome: AppendOutcome): IpledgerError {
  const what = events.length > 0 ? `the events after ${head.before.seq}` : 'claims';
  const reasons: Partial<Record<AppendOutcome['kind'], string>> = {
    deposed: 'an allocator is the writer of this ledger. Stop all allocators',
    frozen: 'the ledger is frozen (/ipledger/v1/frozen in etcd)',
  };
  const reason = 'reason' in outcome ? outcome.reason : reasons[outcome.kind];
  const isUnknown = outcome.kind === 'unknown' ? 'may not be' : 'are not';
  return new IpledgerError(
    'UNAVAILABLE',
    `${what} ${isUnknown} written: ${reason ?? `another program writes to the ledger (${outcome.kind})`}. To continue, use --resume`,
  );
}

const notEmpty = ({ seq, claims }: Head): string =>
  claims === undefined
    ? `this ledger is not empty: it has ${seq} events. Replay into an empty etcd, or continue this ledger with a later export of it by --resume`
    : `this ledger has ${seq} events of a replay that has not ended. To continue it with the same export, use --resume`;
