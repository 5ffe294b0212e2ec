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
  const uncovered = ranges.find(({ first, last }) => {
    let next = numberOf(first);
    const sorted = covers
      .filter((cover) => isIP(cover.first) === isIP(first))
      .map((cover) => [numberOf(cover.first), numberOf(cover.last)] as const)
      .toSorted(([one], [other]) => (one < other ? -1 : 1));
    for (const [low, high] of sorted) if (low <= next && high >= next) next = high + 1n;
    return next <= numberOf(last);
  });
  return uncovered && (uncovered.first === uncovered.last ? uncovered.first : `${uncovered.first}..${uncovered.last}`);
}
