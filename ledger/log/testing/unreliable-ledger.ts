/**
 * A ledger behind a faulty network, for specs. Each append takes the next fault of a list, or
 * succeeds if the list is empty. A fault receives the real append, and may call it now, later or
 * never.
 */
import { IpledgerError } from '../../../lib/errors.ts';
import type { Seq } from '../../domain/values/ledger.ts';
import type { Head } from '../chain/chain.ts';
import type {
  AcceptedHeads,
  AppendOutcome,
  AppendLimits,
  Batch,
  KeyPage,
  KeyRange,
  Ledger,
  LoadedSnapshot,
  Revision,
  StoredLine,
} from '../store/ledger.ts';

export type Fault = (append: () => Promise<AppendOutcome>, batch: Batch) => Promise<AppendOutcome>;

const unknown: AppendOutcome = { kind: 'unknown', reason: 'connection lost' };

export class UnreliableLedger implements Ledger {
  /** The outcomes of the next appends, in order. */
  readonly faults: Fault[] = [];
  /** The number of reads that will fail. */
  failingReads = 0;
  /** The promise that reads wait for. */
  readable: Promise<void> = Promise.resolve();
  /** All batches that were passed to append. */
  readonly tried: Batch[] = [];
  readonly #ledger: Ledger;
  #delayed: (() => Promise<AppendOutcome>)[] = [];

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** Holds the next append until `open` is called. Then the append has this outcome. */
  holdAppend(fault: Fault = (append) => append()): { readonly open: () => void } {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.faults.push(async (append, batch) => {
      await promise;
      return fault(append, batch);
    });
    return { open: resolve };
  }

  /** The request never arrives. */
  readonly lostRequest: Fault = () => Promise.resolve(unknown);

  /** The append happens, and its reply is lost. */
  readonly lostReply: Fault = async (append) => {
    await append();
    return unknown;
  };

  /** etcd refuses the append, because one of its alarms is on. */
  readonly refused: Fault = () =>
    Promise.resolve({ kind: 'unknown', reason: 'database space exceeded', refusal: 'etcd is full' });

  /** etcd executes the first writes beyond its quota, and reports them as refused. */
  readonly executedAndRefused: Fault = async (append, batch) => {
    await append();
    return this.refused(append, batch);
  };

  /** The request arrives after the next append. */
  readonly overtaken: Fault = (append) => {
    this.#delayed.push(append);
    return Promise.resolve(unknown);
  };

  /** The request arrives immediately before the next append. */
  readonly late: Fault = (append) => {
    this.faults.unshift(async (next, batch) => {
      await append();
      const following = this.faults.shift();
      return following ? following(next, batch) : next();
    });
    return Promise.resolve(unknown);
  };

  get limits(): AppendLimits {
    return this.#ledger.limits;
  }

  async append(batch: Batch): Promise<AppendOutcome> {
    this.tried.push(batch);
    const append = (): Promise<AppendOutcome> => this.#ledger.append(batch);
    const delayed = this.#delayed;
    this.#delayed = [];
    const fault = this.faults.shift();
    const outcome = await (fault ? fault(append, batch) : append());
    for (const appendNow of delayed) await appendNow();
    return outcome;
  }

  load(signal: AbortSignal, heads?: AcceptedHeads): Promise<LoadedSnapshot> {
    return this.#ledger.load(signal, heads);
  }

  async *read(from: Seq, signal: AbortSignal): AsyncIterable<readonly StoredLine[]> {
    await this.#reachable();
    yield* this.#ledger.read(from, signal);
  }

  async readEach(seqs: readonly Seq[], signal: AbortSignal): Promise<readonly (StoredLine | undefined)[]> {
    await this.#reachable();
    return this.#ledger.readEach(seqs, signal);
  }

  async *keys(range: KeyRange, signal: AbortSignal, revision?: Revision): AsyncIterable<KeyPage> {
    await this.#reachable();
    yield* this.#ledger.keys(range, signal, revision);
  }

  async head(signal: AbortSignal): Promise<Head> {
    await this.#reachable();
    return this.#ledger.head(signal);
  }

  watchHead(signal: AbortSignal): AsyncIterable<void> {
    return this.#ledger.watchHead(signal);
  }

  async #reachable(): Promise<void> {
    await this.readable;
    if (this.failingReads === 0) return;
    this.failingReads--;
    throw new IpledgerError('UNAVAILABLE', 'etcd does not reply: connection lost');
  }
}

/** Makes a ledger read its lines from the archive, where they have no revision. */
export function sealLines(ledger: Ledger): void {
  const read = ledger.read.bind(ledger);
  ledger.read = async function* (from, signal) {
    for await (const lines of read(from, signal)) yield lines.map((line) => ({ ...line, revision: 0n }));
  };
}
