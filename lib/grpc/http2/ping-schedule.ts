/**
 * When a client pings its server. A cluster has thousands of agents without a call for minutes,
 * whose pings at a short interval would be most of what an allocator does. So a connection is
 * pinged often while it is used, and with the first call after a rest.
 */

export interface PingIntervals {
  /** The interval while calls begin. */
  readonly keepaliveMs: number;
  /** The interval, and the rest after which it applies. */
  readonly idleKeepaliveMs: number;
}

/** Times are milliseconds from any origin. */
export class PingSchedule {
  readonly #intervals: PingIntervals;
  #calledAt: number;
  #pingedAt: number;

  constructor(intervals: PingIntervals, now: number) {
    this.#intervals = intervals;
    this.#calledAt = this.#pingedAt = now;
  }

  /** Whether to ping now. To be called at the short interval. */
  isDue(now: number): boolean {
    const { idleKeepaliveMs } = this.#intervals;
    return this.#ping(now, now - this.#calledAt < idleKeepaliveMs ? 0 : idleKeepaliveMs);
  }

  /** Whether to ping now, because a call begins. */
  isDueAtCall(now: number): boolean {
    this.#calledAt = now;
    return this.#ping(now, this.#intervals.keepaliveMs);
  }

  #ping(now: number, afterMs: number): boolean {
    if (now - this.#pingedAt < afterMs) return false;
    this.#pingedAt = now;
    return true;
  }
}
