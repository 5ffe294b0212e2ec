/**
 * The addresses of one family that are given to the same askers: those of a pool, or those of a subnet that belong to none.
 * Fresh ones are given first, lowest first, then the one idle longest, then one that is held back by a binding that nobody
 * ended. Every step takes flat time whatever the fill.
 */
import { type Family, formatAddress } from './address.ts';
import { type Claim, type Standing, standingOf } from './claim.ts';
import { FreshAddresses } from './fresh-addresses.ts';
import { IdleList } from './idle-list.ts';
import { InUse } from './in-use.ts';
import { type Interval, size } from './interval.ts';
import type { Journal, Undo } from './journal.ts';

/** From this many released addresses on they are reused before fresh ones, so that the keys of an IPv6 /64 stay bounded. */
const mostIdleBeforeFresh = 65_536;

/** How long what nobody has must rest. */
export interface RestTimes {
  readonly cooldownMs: number;
  readonly bindingTimeoutMs: number;
}

/** The claim of an address that has one. */
export type ClaimOf = (address: string) => Claim | undefined;

/** What decided about an address, and what decides now; and about others. */
export interface Change {
  readonly from: Claim;
  readonly to: Claim;
  readonly claimOf: ClaimOf;
}

export class AddressPart {
  readonly family: Family;
  /** The pool; '' for the rest of the subnet. */
  readonly pool: string;
  /** What may be given without being asked for by name; sorted, disjoint. */
  readonly usable: readonly Interval[];
  readonly total: bigint;
  readonly #fresh: FreshAddresses;
  readonly #idle = new IdleList();
  readonly #held = new IdleList();
  readonly #taken = new InUse();
  readonly #reserved = new InUse();
  readonly #quarantined = new InUse();
  readonly #excluded = new InUse();

  constructor(family: Family, pool: string, usable: readonly Interval[]) {
    this.family = family;
    this.pool = pool;
    this.usable = usable;
    this.total = size(usable);
    this.#fresh = new FreshAddresses(usable);
  }

  /** How many of the usable addresses a Pod holds. */
  get inUse(): number {
    return this.#taken.size;
  }

  /** The same as ranges; sorted, disjoint. */
  get inUseRanges(): readonly Interval[] {
    return this.#taken.ranges();
  }

  /** Addresses of the pool that a Pod holds although the subnet excludes them; sorted, disjoint. */
  get excludedInUseRanges(): readonly Interval[] {
    return this.#excluded.ranges();
  }

  /** Usable addresses that are reserved and that no Pod holds. */
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

  /** Usable addresses that are released and not given again: cooling, held back, or ready. */
  get released(): { readonly idle: Iterable<bigint>; readonly held: Iterable<bigint>; readonly count: number } {
    return { idle: this.#idle, held: this.#held, count: this.#idle.size + this.#held.size };
  }

  /** The fresh addresses that would be given next. */
  firstFresh(count: number): bigint[] {
    const found: bigint[] = [];
    for (let value = this.#fresh.lowest(); value !== undefined && found.length < count;) {
      found.push(value);
      value = this.#fresh.lowest(value + 1n);
    }
    return found;
  }

  /** Moves a usable address from where its claim was (undefined: never used) to where it is now. */
  move(value: bigint, from: Claim | undefined, to: Claim, journal: Journal): void {
    journal.record(from ? this.#leave(value, standingOf(from)) : this.#fresh.take(value));
    journal.record(this.#enter(value, standingOf(to)));
  }

  /** As move, to a claim whose last event may be older than those of addresses that rest already: it has the place of that event. */
  moveBack(value: bigint, { from, to, claimOf }: Change, journal: Journal): void {
    const standing = standingOf(to);
    journal.record(this.#leave(value, standingOf(from)));
    if (standing !== 'idle' && standing !== 'held') return journal.record(this.#enter(value, standing));
    const text = this.#text(value);
    const isLater = (other: bigint): boolean => {
      const last = claimOf(this.#text(other))?.last ?? 0;
      return last > to.last || (last === to.last && this.#text(other) > text);
    };
    journal.record((standing === 'idle' ? this.#idle : this.#held).insert(value, isLater));
  }

  /** Makes a usable address fresh whose claim is dropped. */
  forget(value: bigint, from: Claim, journal: Journal): void {
    journal.record(this.#leave(value, standingOf(from)));
    journal.record(this.#fresh.give(value));
  }

  /** The same of an address of the pool that the subnet excludes: it has no place, and counts while a Pod holds it. */
  moveExcluded(value: bigint, from: Claim | undefined, to: Claim, journal: Journal): void {
    if (from && standingOf(from) === 'taken') journal.record(this.#excluded.remove(value));
    if (standingOf(to) === 'taken') journal.record(this.#excluded.add(value));
  }

  /** The addresses that may be given at `now`, best first; lazily, since almost always the first is taken. */
  *candidates(now: number, rest: RestTimes, claimOf: ClaimOf): Generator<string> {
    if (this.#idle.size >= mostIdleBeforeFresh) yield* this.#rested(this.#idle, now - rest.cooldownMs, claimOf);
    for (let value = this.#fresh.lowest(); value !== undefined; value = this.#fresh.lowest(value + 1n))
      yield this.#text(value);
    yield* this.#rested(this.#idle, now - rest.cooldownMs, claimOf);
    yield* this.#rested(this.#held, now - rest.bindingTimeoutMs, claimOf);
  }

  /** When the next resting address can be given, milliseconds since 1970; undefined when none rests. */
  nextAvailableAt(rest: RestTimes, claimOf: ClaimOf): number | undefined {
    const times: number[] = [];
    for (const [list, restMs] of [
      [this.#idle, rest.cooldownMs],
      [this.#held, rest.bindingTimeoutMs],
    ] as const)
      for (const value of list) {
        times.push((claimOf(this.#text(value))?.lastAt ?? 0) + restMs);
        break;
      }
    return times.length > 0 ? Math.min(...times) : undefined;
  }

  /** The lists are in the order of `last`, and time never goes back: behind one that rests still, all do. */
  *#rested(list: IdleList, leftBefore: number, claimOf: ClaimOf): Generator<string> {
    for (const value of list) {
      const address = this.#text(value);
      if ((claimOf(address)?.lastAt ?? 0) > leftBefore) return;
      yield address;
    }
  }

  #text(value: bigint): string {
    return formatAddress({ family: this.family, value });
  }

  #leave(value: bigint, from: Standing): Undo | undefined {
    if (from === 'idle') return this.#idle.remove(value);
    if (from === 'held') return this.#held.remove(value);
    return this.#setOf(from).remove(value);
  }

  #enter(value: bigint, to: Standing): Undo | undefined {
    if (to === 'idle') return this.#idle.append(value);
    if (to === 'held') return this.#held.append(value);
    return this.#setOf(to).add(value);
  }

  #setOf(standing: Exclude<Standing, 'idle' | 'held'>): InUse {
    if (standing === 'taken') return this.#taken;
    return standing === 'reserved' ? this.#reserved : this.#quarantined;
  }
}
