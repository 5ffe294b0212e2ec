/** Limits repeated log lines: one per topic and interval, with the number of suppressed lines. */
import type { Logger } from '../../../lib/process/log.ts';

const defaultIntervalMs = 60_000;

export class ThrottledWarnings {
  readonly #log: Logger;
  readonly #intervalMs: number;
  readonly #logged = new Map<string, { readonly at: number; readonly suppressed: number }>();

  constructor(log: Logger, intervalMs = defaultIntervalMs) {
    this.#log = log;
    this.#intervalMs = intervalMs;
  }

  /** @param topic lines of the same topic are counted together; there must be few topics */
  log(topic: string, details: object, message: string): void {
    const known = this.#logged.get(topic);
    const now = performance.now();
    if (known && now - known.at < this.#intervalMs) {
      this.#logged.set(topic, { ...known, suppressed: known.suppressed + 1 });
      return;
    }
    this.#logged.set(topic, { at: now, suppressed: 0 });
    this.#log.error({ ...details, ...(known && known.suppressed > 0 && { suppressed: known.suppressed }) }, message);
  }
}
