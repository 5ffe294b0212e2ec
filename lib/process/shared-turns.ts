/**
 * Runs the work of many callers in small pieces. All callers together have a share of each turn of
 * the event loop in which they run.
 */
import { TurnBudget } from './turn-budget.ts';

/**
 * The number of items that are mapped without a pause. Ten events are parsed or encoded in about a
 * fifth of a millisecond.
 */
const itemsPerPiece = 10;

/** Calls a function in a later turn of the event loop. */
export type Later = (run: () => void) => void;

export class SharedTurns {
  readonly #shareMs: number;
  readonly #later: Later;
  readonly #waiting: (() => void)[] = [];
  #isScheduled = false;

  /**
   * @param shareMs the time of all pieces in a turn
   * @param later the turn after one with pieces: the next one, or a later one, so that other work
   * comes first
   */
  constructor(shareMs: number, later: Later = setImmediate) {
    this.#shareMs = shareMs;
    this.#later = later;
  }

  /**
   * Runs a piece of work in a later turn, after the pieces that already wait. Settles as the piece
   * does.
   */
  do<Result>(piece: () => Result): Promise<Result> {
    return new Promise((resolve) => {
      // Inside a promise executor, an error of the piece becomes a rejection.
      this.#waiting.push(() => resolve(new Promise((done) => done(piece()))));
      if (this.#isScheduled) return;
      this.#isScheduled = true;
      setImmediate(() => this.#run());
    });
  }

  /** Maps items in pieces of a few. */
  async map<Item, Result>(items: readonly Item[], map: (item: Item) => Result): Promise<Result[]> {
    const results: Result[] = [];
    for (let start = 0; start < items.length; start += itemsPerPiece)
      results.push(...(await this.do(() => items.slice(start, start + itemsPerPiece).map(map))));
    return results;
  }

  #run(): void {
    const share = new TurnBudget(this.#shareMs);
    do this.#waiting.shift()?.();
    while (this.#waiting.length > 0 && !share.isSpent);
    // Begins a turn also without a waiting piece: the next piece of a stream comes when this piece
    // has settled.
    this.#later(() => {
      this.#isScheduled = this.#waiting.length > 0;
      if (this.#isScheduled) this.#run();
    });
  }
}
