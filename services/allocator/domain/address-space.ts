/**
 * Which addresses of one family of a subnet can be given, and in which order: fresh ones lowest first, then the one idle
 * longest, then one that is held back by a binding that nobody ended. Every step takes flat time whatever the fill.
 */
import { formatAddress, parseAddress } from './address.ts';
import { type Claim, type Standing, standingOf } from './claim.ts';
import { FreshAddresses } from './fresh-addresses.ts';
import { IdleList } from './idle-list.ts';
import { InUse } from './in-use.ts';
import { contains, type Interval, size } from './interval.ts';
import type { Journal } from './journal.ts';
import type { SubnetFamily } from './subnet.ts';

/** From this many released addresses on they are reused before fresh ones, so that the keys of an IPv6 /64 stay bounded. */
export const mostIdleBeforeFresh = 65_536;

/** How long what nobody has must rest. */
export interface RestTimes {
  readonly cooldownMs: number;
  readonly bindingTimeoutMs: number;
}

export class AddressSpace {
  readonly subnetFamily: SubnetFamily;
  /** Usable addresses in all. */
  readonly total: bigint;
  readonly #fresh: FreshAddresses;
  readonly #idle = new IdleList();
  readonly #held = new IdleList();
  readonly #inUse = new InUse();

  constructor(subnetFamily: SubnetFamily) {
    this.subnetFamily = subnetFamily;
    this.total = size(subnetFamily.usable);
    this.#fresh = new FreshAddresses(subnetFamily.usable);
  }

  /** Usable addresses that a Pod holds. */
  get inUse(): bigint {
    return BigInt(this.#inUse.size);
  }

  /** The same as ranges; sorted, disjoint. */
  get inUseRanges(): readonly Interval[] {
    return this.#inUse.ranges();
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

  /** Moves an address from where its claim was (undefined: never used) to where it is now. What is excluded has no place. */
  move(address: string, from: Claim | undefined, to: Claim, journal: Journal): void {
    const value = (parseAddress(address) as { value: bigint }).value;
    if (!contains(this.subnetFamily.usable, value)) return;
    this.#leave(value, from && standingOf(from), journal);
    this.#enter(value, standingOf(to), journal);
  }

  /**
   * The addresses that may be given at `now`, best first; lazily, since almost always the first is taken.
   * @param claimOf the claim of an address that has one.
   */
  *candidates(now: number, rest: RestTimes, claimOf: (address: string) => Claim | undefined): Generator<string> {
    if (this.#idle.size >= mostIdleBeforeFresh) yield* this.#rested(this.#idle, now - rest.cooldownMs, claimOf);
    for (let value = this.#fresh.lowest(); value !== undefined; value = this.#fresh.lowest(value + 1n))
      yield this.#text(value);
    yield* this.#rested(this.#idle, now - rest.cooldownMs, claimOf);
    yield* this.#rested(this.#held, now - rest.bindingTimeoutMs, claimOf);
  }

  /** When the next resting address can be given, milliseconds since 1970; undefined when none rests. */
  nextAvailableAt(rest: RestTimes, claimOf: (address: string) => Claim | undefined): number | undefined {
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
  *#rested(list: IdleList, leftBefore: number, claimOf: (address: string) => Claim | undefined): Generator<string> {
    for (const value of list) {
      const address = this.#text(value);
      if ((claimOf(address)?.lastAt ?? 0) > leftBefore) return;
      yield address;
    }
  }

  #text(value: bigint): string {
    return formatAddress({ family: this.subnetFamily.family, value });
  }

  #leave(value: bigint, from: Standing | undefined, journal: Journal): void {
    if (from === undefined) journal.record(this.#fresh.take(value));
    else if (from === 'idle') journal.record(this.#idle.remove(value));
    else if (from === 'held') journal.record(this.#held.remove(value));
    else journal.record(this.#inUse.remove(value));
  }

  #enter(value: bigint, to: Standing, journal: Journal): void {
    if (to === 'idle') journal.record(this.#idle.append(value));
    else if (to === 'held') journal.record(this.#held.append(value));
    else journal.record(this.#inUse.add(value));
  }
}
