/**
 * The addresses of one family of a subnet, divided into parts: one for each pool, and one for the rest. A pool's addresses are
 * allocated only to requests that name the pool. The configuration alone decides which part an address is in.
 */
import { parseAddress } from './address.ts';
import { AddressPart, type ClaimChange } from './address-part.ts';
import type { Claim, Placement } from '../state/claim.ts';
import {
  intersection,
  contains,
  indexAtOrAfter,
  type Interval,
  difference,
  countAddresses,
  union,
} from './interval.ts';
import type { UndoLog } from '../state/undo-log.ts';
import type { SubnetFamily } from '../state/subnet.ts';

/** A pool's addresses of one family. Pools never overlap. */
export interface PoolRanges {
  readonly pool: string;
  readonly ranges: readonly Interval[];
}

export class AddressSpace {
  readonly subnetFamily: SubnetFamily;
  /** The number of usable addresses. */
  readonly total: bigint;
  /** The rest of the subnet first, then the pools. */
  readonly parts: readonly AddressPart[];
  readonly #rest: AddressPart;
  /** The ranges of the pools, also where the subnet excludes them, in the order of the addresses. */
  readonly #pooled: readonly (Interval & { readonly part: AddressPart })[];

  constructor(subnetFamily: SubnetFamily, pools: readonly PoolRanges[] = []) {
    const { family, usable } = subnetFamily;
    this.subnetFamily = subnetFamily;
    this.total = countAddresses(usable);
    this.#rest = new AddressPart(family, '', difference(usable, union(pools.flatMap(({ ranges }) => ranges))));
    const pooled = pools.map(({ pool, ranges }) => {
      return { ranges, part: new AddressPart(family, pool, intersection(usable, ranges)) };
    });
    this.parts = [this.#rest, ...pooled.map(({ part }) => part)];
    this.#pooled = pooled
      .flatMap(({ ranges, part }) => ranges.map((interval) => ({ ...interval, part })))
      .toSorted((a, b) => (a.first < b.first ? -1 : 1));
  }

  /** The number of usable addresses that Pods hold. */
  get inUse(): bigint {
    return BigInt(this.parts.reduce((sum, part) => sum + part.inUse, 0));
  }

  /** The part of a pool ('' for the rest); undefined for a pool of another subnet. */
  part(pool: string): AddressPart | undefined {
    return this.parts.find((part) => part.pool === pool);
  }

  /** The part that an address is allocated from; undefined if it is excluded or no host address. */
  partOf(value: bigint): AddressPart | undefined {
    return contains(this.subnetFamily.usable, value) ? (this.#poolPart(value) ?? this.#rest) : undefined;
  }

  /** The pool that an address belongs to, also if the subnet excludes it; '' for none. */
  poolOf(value: bigint): string {
    return this.#poolPart(value)?.pool ?? '';
  }

  /** Moves an address within its part after its claim changed. `from` is undefined if it was never used. */
  move(address: string, from: Claim | undefined, to: Claim, undoLog: UndoLog): void {
    const { value } = parseAddress(address) as { value: bigint };
    const part = this.partOf(value);
    if (part) part.move(value, from, to, undoLog);
    else this.#poolPart(value)?.moveExcluded(value, from, to, undoLog);
  }

  /** Places a fresh address when the space is built. Cannot be undone. */
  place(address: string, placement: Placement): void {
    const { value } = parseAddress(address) as { value: bigint };
    const part = this.partOf(value);
    if (part) part.place(value, placement);
    else this.#poolPart(value)?.placeExcluded(value, placement);
  }

  /** The part of the pool that has an address, excluded or not. */
  #poolPart(value: bigint): AddressPart | undefined {
    const pooled = this.#pooled[indexAtOrAfter(this.#pooled, value)];
    return pooled && pooled.first <= value ? pooled.part : undefined;
  }

  /** As move, for a claim whose last event may be older than those of released addresses. */
  moveInOrder(address: string, change: ClaimChange, undoLog: UndoLog): void {
    const { value } = parseAddress(address) as { value: bigint };
    const part = this.partOf(value);
    if (part) part.moveInOrder(value, change, undoLog);
    else this.#poolPart(value)?.moveExcluded(value, change.from, change.to, undoLog);
  }

  /** Makes an address fresh after its claim was dropped. */
  makeFresh(address: string, from: Claim, undoLog: UndoLog): void {
    const { value } = parseAddress(address) as { value: bigint };
    this.partOf(value)?.makeFresh(value, from, undoLog);
  }
}
