/**
 * The addresses of one family of a subnet, divided into pools: the named pools, and a pool without
 * a name for the rest. Addresses of a named pool are allocated only to requests that name the pool.
 * The configuration alone decides which pool an address is in.
 */
import { type Family, parseAddress } from '../../addresses/address.ts';
import { AddressPool, type ClaimChange } from './address-pool.ts';
import type { Claim, Placement } from '../claim.ts';
import {
  intersection,
  contains,
  indexAtOrAfter,
  type Interval,
  difference,
  countAddresses,
  union,
} from '../../addresses/interval.ts';
import type { UndoLog } from '../undo-log.ts';
import type { SubnetFamily } from '../subnet.ts';

/** A pool's addresses of one family. Pools never overlap. */
export interface PoolRanges {
  readonly pool: string;
  readonly ranges: readonly Interval[];
}

/** The space of a family; undefined if the subnet has no addresses of it. */
export const spaceOfFamily = (
  spaces: readonly AddressSpace[] | undefined,
  family: Family | undefined,
): AddressSpace | undefined => spaces?.find(({ subnetFamily }) => subnetFamily.family === family);

export class AddressSpace {
  readonly subnetFamily: SubnetFamily;
  /** The number of usable addresses. */
  readonly total: bigint;
  /** The rest of the subnet first, then the named pools. */
  readonly pools: readonly AddressPool[];
  readonly #rest: AddressPool;
  /** The ranges of the named pools in address order. They include excluded addresses. */
  readonly #pooled: readonly (Interval & { readonly addresses: AddressPool })[];

  constructor(subnetFamily: SubnetFamily, pools: readonly PoolRanges[] = []) {
    const { family, usable } = subnetFamily;
    this.subnetFamily = subnetFamily;
    this.total = countAddresses(usable);
    this.#rest = new AddressPool(family, '', difference(usable, union(pools.flatMap(({ ranges }) => ranges))));
    const pooled = pools.map(({ pool, ranges }) => {
      return { ranges, addresses: new AddressPool(family, pool, intersection(usable, ranges)) };
    });
    this.pools = [this.#rest, ...pooled.map(({ addresses }) => addresses)];
    this.#pooled = pooled
      .flatMap(({ ranges, addresses }) => ranges.map((interval) => ({ ...interval, addresses })))
      .toSorted((a, b) => (a.first < b.first ? -1 : 1));
  }

  /** The number of usable addresses that Pods hold. */
  get inUse(): bigint {
    return BigInt(this.pools.reduce((sum, pool) => sum + pool.inUse, 0));
  }

  /** The pool with a name ('' for the rest); undefined for a pool of another subnet. */
  pool(name: string): AddressPool | undefined {
    return this.pools.find(({ pool }) => pool === name);
  }

  /** The pool that an address is allocated from; undefined if it is excluded or not a host. */
  poolAt(value: bigint): AddressPool | undefined {
    return contains(this.subnetFamily.usable, value) ? (this.#namedPoolAt(value) ?? this.#rest) : undefined;
  }

  /** The name of the pool of an address, even of an excluded address; '' for none. */
  poolNameAt(value: bigint): string {
    return this.#namedPoolAt(value)?.pool ?? '';
  }

  /** Moves an address in its pool after its claim changed. `from`: undefined for a new claim. */
  move(address: string, from: Claim | undefined, to: Claim, undoLog: UndoLog): void {
    const { value } = parseAddress(address) as { value: bigint };
    const pool = this.poolAt(value);
    if (pool) pool.move(value, from, to, undoLog);
    else this.#namedPoolAt(value)?.moveExcluded(value, from, to, undoLog);
  }

  /** Places a fresh address when the space is built. Cannot be undone. */
  place(address: string, placement: Placement): void {
    const { value } = parseAddress(address) as { value: bigint };
    const pool = this.poolAt(value);
    if (pool) pool.place(value, placement);
    else this.#namedPoolAt(value)?.placeExcluded(value, placement);
  }

  /** The named pool that contains an address, excluded or not. */
  #namedPoolAt(value: bigint): AddressPool | undefined {
    const pooled = this.#pooled[indexAtOrAfter(this.#pooled, value)];
    return pooled && pooled.first <= value ? pooled.addresses : undefined;
  }

  /** Moves an address like `move`, but to the place of its last event. */
  moveInOrder(address: string, change: ClaimChange, undoLog: UndoLog): void {
    const { value } = parseAddress(address) as { value: bigint };
    const pool = this.poolAt(value);
    if (pool) pool.moveInOrder(value, change, undoLog);
    else this.#namedPoolAt(value)?.moveExcluded(value, change.from, change.to, undoLog);
  }

  /** Makes an address fresh after its claim was dropped. */
  makeFresh(address: string, from: Claim, undoLog: UndoLog): void {
    const { value } = parseAddress(address) as { value: bigint };
    this.poolAt(value)?.makeFresh(value, from, undoLog);
  }
}
