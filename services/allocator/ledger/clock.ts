/**
 * The ledger's time. It is never behind the ledger's head, also when the machine's clock is set back or the last writer's ran fast;
 * and it does not follow a machine's clock that jumps ahead, since a jump would end every cooldown and binding timeout at once
 * (docs/decisions/0016-ledger-time-does-not-jump.md).
 */
import { uptime } from 'node:os';

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
  /** Never set, never goes back; milliseconds from any origin. Stands still while the machine is suspended. */
  readonly monotonic: () => number;
  /** As `monotonic`, but goes on while the machine is suspended. Absent: it never is. */
  readonly sinceBoot?: () => number;
}

const machine: TimeSource = {
  wall: () => Date.now(),
  monotonic: () => performance.now(),
  sinceBoot: () => uptime() * 1_000,
};

/** The machine's clock may be this far ahead of what has elapsed: time servers correct it by as much. */
const toleranceMs = 5_000;
/** Beyond that ledger time gains a tenth of what elapses, so that no time limit ends much too early. */
const gain = 0.1;
/** Of the time between two looks, this much counts for the gain: a jump in a long silence is still a jump. */
const mostCountedMs = 10_000;

export class LedgerClock {
  /** Called once for each jump of the machine's clock that is not followed, with how far ahead it is. */
  onJump: ((aheadMs: number) => void) | undefined;
  readonly #time: TimeSource;
  #seenAt = 0;
  #seenMonotonic: number;
  /** What the machine's clock is expected to show, at `#lookedAt`. */
  #expected: number;
  #lookedAt: number;
  /** How long the machine has been suspended, by the last comparison. */
  #asleepMs: number;
  #aheadMs = 0;

  constructor(time: TimeSource = machine) {
    this.#time = time;
    this.#expected = time.wall();
    this.#lookedAt = this.#seenMonotonic = time.monotonic();
    this.#asleepMs = this.#suspendedMs(this.#lookedAt);
  }

  /** How far the machine's clock is ahead of ledger time, because it jumped; 0 otherwise. As of the last reading. */
  get aheadMs(): number {
    return this.#aheadMs;
  }

  /**
   * The machine's clock, as far as it did not jump ahead; but not before the last event's time + what has elapsed since it was seen.
   * @param notBefore the time of an event that is to come before, though it is not in the log yet.
   */
  read(notBefore = 0): Reading {
    const clock = this.#time.wall();
    const monotonic = this.#time.monotonic();
    const least = this.#seenAt + Math.floor(monotonic - this.#seenMonotonic);
    return { at: Math.max(this.#believed(clock, monotonic, least), least, notBefore), clock };
  }

  /** An event with this time is in the log. */
  observe(at: number): void {
    if (at <= this.#seenAt) return;
    this.#seenAt = at;
    this.#seenMonotonic = this.#time.monotonic();
  }

  /** As much of what the machine's clock shows as is believed. */
  #believed(clock: number, monotonic: number, least: number): number {
    const elapsed = monotonic - this.#lookedAt;
    this.#lookedAt = monotonic;
    this.#expected += elapsed;
    // A machine that started with a clock long before the ledger's time is ahead of the ledger's time only by the rest.
    if (clock > least) this.#expected = Math.max(this.#expected, least - toleranceMs);
    if (clock < this.#expected - toleranceMs) this.#expected = clock; // set back
    const excess = clock - toleranceMs - this.#expected;
    if (excess > 0) this.#expected += Math.min(excess, gain * Math.min(elapsed, mostCountedMs));
    if (clock > this.#expected + toleranceMs)
      this.#expected += Math.min(clock - this.#expected, this.#wokenAfter(monotonic));
    const believed = Math.min(clock, Math.floor(this.#expected + toleranceMs));
    this.#noteJump(clock - believed);
    return believed;
  }

  #noteJump(aheadMs: number): void {
    const isNew = aheadMs > 0 && this.#aheadMs === 0;
    this.#aheadMs = aheadMs;
    if (isNew) this.onJump?.(aheadMs);
  }

  /** How long the machine was suspended since this was asked last: that time passed, though `monotonic` did not show it. */
  #wokenAfter(monotonic: number): number {
    const before = this.#asleepMs;
    this.#asleepMs = this.#suspendedMs(monotonic);
    return Math.max(0, this.#asleepMs - before);
  }

  #suspendedMs(monotonic: number): number {
    return (this.#time.sinceBoot?.() ?? monotonic) - monotonic;
  }
}
