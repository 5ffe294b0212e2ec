/** Bounds the memory of replies that browsers do not read. */
import { IpledgerError } from '../../../lib/errors.ts';

export class UnsentBytes {
  readonly #max: number;
  #held = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /**
   * Counts the bytes until the signal is aborted.
   * @throws IpledgerError OVERLOADED beyond the maximum, except for the only reply
   */
  hold(bytes: number, signal: AbortSignal): void {
    if (signal.aborted) return;
    if (this.#held > 0 && this.#held + bytes > this.#max)
      throw new IpledgerError('OVERLOADED', 'too many replies have not been read: try again in a few seconds');
    this.#held += bytes;
    signal.addEventListener('abort', () => (this.#held -= bytes), { once: true });
  }
}
