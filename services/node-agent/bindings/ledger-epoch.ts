/**
 * The epoch of the ledger, which grows when the ledger is restored from a backup. Every reply of the allocator states it, so an agent
 * sends a call of its own only after minutes without one. That time is random: the agents of a cluster start together.
 */
import { waitForCallback } from '../../../lib/process/abortable.ts';
import type { Position } from '../../../proto/generated/ipledger.ts';

const minSilenceMs = 60_000;
const maxSilenceMs = 180_000;

export class LedgerEpoch {
  readonly #monotonic: () => number;
  readonly #silenceMs: number;
  #current: number | undefined;
  #statedAt: number;
  #onChange = (): void => undefined;

  /** @param monotonic milliseconds from any origin. @param random at least 0, less than 1. */
  constructor(monotonic = () => performance.now(), random = Math.random) {
    this.#monotonic = monotonic;
    this.#silenceMs = minSilenceMs + random() * (maxSilenceMs - minSilenceMs);
    this.#statedAt = monotonic();
  }

  /** As the last reply states it; undefined before the first one. */
  get current(): number | undefined {
    return this.#current;
  }

  /** Whether no reply has stated it for so long that the agent has to call. */
  get isOutdated(): boolean {
    return this.#monotonic() - this.#statedAt > this.#silenceMs;
  }

  /** Records the position of a reply. */
  record(position: Position | undefined): void {
    if (!position) return;
    this.#statedAt = this.#monotonic();
    if (position.epoch === this.#current) return;
    this.#current = position.epoch;
    this.#onChange();
  }

  /** Resolves when a reply states another epoch, or with the signal. One wait at a time. */
  untilChange(signal: AbortSignal): Promise<void> {
    return waitForCallback(signal, (changed) => {
      this.#onChange = changed;
      return () => (this.#onChange = () => undefined);
    });
  }
}
