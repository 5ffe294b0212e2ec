/**
 * The addresses that Pods gave up because another host answered on them. The annotation
 * `ip_address` of such a Pod may still show one of them, also after the next allocation. Without
 * the event a result cannot be told from a request.
 */
import { type HeldAllocation, podKeyOf } from '../../ledger/ledger-events.ts';

/** An address that an attachment gave up. */
export interface ConflictingAddress {
  readonly provider: string;
  readonly ordinal: number;
  readonly address: string;
  /** Whether the Pod had requested this address, or it was reserved for the Pod. */
  readonly isStatic: boolean;
}

interface GivenUp extends ConflictingAddress {
  readonly uid: string;
  /** The event that had allocated the address. */
  readonly seq: number;
}

export class ConflictingAddresses {
  /** The addresses of each Pod, under "namespace/name". */
  readonly #byPod = new Map<string, readonly GivenUp[]>();

  /** Adds the addresses of an allocation that ended by a conflict. */
  add(ended: HeldAllocation): void {
    const { seq, uid, provider, ordinal, isStatic } = ended;
    const key = podKeyOf(ended);
    const added = ended.addresses.map(({ address }) => ({ seq, uid, provider, ordinal, address, isStatic }));
    this.#byPod.set(key, [...this.of(key, uid), ...added]);
  }

  /** Returns the addresses that this uid gave up and has not got again. */
  of(key: string, uid: string): readonly GivenUp[] {
    return this.#byPod.get(key)?.filter((each) => each.uid === uid) ?? [];
  }

  forget(key: string): void {
    this.#byPod.delete(key);
  }

  /** Drops the addresses that an attachment has got again. */
  onAllocated(allocation: HeldAllocation): void {
    const key = podKeyOf(allocation);
    const all = this.#byPod.get(key);
    if (!all) return;
    const isAllocated = ({ seq, provider, ordinal, address }: GivenUp): boolean =>
      seq < allocation.seq &&
      provider === allocation.provider &&
      ordinal === allocation.ordinal &&
      allocation.addresses.some((each) => each.address === address);
    const others = all.filter((each) => !isAllocated(each));
    if (others.length > 0) this.#byPod.set(key, others);
    else this.#byPod.delete(key);
  }
}
