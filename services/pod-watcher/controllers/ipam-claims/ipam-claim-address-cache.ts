/** The addresses that the ledger has reserved for each IPAMClaim, and the Pods that hold them. */
import { addTo, removeFrom } from '../../../../lib/maps.ts';
import { ipv4First } from '../../../../lib/net/ip.ts';
import { keyOf } from '../../../../lib/kubernetes/client/informer.ts';
import type { HeldAllocation, LedgerEvent, ReservedAddress } from '../../ledger/ledger-events.ts';
import { namespaceOf } from '../../namespaced-map.ts';
import type { LedgerSnapshot, LedgerSubscriber } from '../../ledger/ledger-subscriber.ts';

const prefix = 'ipamclaim/';

/** Names the owner of an IPAMClaim's reservations in the ledger. @param claim "namespace/name" */
export const ipamClaimOwner = (claim: string): string => prefix + claim;

/** The addresses of an IPAMClaim in the ledger. */
export interface IpamClaimAddresses {
  readonly subnet: string;
  /** The addresses, IPv4 first. */
  readonly addresses: readonly string[];
}

interface Holder {
  /** The sequence number of the allocation. */
  readonly seq: number;
  /** The Pod in the ledger, "namespace/name". */
  readonly pod: string;
}

export class IpamClaimAddressCache implements LedgerSubscriber {
  readonly #onAffected: (claim: string) => void;
  /** The addresses by IPAMClaim. All addresses of an IPAMClaim belong to one Subnet. */
  readonly #claims = new Map<string, { readonly subnet: string; readonly addresses: Set<string> }>();
  /** The addresses of the IPAMClaims of a namespace by "namespace/subnet". */
  readonly #byNamespace = new Map<string, Set<string>>();
  /** Claims by "subnet/address". */
  readonly #claimAt = new Map<string, string>();
  /** Holders of claimed addresses by "subnet/address". */
  readonly #holders = new Map<string, Holder>();
  /** The places "subnet/address" by the Pod that holds them, the reverse of `#holders`. */
  readonly #placesOf = new Map<string, Set<string>>();

  /** @param onAffected called with each IPAMClaim whose addresses or holder changed */
  constructor(onAffected: (claim: string) => void) {
    this.#onAffected = onAffected;
  }

  get(claim: string): IpamClaimAddresses | undefined {
    const known = this.#claims.get(claim);
    return known && { subnet: known.subnet, addresses: ipv4First(known.addresses) };
  }

  /** The Pod "namespace/name" that holds an IPAMClaim's addresses; undefined if no Pod does. */
  holderOf(claim: string): string | undefined {
    const known = this.#claims.get(claim);
    return [...(known?.addresses ?? [])]
      .map((address) => this.#holders.get(placeKey(known?.subnet ?? '', address))?.pod)
      .find((pod) => pod !== undefined);
  }

  /** The IPAMClaims that have addresses. */
  keys(): string[] {
    return [...this.#claims.keys()];
  }

  /** The IPAMClaims whose addresses a Pod holds. */
  claimsHeldBy(pod: string): string[] {
    const places = [...(this.#placesOf.get(pod) ?? [])];
    return [...new Set(places.flatMap((place) => this.#claimAt.get(place) ?? []))];
  }

  /** The addresses of a Subnet that a namespace's IPAMClaims have and no Pod holds. */
  idleAddresses(namespace: string, subnet: string): string[] {
    const addresses = this.#byNamespace.get(`${namespace}/${subnet}`) ?? [];
    return [...addresses].filter((address) => !this.#holders.has(placeKey(subnet, address)));
  }

  /** Adds a reserved address. Ignores reservations of other owners. */
  put({ reservedFor, subnet, address }: Pick<ReservedAddress, 'reservedFor' | 'subnet' | 'address'>): void {
    if (!reservedFor.startsWith(prefix)) return;
    const claim = reservedFor.slice(prefix.length);
    const known = this.#claims.get(claim) ?? { subnet, addresses: new Set<string>() };
    if (known.subnet !== subnet) return;
    known.addresses.add(address);
    this.#claims.set(claim, known);
    addTo(this.#byNamespace, namespaceKey(claim, subnet), address);
    this.#claimAt.set(placeKey(subnet, address), claim);
    this.#onAffected(claim);
  }

  /** Removes an address whose reservation has ended. */
  drop({ reservedFor, subnet, address }: Pick<ReservedAddress, 'reservedFor' | 'subnet' | 'address'>): void {
    const claim = reservedFor.startsWith(prefix) ? reservedFor.slice(prefix.length) : '';
    const known = this.#claims.get(claim);
    if (known?.subnet !== subnet || !known.addresses.delete(address)) return;
    if (known.addresses.size === 0) this.#claims.delete(claim);
    removeFrom(this.#byNamespace, namespaceKey(claim, subnet), address);
    this.#claimAt.delete(placeKey(subnet, address));
    this.#deleteHolder(placeKey(subnet, address));
    this.#onAffected(claim);
  }

  onSnapshot({ reservations, allocations }: LedgerSnapshot): void {
    const before = this.keys();
    for (const index of [this.#claims, this.#byNamespace, this.#claimAt, this.#holders, this.#placesOf]) index.clear();
    for (const reserved of reservations) this.put(reserved);
    for (const allocation of allocations) this.#addHolder(allocation);
    for (const claim of before) this.#onAffected(claim);
  }

  onEvents(events: readonly LedgerEvent[]): void {
    for (const event of events) {
      if (event.kind === 'reserved') this.put(event.reserved);
      else if (event.kind === 'unreserved') this.drop(event);
      else if (event.kind === 'allocated') this.#addHolder(event.allocation);
      else if (event.kind === 'released') this.#removeHolder(event);
    }
  }

  #addHolder({ seq, namespace, pod: name, subnet, addresses }: HeldAllocation): void {
    for (const { address } of addresses) {
      const place = placeKey(subnet, address);
      const claim = this.#claimAt.get(place);
      if (claim === undefined) continue;
      this.#deleteHolder(place);
      const pod = keyOf({ namespace, name });
      this.#holders.set(place, { seq, pod });
      addTo(this.#placesOf, pod, place);
      this.#onAffected(claim);
    }
  }

  #deleteHolder(place: string): void {
    removeFrom(this.#placesOf, this.#holders.get(place)?.pod ?? '', place);
    this.#holders.delete(place);
  }

  #removeHolder({ seq, subnet, addresses }: Extract<LedgerEvent, { kind: 'released' }>): void {
    for (const address of addresses) {
      const place = placeKey(subnet, address);
      if (this.#holders.get(place)?.seq !== seq) continue;
      this.#deleteHolder(place);
      const claim = this.#claimAt.get(place);
      if (claim !== undefined) this.#onAffected(claim);
    }
  }
}

const namespaceKey = (claim: string, subnet: string): string => `${namespaceOf(claim)}/${subnet}`;

const placeKey = (subnet: string, address: string): string => `${subnet}/${address}`;
