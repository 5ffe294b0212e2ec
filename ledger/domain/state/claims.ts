/**
 * What the rules need of the maps that hold claims and allocations. A state for decisions holds them as bytes (`compact/`), a state
 * that only verifies or replays holds objects.
 */
import type { Seq } from '../events/event.ts';
import { type Allocation, type Claim, type Standing, standingOf } from './claim.ts';

/** A map by text. */
export interface Table<Value> {
  readonly size: number;
  get(key: string): Value | undefined;
  has(key: string): boolean;
  set(key: string, value: Value): unknown;
  delete(key: string): boolean;
}

/** The claims of a Subnet by canonical address, in the order in which they were added. */
export interface ClaimMap extends Table<Claim>, Iterable<[string, Claim]> {
  keys(): Iterable<string>;
  values(): Iterable<Claim>;
  /** Adds the claim of an address that has none, and that the next commands are not likely to read. */
  restore(address: string, claim: Claim): void;
  /** Faster than the claims. */
  outlines(): Iterable<ClaimOutline>;
}

/** What decides whether, and in which order, an address is allocated. */
export interface ClaimOutline {
  readonly address: string;
  readonly last: Seq;
  readonly standing: Standing;
}

export const outlineOf = (address: string, claim: Claim): ClaimOutline => ({
  address,
  last: claim.last,
  standing: standingOf(claim),
});

/** Allocations by a key that follows from each of them, and that several can have. */
export interface AllocationMap extends Table<readonly Allocation[]> {
  /** The allocations of later events than this, oldest first. */
  after(seq: Seq): Iterable<Allocation>;
}

/** What can be looked up by a text. It changes with the claims. */
export interface Lookup<Value> {
  get(key: string): Value | undefined;
}

/** The release of an address by a Pod uid. */
export interface Release {
  readonly uid: string;
  readonly seq: Seq;
}

/** Claims as objects. */
export class ClaimObjects extends Map<string, Claim> implements ClaimMap {
  restore(address: string, claim: Claim): void {
    this.set(address, claim);
  }

  *outlines(): Generator<ClaimOutline> {
    for (const [address, claim] of this) yield outlineOf(address, claim);
  }
}

/** Allocations as objects. */
export class AllocationObjects extends Map<string, readonly Allocation[]> implements AllocationMap {
  after(after: Seq): Iterable<Allocation> {
    return [...this.values()]
      .flat()
      .filter(({ seq }) => seq > after)
      .toSorted((a, b) => a.seq - b.seq);
  }
}
