/**
 * A Subnet in force, ready for arithmetic.
 *
 *   172.17.0.0   .1      .11                          .255.254   .255.255      usable = hosts without excludes;
 *   ├─ network ──┼─ gw ──┼──────── usable ─────────────┤── broadcast ┤         the gateway is always excluded
 *                └ excludeIps ┘
 */
import {
  type Cidr,
  type Family,
  formatAddress,
  lastAddressOf,
  cidrsOverlap,
  parseAddress,
  parseCidr,
} from '../addresses/address.ts';
import { type Interval, difference, union } from '../addresses/interval.ts';
import type { SubnetSpec } from '../values/configuration.ts';
import { readExcludes } from './exclude-ips.ts';
import { networkOf } from './network.ts';

/** One family of a subnet. */
export interface SubnetFamily {
  readonly family: Family;
  readonly cidr: Cidr;
  readonly cidrText: string;
  readonly gateway: bigint;
  readonly gatewayText: string;
  /** The addresses that a host can have. */
  readonly hosts: Interval;
  /** The hosts without the excludes: what can be allocated dynamically. */
  readonly usable: readonly Interval[];
}

export interface Subnet {
  readonly name: string;
  readonly spec: SubnetSpec;
  /** The network of the subnet's provider, as `networkOf` returns it. */
  readonly network: string;
  /** `network` alone, as one array that is shared by all claims that are used only there. */
  readonly networks: readonly string[];
  /** IPv4 before IPv6. */
  readonly families: readonly SubnetFamily[];
}

/** Builds the subnet from a normalised spec. @throws Error for a spec that is not normalised */
export function subnetFromSpec(name: string, spec: SubnetSpec): Subnet {
  const excluded = readExcludes(spec.excludeIps, []);
  const gateways = spec.gateway.split(',');
  const families = spec.cidrBlock.split(',').map((cidrText, index): SubnetFamily => {
    const cidr = parseCidr(cidrText);
    const gateway = parseAddress(gateways[index] ?? '');
    if (!cidr || gateway?.family !== cidr.family) throw new Error(`subnet ${name}: ${cidrText} via ${gateways[index]}`);
    const hosts = hostsOf(cidr);
    const holes = union(excluded.filter(({ family }) => family === cidr.family));
    const usable = difference([hosts], holes);
    const gatewayText = formatAddress(gateway);
    return { family: cidr.family, cidr, cidrText, gateway: gateway.value, gatewayText, hosts, usable };
  });
  const network = networkOf(spec.provider, name);
  return { name, spec, network, networks: [network], families };
}

export const subnetsOverlap = (one: Subnet, other: Subnet): boolean =>
  one.families.some((a) => other.families.some((b) => cidrsOverlap(a.cidr, b.cidr)));

/** All addresses except the first and the last, as in Kube-OVN. A /31 and a /127 have two hosts. */
export function hostsOf(cidr: Cidr): Interval {
  const last = lastAddressOf(cidr);
  return last - cidr.base <= 1n ? { first: cidr.base, last } : { first: cidr.base + 1n, last: last - 1n };
}
