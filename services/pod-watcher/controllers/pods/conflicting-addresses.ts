/**
 * The addresses that Pods gave up because another host answered on them. The annotation
 * `ip_address` of such a Pod still shows them, and without the event a result cannot be told from a
 * request.
 */
import { podKeyOf, type LedgerEvent } from '../../ledger/ledger-events.ts';

/** The addresses that an attachment gave up. */
export interface ConflictingAttachment {
  readonly provider: string;
  readonly ordinal: number;
  readonly addresses: readonly string[];
}

type OfUid = ConflictingAttachment & { readonly uid: string };

export class ConflictingAddresses {
  /** The attachments without another address yet, by "namespace/name" of the Pod. */
  readonly #byPod = new Map<string, readonly OfUid[]>();

  onEvent(event: LedgerEvent): void {
    if (event.kind === 'allocated') this.#remove(podKeyOf(event.allocation), event.allocation);
    if (event.kind !== 'released' || !event.conflict) return;
    const key = podKeyOf(event);
    this.#remove(key, event.conflict);
    const { uid, addresses, conflict } = event;
    this.#byPod.set(key, [...(this.#byPod.get(key) ?? []), { ...conflict, uid, addresses }]);
  }

  /** Returns what this uid gave up, and has no other address for. */
  of(key: string, uid: string): readonly ConflictingAttachment[] {
    return this.#byPod.get(key)?.filter((each) => each.uid === uid) ?? [];
  }

  forget(key: string): void {
    this.#byPod.delete(key);
  }

  #remove(key: string, { provider, ordinal }: Pick<ConflictingAttachment, 'provider' | 'ordinal'>): void {
    const all = this.#byPod.get(key);
    if (!all) return;
    const others = all.filter((each) => each.provider !== provider || each.ordinal !== ordinal);
    if (others.length > 0) this.#byPod.set(key, others);
    else this.#byPod.delete(key);
  }
}
