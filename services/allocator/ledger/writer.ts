/**
 * The whole life of a command, in order:
 *   1 queue (bounded)
 *   2 savepoint, decide, evolve into the batch
 *   3 cut the batch where the transaction is full
 *   4 append it; or, when it holds no event, one linearizable look at the head
 *   5 answer all, each with the position at which its answer is true
 * One transaction is in flight at a time; what queues meanwhile goes into the next. Every answer, repeats and refusals
 * included, waits for step 4. When the head has moved, or an append's outcome is unknown, the batch is undone and the log's
 * tail is read. An append is never sent again: where the log shows its events, it happened and its answers are given;
 * everything else is decided anew against what is true by then, and of two appends behind one head only one can happen.
 */
import { backoffMs, pause, untilCalled } from '../../../lib/deadline.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import { claimKey } from '../domain/journal.ts';
import type { Ask, Decided, Proven, Queued } from './ask.ts';
import { BatchBuilder } from './batch.ts';
import { type Decider, decideInto } from './decide-into.ts';
import type { Appended, Revision } from './ledger.ts';
import { Unsettled } from './unsettled.ts';

const mostQueued = 20_000;
/** Not more than a transaction could hold, so that what is decided is seldom undone for want of room. */
const mostInBatch = 128;
/** After so many appends of unknown outcome in a row the term is given up: another replica may have more luck. */
const mostUnsettled = 100;
/** How long to wait after an append of unknown outcome, doubling. */
const usualRetry = { firstMs: 50, mostMs: 1_000 };

/** One append, for those who count. */
export interface Append {
  readonly outcome: Appended['kind'];
  readonly events: number;
  readonly ms: number;
}

export interface WriterOptions extends Decider {
  /** Create revision of the writer key that makes us the writer; undefined where there is no election. */
  readonly term: Revision | undefined;
  /** Told of each append that was tried. */
  readonly onAppend?: (append: Append) => void;
  /** Default 50 ms, doubling up to a second. */
  readonly retry?: { readonly firstMs: number; readonly mostMs: number };
}

export class Writer {
  readonly #options: WriterOptions;
  #queue: Queued[] = [];
  #wake: () => void = () => undefined;
  #ended: IpledgerError | undefined;
  readonly #unsettled = new Unsettled();
  /** So many of the first in the queue get a batch of their own each, since together they were rejected. */
  #alone = 0;
  #turns = 0;
  #reason = 'it does not answer';

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  /**
   * Queues a command or a question.
   * @throws IpledgerError the refusal; OVERLOADED, NOT_WRITER, CANCELLED, UNAVAILABLE, BUG.
   */
  submit<Answer>(ask: Ask<Answer>): Promise<Proven<Answer>> {
    return new Promise((resolve, reject) => {
      if (this.#ended) return reject(this.#ended);
      if (this.#queue.length >= mostQueued)
        return reject(new IpledgerError('OVERLOADED', `${mostQueued} requests are waiting already: try again later`));
      this.#queue.push({ ask, resolve: resolve as Queued['resolve'], reject });
      this.#wake();
    });
  }

  /** How many wait to be decided. */
  get queued(): number {
    return this.#queue.length;
  }

  /** How many batches it has tried to prove. */
  get turns(): number {
    return this.#turns;
  }

  /**
   * Works until the signal is aborted or somebody else is the writer. Everything that waits is then answered NOT_WRITER, which
   * says that nothing came of it; or UNAVAILABLE, where an append of unknown outcome may have carried it out.
   * @throws IpledgerError LEDGER_DAMAGED when the log cannot be followed any more.
   */
  async run(signal: AbortSignal): Promise<void> {
    try {
      for (let failures = 0; !signal.aborted;) {
        if (this.#queue.length === 0) await this.#woken(signal);
        if (signal.aborted) break;
        const outcome = await this.#turn(signal);
        if (outcome === 'deposed') break;
        failures = outcome === 'retry' ? failures + 1 : 0;
        const { firstMs, mostMs } = this.#options.retry ?? usualRetry;
        if (failures > 0) await pause(backoffMs(failures - 1, firstMs, mostMs), signal);
      }
    } finally {
      this.#ended = new IpledgerError('NOT_WRITER', 'this allocator is not the writer (any more): ask again');
      for (const queued of this.#queue.splice(0))
        queued.reject(this.#unsettled.mayWrite(queued) ? outcomeUnknown : this.#ended);
    }
  }

  /** One batch, from the queue to its answers. */
  async #turn(signal: AbortSignal): Promise<'done' | 'retry' | 'deposed'> {
    const builder = new BatchBuilder(this.#options.replica);
    const decided = this.#onlyProvable(builder, this.#decideQueued(builder));
    if (decided.length === 0) return this.#queue.length === 0 ? 'done' : this.#lookAgain(signal);
    try {
      return await this.#settle(builder, decided, signal);
    } catch (error) {
      // A bug of ours: the state may hold what is not committed, and nobody may go on with it.
      const bug = IpledgerError.from(error);
      if (bug.kind === 'bug') for (const { queued } of decided) queued.reject(bug);
      throw error;
    }
  }

  /** Proves a batch and answers it, or finds out why not. */
  async #settle(
    builder: BatchBuilder,
    decided: readonly Decided[],
    signal: AbortSignal,
  ): Promise<'done' | 'retry' | 'deposed'> {
    const appended = await this.#prove(builder, signal);
    if (appended.kind === 'appended') {
      if (builder.events.length > 0) this.#commit(builder, appended.revision);
      for (const { settle } of decided) settle();
      return 'done';
    }
    const [first] = builder.events;
    builder.rollBack();
    if (appended.kind === 'rejected' && decided.length === 1) {
      const error = new IpledgerError('BUG', `the transaction can't be: ${appended.reason}`);
      for (const { queued } of decided) queued.reject(error);
      return 'done';
    }
    if (appended.kind === 'frozen') return this.#refuseFrozen(decided);
    this.#queue.unshift(...decided.map(({ queued }) => queued));
    if (appended.kind === 'rejected') {
      // One of them is at fault, or etcd's limits are lower than ours: each is tried by itself.
      this.#alone = decided.length;
      return 'done';
    }
    if (appended.kind === 'unknown' && first) this.#unsettled.add(first, decided);
    if (this.#unsettled.count > mostUnsettled) return 'deposed';
    return this.#recover(appended, signal);
  }

  /** Refuses what a freeze forbids; the rest is decided again, without it. */
  #refuseFrozen(decided: readonly Decided[]): 'done' {
    const refused = decided.filter(({ writes, evenFrozen }) => writes && !evenFrozen);
    for (const { queued } of refused) queued.reject(frozen);
    const others = decided.filter((each) => !refused.includes(each));
    this.#queue.unshift(...others.map(({ queued }) => queued));
    return 'done';
  }

  #commit({ events, head }: BatchBuilder, revision: Revision): void {
    this.#unsettled.forget();
    this.#options.replica.commit(events, head, revision);
  }

  /** Takes commands from the queue into the batch, until it is full. */
  #decideQueued(builder: BatchBuilder): Decided[] {
    const decided: Decided[] = [];
    const most = this.#alone > 0 ? 1 : mostInBatch;
    if (this.#alone > 0) this.#alone--;
    while (decided.length < most) {
      const queued = this.#queue.shift();
      if (!queued) break;
      if (queued.ask.signal.aborted) {
        queued.reject(new IpledgerError('CANCELLED', 'the caller is gone, or its time is up'));
        continue;
      }
      const outcome = decideInto(builder, queued, this.#options);
      if (outcome === 'full') {
        this.#queue.unshift(queued);
        break;
      }
      decided.push(outcome);
    }
    return decided;
  }

  /**
   * For a batch without events a look at the head is the proof. But not for requests for which an earlier append may still write
   * something: they go back into the queue until that is settled.
   */
  #onlyProvable(builder: BatchBuilder, decided: readonly Decided[]): readonly Decided[] {
    if (builder.events.length > 0) return decided;
    const open = decided.filter(({ queued }) => this.#unsettled.mayWrite(queued));
    this.#queue.unshift(...open.map(({ queued }) => queued));
    return decided.filter((each) => !open.includes(each));
  }

  /** A batch without events is true where the head is as known; one with events where its append succeeds. */
  async #prove(builder: BatchBuilder, signal: AbortSignal): Promise<Appended> {
    const { replica, term, onAppend } = this.#options;
    this.#turns++;
    if (builder.events.length > 0) {
      const beganAt = performance.now();
      const appended = await replica.ledger.append(builder.build(term));
      onAppend?.({ outcome: appended.kind, events: builder.events.length, ms: performance.now() - beganAt });
      return appended;
    }
    try {
      const { seq, hash } = await replica.ledger.head(signal);
      const same = seq === replica.head.seq && hash === replica.head.hash;
      return same ? { kind: 'appended', revision: 0n } : { kind: 'moved' };
    } catch (error) {
      return { kind: 'unknown', reason: IpledgerError.from(error).message };
    }
  }

  /** Learns what is true after an append that did not succeed, or may have. */
  #recover(appended: Appended, signal: AbortSignal): Promise<'done' | 'retry'> | 'done' | 'deposed' {
    const { replica, log } = this.#options;
    if (appended.kind === 'deposed') return 'deposed';
    if (appended.kind === 'fenced') {
      for (const name of appended.claims) {
        replica.state.fenced.add(claimKey(name));
        log.error(name, 'fenced: the key of this address was changed by something else than ipledger');
      }
      return 'done';
    }
    if (appended.kind === 'unknown') {
      this.#reason = appended.reason;
      log.warn({ reason: appended.reason }, 'the outcome of an append is unknown: reading the log');
      this.#dropExpired();
    }
    return this.#lookAgain(signal);
  }

  /** Reads what the log has by now, and answers those for whom it settles something. */
  async #lookAgain(signal: AbortSignal): Promise<'done' | 'retry'> {
    const { replica, log } = this.#options;
    try {
      const known = replica.head.seq;
      await replica.catchUp(signal);
      const happened = this.#unsettled.settle((seq) => replica.recentFrom(seq)?.[0]);
      const done = new Set(happened.map(({ queued }) => queued));
      this.#queue = this.#queue.filter((queued) => !done.has(queued));
      for (const { settle } of happened) settle();
      return replica.head.seq > known ? 'done' : 'retry';
    } catch (error) {
      const reason = IpledgerError.from(error);
      if (reason.kind === 'damaged' || reason.code === 'POSITION_GONE') throw reason;
      this.#reason = reason.message;
      log.warn({ reason: reason.message }, 'the log cannot be read');
      this.#dropExpired();
      return 'retry';
    }
  }

  /** While etcd is away nobody waits longer than it wanted to. */
  #dropExpired(): void {
    const [expired, waiting] = [this.#queue.filter(isExpired), this.#queue.filter((queued) => !isExpired(queued))];
    this.#queue = waiting;
    const message = `etcd takes nothing in: ${this.#reason}`;
    for (const { reject } of expired) reject(new IpledgerError('UNAVAILABLE', message));
  }

  #woken(signal: AbortSignal): Promise<void> {
    return untilCalled(signal, (wake) => {
      this.#wake = wake;
      return () => (this.#wake = () => undefined);
    });
  }
}

const frozen = new IpledgerError(
  'LEDGER_FROZEN',
  'the ledger is frozen: somebody remembers events that are not in it, so etcd was restored from a backup. Nothing is given or taken until an operator has compared it with the cluster: ipledger recover',
);

const outcomeUnknown = new IpledgerError(
  'UNAVAILABLE',
  'this allocator is not the writer any more, and whether it carried the request out is not known: ask the same again',
);

const isExpired = ({ ask }: Queued): boolean => ask.signal.aborted;
