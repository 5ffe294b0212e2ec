/** Ranges of addresses, as `excludeIps` and Kube-OVN's status have them: one address, `first..last` or `first-last`. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { isAddress } from './ip.ts';

export interface AddressRange {
  readonly first: string;
  readonly last: string;
  contains(address: string): boolean;
}

const numberOf = (address: string): bigint =>
  ipaddr
    .parse(address)
    .toByteArray()
    .reduce((number, byte) => (number << 8n) | BigInt(byte), 0n);

/** Leaves out texts that are no range. */
export function parseRanges(texts: readonly string[]): AddressRange[] {
  return texts.flatMap((text) => {
    const [first = '', last = first, ...more] = text.split(/\.\.|-/).map((each) => each.trim());
    if (more.length > 0 || !isAddress(first) || !isAddress(last) || isIP(first) !== isIP(last)) return [];
    const [low, high] = [numberOf(first), numberOf(last)];
    const contains = (address: string): boolean => {
      if (isIP(address) !== isIP(first)) return false;
      const number = numberOf(address);
      return number >= low && number <= high;
    };
    return low > high ? [] : [{ first, last, contains }];
  });
}

/** The first of the ranges that is not inside of the covers together, as `first..last` or one address; undefined if all are. */
export function firstUncovered(ranges: readonly AddressRange[], covers: readonly AddressRange[]): string | undefined {
  const merged = { 4: mergeRanges(covers, 4), 6: mergeRanges(covers, 6) };
  const uncovered = ranges.find(({ first, last }) => {
    const [low, high] = [numberOf(first), numberOf(last)];
    const cover = lastFrom(merged[isIP(first) === 6 ? 6 : 4], low);
    return cover === undefined || cover.high < high;
  });
  return uncovered && (uncovered.first === uncovered.last ? uncovered.first : `${uncovered.first}..${uncovered.last}`);
}

interface Interval {
  readonly low: bigint;
  high: bigint;
}

/** The ranges of a family, sorted; those that overlap or follow each other are one. */
function mergeRanges(ranges: readonly AddressRange[], family: 4 | 6): Interval[] {
  const merged: Interval[] = [];
  const sorted = ranges
    .filter(({ first }) => isIP(first) === family)
    .map(({ first, last }) => ({ low: numberOf(first), high: numberOf(last) }))
    .toSorted((one, other) => (one.low < other.low ? -1 : 1));
  for (const { low, high } of sorted) {
    const before = merged.at(-1);
    if (!before || low > before.high + 1n) merged.push({ low, high });
    else if (high > before.high) before.high = high;
  }
  return merged;
}

/** The last of sorted intervals that begins at `low` or before. */
function lastFrom(sorted: readonly Interval[], low: bigint): Interval | undefined {
  let [start, end] = [0, sorted.length];
  while (start < end) {
    const middle = (start + end) >>> 1;
    if ((sorted[middle]?.low ?? low) <= low) start = middle + 1;
    else end = middle;
  }
  return sorted[start - 1];
}
