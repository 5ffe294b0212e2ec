/**
 * The epoch of the ledger, which grows when the ledger is restored from a backup. Every reply of
 * the allocator states it. An allocator ends its connections when an epoch begins, and when it
 * stops. So an agent at rest sends no requests to find out the epoch. It sends one only after its
 * connection has ended, after a random delay, because many agents lose their connections at once.
 * The latest event of the replies shows the allocator that a restored ledger lacks it.
 */
import { waitForCallback } from '../../../lib/process/abortable.ts';
import type { Position } from '../../../proto/generated/ipledger.ts';

const maxDelayMs = 60_000;

export class LedgerEpoch {
  readonly #monotonic: () => number;
  readonly #random: () => number;
  #current: number | undefined;
  #seenSeq = 0;
  /** The time of the next request; Infinity while no connection has ended since the last reply. */
  #outdatedAt = Infinity;
  #onChange = (): void => undefined;

  /** @param monotonic milliseconds from any origin. @param random at least 0, less than 1. */
  constructor(monotonic = () => performance.now(), random = Math.random) {
    this.#monotonic = monotonic;
    this.#random = random;
  }

  /** The epoch of the last reply; undefined before the first reply. */
  get current(): number | undefined {
    return this.#current;
  }

  /** The latest event of this epoch that a reply has included; 0 before the first reply. */
  get seenSeq(): number {
    return this.#seenSeq;
  }

  /** Whether the agent must send a request, because another epoch may have begun. */
  get isOutdated(): boolean {
    return this.#monotonic() >= this.#outdatedAt;
  }

  /** Must be called when a connection to an allocator ends, after its last reply was recorded. */
  onDisconnected(): void {
    if (this.#outdatedAt === Infinity) this.#outdatedAt = this.#monotonic() + this.#random() * maxDelayMs;
  }

  /** Records the position of a reply. */
  record(position: Position | undefined): void {
    if (!position) return;
    this.#outdatedAt = Infinity;
    if (position.epoch === this.#current) {
      this.#seenSeq = Math.max(this.#seenSeq, position.seq);
      return;
    }
    this.#current = position.epoch;
    this.#seenSeq = position.seq;
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
