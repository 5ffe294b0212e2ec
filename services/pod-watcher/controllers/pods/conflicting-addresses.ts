/**
 * The addresses that Pods gave up because another host answered on them. The annotation
 * `ip_address` of such a Pod may still show one of them, also after the next allocation. Without
 * the event a result cannot be told from a request.
 */
import { type HeldAllocation, type LedgerEvent, podKeyOf } from '../../ledger/ledger-events.ts';

/** An address that an attachment gave up. */
export interface ConflictingAddress {
  readonly provider: string;
  readonly ordinal: number;
  readonly address: string;
}

type OfUid = ConflictingAddress & { readonly uid: string };

export class ConflictingAddresses {
  /** The addresses of each Pod, under "namespace/name". */
  readonly #byPod = new Map<string, readonly OfUid[]>();

  onEvent(event: LedgerEvent): void {
    if (event.kind === 'allocated') this.#onAllocated(event.allocation);
    if (event.kind !== 'released' || !event.conflict) return;
    const { uid, addresses, conflict } = event;
    const key = podKeyOf(event);
    const added = addresses.map((address) => ({ ...conflict, uid, address }));
    this.#byPod.set(key, [...this.of(key, uid), ...added]);
  }

  /** Returns the addresses that this uid gave up and has not got again. */
  of(key: string, uid: string): readonly OfUid[] {
    return this.#byPod.get(key)?.filter((each) => each.uid === uid) ?? [];
  }

  forget(key: string): void {
    this.#byPod.delete(key);
  }

  #onAllocated(allocation: HeldAllocation): void {
    const key = podKeyOf(allocation);
    const all = this.#byPod.get(key);
    if (!all) return;
    const isAllocated = ({ provider, ordinal, address }: OfUid): boolean =>
      provider === allocation.provider &&
      ordinal === allocation.ordinal &&
      allocation.addresses.some((each) => each.address === address);
    const others = all.filter((each) => !isAllocated(each));
    if (others.length > 0) this.#byPod.set(key, others);
    else this.#byPod.delete(key);
  }
}
