/** The ledger's time: never behind its head, also when the machine's clock was set back or the last writer's ran fast. */

/** What a new event is stamped with, milliseconds since 1970. */
export interface Reading {
  /** The ledger's time. */
  readonly at: number;
  /** What the machine's clock says. */
  readonly clock: number;
}

/** Where time comes from; the defaults are the machine's. */
export interface TimeSource {
  /** Wall clock, milliseconds since 1970. */
  readonly wall: () => number;
  /** Never set, never goes back; milliseconds from any origin. */
  readonly monotonic: () => number;
}

const machine: TimeSource = { wall: () => Date.now(), monotonic: () => performance.now() };

export class LedgerClock {
  readonly #time: TimeSource;
  #seenAt = 0;
  #seenMonotonic: number;

  constructor(time: TimeSource = machine) {
    this.#time = time;
    this.#seenMonotonic = time.monotonic();
  }

  /**
   * max(clock, last event's time + what has elapsed since it was seen).
   * @param notBefore the time of an event that is to come before, though it is not in the log yet.
   */
  read(notBefore = 0): Reading {
    const clock = this.#time.wall();
    const elapsed = Math.floor(this.#time.monotonic() - this.#seenMonotonic);
    return { at: Math.max(clock, this.#seenAt + elapsed, notBefore), clock };
  }

  /** An event with this time is in the log. */
  observe(at: number): void {
    if (at <= this.#seenAt) return;
    this.#seenAt = at;
    this.#seenMonotonic = this.#time.monotonic();
  }
}
