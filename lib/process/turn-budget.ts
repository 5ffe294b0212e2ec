/**
 * Limits the time that one piece of work takes in a turn of the event loop. Timers (such as the
 * renewal of a lease) and the sockets of other callers wait for the end of the turn.
 */
import { setImmediate } from 'node:timers/promises';

/** The default is enough for hundreds of answers of usual size. */
const defaultMs = 10;

export class TurnBudget {
  readonly #turnMs: number;
  #spentMs = 0;
  #startedAt = performance.now();

  constructor(turnMs = defaultMs) {
    this.#turnMs = turnMs;
  }

  /** Whether the time since the last `nextTurn`, plus added time, is used up. */
  get isSpent(): boolean {
    return this.#spentMs + performance.now() - this.#startedAt >= this.#turnMs;
  }

  /** Adds time for later work: encoding an answer takes about as long as reading it. */
  add(ms: number): void {
    this.#spentMs += ms;
  }

  /** Waits for the next turn, and starts again from zero. @throws AbortError after an abort */
  async nextTurn(signal?: AbortSignal): Promise<void> {
    await setImmediate(undefined, { ...(signal && { signal }) });
    this.#spentMs = 0;
    this.#startedAt = performance.now();
  }
}
