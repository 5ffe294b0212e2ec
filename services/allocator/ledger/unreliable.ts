/**
 * A ledger behind a bad network: for specs. What goes wrong with the next appends is a list of faults; when it is used up all
 * is well. A fault gets the real append, which it may call before, after or never.
 */
import { IpledgerError } from '../../../lib/errors.ts';
import type { Seq } from '../domain/event.ts';
import type { Head } from './chain.ts';
import type {
  Appended,
  AppendLimits,
  Batch,
  KeyPage,
  KeyRange,
  Ledger,
  LoadedSnapshot,
  Revision,
  StoredLine,
} from './ledger.ts';

export type Fault = (append: () => Promise<Appended>, batch: Batch) => Promise<Appended>;

const unknown: Appended = { kind: 'unknown', reason: 'connection lost' };

export class UnreliableLedger implements Ledger {
  /** What happens to the next appends, in order. */
  readonly faults: Fault[] = [];
  /** How many reads fail before one succeeds again. */
  failingReads = 0;
  /** Reads wait for it. */
  readable: Promise<void> = Promise.resolve();
  /** Everything that was to be appended. */
  readonly tried: Batch[] = [];
  readonly #ledger: Ledger;
  #late: (() => Promise<Appended>)[] = [];

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** The request never arrives. */
  readonly lostRequest: Fault = () => Promise.resolve(unknown);

  /** It happens, and nobody is told. */
  readonly lostReply: Fault = async (append) => {
    await append();
    return unknown;
  };

  /** It is on its way still when the next append has arrived: too late. */
  readonly overtaken: Fault = (append) => {
    this.#late.push(append);
    return Promise.resolve(unknown);
  };

  /** It arrives just before the next append does. */
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

  async append(batch: Batch): Promise<Appended> {
    this.tried.push(batch);
    const append = (): Promise<Appended> => this.#ledger.append(batch);
    const overtaken = this.#late;
    this.#late = [];
    const fault = this.faults.shift();
    const outcome = await (fault ? fault(append, batch) : append());
    for (const arrive of overtaken) await arrive();
    return outcome;
  }

  load(signal: AbortSignal): Promise<LoadedSnapshot> {
    return this.#ledger.load(signal);
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

  bell(signal: AbortSignal): AsyncIterable<void> {
    return this.#ledger.bell(signal);
  }

  async #reachable(): Promise<void> {
    await this.readable;
    if (this.failingReads === 0) return;
    this.failingReads--;
    throw new IpledgerError('UNAVAILABLE', 'etcd does not answer: connection lost');
  }
}
