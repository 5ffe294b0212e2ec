/** What would be said thousands of times is said once, then now and then with how often it was meant. */
import type { Logger } from '../../../lib/log.ts';

const usualEveryMs = 60_000;

export class Complaints {
  readonly #log: Logger;
  readonly #everyMs: number;
  readonly #made = new Map<string, { readonly at: number; readonly unsaid: number }>();

  constructor(log: Logger, everyMs = usualEveryMs) {
    this.#log = log;
    this.#everyMs = everyMs;
  }

  /** @param about those about the same are counted together; of few kinds. */
  make(about: string, details: object, sentence: string): void {
    const known = this.#made.get(about);
    const now = performance.now();
    if (known && now - known.at < this.#everyMs) {
      this.#made.set(about, { ...known, unsaid: known.unsaid + 1 });
      return;
    }
    this.#made.set(about, { at: now, unsaid: 0 });
    this.#log.error({ ...details, ...(known && known.unsaid > 0 && { moreLikeIt: known.unsaid }) }, sentence);
  }
}
