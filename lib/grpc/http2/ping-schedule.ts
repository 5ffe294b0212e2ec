/**
 * Decides when a client pings its server. Most agents of a large cluster send no call for minutes,
 * and frequent pings from all of them would be most of the allocator's work. So a connection is
 * pinged often while it is used, and at the first call after a pause.
 */

export interface PingIntervals {
  /** The interval while calls are sent. */
  readonly keepaliveMs: number;
  /** The interval after a pause in calls, and the length of pause after which it applies. */
  readonly idleKeepaliveMs: number;
}

/** All times are milliseconds from any origin. */
export class PingSchedule {
  readonly #intervals: PingIntervals;
  #calledAt: number;
  #pingedAt: number;

  constructor(intervals: PingIntervals, now: number) {
    this.#intervals = intervals;
    this.#calledAt = this.#pingedAt = now;
  }

  /** Whether to ping now. Call it at the short interval. */
  isDue(now: number): boolean {
    const { idleKeepaliveMs } = this.#intervals;
    return this.#ping(now, now - this.#calledAt < idleKeepaliveMs ? 0 : idleKeepaliveMs);
  }

  /** Whether to ping now, at the beginning of a call. */
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
