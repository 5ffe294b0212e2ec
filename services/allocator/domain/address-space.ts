/**
 * The addresses of one family of a subnet, in parts: what belongs to a pool is given only to who names the pool, the rest to
 * everybody else. Which part an address is in follows from the configuration alone.
 */
import { parseAddress } from './address.ts';
import { AddressPart, type Change } from './address-part.ts';
import type { Claim } from './claim.ts';
import { common, contains, indexAtOrAfter, type Interval, minus, size, union } from './interval.ts';
import type { Journal } from './journal.ts';
import type { SubnetFamily } from './subnet.ts';

/** A pool's addresses of one family; those of two pools never meet. */
export interface PoolRanges {
  readonly pool: string;
  readonly ranges: readonly Interval[];
}

export class AddressSpace {
  readonly subnetFamily: SubnetFamily;
  /** Usable addresses in all. */
  readonly total: bigint;
  /** The rest of the subnet first, then the pools. */
  readonly parts: readonly AddressPart[];
  readonly #rest: AddressPart;
  /** Where pools are, in the order of the addresses. */
  readonly #pooled: readonly (Interval & { readonly part: AddressPart })[];
  /** The same with what the subnet excludes. */
  readonly #pools: readonly (Interval & { readonly pool: string })[];

  constructor(subnetFamily: SubnetFamily, pools: readonly PoolRanges[] = []) {
    const { family, usable } = subnetFamily;
    this.subnetFamily = subnetFamily;
    this.total = size(usable);
    this.#rest = new AddressPart(family, '', minus(usable, union(pools.flatMap(({ ranges }) => ranges))));
    const pooled = pools.map(({ pool, ranges }) => {
      return { ranges, part: new AddressPart(family, pool, common(usable, ranges)) };
    });
    this.parts = [this.#rest, ...pooled.map(({ part }) => part)];
    this.#pooled = pooled
      .flatMap(({ ranges, part }) => ranges.map((interval) => ({ ...interval, part })))
      .toSorted((a, b) => (a.first < b.first ? -1 : 1));
    this.#pools = pools
      .flatMap(({ pool, ranges }) => ranges.map((interval) => ({ ...interval, pool })))
      .toSorted((a, b) => (a.first < b.first ? -1 : 1));
  }

  /** Usable addresses that a Pod holds. */
  get inUse(): bigint {
    return BigInt(this.parts.reduce((sum, part) => sum + part.inUse, 0));
  }

  /** The part of a pool ('': the rest); undefined for a pool of another subnet. */
  part(pool: string): AddressPart | undefined {
    return this.parts.find((part) => part.pool === pool);
  }

  /** The part that an address is given from; undefined for what is excluded, or no host. */
  partOf(value: bigint): AddressPart | undefined {
    return contains(this.subnetFamily.usable, value) ? (this.#poolPart(value) ?? this.#rest) : undefined;
  }

  /** The pool that an address belongs to, also if the subnet excludes it; '' for none. */
  poolOf(value: bigint): string {
    const pooled = this.#pools[indexAtOrAfter(this.#pools, value)];
    return pooled && pooled.first <= value ? pooled.pool : '';
  }

  /** Moves an address from where its claim was (undefined: never used) to where it is now. What is excluded has no place. */
  move(address: string, from: Claim | undefined, to: Claim, journal: Journal): void {
    const { value } = parseAddress(address) as { value: bigint };
    const part = this.partOf(value);
    if (part) part.move(value, from, to, journal);
    else this.#poolPart(value)?.moveExcluded(value, from, to, journal);
  }

  /** The part of the pool that names an address, excluded or not. */
  #poolPart(value: bigint): AddressPart | undefined {
    const pooled = this.#pooled[indexAtOrAfter(this.#pooled, value)];
    return pooled && pooled.first <= value ? pooled.part : undefined;
  }

  /** As move, where another claim, perhaps an older one, is left of an address of several. */
  moveBack(address: string, change: Change, journal: Journal): void {
    const { value } = parseAddress(address) as { value: bigint };
    const part = this.partOf(value);
    if (part) part.moveBack(value, change, journal);
    else this.#poolPart(value)?.moveExcluded(value, change.from, change.to, journal);
  }

  /** Makes an address fresh whose claim is dropped. */
  forget(address: string, from: Claim, journal: Journal): void {
    const { value } = parseAddress(address) as { value: bigint };
    this.partOf(value)?.forget(value, from, journal);
  }
}
