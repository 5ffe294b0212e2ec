/**
 * The space left in etcd. The last tenth is reserved for sealing and dropping old events: while
 * only the reserve is left, commands of clients wait. So etcd never reaches its quota, where it
 * would reject all writes until a person repairs it.
 */
import { timeoutSignal, waitForCallback } from '../../../lib/process/abortable.ts';
import type { EtcdSize } from './etcd-size.ts';
import { IpledgerError } from '../../../lib/errors.ts';

const reservedShare = 0.1;
/** More than the writer appends between two reads of the size, plus the largest transaction. */
const minReservedBytes = 4 << 20;
/** The time for a reply that reports the cause. */
const replyMs = 500;
/** The limit for a caller without a deadline. */
const maxWaitMs = 10_000;

export class EtcdSpace {
  readonly quotaBytes: number;
  readonly #canSeal: boolean;
  readonly #waiting = new Set<() => void>();
  #size: EtcdSize | undefined;
  #reservedSince: number | undefined;

  /** @param canSeal whether there is an archive: without one, nothing is reserved */
  constructor(quotaBytes: number, canSeal: boolean) {
    this.quotaBytes = quotaBytes;
    this.#canSeal = canSeal;
  }

  /** The last known size; undefined before the first read. */
  get size(): EtcdSize | undefined {
    return this.#size;
  }

  update(size: EtcdSize): void {
    this.#size = size;
    this.#reservedSince = this.isReserved ? (this.#reservedSince ?? Date.now()) : undefined;
    if (!this.isReserved) for (const proceed of this.#waiting) proceed();
  }

  /** The share of the quota that is in use. */
  get usedShare(): number {
    return (this.#size?.inUse ?? 0) / this.quotaBytes;
  }

  /** Whether only the reserve is left. */
  get isReserved(): boolean {
    const left = this.quotaBytes - (this.#size?.inUse ?? 0);
    return this.#canSeal && left < Math.max(reservedShare * this.quotaBytes, minReservedBytes);
  }

  /** Since when only the reserve is left (milliseconds since 1970); undefined if more is left. */
  get reservedSince(): number | undefined {
    return this.#reservedSince;
  }

  /**
   * Waits until more than the reserve is left. Returns undefined if it is.
   * @param expiresAt the deadline of the caller on the clock of performance.now()
   * @throws IpledgerError LEDGER_NOT_WRITABLE shortly before that deadline
   */
  wait(expiresAt: number | undefined): Promise<void> | undefined {
    return this.isReserved ? this.#wait(expiresAt) : undefined;
  }

  async #wait(expiresAt = performance.now() + maxWaitMs): Promise<void> {
    const limit = timeoutSignal(expiresAt - replyMs - performance.now());
    await waitForCallback(limit, (proceed) => {
      this.#waiting.add(proceed);
      return () => void this.#waiting.delete(proceed);
    });
    if (this.isReserved) throw new IpledgerError('LEDGER_NOT_WRITABLE', reservedMessage);
  }
}

/** Appears in errors, in `ipledger status` and in the alarm of the pod-watcher. */
export const reservedMessage =
  'etcd is nearly full; the rest is kept for sealing: no address can be allocated or released. Follow the runbook IpledgerEtcdHalfFull';
