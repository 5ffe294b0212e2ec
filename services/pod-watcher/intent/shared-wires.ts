/** Which Subnets can give one address twice on one wire, since two networks with a Subnet each are on it. Pure. */
import ipaddr from 'ipaddr.js';
import { isCidr } from '../../../lib/ip.ts';

/** A NetworkAttachmentDefinition. */
export interface WiredNetwork {
  /** "namespace/name" */
  readonly key: string;
  /** Under which its Subnets serve it. */
  readonly provider: string;
  readonly wire: string;
}

/** A Subnet in force, its spec in the ledger's normal form. */
export interface WiredSubnet {
  readonly name: string;
  readonly provider: string;
  readonly cidrBlock: string;
  readonly excludeIps: readonly string[];
}

/** An overlap, from the point of view of one Subnet. */
export interface SharedWire {
  readonly wire: string;
  /** Its own network, "namespace/name". */
  readonly network: string;
  readonly other: { readonly subnet: string; readonly network: string };
}

/** Addresses that a Subnet gives without being asked for them by name. */
interface Range {
  readonly first: bigint;
  readonly last: bigint;
  readonly subnet: string;
  readonly network: WiredNetwork;
}

/**
 * The Subnets that share addresses with a Subnet of another network on their wire, by name. Of several overlaps of a Subnet one is
 * told. Takes time with the number of ranges, sorted: n log n.
 */
export function sharedWires(
  networks: readonly WiredNetwork[],
  subnets: readonly WiredSubnet[],
): ReadonlyMap<string, SharedWire> {
  const byProvider = new Map(networks.map((network) => [network.provider, network]));
  const groups = new Map<string, Range[]>();
  for (const subnet of subnets) {
    const network = byProvider.get(subnet.provider);
    if (!network) continue;
    for (const { family, ...range } of rangesOf(subnet)) {
      const key = `${family} ${network.wire}`;
      const group = groups.get(key);
      if (group) group.push({ ...range, subnet: subnet.name, network });
      else groups.set(key, [{ ...range, subnet: subnet.name, network }]);
    }
  }
  const found = new Map<string, SharedWire>();
  for (const group of groups.values()) for (const [one, other] of overlaps(group)) tell(found, one, other);
  return found;
}

/** Of each range that overlaps another at least one such pair: that with the earlier one that reaches furthest. */
function* overlaps(ranges: Range[]): Generator<readonly [Range, Range]> {
  ranges.sort((a, b) => (a.first === b.first ? 0 : a.first < b.first ? -1 : 1));
  let furthest: Range | undefined;
  for (const range of ranges) {
    if (furthest && furthest.last >= range.first) yield [furthest, range];
    if (!furthest || range.last > furthest.last) furthest = range;
  }
}

function tell(found: Map<string, SharedWire>, one: Range, other: Range): void {
  if (one.network.key === other.network.key) return;
  for (const [own, its] of [
    [one, other],
    [other, one],
  ] as const)
    if (!found.has(own.subnet))
      found.set(own.subnet, {
        wire: own.network.wire,
        network: own.network.key,
        other: { subnet: its.subnet, network: its.network.key },
      });
}

type Part = Pick<Range, 'first' | 'last'> & { readonly family: 4 | 6 };

/** Its host addresses without those that are excluded. What cannot be read has none. */
function rangesOf({ cidrBlock, excludeIps }: WiredSubnet): Part[] {
  const holes = excludeIps.flatMap((text) => intervalOf(text) ?? []);
  holes.sort((a, b) => (a.first < b.first ? -1 : 1));
  return cidrBlock.split(',').flatMap((text) => {
    const hosts = hostsOf(text.trim());
    return hosts ? without(hosts, holes) : [];
  });
}

/** @param holes sorted by their beginning */
function without({ family, first, last }: Part, holes: readonly Part[]): Part[] {
  const left: Part[] = [];
  let from = first;
  for (const hole of holes) {
    if (hole.family !== family || hole.last < from || hole.first > last) continue;
    if (hole.first > from) left.push({ family, first: from, last: hole.first - 1n });
    from = hole.last + 1n;
  }
  return from <= last ? [...left, { family, first: from, last }] : left;
}

/** "first..last", or one address. */
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
  // Network and broadcast are no hosts.
  const edge = size > 2n ? 1n : 0n;
  return { family, first: base + edge, last: base + size - 1n - edge };
}

const valueOf = (address: ipaddr.IPv4 | ipaddr.IPv6): bigint =>
  BigInt(`0x${Buffer.from(address.toByteArray()).toString('hex')}`);
