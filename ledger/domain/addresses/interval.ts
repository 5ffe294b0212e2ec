/** Sets of addresses of one family as sorted, disjoint, inclusive intervals. */
import { type Family, formatterOf } from './address.ts';

/** All addresses from `first` to `last`, both included; `first <= last`. */
export interface Interval {
  readonly first: bigint;
  readonly last: bigint;
}

/** The same addresses as sorted intervals, with overlapping and adjacent ones merged. */
export function union(intervals: readonly Interval[]): Interval[] {
  const merged: Interval[] = [];
  for (const next of intervals.toSorted((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0))) {
    const previous = merged.at(-1);
    if (previous && next.first <= previous.last + 1n) {
      if (next.last > previous.last) merged[merged.length - 1] = { first: previous.first, last: next.last };
    } else merged.push(next);
  }
  return merged;
}

/** The addresses in `from` and not in `without`; both as `union` returns them. */
export function difference(from: readonly Interval[], without: readonly Interval[]): Interval[] {
  const rest: Interval[] = [];
  let index = 0;
  for (const interval of from) {
    let first = interval.first;
    for (let hole = without[index]; hole && hole.first <= interval.last; hole = without[++index]) {
      if (hole.first > first) rest.push({ first, last: hole.first - 1n });
      if (hole.last >= first) first = hole.last + 1n;
      // The hole may reach into the next interval.
      if (first > interval.last) break;
    }
    if (first <= interval.last) rest.push({ first, last: interval.last });
  }
  return rest;
}

/** The addresses in both; both as `union` returns them. */
export const intersection = (one: readonly Interval[], other: readonly Interval[]): Interval[] =>
  difference(one, difference(one, other));

/** The number of addresses. */
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

/** Whether `value` is in one of the intervals; `intervals` as `union` returns them. */
export function contains(intervals: readonly Interval[], value: bigint): boolean {
  const found = intervals[indexAtOrAfter(intervals, value)];
  return found !== undefined && found.first <= value;
}

/** "a-b" or "a", joined with commas: the format of the ranges in Subnet.status. */
export function formatRanges(family: Family, intervals: readonly Interval[]): string {
  const text = formatterOf(family);
  return intervals.map(({ first, last }) => (first === last ? text(first) : `${text(first)}-${text(last)}`)).join(',');
}
