/** Finds Subnets of different networks with the same addresses in a broadcast domain. Pure. */
import ipaddr from 'ipaddr.js';
import { isCidr } from '../../../../lib/net/ip.ts';

/** A NetworkAttachmentDefinition with a known broadcast domain. */
export interface DomainNetwork {
  /** The name of the object, "namespace/name". */
  readonly key: string;
  readonly provider: string;
  readonly broadcastDomain: string;
}

/** A Subnet in force, with the normalized spec of the ledger. */
export interface DomainSubnet {
  readonly name: string;
  readonly provider: string;
  readonly cidrBlock: string;
  readonly excludeIps: readonly string[];
}

/** An overlap of one Subnet with another. */
export interface SharedBroadcastDomain {
  readonly broadcastDomain: string;
  /** The Subnet's own network, "namespace/name". */
  readonly network: string;
  readonly other: { readonly subnet: string; readonly network: string };
}

/** Addresses that Pods without a requested address may get from a Subnet. */
interface Range {
  readonly first: bigint;
  readonly last: bigint;
  readonly subnet: string;
  readonly network: DomainNetwork;
}

/**
 * Returns an overlap for each Subnet that overlaps with a Subnet of another network, by name. O(n
 * log n) with the number of ranges.
 */
export function findSharedBroadcastDomains(
  networks: readonly DomainNetwork[],
  subnets: readonly DomainSubnet[],
): ReadonlyMap<string, SharedBroadcastDomain> {
  const byProvider = new Map(networks.map((network) => [network.provider, network]));
  const groups = new Map<string, Range[]>();
  for (const subnet of subnets) {
    const network = byProvider.get(subnet.provider);
    if (!network) continue;
    for (const { family, ...range } of rangesOf(subnet)) {
      const key = `${family} ${network.broadcastDomain}`;
      const group = groups.get(key);
      if (group) group.push({ ...range, subnet: subnet.name, network });
      else groups.set(key, [{ ...range, subnet: subnet.name, network }]);
    }
  }
  const found = new Map<string, SharedBroadcastDomain>();
  for (const group of groups.values()) for (const [one, other] of overlaps(group)) record(found, one, other);
  return found;
}

/** Yields for each overlapping range a pair with the earlier range that ends last. */
function* overlaps(ranges: Range[]): Generator<readonly [Range, Range]> {
  ranges.sort((a, b) => Number(a.first - b.first));
  let endsLast: Range | undefined;
  for (const range of ranges) {
    if (endsLast && endsLast.last >= range.first) yield [endsLast, range];
    if (!endsLast || range.last > endsLast.last) endsLast = range;
  }
}

function record(found: Map<string, SharedBroadcastDomain>, one: Range, other: Range): void {
  if (one.network.key === other.network.key) return;
  for (const [range, overlapping] of [
    [one, other],
    [other, one],
  ] as const)
    if (!found.has(range.subnet))
      found.set(range.subnet, {
        broadcastDomain: range.network.broadcastDomain,
        network: range.network.key,
        other: { subnet: overlapping.subnet, network: overlapping.network.key },
      });
}

type Part = Pick<Range, 'first' | 'last'> & { readonly family: 4 | 6 };

/** Returns a Subnet's host addresses without excluded ones; none if the text is invalid. */
function rangesOf({ cidrBlock, excludeIps }: DomainSubnet): Part[] {
  const holes = excludeIps.flatMap((text) => intervalOf(text) ?? []);
  holes.sort((a, b) => (a.first < b.first ? -1 : 1));
  return cidrBlock.split(',').flatMap((text) => {
    const hosts = hostsOf(text.trim());
    return hosts ? subtract(hosts, holes) : [];
  });
}

/** @param holes ranges sorted by their first address */
function subtract({ family, first, last }: Part, holes: readonly Part[]): Part[] {
  const parts: Part[] = [];
  let from = first;
  for (const hole of holes) {
    if (hole.family !== family || hole.last < from || hole.first > last) continue;
    if (hole.first > from) parts.push({ family, first: from, last: hole.first - 1n });
    from = hole.last + 1n;
  }
  return from <= last ? [...parts, { family, first: from, last }] : parts;
}

/** Parses "first..last", or one address. */
function intervalOf(text: string): Part | undefined {
  const [from = '', to = from] = text.split('..');
  if (!ipaddr.isValid(from) || !ipaddr.isValid(to)) return undefined;
  const [first, last] = [ipaddr.parse(from), ipaddr.parse(to)];
  return { family: first.kind() === 'ipv4' ? 4 : 6, first: valueOf(first), last: valueOf(last) };
}

function hostsOf(cidr: string): Part | undefined {
  if (!isCidr(cidr)) return undefined;
  const [address, length] = ipaddr.parseCIDR(cidr);
  const [family, bits] = address.kind() === 'ipv4' ? ([4, 32] as const) : ([6, 128] as const);
  const size = 1n << BigInt(bits - length);
  const base = (valueOf(address) / size) * size;
  // Excludes the network and broadcast addresses.
  const edge = size > 2n ? 1n : 0n;
  return { family, first: base + edge, last: base + size - 1n - edge };
}

const valueOf = (address: ipaddr.IPv4 | ipaddr.IPv6): bigint =>
  BigInt(`0x${Buffer.from(address.toByteArray()).toString('hex')}`);
