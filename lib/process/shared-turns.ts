/** Work of many callers in small pieces: all callers together have a share of each turn of the event loop. */
import { TurnBudget } from './turn-budget.ts';

export class SharedTurns {
  readonly #shareMs: number;
  readonly #waiting: (() => void)[] = [];

  constructor(shareMs: number) {
    this.#shareMs = shareMs;
  }

  /** Does a piece of work in a later turn, after the pieces that wait already. Resolves or rejects as the piece does. */
  do<Result>(piece: () => Result): Promise<Result> {
    return new Promise((resolve) => {
      // A promise executor turns what the piece throws into a rejection.
      this.#waiting.push(() => resolve(new Promise((done) => done(piece()))));
      if (this.#waiting.length === 1) setImmediate(() => this.#run());
    });
  }

  #run(): void {
    const share = new TurnBudget(this.#shareMs);
    while (this.#waiting.length > 0 && !share.isSpent) this.#waiting.shift()?.();
    if (this.#waiting.length > 0) setImmediate(() => this.#run());
  }
}
