/** The growth of etcd in the last day, and when its quota is in use if that goes on. */

const hourMs = 3_600_000;
const windowHours = 24;
const dayMs = 24 * hourMs;
/** The growth means nothing beyond this. */
const maxDays = 3_650;

/** The least size of one hour: the size rises between two compactions. */
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

  /** Days until `quotaBytes` are in use; undefined in the first two hours, and without growth. */
  daysLeft(quotaBytes: number): number | undefined {
    const [first, last] = [this.#hours[0], this.#hours.at(-2)];
    if (!first || !last || last.hour <= first.hour) return undefined;
    const bytesPerDay = ((last.inUse - first.inUse) / ((last.hour - first.hour) * hourMs)) * dayMs;
    const days = Math.max(0, quotaBytes - last.inUse) / bytesPerDay;
    return bytesPerDay > 0 && days <= maxDays ? days : undefined;
  }
}
