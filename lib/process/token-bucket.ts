/** A token bucket: limits how often something may happen, and permits bursts. */

export interface BucketLimit {
  /** The rate at which the bucket fills. */
  readonly perSecond: number;
  /** The size of the bucket. A new bucket is full. */
  readonly burst: number;
}

export class TokenBucket {
  readonly #limit: BucketLimit;
  #left: number;
  #filledAt: number;

  /** @param now milliseconds from any origin, the same as for `take` */
  constructor(limit: BucketLimit, now: number) {
    this.#limit = limit;
    this.#left = limit.burst;
    this.#filledAt = now;
  }

  /** Takes tokens that were spent after `take`. The bucket then owes at most its size. */
  spend(count: number): void {
    this.#left = Math.max(-this.#limit.burst, this.#left - count);
  }

  /** Takes one token. Returns false if the bucket is empty. */
  take(now: number): boolean {
    if (this.isEmpty(now)) return false;
    this.#left--;
    return true;
  }

  isEmpty(now: number): boolean {
    return this.secondsUntil(1, now) > 0;
  }

  /** The time until the bucket has `count` tokens; 0 if it has them now. */
  secondsUntil(count: number, now: number): number {
    const { perSecond, burst } = this.#limit;
    this.#left = Math.min(burst, this.#left + ((now - this.#filledAt) / 1_000) * perSecond);
    this.#filledAt = now;
    return this.#left < count ? (count - this.#left) / perSecond : 0;
  }
}
