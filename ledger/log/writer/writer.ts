/**
 * Processes requests in batches. The steps of a request:
 *   1 queue (bounded)
 *   2 savepoint, decide, evolve into the batch
 *   3 end the batch when the transaction is full
 *   4 prove the batch: append it or, if it has no events, read the head (linearizable)
 *   5 answer all requests, each with the head at which its answer is true
 * Only one transaction is in flight at a time. New requests are decided during it against the
 * state after it, and are sent once it is committed. Every answer waits for step 4, even a refusal
 * or the answer to a repeated request.
 *
 * If the head has moved, or an append has an unknown outcome, the writer undoes both batches and
 * reads the end of the log. It never sends the same append again. If the log has the append's
 * events, the append happened, and its requests are answered. All other requests are decided again,
 * which is safe: only one append can follow a head. Queries are answered from that read of the log,
 * because a full etcd can reject every append for hours.
 */
import { backoffMs, pause } from '../../../lib/process/abortable.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import { claimKey } from '../../domain/state/claim.ts';
import { endAppendSpans, startAppendSpans } from './append-spans.ts';
import type { PendingRequest, DecidedRequest, ProvenAnswer, QueuedRequest } from '../pending-request.ts';
import { BatchBuilder } from './batch.ts';
import { type DecisionContext, decideRequest } from './decide-request.ts';
import { callerLeft, OpenBatch } from './open-batch.ts';
import { RequestQueue } from './request-queue.ts';
import type { AppendOutcome, Revision } from '../store/ledger.ts';
import { TurnBudget } from '../../../lib/process/turn-budget.ts';
import { UnknownOutcomes } from './unknown-outcomes.ts';

const maxQueued = 20_000;
/** The unknown outcomes in a row after which the writer resigns to a better connection. */
const maxUnknownOutcomes = 100;
/** The backoff after an append whose outcome is unknown. */
const defaultRetry = { firstMs: 50, maxMs: 1_000 };
/** A failed attempt and its reply take less time than this, unless etcd is slow. */
const attemptMs = 500;

/** One append, for metrics. */
export interface AppendStats {
  readonly outcome: AppendOutcome['kind'];
  readonly events: number;
  readonly ms: number;
}

export interface WriterOptions extends DecisionContext {
  /** The create revision of this replica's writer key; undefined without an election. */
  readonly term: Revision | undefined;
  /** Called after each append. */
  readonly onAppend?: (append: AppendStats) => void;
  /** Default: 50 ms, doubling up to a second. */
  readonly retry?: { readonly firstMs: number; readonly maxMs: number };
}

export class Writer {
  readonly #options: WriterOptions;
  readonly #queue = new RequestQueue();
  /** The batch that is decided while another batch is in flight. */
  #nextBatch: OpenBatch | undefined;
  /** Proven requests. They are answered when the next transaction has been sent. */
  readonly #proven: DecidedRequest[] = [];
  #answering: NodeJS.Immediate | undefined;
  #ended: IpledgerError | undefined;
  readonly #unknownOutcomes = new UnknownOutcomes();
  /** The number of requests that get their own batches, because their common batch was rejected. */
  #singleRequestBatches = 0;
  #attemptedBatches = 0;
  #lastFailure = 'it does not reply';
  /** Why etcd takes no writes, and what to do, if it refused the last append. */
  #refusal: string | undefined;

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  /**
   * Queues a command or a query.
   * @throws IpledgerError the refusal; OVERLOADED, NOT_WRITER, CANCELLED, UNAVAILABLE, BUG.
   */
  submit<Answer>(request: PendingRequest<Answer>): Promise<ProvenAnswer<Answer>> {
    return new Promise((resolve, reject) => {
      if (this.#ended) return reject(this.#ended);
      if (this.queueLength >= maxQueued)
        return reject(new IpledgerError('OVERLOADED', `${maxQueued} requests are already waiting: try again later`));
      this.#queue.push({ request, resolve: resolve as QueuedRequest['resolve'], reject });
    });
  }

  /** The number of requests that wait for their transaction, whether they are decided or not. */
  get queueLength(): number {
    return this.#queue.length + (this.#nextBatch?.decided.length ?? 0);
  }

  /** The number of batches that the writer has tried to prove. */
  get attemptedBatches(): number {
    return this.#attemptedBatches;
  }

  /**
   * Processes batches until the signal is aborted or another replica is the writer. Then each
   * queued request fails: with UNAVAILABLE if an append of unknown outcome may have executed it,
   * else with NOT_WRITER.
   * @throws IpledgerError LEDGER_DAMAGED if the log cannot be followed.
   */
  async run(signal: AbortSignal): Promise<void> {
    try {
      for (let failures = 0; !signal.aborted;) {
        if (!this.#hasRequests) await this.#queue.untilArrival(signal);
        if (signal.aborted) break;
        const outcome = await this.#processBatch(signal);
        if (outcome === 'deposed') break;
        failures = outcome === 'retry' ? failures + 1 : 0;
        if (failures === 0) continue;
        const { firstMs, maxMs } = this.#options.retry ?? defaultRetry;
        const pauseMs = backoffMs(failures - 1, firstMs, maxMs);
        this.#rejectExpired(pauseMs);
        await pause(pauseMs, signal);
      }
    } finally {
      this.#answerProven();
      this.#rollBackNextBatch();
      this.#ended = new IpledgerError('NOT_WRITER', 'this allocator is not the writer: retry the request');
      const ended = this.#ended;
      this.#queue.rejectAll((queued) => (this.#unknownOutcomes.mayStillWrite(queued) ? outcomeUnknown : ended));
    }
  }

  get #hasRequests(): boolean {
    return this.#queue.length > 0 || this.#nextBatch !== undefined;
  }

  async #processBatch(signal: AbortSignal): Promise<'done' | 'retry' | 'deposed'> {
    const batch = this.#takeBatch();
    const { builder } = batch;
    const decided = this.#provableRequests(batch);
    if (decided.length === 0) {
      this.#answerProven();
      return this.#queue.length === 0 ? 'done' : this.#catchUp(signal);
    }
    try {
      return await this.#proveAndAnswer(builder, decided, signal);
    } catch (error) {
      // The state may contain uncommitted events, so the writer stops.
      const bug = IpledgerError.from(error);
      if (bug.kind === 'bug') for (const { queued } of decided) queued.reject(bug);
      throw error;
    }
  }

  /** The batch that was decided during the last append, or a new batch, with what is now queued. */
  #takeBatch(): OpenBatch {
    if (this.#nextBatch?.isOutdated) this.#rollBackNextBatch();
    const batch = this.#nextBatch ?? this.#openBatch();
    this.#nextBatch = undefined;
    batch.decide(this.#queue);
    return batch;
  }

  #openBatch(inFlight?: BatchBuilder): OpenBatch {
    const isSingle = this.#singleRequestBatches > 0;
    if (isSingle) this.#singleRequestBatches--;
    return new OpenBatch(this.#options, isSingle, inFlight);
  }

  /** Decides arriving requests at the end of each turn. Returns a function that stops this. */
  #decideDuring(inFlight: BatchBuilder): () => void {
    let turn: NodeJS.Immediate | undefined;
    const decide = (): void => {
      turn = undefined;
      if (this.#queue.length === 0) return;
      this.#nextBatch ??= this.#openBatch(inFlight);
      const isTurnOver = this.#nextBatch.decide(this.#queue);
      if (isTurnOver) turn ??= setImmediate(decide);
    };
    this.#queue.onArrival = () => void (turn ??= setImmediate(decide));
    this.#queue.onArrival();
    return () => {
      this.#queue.onArrival = () => undefined;
      clearImmediate(turn);
    };
  }

  /** Undoes the decisions of the next batch. Its requests return to the queue. */
  #rollBackNextBatch(): void {
    const next = this.#nextBatch;
    this.#nextBatch = undefined;
    if (!next) return;
    this.#queue.putBack(next.rollBack());
    if (next.isSingle) this.#singleRequestBatches++;
  }

  /** Answers proven requests, some in each turn, because callers encode their answers in it. */
  #answerProven(): void {
    const turn = new TurnBudget();
    while (this.#proven.length > 0 && !turn.isSpent) {
      const { settle, readMs = 0 } = this.#proven.shift() as DecidedRequest;
      settle();
      turn.add(readMs);
    }
    if (this.#proven.length === 0 || this.#answering) return;
    this.#answering = setImmediate(() => {
      this.#answering = undefined;
      this.#answerProven();
    });
  }

  /** Proves a batch and answers its requests, or handles why it could not be proven. */
  async #proveAndAnswer(
    builder: BatchBuilder,
    decided: readonly DecidedRequest[],
    signal: AbortSignal,
  ): Promise<'done' | 'retry' | 'deposed'> {
    const spans = startAppendSpans(decided);
    const proving = this.#prove(builder, signal);
    this.#answerProven();
    const stopDeciding = this.#decideDuring(builder);
    const appended = await proving.finally(stopDeciding);
    if (spans) endAppendSpans(spans, builder, appended);
    if (appended.kind === 'appended') {
      if (builder.events.length > 0) this.#commit(builder, appended.revision);
      this.#proven.push(...decided);
      if (!this.#hasRequests) this.#answerProven();
      return 'done';
    }
    const [first] = builder.events;
    this.#rollBackNextBatch();
    builder.rollBack();
    if (appended.kind === 'rejected' && decided.length === 1) {
      const error = new IpledgerError('BUG', `etcd rejects the transaction: ${appended.reason}`);
      for (const { queued } of decided) queued.reject(error);
      return 'done';
    }
    if (appended.kind === 'frozen') return this.#refuseFrozen(decided);
    this.#queue.putBack(decided.map(({ queued }) => queued));
    if (appended.kind === 'rejected') {
      // Either one request is the cause, or etcd has lower limits than configured here. Retry each
      // request in its own batch.
      this.#singleRequestBatches = decided.length;
      return 'done';
    }
    this.#refusal = appended.kind === 'unknown' ? appended.refusal : undefined;
    if (appended.kind === 'unknown' && first) this.#unknownOutcomes.add(first, decided, this.#refusal !== undefined);
    if (this.#unknownOutcomes.count > maxUnknownOutcomes) return 'deposed';
    return this.#recover(appended, signal);
  }

  /** Rejects the requests that a freeze forbids. All others are decided again. */
  #refuseFrozen(decided: readonly DecidedRequest[]): 'done' {
    const refused = decided.filter(({ writes, isAllowedWhileFrozen }) => writes && !isAllowedWhileFrozen);
    for (const { queued } of refused) queued.reject(frozen);
    const others = decided.filter((each) => !refused.includes(each));
    this.#queue.putBack(others.map(({ queued }) => queued));
    return 'done';
  }

  #commit({ events, head }: BatchBuilder, revision: Revision): void {
    this.#unknownOutcomes.clear();
    this.#options.replica.commit(events, head, revision);
  }

  /**
   * A batch without events is proven by the head. An exception are requests that an earlier append
   * of unknown outcome may still execute: they return to the queue until that outcome is known.
   */
  #provableRequests({ builder, decided }: OpenBatch): readonly DecidedRequest[] {
    if (builder.events.length > 0) return decided;
    const undetermined = decided.filter(({ queued }) => this.#unknownOutcomes.mayStillWrite(queued));
    this.#queue.putBack(undetermined.map(({ queued }) => queued));
    return decided.filter((each) => !undetermined.includes(each));
  }

  /** A batch with events is proven by its append, a batch without events by an unmoved head. */
  async #prove(builder: BatchBuilder, signal: AbortSignal): Promise<AppendOutcome> {
    const { replica, term, onAppend } = this.#options;
    this.#attemptedBatches++;
    if (builder.events.length > 0) {
      const beganAt = performance.now();
      const appended = await replica.ledger.append(builder.build(term));
      onAppend?.({ outcome: appended.kind, events: builder.events.length, ms: performance.now() - beganAt });
      return appended;
    }
    try {
      const { seq, hash } = await replica.ledger.head(signal);
      const isSameHead = seq === replica.head.seq && hash === replica.head.hash;
      return isSameHead ? { kind: 'appended', revision: 0n } : { kind: 'moved' };
    } catch (error) {
      return { kind: 'unknown', reason: IpledgerError.from(error).message };
    }
  }

  /** Continues after an append that failed or has an unknown outcome. */
  #recover(appended: AppendOutcome, signal: AbortSignal): Promise<'done' | 'retry'> | 'done' | 'deposed' {
    const { replica, log } = this.#options;
    if (appended.kind === 'deposed') return 'deposed';
    if (appended.kind === 'fenced') {
      for (const name of appended.claims) {
        replica.state.fenced.add(claimKey(name));
        log.error(name, 'address fenced: another program changed its key in etcd. Run: ipledger check --keys');
      }
      return 'done';
    }
    if (appended.kind === 'unknown') {
      this.#lastFailure = appended.reason;
      log.warn({ reason: appended.reason }, 'an append has an unknown outcome: reading the log to find it');
    }
    return this.#catchUp(signal);
  }

  /** Reads new events, and answers the requests and queries that waited for them. */
  async #catchUp(signal: AbortSignal): Promise<'done' | 'retry'> {
    const { replica, log } = this.#options;
    const queries = this.#queue.takeQueries();
    try {
      const seqBefore = replica.head.seq;
      await replica.catchUp(signal);
      const happened = this.#unknownOutcomes.resolve((seq) => replica.recentFrom(seq)?.[0]);
      const done = new Set(happened.map(({ queued }) => queued));
      this.#queue.remove(done);
      for (const { settle } of happened) settle();
      await this.#answerQueries(queries);
      return replica.head.seq > seqBefore ? 'done' : 'retry';
    } catch (error) {
      this.#queue.putBack(queries);
      const reason = IpledgerError.from(error);
      if (reason.kind === 'damaged' || reason.code === 'POSITION_GONE') throw reason;
      this.#lastFailure = reason.message;
      log.warn({ reason: reason.message }, 'reading the log failed; retrying');
      return 'retry';
    }
  }

  /** Answers queries from the state without uncommitted events, some in each turn. */
  async #answerQueries(queries: readonly QueuedRequest[]): Promise<void> {
    const builder = new BatchBuilder(this.#options.replica);
    const turn = new TurnBudget();
    for (const queued of queries) {
      if (turn.isSpent) await turn.nextTurn();
      const decided = queued.request.signal.aborted ? undefined : decideRequest(builder, queued, this.#options);
      if (!decided || decided === 'full') queued.reject(callerLeft);
      else {
        decided.settle();
        turn.add(decided.readMs ?? 0);
      }
    }
  }

  /** Rejects the requests whose callers leave before the end of a pause, with the cause. */
  #rejectExpired(pauseMs: number): void {
    const refused = this.#refusal === undefined ? undefined : new IpledgerError('LEDGER_NOT_WRITABLE', this.#refusal);
    const failed = new IpledgerError('UNAVAILABLE', `etcd accepts no writes: ${this.#lastFailure}`);
    this.#queue.rejectExpired(performance.now() + pauseMs + attemptMs, (queued) =>
      refused && !this.#unknownOutcomes.mayStillWrite(queued) ? refused : failed,
    );
  }
}

const frozen = new IpledgerError(
  'LEDGER_FROZEN',
  'the ledger is frozen, because etcd was restored from a backup and events may be missing. No address is allocated or released until an operator compares the ledger with the cluster: ipledger recover',
);

const outcomeUnknown = new IpledgerError(
  'UNAVAILABLE',
  'this allocator is no longer the writer, and the outcome of the request is unknown: repeat the same request',
);
