/**
 * The etcd revision of each claim's key. Every address that was ever used has a key, so IPv4
 * revisions are stored in pages with 8 bytes for each address, not as texts in a Map.
 */
import { parseAddress } from '../../domain/addresses/address.ts';
import type { ClaimName } from '../../domain/state/claim.ts';
import { NumberIndex } from '../../domain/compact/slot-index.ts';
import { enlarged, grownCapacity, Slots } from '../../domain/compact/slots.ts';
import type { Revision } from '../store/ledger.ts';

export class ClaimRevisions {
  readonly #subnets = new Map<string, SubnetRevisions>();

  /** The revision of a claim's key; 0n if there is no key. */
  get({ subnet, address }: ClaimName): Revision {
    return BigInt(this.#subnets.get(subnet)?.get(address) ?? 0);
  }

  set({ subnet, address }: ClaimName, revision: Revision): void {
    let known = this.#subnets.get(subnet);
    if (!known) this.#subnets.set(subnet, (known = new SubnetRevisions()));
    known.set(address, Number(revision));
  }

  delete({ subnet, address }: ClaimName): void {
    this.#subnets.get(subnet)?.delete(address);
  }
}

/**
 * Revisions as numbers, which are exact up to 2^53 and smaller than bigints. IPv4 addresses are
 * stored in pages of 16. A Subnet allocates its lowest addresses first, so most pages are full. An
 * address that is alone in its page takes the space of 16.
 */
class SubnetRevisions {
  /** Pages by their first address. */
  readonly #byBase = new NumberIndex();
  readonly #pages = new Slots();
  /** The revisions of each page; 0 for an address without a key. */
  #ipv4 = new Float64Array(pageSize);
  readonly #ipv6 = new Map<string, number>();

  get(address: string): number | undefined {
    const value = ipv4Value(address);
    if (value === undefined) return this.#ipv6.get(address);
    const page = this.#pageOf(value);
    return page < 0 ? undefined : this.#ipv4[placeOf(page, value)];
  }

  set(address: string, revision: number): void {
    const value = ipv4Value(address);
    if (value === undefined) return void this.#ipv6.set(address, revision);
    let page = this.#pageOf(value);
    if (page < 0) this.#byBase.add(value >>> pageBits, (page = this.#pages.take()));
    if (placeOf(page, value) >= this.#ipv4.length) this.#grow();
    this.#ipv4[placeOf(page, value)] = revision;
  }

  delete(address: string): void {
    const value = ipv4Value(address);
    if (value === undefined) return void this.#ipv6.delete(address);
    const page = this.#pageOf(value);
    if (page < 0) return;
    this.#ipv4[placeOf(page, value)] = 0;
    const first = page * pageSize;
    if (this.#ipv4.subarray(first, first + pageSize).some((revision) => revision !== 0)) return;
    this.#byBase.remove(value >>> pageBits, page);
    this.#pages.give(page);
  }

  /** The page of an address; -1 for none. */
  #pageOf(value: number): number {
    return this.#byBase.find(value >>> pageBits);
  }

  #grow(): void {
    this.#ipv4 = enlarged(this.#ipv4, pageSize * grownCapacity(this.#ipv4.length / pageSize));
  }
}

const pageBits = 4;
const pageSize = 1 << pageBits;

const placeOf = (page: number, value: number): number => page * pageSize + (value & (pageSize - 1));

/** Returns an IPv4 address as a number; undefined for IPv6. */
const ipv4Value = (address: string): number | undefined =>
  address.includes(':') ? undefined : Number(parseAddress(address)?.value ?? 0n);
