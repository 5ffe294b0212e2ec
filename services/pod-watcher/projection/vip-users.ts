/** Finds the Pods that use the addresses of Vips. */
import { ipObjectName } from '../../../lib/kubernetes/ip-object-name.ts';
import type { LedgerEvent, HeldAllocation, ReservedAddress } from '../ledger/ledger-events.ts';
import type { LedgerSubscriber, LedgerSnapshot } from '../ledger/ledger-follower.ts';

const prefix = 'vip/';

/** Kube-OVN's label of a Vip: the IP object of the Pod that uses it, "" while none does. */
export const userLabel = 'ovn.kubernetes.io/ip_reserved';
const labelMaxLength = 63;

interface Place {
  readonly subnet: string;
  readonly address: string;
}
const placeKey = ({ subnet, address }: Place): string => `${subnet}/${address}`;

export class VipUsers implements LedgerSubscriber {
  readonly #onAffected: (vips: Iterable<string>) => void;
  /** Names of Vips by "subnet/address". */
  readonly #vips = new Map<string, string>();
  /** The reverse. */
  readonly #placesOf = new Map<string, Set<string>>();
  /** Allocations by "subnet/address". */
  readonly #allocations = new Map<string, HeldAllocation>();
  /** "subnet/address" by the number of the allocation. */
  readonly #places = new Map<number, readonly string[]>();

  /** @param onAffected called with the Vips whose users may have changed */
  constructor(onAffected: (vips: Iterable<string>) => void) {
    this.#onAffected = onAffected;
  }

  /** The value of a Vip's label: the name of an IP object, "true" if that name is too long for a label, "" without a user. */
  userOf(vip: string): string {
    for (const place of this.#placesOf.get(vip) ?? []) {
      const allocation = this.#allocations.get(place);
      if (allocation) return ipObjectName(allocation).length <= labelMaxLength ? ipObjectName(allocation) : 'true';
    }
    return '';
  }

  onSnapshot({ allocations, reservations }: LedgerSnapshot): void {
    for (const index of [this.#vips, this.#placesOf, this.#allocations, this.#places]) index.clear();
    for (const allocation of allocations) this.#addAllocation(allocation);
    for (const reserved of reservations) this.#reserve(reserved);
    this.#onAffected(new Set(this.#vips.values()));
  }

  onEvents(events: readonly LedgerEvent[]): void {
    this.#onAffected(new Set(events.flatMap((event) => this.#apply(event))));
  }

  /** Returns the affected Vips. */
  #apply(event: LedgerEvent): string[] {
    if (event.kind === 'allocated') return this.#vipsAt(this.#addAllocation(event.allocation));
    if (event.kind === 'released') return this.#vipsAt(this.#removeAllocation(event.seq));
    if (event.kind === 'reserved') return this.#reserve(event.reserved);
    if (event.kind === 'unreserved') this.#unreserve(placeKey(event));
    return [];
  }

  #vipsAt(places: readonly string[]): string[] {
    return places.flatMap((place) => this.#vips.get(place) ?? []);
  }

  #addAllocation(allocation: HeldAllocation): readonly string[] {
    const places = allocation.addresses.map(({ address }) => placeKey({ subnet: allocation.subnet, address }));
    this.#places.set(allocation.seq, places);
    for (const place of places) this.#allocations.set(place, allocation);
    return places;
  }

  #removeAllocation(seq: number): readonly string[] {
    const places = this.#places.get(seq) ?? [];
    this.#places.delete(seq);
    for (const place of places) if (this.#allocations.get(place)?.seq === seq) this.#allocations.delete(place);
    return places;
  }

  #reserve(reserved: ReservedAddress): string[] {
    if (!reserved.reservedFor.startsWith(prefix)) return [];
    const name = reserved.reservedFor.slice(prefix.length);
    const place = placeKey(reserved);
    this.#unreserve(place);
    this.#vips.set(place, name);
    this.#placesOf.set(name, (this.#placesOf.get(name) ?? new Set()).add(place));
    return [name];
  }

  #unreserve(place: string): void {
    const name = this.#vips.get(place) ?? '';
    this.#vips.delete(place);
    const places = this.#placesOf.get(name);
    places?.delete(place);
    if (places?.size === 0) this.#placesOf.delete(name);
  }
}
