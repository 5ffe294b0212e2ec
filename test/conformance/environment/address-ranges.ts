/** Address ranges as text, "a-b,c", with both families mixed. */
import {
  type Address,
  type Family,
  parseAddress,
  parseCidr,
  lastAddressOf,
} from '../../../ledger/domain/addresses/address.ts';
import {
  formatRanges,
  type Interval,
  difference,
  countAddresses,
  union,
} from '../../../ledger/domain/addresses/interval.ts';

const families = [4, 6] as const;

/** Parses "a", "a-b", "a..b" and CIDRs to intervals of one family; ignores other texts. */
function intervalsOf(texts: readonly string[], family: Family): Interval[] {
  return union(
    texts.flatMap((text) => {
      const cidr = parseCidr(text);
      if (cidr) return cidr.family === family ? [{ first: cidr.base, last: lastAddressOf(cidr) }] : [];
      const [first, last = first] = text.split(/\.\.|-/).map((end): Address | undefined => parseAddress(end.trim()));
      const isRange = first?.family === family && last?.family === family && first.value <= last.value;
      return isRange ? [{ first: first.value, last: last.value }] : [];
    }),
  );
}

/** Joins range texts into a single text. */
export const unionOfRanges = (texts: readonly string[]): string =>
  texts
    .flatMap((text) => text.split(','))
    .filter((text) => text !== '')
    .join(',');

/** Subtracts ranges; `size` is the number of remaining addresses. */
export function subtractRanges(from: string, excluded: string): { readonly text: string; readonly size: bigint } {
  const rest = families.map((family) => {
    const of = (text: string): Interval[] => intervalsOf(text.split(','), family);
    return { family, intervals: difference(of(from), of(excluded)) };
  });
  return {
    text: rest
      .filter(({ intervals }) => intervals.length > 0)
      .map(({ family, intervals }) => formatRanges(family, intervals))
      .join(','),
    size: rest.reduce((sum, { intervals }) => sum + countAddresses(intervals), 0n),
  };
}

/** Merges excludes in Kube-OVN's form, "a..b" or "a". */
export function mergeExcludes(texts: readonly string[]): string[] {
  return families.flatMap((family) => {
    const merged = intervalsOf(texts, family);
    return merged.length === 0 ? [] : formatRanges(family, merged).replaceAll('-', '..').split(',');
  });
}
