/**
 * A subnet's configuration: what its owner wrote → what is in force, or what is wrong with it.
 *
 *   172.17.0.0   .1      .11                          .255.254   .255.255      usable = hosts less excludes;
 *   ├─ network ──┼─ gw ──┼──────── usable ─────────────┤── broadcast ┤         the gateway is always excluded
 *                └ excludeIps ┘
 *
 * Rules and messages are Kube-OVN's (its ValidateSubnet and formatSubnet), so that nobody has to learn new ones.
 */
import {
  type Cidr,
  type Family,
  formatAddress,
  formatCidr,
  lastOf,
  overlap,
  parseAddress,
  parseCidr,
} from './address.ts';
import type { RequestedSubnet } from './command.ts';
import type { SubnetSpec } from './event.ts';
import { type Interval, minus, union } from './interval.ts';
import { networkOf } from './network.ts';

export const defaultCooldownMs = 60_000;
export const defaultBindingTimeoutMs = 3_600_000;

/** How long an address must be idle at least before its claim is dropped; of a subnet that is retired by the usual times. */
export const restBeforeDropMs = (spec: Pick<SubnetSpec, 'cooldownMs' | 'bindingTimeoutMs'> | undefined): number =>
  spec ? Math.max(spec.cooldownMs, spec.bindingTimeoutMs) : Math.max(defaultCooldownMs, defaultBindingTimeoutMs);

/** One family of a subnet, ready for arithmetic. */
export interface SubnetFamily {
  readonly family: Family;
  readonly cidr: Cidr;
  readonly cidrText: string;
  readonly gateway: bigint;
  readonly gatewayText: string;
  /** First and last address that a host may have. */
  readonly hosts: Interval;
  /** What may be given without being asked for by name. */
  readonly usable: readonly Interval[];
}

/** A subnet in force. */
export interface Subnet {
  readonly name: string;
  readonly spec: SubnetSpec;
  /** That of the NICs of its provider. */
  readonly network: string;
  /** The same as the networks of a claim that is used on no other; one list for all claims. */
  readonly networks: readonly string[];
  /** IPv4 before IPv6. */
  readonly families: readonly SubnetFamily[];
}

/** The subnet as normalised, or everything that is wrong with it. */
export function normaliseSubnet(name: string, requested: RequestedSubnet): Subnet | { readonly problems: string[] } {
  const problems: string[] = [];
  const cidrs = readCidrs(name, requested, problems);
  readExcludes(requested.excludeIps, problems);
  checkGateways(requested, cidrs, problems);
  if (requested.protocol !== '' && !['IPv4', 'IPv6', 'Dual'].includes(requested.protocol))
    problems.push(`${requested.protocol} is not a valid protocol type: it is IPv4, IPv6 or Dual`);
  for (const field of ['cooldownMs', 'bindingTimeoutMs'] as const)
    if (requested[field] !== undefined && !(Number.isSafeInteger(requested[field]) && requested[field] >= 0))
      problems.push(`${field} is a number of milliseconds from 0 up`);
  const most = requested.maxAddressesPerNamespace;
  if (most !== undefined && !(Number.isSafeInteger(most) && most >= 1))
    problems.push('maxAddressesPerNamespace is a number of addresses from 1 up');
  return problems.length > 0 ? { problems } : subnetOf(name, formatSubnet(requested));
}

/**
 * A spec in its normal form: canonical texts, IPv4 first, what is left out filled in, each gateway excluded. No rule is applied
 * to it here; what cannot be read is left out.
 */
export function formatSubnet(requested: RequestedSubnet): SubnetSpec {
  const cidrs = listed(requested.cidrBlock)
    .flatMap((text) => parseCidr(text) ?? [])
    .toSorted((a, b) => a.family - b.family);
  const given = listed(requested.gateway).flatMap((text) => parseAddress(text) ?? []);
  const gateways = ([4, 6] as const).flatMap((family) => {
    const cidr = cidrs.find((each) => each.family === family);
    const usual = cidr && { family, value: hostsOf(cidr).first };
    return given.find((each) => each.family === family) ?? usual ?? [];
  });
  const excludes = readExcludes(requested.excludeIps, []).concat(
    gateways.map(({ family, value }) => ({ family, first: value, last: value })),
  );
  return {
    cidrBlock: cidrs.map(formatCidr).join(','),
    gateway: gateways.map(formatAddress).join(','),
    excludeIps: formatExcludes(excludes),
    provider: requested.provider === '' ? 'ovn' : requested.provider,
    protocol: cidrs.length === 2 ? 'Dual' : cidrs[0]?.family === 4 ? 'IPv4' : 'IPv6',
    cooldownMs: requested.cooldownMs ?? defaultCooldownMs,
    bindingTimeoutMs: requested.bindingTimeoutMs ?? defaultBindingTimeoutMs,
    ...(requested.maxAddressesPerNamespace !== undefined && {
      maxAddressesPerNamespace: requested.maxAddressesPerNamespace,
    }),
  };
}

const listed = (texts: string): string[] => texts.split(',').map((text) => text.trim());

/** The subnet that a normalised spec describes: the way back from the log. @throws Error for a spec that is not normalised. */
export function subnetOf(name: string, spec: SubnetSpec): Subnet {
  const excluded = readExcludes(spec.excludeIps, []);
  const gateways = spec.gateway.split(',');
  const families = spec.cidrBlock.split(',').map((cidrText, index): SubnetFamily => {
    const cidr = parseCidr(cidrText);
    const gateway = parseAddress(gateways[index] ?? '');
    if (!cidr || gateway?.family !== cidr.family) throw new Error(`subnet ${name}: ${cidrText} via ${gateways[index]}`);
    const hosts = hostsOf(cidr);
    const holes = union(excluded.filter(({ family }) => family === cidr.family));
    const usable = minus([hosts], holes);
    const gatewayText = formatAddress(gateway);
    return { family: cidr.family, cidr, cidrText, gateway: gateway.value, gatewayText, hosts, usable };
  });
  const network = networkOf(spec.provider, name);
  return { name, spec, network, networks: [network], families };
}

/** Whether two subnets of one network would give the same address twice. */
export const overlaps = (one: Subnet, other: Subnet): boolean =>
  one.families.some((a) => other.families.some((b) => overlap(a.cidr, b.cidr)));

/** Network and broadcast address are no hosts, in both families as in Kube-OVN; a /31 and a /127 have two hosts. */
function hostsOf(cidr: Cidr): Interval {
  const last = lastOf(cidr);
  return last - cidr.base <= 1n ? { first: cidr.base, last } : { first: cidr.base + 1n, last: last - 1n };
}

const reservedCidrs: readonly (readonly [label: string, cidr: string])[] = [
  ['v4 loopback cidr', '127.0.0.1/8'],
  ['v4 multicast cidr', '224.0.0.0/4'],
  ['v4 link local cidr', '169.254.0.0/16'],
  ['v4 broadcast cidr', '255.255.255.255/32'],
  ['v4 localnet cidr', '0.0.0.0/32'],
  ['v6 unspecified cidr', '::/128'],
  ['v6 loopback cidr', '::1/128'],
  ['v6 multicast cidr', 'ff00::/8'],
  ['v6 link local cidr', 'FE80::/10'],
];

function readCidrs(name: string, { cidrBlock, gateway }: RequestedSubnet, problems: string[]): Cidr[] {
  if (cidrBlock.trim() === '') {
    problems.push('CIDRBlock: "" format error: write "10.1.0.0/16", "fd00:1::/64" or both joined with a comma');
    return [];
  }
  refuseUpperCase(`subnet cidr block ${cidrBlock}`, cidrBlock, problems);
  const cidrs: Cidr[] = [];
  for (const text of listed(cidrBlock)) {
    const cidr = parseCidr(text);
    if (!cidr) {
      problems.push(`subnet ${name} cidr ${text} is invalid: ${text} is not a valid cidr: write address/length`);
      continue;
    }
    if (/^(?:0\.0\.0\.0|255\.255\.255\.255)\//.test(text))
      problems.push(`invalid ${text.startsWith('0') ? 'zero' : 'broadcast'} cidr "${text}"`);
    for (const [label, reserved] of reservedCidrs)
      if (overlap(cidr, parseCidr(reserved.toLowerCase()) as Cidr))
        problems.push(`${text} conflict with ${label} ${reserved}`);
    if (lastOf(cidr) === cidr.base)
      problems.push(
        `validate gateway${gateway && ` ${gateway}`} for cidr ${text} failed: subnet ${text} is configured with /32 or /128 netmask, which leaves no address to give`,
      );
    cidrs.push(cidr);
  }
  if (cidrs.length > 2 || (cidrs.length === 2 && cidrs[0]?.family === cidrs[1]?.family))
    problems.push(`subnet ${name} cidr ${cidrBlock} is invalid: at most one of each family`);
  return cidrs.toSorted((a, b) => a.family - b.family);
}

/** IPv6 has no broadcast address: its last one may be a gateway's, though it is never given to a Pod. */
function checkGateways({ gateway, cidrBlock }: RequestedSubnet, cidrs: readonly Cidr[], problems: string[]): void {
  if (gateway.trim() === '') return;
  refuseUpperCase(`subnet gateway ${gateway}`, gateway, problems);
  for (const text of listed(gateway)) {
    const address = parseAddress(text);
    const cidr = cidrs.find(({ family }) => family === address?.family);
    if (!address) problems.push(`gateway ${text} is not a valid address`);
    else if (!cidr || address.value < cidr.base || address.value > lastOf(cidr))
      problems.push(`gateway ${text} is not in cidr ${cidrs.map(formatCidr).join(',') || cidrBlock}`);
    else if (address.value < hostsOf(cidr).first)
      problems.push(`${text} is the network number ip in cidr ${formatCidr(cidr)}`);
    else if (address.family === 4 && address.value > hostsOf(cidr).last)
      problems.push(`${text} is the broadcast ip in cidr ${formatCidr(cidr)}`);
  }
}

type FamilyInterval = Interval & { readonly family: Family };

/** What lies outside the CIDR is no error: it excludes nothing. */
function readExcludes(texts: readonly string[], problems: string[]): FamilyInterval[] {
  const intervals: FamilyInterval[] = [];
  for (const text of texts) {
    if (hasUpperCase(text)) problems.push(`subnet exclude ip ${text} can not contain upper case`);
    const ends = text.split('..');
    const [first, last = first, ...rest] = ends.map((end) => parseAddress(end.trim()));
    const bad = ends.find((end) => !parseAddress(end.trim()));
    if (bad !== undefined) problems.push(`ip ${bad} in excludeIps is not a valid address`);
    else if (!first || !last || rest.length > 0 || first.family !== last.family || first.value > last.value)
      problems.push(`${text} in excludeIps is not a valid ip range: write "first..last" of one family`);
    else intervals.push({ family: first.family, first: first.value, last: last.value });
  }
  return intervals;
}

function formatExcludes(intervals: readonly FamilyInterval[]): string[] {
  const texts = ([4, 6] as const).flatMap((family) =>
    union(intervals.filter((interval) => interval.family === family)).map(({ first, last }) => {
      const text = (value: bigint): string => formatAddress({ family, value });
      return first === last ? text(first) : `${text(first)}..${text(last)}`;
    }),
  );
  return texts.toSorted();
}

function refuseUpperCase(what: string, text: string, problems: string[]): void {
  if (hasUpperCase(text)) problems.push(`${what} v6 ip address can not contain upper case`);
}

const hasUpperCase = (text: string): boolean => text.includes(':') && /[A-F]/.test(text);
