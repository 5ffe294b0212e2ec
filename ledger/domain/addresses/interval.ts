/** Sets of addresses of one family as sorted, disjoint, inclusive intervals. */
import { type Family, formatterOf } from './address.ts';

/** All addresses from `first` to `last`, both included; `first <= last`. */
export interface Interval {
  readonly first: bigint;
  readonly last: bigint;
}

/** Sorts intervals, and merges those that overlap or are adjacent. */
export function union(intervals: readonly Interval[]): Interval[] {
  const merged: Interval[] = [];
  for (const next of intervals.toSorted((a, b) => (a.first < b.first ? -1 : 1))) {
    const previous = merged.at(-1);
    if (previous && next.first <= previous.last + 1n) {
      if (next.last > previous.last) merged[merged.length - 1] = { first: previous.first, last: next.last };
    } else merged.push(next);
  }
  return merged;
}

/** Returns the addresses of `from` that are not in `without`. Both must be sorted and disjoint. */
export function difference(from: readonly Interval[], without: readonly Interval[]): Interval[] {
  const rest: Interval[] = [];
  let index = 0;
  for (const interval of from) {
    let first = interval.first;
    for (let hole = without[index]; hole && hole.first <= interval.last; hole = without[++index]) {
      if (hole.first > first) rest.push({ first, last: hole.first - 1n });
      if (hole.last >= first) first = hole.last + 1n;
      // The excluded interval may continue in the next interval.
      if (first > interval.last) break;
    }
    if (first <= interval.last) rest.push({ first, last: interval.last });
  }
  return rest;
}

/** Returns the addresses that are in both sets. Both must be sorted and disjoint. */
export const intersection = (one: readonly Interval[], other: readonly Interval[]): Interval[] =>
  difference(one, difference(one, other));

export const countAddresses = (intervals: readonly Interval[]): bigint =>
  intervals.reduce((sum, { first, last }) => sum + last - first + 1n, 0n);

/** The index of the first interval that ends at or after `value`; the length if none does. */
export function indexAtOrAfter(intervals: readonly Interval[], value: bigint): number {
  let low = 0;
  let high = intervals.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((intervals[middle] as Interval).last < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Reports whether an interval contains `value`. The intervals must be sorted and disjoint. */
export function contains(intervals: readonly Interval[], value: bigint): boolean {
  const found = intervals[indexAtOrAfter(intervals, value)];
  return found !== undefined && found.first <= value;
}

/** Formats ranges as in the status of a Subnet: "a-b" or "a", joined with commas. */
export function formatRanges(family: Family, intervals: readonly Interval[]): string {
  const text = formatterOf(family);
  return intervals.map(({ first, last }) => (first === last ? text(first) : `${text(first)}-${text(last)}`)).join(',');
}
