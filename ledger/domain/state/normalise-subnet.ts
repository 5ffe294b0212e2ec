/**
 * Validates and normalises the configuration of a Subnet. The rules and messages are those of
 * Kube-OVN's ValidateSubnet and formatSubnet, because users search for them.
 */
import {
  type Cidr,
  cidrsOverlap,
  formatAddress,
  formatCidr,
  lastAddressOf,
  parseAddress,
  parseCidr,
} from '../addresses/address.ts';
import { proposeForm } from '../addresses/address-form.ts';
import { defaultCooldownTimes, type RequestedSubnet } from '../commands/command.ts';
import type { SubnetSpec } from '../values/configuration.ts';
import { formatExcludes, hasUpperCaseIpv6, readExcludes } from './exclude-ips.ts';
import { hostsOf, type Subnet, subnetFromSpec } from './subnet.ts';

/** Validates and normalises a configuration. `problems` lists everything that is wrong with it. */
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
  const limit = requested.maxAddressesPerNamespace;
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 1))
    problems.push('maxAddressesPerNamespace is a number of addresses from 1 up');
  return problems.length > 0 ? { problems } : subnetFromSpec(name, formatSubnet(requested));
}

/**
 * Returns a configuration in normal form: canonical texts, IPv4 first, defaults filled in, each
 * gateway excluded. Does not validate: text that cannot be parsed is left out.
 */
export function formatSubnet(requested: RequestedSubnet): SubnetSpec {
  const cidrs = listed(requested.cidrBlock)
    .flatMap((text) => parseCidr(text) ?? [])
    .toSorted((a, b) => a.family - b.family);
  const given = listed(requested.gateway).flatMap((text) => parseAddress(text) ?? []);
  const gateways = ([4, 6] as const).flatMap((family) => {
    const cidr = cidrs.find((each) => each.family === family);
    const defaultGateway = cidr && { family, value: hostsOf(cidr).first };
    return given.find((each) => each.family === family) ?? defaultGateway ?? [];
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
    cooldownMs: requested.cooldownMs ?? defaultCooldownTimes.cooldownMs,
    bindingTimeoutMs: requested.bindingTimeoutMs ?? defaultCooldownTimes.bindingTimeoutMs,
    ...(requested.maxAddressesPerNamespace !== undefined && {
      maxAddressesPerNamespace: requested.maxAddressesPerNamespace,
    }),
    ...(requested.probeAddresses && { probeAddresses: true }),
  };
}

const listed = (texts: string): string[] => texts.split(',').map((text) => text.trim());

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
      if (cidrsOverlap(cidr, parseCidr(reserved.toLowerCase()) as Cidr))
        problems.push(`${text} conflict with ${label} ${reserved}`);
    if (lastAddressOf(cidr) === cidr.base)
      problems.push(
        `validate gateway${gateway && ` ${gateway}`} for cidr ${text} failed: subnet ${text} is configured with /32 or /128 netmask, which leaves no address to give`,
      );
    cidrs.push(cidr);
  }
  if (cidrs.length > 2 || (cidrs.length === 2 && cidrs[0]?.family === cidrs[1]?.family))
    problems.push(`subnet ${name} cidr ${cidrBlock} is invalid: at most one of each family`);
  return cidrs.toSorted((a, b) => a.family - b.family);
}

/** IPv6 has no broadcast: the last address may be a gateway, but is never allocated. */
function checkGateways({ gateway, cidrBlock }: RequestedSubnet, cidrs: readonly Cidr[], problems: string[]): void {
  if (gateway.trim() === '') return;
  refuseUpperCase(`subnet gateway ${gateway}`, gateway, problems);
  for (const text of listed(gateway)) {
    const address = parseAddress(text);
    const cidr = cidrs.find(({ family }) => family === address?.family);
    if (!address) problems.push(`gateway ${text} is not a valid address${proposeForm(text, 'address')}`);
    else if (!cidr || address.value < cidr.base || address.value > lastAddressOf(cidr))
      problems.push(`gateway ${text} is not in cidr ${cidrs.map(formatCidr).join(',') || cidrBlock}`);
    else if (address.value < hostsOf(cidr).first)
      problems.push(`${text} is the network number ip in cidr ${formatCidr(cidr)}`);
    else if (address.family === 4 && address.value > hostsOf(cidr).last)
      problems.push(`${text} is the broadcast ip in cidr ${formatCidr(cidr)}`);
  }
}

function refuseUpperCase(what: string, text: string, problems: string[]): void {
  if (hasUpperCaseIpv6(text)) problems.push(`${what} v6 ip address can not contain upper case`);
}
