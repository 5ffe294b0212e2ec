/**
 * Ledger time. It never goes back behind the head of the ledger, even if the machine's clock is set
 * back or the last writer's clock was fast. It does not follow a machine's clock that jumps ahead,
 * because a jump would end all cooldowns and binding timeouts (docs/decisions/0016-ledger-time.md).
 */
import { uptime } from 'node:os';

/** The times of a new event, milliseconds since 1970. */
export interface ClockReading {
  /** Ledger time. */
  readonly at: number;
  /** The machine's clock. */
  readonly clock: number;
}

/** The clocks of the machine. */
export interface TimeSource {
  /** Wall clock, milliseconds since 1970. */
  readonly wall: () => number;
  /** Milliseconds from any origin. Never decreases. Stops while the machine is suspended. */
  readonly monotonic: () => number;
  /**
   * A clock that continues while the machine is suspended. Absent on a machine that is never
   * suspended.
   */
  readonly sinceBoot?: () => number;
}

const machine: TimeSource = {
  wall: () => Date.now(),
  monotonic: () => performance.now(),
  sinceBoot: () => uptime() * 1_000,
};

/** How far the clock may be ahead of the elapsed time: time servers correct it by as much. */
const toleranceMs = 5_000;
/** Ledger time catches up slowly, by a tenth of the elapsed time, so that no timeout ends early. */
const gain = 0.1;
/** The longest pause that counts as elapsed time: a jump during a pause is still a jump. */
const maxCountedMs = 10_000;

export class LedgerClock {
  /** Called once for each jump of the machine's clock that ledger time does not follow. */
  onJump: ((aheadMs: number) => void) | undefined;
  readonly #time: TimeSource;
  /** The time of the last observed event, and when it was observed. */
  #observedAt = 0;
  #observedMonotonic: number;
  /** The time that the machine's clock was expected to show at the last reading. */
  #expected: number;
  #readMonotonic: number;
  /** How long the machine had been suspended at the last reading. */
  #suspendedMs: number;
  #aheadMs = 0;

  constructor(time: TimeSource = machine) {
    this.#time = time;
    this.#expected = time.wall();
    this.#readMonotonic = this.#observedMonotonic = time.monotonic();
    this.#suspendedMs = this.#measureSuspendedMs(this.#readMonotonic);
  }

  /** How far the machine's clock was ahead of ledger time at the last reading, because of jumps. */
  get aheadMs(): number {
    return this.#aheadMs;
  }

  /**
   * Reads the machine's clock without jumps ahead. The result is at least the time of the last
   * event, plus the time since that event was observed.
   * @param notBefore the time of an earlier event that is not in the log yet.
   */
  read(notBefore = 0): ClockReading {
    const clock = this.#time.wall();
    const monotonic = this.#time.monotonic();
    const min = this.#observedAt + Math.floor(monotonic - this.#observedMonotonic);
    return { at: Math.max(this.#withoutJumps(clock, monotonic, min), min, notBefore), clock };
  }

  /** Records that an event with this time is in the log. */
  observe(at: number): void {
    if (at <= this.#observedAt) return;
    this.#observedAt = at;
    this.#observedMonotonic = this.#time.monotonic();
  }

  /** Returns the machine's clock, or an earlier time if the clock jumped ahead. */
  #withoutJumps(clock: number, monotonic: number, min: number): number {
    const elapsed = monotonic - this.#readMonotonic;
    this.#readMonotonic = monotonic;
    this.#expected += elapsed;
    // A machine may start with a clock far behind ledger time and be corrected later. Only the part
    // after `min` is a jump.
    if (clock > min) this.#expected = Math.max(this.#expected, min - toleranceMs);
    if (clock < this.#expected - toleranceMs) this.#expected = clock; // set back
    const excess = clock - toleranceMs - this.#expected;
    if (excess > 0) this.#expected += Math.min(excess, gain * Math.min(elapsed, maxCountedMs));
    if (clock > this.#expected + toleranceMs)
      this.#expected += Math.min(clock - this.#expected, this.#suspendedSinceLastRead(monotonic));
    const trusted = Math.min(clock, Math.floor(this.#expected + toleranceMs));
    this.#reportJump(Math.max(0, clock - Math.max(trusted, min)));
    return trusted;
  }

  #reportJump(aheadMs: number): void {
    const isNew = aheadMs > 0 && this.#aheadMs === 0;
    this.#aheadMs = aheadMs;
    if (isNew) this.onJump?.(aheadMs);
  }

  /** The time suspended since the last call. `monotonic` does not count suspended time. */
  #suspendedSinceLastRead(monotonic: number): number {
    const before = this.#suspendedMs;
    this.#suspendedMs = this.#measureSuspendedMs(monotonic);
    return Math.max(0, this.#suspendedMs - before);
  }

  #measureSuspendedMs(monotonic: number): number {
    return (this.#time.sinceBoot?.() ?? monotonic) - monotonic;
  }
}
