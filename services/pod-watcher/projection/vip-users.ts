/** Finds the Pods that use the addresses of Vips. */
import { addTo, removeFrom } from '../../../lib/maps.ts';
import type { LedgerEvent, HeldAllocation, ReservedAddress } from '../ledger/ledger-events.ts';
import type { AllocationView } from './allocation-view.ts';
import type { LedgerSubscriber, LedgerSnapshot } from '../ledger/ledger-subscriber.ts';

const prefix = 'vip/';

/** Kube-OVN's label of a Vip with the IP object of the Pod that uses it; "" while no Pod does. */
export const userLabel = 'ovn.kubernetes.io/ip_reserved';
const labelMaxLength = 63;

export interface Place {
  readonly subnet: string;
  readonly address: string;
}
const placeKey = ({ subnet, address }: Place): string => `${subnet}/${address}`;

export class VipUsers implements LedgerSubscriber {
  readonly #onAffected: (vips: Iterable<string>) => void;
  /** The names of Vips by "subnet/address". */
  readonly #vips = new Map<string, string>();
  /** The places "subnet/address" by Vip, the reverse of `#vips`. */
  readonly #placesOf = new Map<string, Set<string>>();
  /** The allocations of these addresses, by "subnet/address". */
  readonly #users = new Map<string, HeldAllocation>();
  /** The places "subnet/address" by the sequence number of such an allocation. */
  readonly #placesUsedBy = new Map<number, readonly string[]>();
  readonly #view: Pick<AllocationView, 'allocationAt' | 'ipNameOf'>;

  /**
   * @param onAffected called with the Vips whose users may have changed
   * @param view must have the events before this class receives them
   */
  constructor(onAffected: (vips: Iterable<string>) => void, view: Pick<AllocationView, 'allocationAt' | 'ipNameOf'>) {
    this.#onAffected = onAffected;
    this.#view = view;
  }

  /** Returns a Vip's label: an IP object's name, "true" if it is too long, "" for none. */
  userOf(vip: string): string {
    for (const place of this.#placesOf.get(vip) ?? []) {
      const allocation = this.#users.get(place);
      if (!allocation) continue;
      const name = this.#view.ipNameOf(allocation);
      return name.length <= labelMaxLength ? name : 'true';
    }
    return '';
  }

  onSnapshot({ allocations, reservations }: LedgerSnapshot): void {
    for (const index of [this.#vips, this.#placesOf, this.#users, this.#placesUsedBy]) index.clear();
    for (const reserved of reservations) this.#reserve(reserved);
    for (const allocation of allocations) this.#addAllocation(allocation);
    this.#onAffected(new Set(this.#vips.values()));
  }

  onEvents(events: readonly LedgerEvent[]): void {
    this.#onAffected(new Set(events.flatMap((event) => this.#apply(event))));
  }

  /** Applies an event. Returns the affected Vips. */
  #apply(event: LedgerEvent): string[] {
    if (event.kind === 'allocated') return this.#vipsAt(this.#addAllocation(event.allocation));
    if (event.kind === 'released') return this.#vipsAt(this.#removeAllocation(event.seq));
    if (event.kind === 'reserved') return this.#reserveUsed(event.reserved);
    if (event.kind === 'unreserved') this.#unreserve(placeKey(event));
    return [];
  }

  #vipsAt(places: readonly string[]): string[] {
    return places.flatMap((place) => this.#vips.get(place) ?? []);
  }

  /** Adds an allocation. Returns those of its addresses that Vips have reserved. */
  #addAllocation(allocation: HeldAllocation): readonly string[] {
    const { seq, subnet, addresses } = allocation;
    const places = addresses
      .map(({ address }) => placeKey({ subnet, address }))
      .filter((place) => this.#vips.has(place));
    if (places.length > 0) this.#placesUsedBy.set(seq, places);
    for (const place of places) this.#users.set(place, allocation);
    return places;
  }

  #removeAllocation(seq: number): readonly string[] {
    const places = this.#placesUsedBy.get(seq) ?? [];
    this.#placesUsedBy.delete(seq);
    for (const place of places) if (this.#users.get(place)?.seq === seq) this.#users.delete(place);
    return places;
  }

  /** Adds a reservation, whose address a Pod may already hold. */
  #reserveUsed(reserved: ReservedAddress): string[] {
    const vips = this.#reserve(reserved);
    const user = vips.length > 0 ? this.#view.allocationAt(reserved) : undefined;
    if (user) this.#addAllocation(user);
    return vips;
  }

  #reserve(reserved: ReservedAddress): string[] {
    if (!reserved.reservedFor.startsWith(prefix)) return [];
    const name = reserved.reservedFor.slice(prefix.length);
    const place = placeKey(reserved);
    this.#unreserve(place);
    this.#vips.set(place, name);
    addTo(this.#placesOf, name, place);
    return [name];
  }

  #unreserve(place: string): void {
    const name = this.#vips.get(place) ?? '';
    this.#vips.delete(place);
    const user = this.#users.get(place);
    this.#users.delete(place);
    if (user && user.addresses.every(({ address }) => !this.#users.has(placeKey({ subnet: user.subnet, address }))))
      this.#placesUsedBy.delete(user.seq);
    removeFrom(this.#placesOf, name, place);
  }
}
