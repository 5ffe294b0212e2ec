/** The `excludeIps` of a Subnet: addresses, or ranges "first..last". */
import { type Family, formatAddress, parseAddress } from '../addresses/address.ts';
import { proposeForm } from '../addresses/address-form.ts';
import { type Interval, union } from '../addresses/interval.ts';

export type FamilyInterval = Interval & { readonly family: Family };

/** Parses excludes, and adds their faults to `problems`. Excludes outside the CIDR are ignored. */
export function readExcludes(texts: readonly string[], problems: string[]): FamilyInterval[] {
  const intervals: FamilyInterval[] = [];
  for (const text of texts) {
    if (hasUpperCaseIpv6(text)) problems.push(`subnet exclude ip ${text} can not contain upper case`);
    const ends = text.split('..');
    const [first, last = first, ...rest] = ends.map((end) => parseAddress(end.trim()));
    const bad = ends.find((end) => !parseAddress(end.trim()));
    if (bad !== undefined) problems.push(`ip ${bad} in excludeIps is not a valid address${proposeForm(text, 'range')}`);
    else if (!first || !last || rest.length > 0 || first.family !== last.family || first.value > last.value)
      problems.push(`${text} in excludeIps is not a valid ip range: write "first..last" of one family`);
    else intervals.push({ family: first.family, first: first.value, last: last.value });
  }
  return intervals;
}

/** Formats excludes in normal form: merged, canonical, in the order of the texts. */
export function formatExcludes(intervals: readonly FamilyInterval[]): string[] {
  const texts = ([4, 6] as const).flatMap((family) =>
    union(intervals.filter((interval) => interval.family === family)).map(({ first, last }) => {
      const text = (value: bigint): string => formatAddress({ family, value });
      return first === last ? text(first) : `${text(first)}..${text(last)}`;
    }),
  );
  return texts.toSorted();
}

/** Whether a text is an IPv6 address with upper-case digits, which Kube-OVN rejects. */
export const hasUpperCaseIpv6 = (text: string): boolean => text.includes(':') && /[A-F]/.test(text);
