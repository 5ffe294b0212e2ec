/**
 * The reads that wait until this replica has applied an event (`min_seq`). Each caller may have a
 * few waits, and all callers together some more, so waits for events that never come cost little. A
 * read does not wait for an event that is far ahead.
 */
import { IpledgerError } from '../../../lib/errors.ts';
import type { Replica } from '../../../ledger/log/reader/replica.ts';

/** The most events to wait for: more than the writer appends during a wait. */
const maxAhead = 200_000;
const maxPerCaller = 64;
const maxInAll = 1_024;

export class PositionWaits {
  readonly #replica: Replica;
  readonly #byCaller = new Map<string, number>();
  #count = 0;

  constructor(replica: Replica) {
    this.#replica = replica;
  }

  /**
   * Waits until this replica has applied an event.
   * @throws IpledgerError UNAVAILABLE if the signal is aborted first, or the event is far ahead;
   * OVERLOADED if there are too many waits
   */
  async until(seq: number, caller: string, signal: AbortSignal): Promise<void> {
    const ahead = seq - this.#replica.head.seq;
    if (ahead <= 0) return;
    if (ahead > maxAhead)
      throw new IpledgerError(
        'UNAVAILABLE',
        `this replica has applied the events up to ${this.#replica.head.seq}, and event ${seq} is too far ahead to wait for: read the head again, or call another replica`,
      );
    const release = this.#take(caller);
    try {
      await this.#replica.untilReached(seq, signal);
    } finally {
      release();
    }
    if (this.#replica.head.seq >= seq) return;
    throw new IpledgerError(
      'UNAVAILABLE',
      `this replica has applied the events up to ${this.#replica.head.seq}, and the required event ${seq} did not arrive in time: call another replica`,
    );
  }

  /** Counts a wait. Returns a function that ends the count. */
  #take(caller: string): () => void {
    const own = this.#byCaller.get(caller) ?? 0;
    if (own >= maxPerCaller || this.#count >= maxInAll)
      throw new IpledgerError(
        'OVERLOADED',
        `${own >= maxPerCaller ? `${caller} has ${maxPerCaller}` : `callers have ${maxInAll}`} reads that wait for a later event, and that is the limit: try again later, or omit min_seq`,
      );
    this.#byCaller.set(caller, own + 1);
    this.#count++;
    return () => {
      const left = (this.#byCaller.get(caller) ?? 1) - 1;
      if (left === 0) this.#byCaller.delete(caller);
      else this.#byCaller.set(caller, left);
      this.#count--;
    };
  }
}
