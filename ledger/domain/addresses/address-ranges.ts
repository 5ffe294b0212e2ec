/** Ranges of addresses as texts, as `excludeIps` and Kube-OVN's status have them: one address, `first..last` or `first-last`. */
import { type Family, formatAddress, lastAddressOf, parseAddress, parseCidr } from './address.ts';
import { indexAtOrAfter, type Interval, union } from './interval.ts';

export interface AddressRange extends Interval {
  readonly family: Family;
}

/** Leaves out texts that are no range. */
export function parseRanges(texts: readonly string[]): AddressRange[] {
  return texts.flatMap((text) => {
    const ends = text.split(/\.\.|-/, 3).map((end) => parseAddress(end.trim()));
    const [first, last] = [ends[0], ends.at(-1)];
    if (ends.length > 2 || !first || !last || first.family !== last.family || first.value > last.value) return [];
    return [{ family: first.family, first: first.value, last: last.value }];
  });
}

/** The first of the ranges that is not inside of the covers together, as `first..last` or one address; undefined if all are. */
export function firstUncovered(ranges: readonly AddressRange[], covers: readonly AddressRange[]): string | undefined {
  const byFamily = Map.groupBy(
    covers.map(({ family, first, last }) => ({ family, first, last })),
    ({ family }) => family,
  );
  const merged = { 4: union(byFamily.get(4) ?? []), 6: union(byFamily.get(6) ?? []) };
  const uncovered = ranges.find(({ family, first, last }) => {
    const cover = merged[family][indexAtOrAfter(merged[family], first)];
    return !cover || cover.first > first || cover.last < last;
  });
  return uncovered && formatRange(uncovered);
}

function formatRange({ family, first, last }: AddressRange): string {
  const text = (value: bigint): string => formatAddress({ family, value });
  return first === last ? text(first) : `${text(first)}..${text(last)}`;
}

/** Whether a range and a CIDR (a text) have an address in common; false for another text. */
export function overlapsCidr({ family, first, last }: AddressRange, cidr: string): boolean {
  const block = parseCidr(cidr);
  return block?.family === family && first <= lastAddressOf(block) && block.base <= last;
}
