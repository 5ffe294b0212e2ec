/**
 * A pool's configuration: what its owner wrote → what is in force, or what is wrong with it. A pool is a named part of a
 * subnet; addresses of it that lie outside the subnet, or are excluded there, are never given, as with Kube-OVN's IPPool.
 */
import { type Family, formatAddress, lastOf, parseAddress, parseCidr } from './address.ts';
import type { RequestedPool } from './command.ts';
import type { PoolSpec, SourceObject } from './event.ts';
import { type Interval, union } from './interval.ts';

/** A pool in force. */
export interface ConfiguredPool {
  readonly name: string;
  readonly spec: PoolSpec;
  readonly source?: SourceObject;
}

type FamilyInterval = Interval & { readonly family: Family };

/** The spec as normalised, or everything that is wrong with it. */
export function normalisePool(name: string, requested: RequestedPool): PoolSpec | { readonly problems: string[] } {
  const problems: string[] = [];
  const intervals = requested.ips.flatMap((text) => {
    const interval = readElement(text.trim());
    if (typeof interval !== 'string') return interval;
    problems.push(`ippool ${name}: ${interval}`);
    return [];
  });
  if (requested.ips.length === 0)
    problems.push(`ippool ${name} has no ips: name addresses, ranges "first..last" or CIDRs`);
  if (problems.length > 0) return { problems };
  const ips = ([4, 6] as const).flatMap((family) => {
    const text = (value: bigint): string => formatAddress({ family, value });
    return union(intervals.filter((interval) => interval.family === family)).map(({ first, last }) =>
      first === last ? text(first) : `${text(first)}..${text(last)}`,
    );
  });
  return { subnet: requested.subnet, ips, namespaces: [...new Set(requested.namespaces)].toSorted() };
}

/** One family's addresses of a pool; sorted, disjoint. */
export function rangesOf({ ips }: PoolSpec, family: Family): Interval[] {
  const intervals = ips.map((text) => readElement(text));
  return union(
    intervals.filter((interval) => typeof interval !== 'string' && interval.family === family) as Interval[],
  );
}

/** The addresses that an element stands for, or what is wrong with it. */
function readElement(text: string): FamilyInterval | string {
  if (text.includes('/')) {
    const cidr = parseCidr(text);
    return cidr ? { family: cidr.family, first: cidr.base, last: lastOf(cidr) } : `invalid CIDR address: ${text}`;
  }
  const ends = text.split('..');
  const [first, last = first, ...rest] = ends.map((end) => parseAddress(end.trim()));
  const bad = ends.find((end) => !parseAddress(end.trim()));
  if (bad !== undefined) return `invalid IP address "${bad}"`;
  if (!first || !last || rest.length > 0) return `invalid IP range "${text}": write "first..last"`;
  if (first.family !== last.family) return `invalid IP range "${text}": both ends are of one family`;
  if (first.value > last.value) return `invalid IP range "${text}": ${ends.join(' is greater than ')}`;
  return { family: first.family, first: first.value, last: last.value };
}
