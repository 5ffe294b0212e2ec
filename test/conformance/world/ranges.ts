/** Ranges of addresses as text, "a-b,c", both families mixed. */
import {
  type Address,
  type Family,
  parseAddress,
  parseCidr,
  lastOf,
} from '../../../services/allocator/domain/address.ts';
import { formatRanges, type Interval, minus, size, union } from '../../../services/allocator/domain/interval.ts';

const families = [4, 6] as const;

/** "a", "a-b", "a..b" and CIDRs as intervals of one family; what is none of them is left out. */
function intervalsOf(texts: readonly string[], family: Family): Interval[] {
  return union(
    texts.flatMap((text) => {
      const cidr = parseCidr(text);
      if (cidr) return cidr.family === family ? [{ first: cidr.base, last: lastOf(cidr) }] : [];
      const [first, last = first] = text.split(/\.\.|-/).map((end): Address | undefined => parseAddress(end.trim()));
      const whole = first?.family === family && last?.family === family && first.value <= last.value;
      return whole ? [{ first: first.value, last: last.value }] : [];
    }),
  );
}

/** All of them, as one text. */
export const unionOfRanges = (texts: readonly string[]): string =>
  texts
    .flatMap((text) => text.split(','))
    .filter((text) => text !== '')
    .join(',');

/** What is in the one and not in the other, and how many addresses that is. */
export function minusRanges(from: string, excluded: string): { readonly text: string; readonly size: bigint } {
  const left = families.map((family) => {
    const of = (text: string): Interval[] => intervalsOf(text.split(','), family);
    return { family, intervals: minus(of(from), of(excluded)) };
  });
  return {
    text: left
      .filter(({ intervals }) => intervals.length > 0)
      .map(({ family, intervals }) => formatRanges(family, intervals))
      .join(','),
    size: left.reduce((sum, { intervals }) => sum + size(intervals), 0n),
  };
}

/** As Kube-OVN writes excludes: "a..b" or "a", merged. */
export function mergedExcludes(texts: readonly string[]): string[] {
  return families.flatMap((family) => {
    const merged = intervalsOf(texts, family);
    return merged.length === 0 ? [] : formatRanges(family, merged).replaceAll('-', '..').split(',');
  });
}
