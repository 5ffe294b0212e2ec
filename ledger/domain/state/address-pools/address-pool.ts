/**
 * The addresses of one family of a pool, or of a subnet outside its pools, and the order in which
 * they are allocated.
 *
 * Fresh addresses come first, the lowest first. Then come released ones in the order of their
 * release. Last come released addresses that a container may still use. Each step takes constant
 * time, however full the pool is.
 */
import { type Family, formatAddress } from '../../addresses/address.ts';
import { type Claim, compareReuse, type Placement, placementOf, type Standing, standingOf } from '../claim.ts';
import { FreshAddresses } from './fresh-addresses.ts';
import { IdleList } from './idle-list.ts';
import { AddressSet } from './address-set.ts';
import { type Interval, countAddresses } from '../../addresses/interval.ts';
import type { UndoLog, Undo } from '../undo-log.ts';

/** With this many released addresses, they are reused before fresh ones: limits keys of a /64. */
const maxIdleBeforeFresh = 65_536;

/** How long a released address is not allocated: without and with a binding that has not ended. */
export interface CooldownTimes {
  readonly cooldownMs: number;
  readonly bindingTimeoutMs: number;
}

/** Looks up the claim of an address that has one. */
export type ClaimLookup = (address: string) => Claim | undefined;

/** A change of a claim that moves its address. */
export interface ClaimChange {
  readonly from: Claim;
  readonly to: Claim;
  /** Looks up the claims of other addresses, to compare their order. */
  readonly claimOf: ClaimLookup;
}

export class AddressPool {
  readonly family: Family;
  /** The pool; '' for the addresses of the subnet that belong to no pool. */
  readonly pool: string;
  /** The addresses that can be allocated dynamically; sorted, disjoint. */
  readonly usable: readonly Interval[];
  readonly total: bigint;
  readonly #fresh: FreshAddresses;
  readonly #idle: IdleList;
  readonly #held: IdleList;
  readonly #taken = new AddressSet();
  readonly #reserved = new AddressSet();
  readonly #quarantined = new AddressSet();
  readonly #excluded = new AddressSet();

  constructor(family: Family, pool: string, usable: readonly Interval[]) {
    this.family = family;
    this.pool = pool;
    this.usable = usable;
    this.total = countAddresses(usable);
    this.#fresh = new FreshAddresses(usable);
    this.#idle = new IdleList(family);
    this.#held = new IdleList(family);
  }

  /** The number of usable addresses that Pods hold. */
  get inUse(): number {
    return this.#taken.size;
  }

  /** The usable addresses that Pods hold; sorted, disjoint. */
  get inUseRanges(): readonly Interval[] {
    return this.#taken.ranges();
  }

  /** Addresses of the pool that Pods hold although the subnet excludes them; sorted, disjoint. */
  get excludedInUseRanges(): readonly Interval[] {
    return this.#excluded.ranges();
  }

  /** The usable addresses that are reserved and that no Pod holds; sorted, disjoint. */
  get reservedRanges(): readonly Interval[] {
    return this.#reserved.ranges();
  }

  get reserved(): number {
    return this.#reserved.size;
  }

  get quarantined(): number {
    return this.#quarantined.size;
  }

  get quarantinedRanges(): readonly Interval[] {
    return this.#quarantined.ranges();
  }

  /** Released addresses. A container may still answer on `held` ones, not on `idle` ones. */
  get released(): { readonly idle: Iterable<bigint>; readonly held: Iterable<bigint>; readonly count: number } {
    return { idle: this.#idle, held: this.#held, count: this.#idle.size + this.#held.size };
  }

  get held(): number {
    return this.#held.size;
  }

  /** The next fresh addresses in the order of allocation. */
  firstFresh(count: number): bigint[] {
    const found: bigint[] = [];
    for (let value = this.#fresh.lowest(); value !== undefined && found.length < count;) {
      found.push(value);
      value = this.#fresh.lowest(value + 1n);
    }
    return found;
  }

  /** Moves an address after its claim changed. `from` is undefined for a new claim. */
  move(value: bigint, from: Claim | undefined, to: Claim, undoLog: UndoLog): void {
    undoLog.record(from ? this.#removeFrom(value, standingOf(from)) : this.#fresh.take(value));
    undoLog.record(this.#addTo(value, placementOf(to)));
  }

  /** Places a fresh usable address. Cannot be undone. */
  place(value: bigint, placement: Placement): void {
    this.#fresh.take(value);
    this.#addTo(value, placement);
  }

  /** Records an address that the subnet excludes, if a Pod holds the address. */
  placeExcluded(value: bigint, { standing }: Placement): void {
    if (standing === 'taken') this.#excluded.add(value);
  }

  /** Moves an address to the place of its last event. The events of others may be newer. */
  moveInOrder(value: bigint, { from, to, claimOf }: ClaimChange, undoLog: UndoLog): void {
    const placement = placementOf(to);
    const { standing, lastAt } = placement;
    undoLog.record(this.#removeFrom(value, standingOf(from)));
    if (standing !== 'idle' && standing !== 'held') return undoLog.record(this.#addTo(value, placement));
    const moved = { address: this.#text(value), last: to.last };
    const isLater = (other: bigint): boolean => {
      const address = this.#text(other);
      const { last } = claimOf(address) as Claim;
      return compareReuse({ address, last }, moved) > 0;
    };
    undoLog.record((standing === 'idle' ? this.#idle : this.#held).insert(value, lastAt, isLater));
  }

  /** Makes a usable address fresh after its claim was dropped. */
  makeFresh(value: bigint, from: Claim, undoLog: UndoLog): void {
    undoLog.record(this.#removeFrom(value, standingOf(from)));
    undoLog.record(this.#fresh.give(value));
  }

  /** Moves an address that the subnet excludes. It counts only while a Pod holds it. */
  moveExcluded(value: bigint, from: Claim | undefined, to: Claim, undoLog: UndoLog): void {
    if (from && standingOf(from) === 'taken') undoLog.record(this.#excluded.remove(value));
    if (standingOf(to) === 'taken') undoLog.record(this.#excluded.add(value));
  }

  /** Yields the free addresses at `now`, in order. Lazy: the first is almost always accepted. */
  *candidates(now: number, { cooldownMs, bindingTimeoutMs }: CooldownTimes): Generator<string> {
    if (this.#idle.size >= maxIdleBeforeFresh)
      for (const value of this.#idle.until(now - cooldownMs)) yield this.#text(value);
    for (let value = this.#fresh.lowest(); value !== undefined; value = this.#fresh.lowest(value + 1n))
      yield this.#text(value);
    for (const value of this.#idle.until(now - cooldownMs)) yield this.#text(value);
    for (const value of this.#held.until(now - bindingTimeoutMs)) yield this.#text(value);
  }

  /** The number of free addresses at `now`: fresh, or released and past the cooldown. */
  countFree(now: number, { cooldownMs, bindingTimeoutMs }: CooldownTimes): bigint {
    const taken = this.#taken.size + this.#reserved.size + this.#quarantined.size;
    const fresh = this.total - BigInt(taken + this.#idle.size + this.#held.size);
    return fresh + BigInt(this.#idle.countUntil(now - cooldownMs) + this.#held.countUntil(now - bindingTimeoutMs));
  }

  #text(value: bigint): string {
    return formatAddress({ family: this.family, value });
  }

  #removeFrom(value: bigint, from: Standing): Undo | undefined {
    if (from === 'idle') return this.#idle.remove(value);
    if (from === 'held') return this.#held.remove(value);
    return this.#setOf(from).remove(value);
  }

  #addTo(value: bigint, { standing, lastAt }: Placement): Undo | undefined {
    if (standing === 'idle') return this.#idle.append(value, lastAt);
    if (standing === 'held') return this.#held.append(value, lastAt);
    return this.#setOf(standing).add(value);
  }

  #setOf(standing: Exclude<Standing, 'idle' | 'held'>): AddressSet {
    if (standing === 'taken') return this.#taken;
    return standing === 'reserved' ? this.#reserved : this.#quarantined;
  }
}
