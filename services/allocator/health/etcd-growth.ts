/** Measures the growth of etcd in the last day, and predicts when its quota will be used up. */

const hourMs = 3_600_000;
const windowHours = 24;
const dayMs = 24 * hourMs;
/** A longer prediction would be meaningless. */
const maxDays = 3_650;

/** The smallest size in an hour, because the size rises between compactions. */
interface HourlyMinimum {
  readonly hour: number;
  inUse: number;
}

export class EtcdGrowth {
  /** The current hour, which is incomplete, and up to 25 earlier hours, oldest first. */
  readonly #hours: HourlyMinimum[] = [];

  /** Adds a size, in order of time. @param atMs time of a clock that never goes back */
  add(inUse: number, atMs: number): void {
    const hour = Math.floor(atMs / hourMs);
    const last = this.#hours.at(-1);
    if (last?.hour === hour) last.inUse = Math.min(last.inUse, inUse);
    else this.#hours.push({ hour, inUse });
    while ((this.#hours[0]?.hour ?? hour) < hour - windowHours - 1) this.#hours.shift();
  }

  /** Days until `quotaBytes` are used; undefined in the first two hours, or without growth. */
  daysLeft(quotaBytes: number): number | undefined {
    const [first, last] = [this.#hours[0], this.#hours.at(-2)];
    if (!first || !last || last.hour <= first.hour) return undefined;
    const bytesPerDay = ((last.inUse - first.inUse) / ((last.hour - first.hour) * hourMs)) * dayMs;
    const days = Math.max(0, quotaBytes - last.inUse) / bytesPerDay;
    return bytesPerDay > 0 && days <= maxDays ? days : undefined;
  }
}
