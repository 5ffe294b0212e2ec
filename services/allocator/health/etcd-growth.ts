/** How long the quota of etcd lasts at the growth of the last day. */

const hourMs = 3_600_000;
const windowHours = 24;
const dayMs = 24 * hourMs;
/** Beyond this the growth means nothing. */
const maxDays = 3_650;

/** The least size of one hour. Between two compactions the size rises, so only the least one shows growth. */
interface HourlyMinimum {
  readonly hour: number;
  inUse: number;
}

export class EtcdGrowth {
  /** The current hour, which has not ended, and up to 25 before it; oldest first. */
  readonly #hours: HourlyMinimum[] = [];

  /** Adds a size, in the order of time. @param atMs of a clock that never goes back */
  add(inUse: number, atMs: number): void {
    const hour = Math.floor(atMs / hourMs);
    const last = this.#hours.at(-1);
    if (last?.hour === hour) last.inUse = Math.min(last.inUse, inUse);
    else this.#hours.push({ hour, inUse });
    while ((this.#hours[0]?.hour ?? hour) < hour - windowHours - 1) this.#hours.shift();
  }

  /** Days until `quotaBytes` are in use. Undefined in the first two hours, and while the size does not grow. */
  daysLeft(quotaBytes: number): number | undefined {
    const [first, last] = [this.#hours[0], this.#hours.at(-2)];
    if (!first || !last || last.hour <= first.hour) return undefined;
    const bytesPerDay = ((last.inUse - first.inUse) / ((last.hour - first.hour) * hourMs)) * dayMs;
    const days = Math.max(0, quotaBytes - last.inUse) / bytesPerDay;
    return bytesPerDay > 0 && days <= maxDays ? days : undefined;
  }
}
