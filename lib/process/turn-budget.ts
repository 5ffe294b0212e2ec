/**
 * The time that one piece of work may take in a turn of the event loop. Timers, as the one that
 * renews a lease, and the sockets of other callers wait for the end of the turn.
 */
import { setImmediate } from 'node:timers/promises';

/** Enough for hundreds of answers of the usual size. */
const defaultMs = 10;

export class TurnBudget {
  readonly #turnMs: number;
  #spentMs = 0;
  #startedAt = performance.now();

  constructor(turnMs = defaultMs) {
    this.#turnMs = turnMs;
  }

  /** Whether the time since the last `nextTurn`, with what was added, is over. */
  get isSpent(): boolean {
    return this.#spentMs + performance.now() - this.#startedAt >= this.#turnMs;
  }

  /** Counts work that follows: to encode an answer takes about as long as to read it. */
  add(ms: number): void {
    this.#spentMs += ms;
  }

  /** Waits for the next turn, and counts from zero. @throws AbortError after an abort */
  async nextTurn(signal?: AbortSignal): Promise<void> {
    await setImmediate(undefined, { ...(signal && { signal }) });
    this.#spentMs = 0;
    this.#startedAt = performance.now();
  }
}
