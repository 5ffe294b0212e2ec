/**
 * Follows the log on a standby, and answers reads from its state, which contains only committed
 * events.
 *
 * A linearizable read first waits for a read of etcd's head that begins after it, then for the
 * events up to that head. Reads that arrive during one read of the head share the next one. While
 * etcd does not reply, no linearizable read is answered.
 */
import { pause, waitForCallback } from '../../../lib/process/abortable.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import { TurnBudget } from '../../../lib/process/turn-budget.ts';
import type { Logger } from '../../../lib/process/log.ts';
import type { State } from '../../domain/state/state.ts';
import { Refused } from '../../domain/commands/refusal.ts';
import type { ProvenAnswer } from '../pending-request.ts';
import type { Replica } from './replica.ts';

const maxPendingReads = 20_000;
/** The wait after a failed read of the head. */
const retryMs = 200;
/** The time between checks for expired reads. */
const sweepMs = 100;

/** Reads the state at the ledger time `now` (milliseconds since 1970). May throw Refused. */
export type StateRead<Answer> = (state: State, now: number) => Answer;

/** The time until which a read can be answered. */
export interface ReadDeadline {
  /** On the clock of performance.now(). */
  readonly until: number;
  readonly signal: AbortSignal;
}

/** `head-changed`: reads the log even if the head is the same. */
type CatchUpRequest = 'none' | 'read' | 'head-changed';

interface PendingRead {
  readonly until: number;
  readonly settle: () => void;
  readonly reject: (error: IpledgerError) => void;
}

export class Follower {
  readonly #replica: Replica;
  readonly #log: Logger;
  readonly #pendingReads = new Set<PendingRead>();
  #wake: () => void = () => undefined;
  #catchUpRequest: CatchUpRequest = 'none';
  #caughtUpAt = performance.now();
  #lastFailure = 'etcd does not reply';
  #ended: IpledgerError | undefined;

  constructor(replica: Replica, log: Logger) {
    this.#replica = replica;
    this.#log = log;
  }

  /** The age of the state: it has all events that the ledger had this long ago. */
  get lagMs(): number {
    return performance.now() - this.#caughtUpAt;
  }

  /** Answers from the present state. @throws the refusal of `read`; NOT_WRITER after `run` */
  readLocal<Answer>(read: StateRead<Answer>): ProvenAnswer<Answer> {
    if (this.#ended) throw this.#ended;
    try {
      return { answer: read(this.#replica.state, this.#replica.clock.read().at), head: this.#replica.head };
    } catch (error) {
      throw error instanceof Refused ? new IpledgerError(error.refusal.code, error.refusal.message) : error;
    }
  }

  /**
   * Answers as of a time after the call.
   * @throws IpledgerError the refusal of `read`; UNAVAILABLE after the deadline; OVERLOADED;
   * NOT_WRITER as above.
   */
  readLinearizable<Answer>(read: StateRead<Answer>, { until, signal }: ReadDeadline): Promise<ProvenAnswer<Answer>> {
    return new Promise((resolve, reject) => {
      if (this.#ended) return reject(this.#ended);
      if (signal.aborted) return reject(this.#deadlineExceeded());
      if (this.#pendingReads.size >= maxPendingReads)
        return reject(
          new IpledgerError('OVERLOADED', `${maxPendingReads} requests are already waiting: try again later`),
        );
      const end = (): void => {
        this.#pendingReads.delete(pending);
        signal.removeEventListener('abort', expire);
      };
      const pending: PendingRead = {
        until,
        settle: () => {
          end();
          try {
            resolve(this.readLocal(read));
          } catch (error) {
            reject(IpledgerError.from(error));
          }
        },
        reject: (error) => {
          end();
          reject(error);
        },
      };
      const expire = (): void => pending.reject(this.#deadlineExceeded());
      signal.addEventListener('abort', expire, { once: true });
      this.#pendingReads.add(pending);
      this.#requestCatchUp('read');
    });
  }

  /** Follows until the signal is aborted. @throws LEDGER_DAMAGED, POSITION_GONE */
  async run(signal: AbortSignal): Promise<void> {
    void this.#watchHead(signal);
    const sweeping = setInterval(() => this.#rejectExpired(), sweepMs);
    try {
      while (!signal.aborted) {
        if (this.#catchUpRequest === 'none') await this.#catchUpRequested(signal);
        if (!signal.aborted) await this.#catchUp(signal);
      }
    } finally {
      clearInterval(sweeping);
      this.#ended = new IpledgerError('NOT_WRITER', 'this allocator is no longer a standby: retry the request');
      for (const { reject } of this.#pendingReads) reject(this.#ended);
    }
  }

  async #catchUp(signal: AbortSignal): Promise<void> {
    const readsLog = this.#catchUpRequest === 'head-changed';
    this.#catchUpRequest = 'none';
    const reads = [...this.#pendingReads];
    const startedAt = performance.now();
    try {
      await (readsLog ? this.#replica.catchUp(signal) : this.#replica.refresh(signal));
      this.#caughtUpAt = startedAt;
      await this.#settle(reads, signal);
    } catch (error) {
      if (signal.aborted) return;
      const reason = IpledgerError.from(error);
      if (reason.kind === 'damaged' || reason.code === 'POSITION_GONE') throw reason;
      this.#lastFailure = reason.message;
      this.#log.warn({ reason: reason.message }, 'reading the log failed; retrying');
      await pause(retryMs, signal);
      if (this.#pendingReads.size > 0) this.#requestCatchUp('read');
    }
  }

  /** Answers reads from the present state, some in each turn of the event loop. */
  async #settle(reads: readonly PendingRead[], signal: AbortSignal): Promise<void> {
    const turn = new TurnBudget();
    for (const pending of reads) {
      if (turn.isSpent) await turn.nextTurn();
      if (signal.aborted) return;
      if (!this.#pendingReads.has(pending)) continue;
      const startedAt = performance.now();
      pending.settle();
      turn.add(performance.now() - startedAt);
    }
  }

  /** Keeps the state current without reads. Each change of the head causes a read of the log. */
  async #watchHead(signal: AbortSignal): Promise<void> {
    const changes = this.#replica.ledger.watchHead(signal)[Symbol.asyncIterator]();
    while (!(await changes.next()).done) this.#requestCatchUp('head-changed');
  }

  #requestCatchUp(request: CatchUpRequest): void {
    if (this.#catchUpRequest !== 'head-changed') this.#catchUpRequest = request;
    this.#wake();
  }

  #catchUpRequested(signal: AbortSignal): Promise<void> {
    return waitForCallback(signal, (wake) => {
      this.#wake = wake;
      return () => (this.#wake = () => undefined);
    });
  }

  /** Uses one timer for all pending reads, because thousands may arrive each second. */
  #rejectExpired(): void {
    const now = performance.now();
    for (const { until, reject } of this.#pendingReads) if (until <= now) reject(this.#deadlineExceeded());
  }

  #deadlineExceeded(): IpledgerError {
    const { seq } = this.#replica.head;
    return new IpledgerError(
      'UNAVAILABLE',
      `etcd cannot be read (${this.#lastFailure}): this replica has the ledger up to event ${seq}, and cannot confirm that this is the end. Start a majority of etcd (runbook IpledgerNoWriter). If only this replica is cut off, use another one`,
    );
  }
}
