/**
 * Pools: named parts of a subnet. Validates and normalises their configuration. A new pool must be
 * inside its subnet. If the subnet changes later, addresses that it leaves out or excludes are
 * never allocated dynamically, as with Kube-OVN's IPPool.
 */
import {
  type Address,
  type Family,
  formatAddress,
  lastAddressOf,
  parseAddress,
  parseCidr,
} from '../addresses/address.ts';
import { proposeForm } from '../addresses/address-form.ts';
import type { RequestedPool } from '../commands/command.ts';
import type { PoolSpec, SourceObject } from '../values/configuration.ts';
import type { FamilyInterval } from './exclude-ips.ts';
import { contains, type Interval, union } from '../addresses/interval.ts';

/** A pool in force. */
export interface ConfiguredPool {
  readonly name: string;
  readonly spec: PoolSpec;
  readonly source?: SourceObject;
}

/** Whether a pool has a canonical address. Pool '' has all addresses, an unknown pool none. */
export function isInPool(
  { pools }: { readonly pools: ReadonlyMap<string, ConfiguredPool> },
  pool: string,
  address: string,
): boolean {
  const spec = pools.get(pool)?.spec;
  if (pool === '' || !spec) return pool === '';
  const { family, value } = parseAddress(address) as Address;
  return contains(poolIntervals(spec, family), value);
}

/** Validates and normalises a configuration. `problems` lists everything that is wrong with it. */
export function normalisePool(name: string, requested: RequestedPool): PoolSpec | { readonly problems: string[] } {
  const problems: string[] = [];
  const intervals = requested.ips.flatMap((text) => {
    const interval = readElement(text.trim());
    if (typeof interval !== 'string') return interval;
    problems.push(`ippool ${name}: ${interval}`);
    return [];
  });
  if (requested.ips.length === 0)
    problems.push(`ippool ${name} has no ips: list addresses, ranges "first..last" or CIDRs`);
  if (problems.length > 0) return { problems };
  const ips = ([4, 6] as const).flatMap((family) => {
    const text = (value: bigint): string => formatAddress({ family, value });
    return union(intervals.filter((interval) => interval.family === family)).map(({ first, last }) =>
      first === last ? text(first) : `${text(first)}..${text(last)}`,
    );
  });
  return { subnet: requested.subnet, ips, namespaces: [...new Set(requested.namespaces)].toSorted() };
}

/** The addresses of one family of a pool; sorted, disjoint. */
export function poolIntervals({ ips }: PoolSpec, family: Family): Interval[] {
  const intervals = ips.map((text) => readElement(text));
  return union(
    intervals.filter((interval) => typeof interval !== 'string' && interval.family === family) as Interval[],
  );
}

/** Returns the addresses of an element of `ips`, or what is wrong with it, as text. */
function readElement(text: string): FamilyInterval | string {
  if (text.includes('/')) {
    const cidr = parseCidr(text);
    return cidr
      ? { family: cidr.family, first: cidr.base, last: lastAddressOf(cidr) }
      : `invalid CIDR address: ${text}`;
  }
  const ends = text.split('..');
  const [first, last = first, ...rest] = ends.map((end) => parseAddress(end.trim()));
  const bad = ends.find((end) => !parseAddress(end.trim()));
  if (bad !== undefined) return `invalid IP address "${bad}"${proposeForm(text, 'range or CIDR')}`;
  if (!first || !last || rest.length > 0) return `invalid IP range "${text}": write "first..last"`;
  if (first.family !== last.family) return `invalid IP range "${text}": both ends must be of one family`;
  if (first.value > last.value) return `invalid IP range "${text}": ${ends.join(' is greater than ')}`;
  return { family: first.family, first: first.value, last: last.value };
}
