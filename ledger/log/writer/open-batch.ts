/**
 * A batch that has not been sent: its requests, decided in the order of arrival. While the append
 * of another batch is in flight, this batch is decided against the state after the other batch
 * (docs/decisions/0040-decide-during-an-append.md).
 */
import { IpledgerError } from '../../../lib/errors.ts';
import { BatchBuilder } from './batch.ts';
import { type DecisionContext, decideRequest } from './decide-request.ts';
import type { DecidedRequest, QueuedRequest } from '../pending-request.ts';
import type { RequestQueue } from './request-queue.ts';
import { TurnBudget } from '../../../lib/process/turn-budget.ts';

/** The most that fit a transaction, so that few decisions have to be undone. */
const maxRequestsPerBatch = 128;
/**
 * The most requests of one identity while others send requests too. So a client with many requests,
 * such as the pod-watcher, makes neither the batch of another client's bind long nor the one
 * before.
 */
const maxBesideOthers = 32;
/** Older decisions are made again, so that their times are close to the append. */
const maxAgeMs = 100;

export class OpenBatch {
  readonly builder: BatchBuilder;
  readonly decided: DecidedRequest[] = [];
  readonly #context: DecisionContext;
  /** The number of decided requests by identity. */
  readonly #decidedBy = new Map<string, number>();
  /** Whether the batch takes only one request. */
  readonly isSingle: boolean;
  #isFull = false;
  #firstDecidedAt = Infinity;

  /**
   * @param isSingle whether the batch takes only one request, or as many as a transaction can hold
   * @param inFlight the previous batch, if its outcome is not known yet
   */
  constructor(context: DecisionContext, isSingle: boolean, inFlight?: BatchBuilder) {
    this.#context = context;
    this.isSingle = isSingle;
    this.builder = new BatchBuilder(context.replica, inFlight);
  }

  /** Whether the batch takes no more requests. */
  get isFull(): boolean {
    return this.#isFull || this.decided.length >= (this.isSingle ? 1 : maxRequestsPerBatch);
  }

  /**
   * Moves requests from the queue to the batch, until the batch is full or the turn is over.
   * Returns whether the turn ended first.
   */
  decide(queue: RequestQueue): boolean {
    const turn = new TurnBudget();
    const { isShared } = queue;
    const isSkipped = (actor: string): boolean => isShared && (this.#decidedBy.get(actor) ?? 0) >= maxBesideOthers;
    while (!this.isFull) {
      if (turn.isSpent) return true;
      const queued = queue.shift(isSkipped);
      if (!queued) return false;
      const { request, reject } = queued;
      if (request.signal.aborted) {
        reject(callerLeft);
        continue;
      }
      if (this.decided.length === 0) this.#firstDecidedAt = performance.now();
      const span = request.span?.child('decide');
      const outcome = decideRequest(this.builder, queued, this.#context);
      span?.end();
      if (outcome === 'full') {
        queue.putBack([queued]);
        this.#isFull = true;
        return false;
      }
      this.decided.push(outcome);
      this.#decidedBy.set(request.actor, (this.#decidedBy.get(request.actor) ?? 0) + 1);
    }
    return false;
  }

  /**
   * Whether the decisions must be made again before they are sent: during the previous append a
   * caller has left, a deadline has passed, or much time has passed.
   */
  get isOutdated(): boolean {
    if (performance.now() - this.#firstDecidedAt > maxAgeMs) return true;
    const now = this.#context.replica.clock.read(this.builder.head.at).at;
    return this.decided.some(({ queued, deadline = now }) => now > deadline || queued.request.signal.aborted);
  }

  /** Undoes all decisions. Returns their requests, which must be decided again. */
  rollBack(): readonly QueuedRequest[] {
    this.builder.rollBack();
    return this.decided.splice(0).map(({ queued }) => queued);
  }
}

export const callerLeft = new IpledgerError('CANCELLED', 'the caller has disconnected, or its deadline has passed');
