/** The DHCP options and IPv6 router advertisements of a Subnet for its guests. Pure. */
import { isIPv4 } from 'node:net';
import { createHash } from 'node:crypto';
import { type DesiredOptions, optionsName, ownerIds } from './desired-row.ts';
import type { LedgerSubnet } from './row-sources.ts';

export interface GuestSettings {
  readonly enableDHCP: boolean;
  /** Pairs `key=value`, joined by commas; "" for the defaults alone. */
  readonly dhcpV4Options: string;
  readonly dhcpV6Options: string;
  readonly enableIPv6RA: boolean;
  readonly ipv6RAConfigs: string;
  /** The MTU in bytes; 0 if not set. */
  readonly mtu: number;
  /** Fields that cannot be parsed. If there are any, the Subnet advertises nothing. */
  readonly problems: readonly string[];
}

export const noGuestSettings: GuestSettings = {
  enableDHCP: false,
  dhcpV4Options: '',
  dhcpV6Options: '',
  enableIPv6RA: false,
  ipv6RAConfigs: '',
  mtu: 0,
  problems: [],
};

const raDefaults = { address_mode: 'dhcpv6_stateful', max_interval: '30', min_interval: '5', send_periodic: 'true' };

/** Rejects characters that end or split an action, into which northd copies options. */
const item = '[A-Za-z0-9._:/-]+';
const option = new RegExp(
  `^([a-z][a-z0-9_]{0,31}) *= *(${item}|"[A-Za-z0-9._:/ -]+"|\\{?${item}(?: *; *${item})* *\\}?)$`,
);

/** Parses `key=value` joined by commas. Lists have semicolons: `dns_server=10.0.0.2;10.0.0.3`. */
export function parseOptions(text: string): ReadonlyMap<string, string> | { readonly problem: string } {
  const options = new Map<string, string>();
  for (const part of text === '' ? [] : text.split(',')) {
    const [, key = '', value = ''] = option.exec(part.trim()) ?? [];
    if (key === '' || value.startsWith('{') !== value.endsWith('}'))
      return {
        problem: `"${part.trim()}" must be key=value, where a list has semicolons, as dns_server=10.0.0.2;10.0.0.3`,
      };
    if (options.has(key)) return { problem: `${key} is there twice` };
    const items = value.replace(/[{}]/g, '').split(';');
    options.set(key, items.length > 1 ? `{${items.map((each) => each.trim()).join(', ')}}` : value);
  }
  return options;
}

export interface GuestOptions {
  readonly dhcp: readonly DesiredOptions[];
  /** The column `ipv6_ra_configs` of the router port; empty if the Subnet advertises nothing. */
  readonly ra: ReadonlyMap<string, string>;
  readonly problems: readonly string[];
}

/** Merges the options with Kube-OVN's defaults. The server's MAC is the same each time. */
export function guestOptions(
  { name, cidrs, gateways }: LedgerSubnet,
  settings: GuestSettings,
  ledger: string,
): GuestOptions {
  const problems = [...settings.problems];
  const read = (field: 'dhcpV4Options' | 'dhcpV6Options' | 'ipv6RAConfigs') => {
    const options = parseOptions(settings[field]);
    if (!('problem' in options)) return options;
    problems.push(`spec.${field}: ${options.problem}`);
    return undefined;
  };
  const [v4, v6, configs] = [read('dhcpV4Options'), read('dhcpV6Options'), read('ipv6RAConfigs')];
  if (!v4 || !v6 || !configs || problems.length > 0) return { dhcp: [], ra: new Map(), problems };
  const mac = routerMac(ledger, 'dhcp', name);
  const router = gateways.find(isIPv4);
  const defaults = {
    IPv4: [
      ['lease_time', '3600'],
      ['server_id', '169.254.0.254'],
      ['server_mac', mac],
      ...(router === undefined ? [] : [['router', router] as const]),
      ...(settings.mtu === 0 ? [] : [['mtu', String(settings.mtu)] as const]),
    ],
    IPv6: [['server_id', mac]],
  } as const;
  const dhcp = (settings.enableDHCP ? cidrs : []).map((cidr): DesiredOptions => {
    const family = isIPv4(cidr.split('/')[0] ?? '') ? 'IPv4' : 'IPv6';
    return {
      table: 'DHCP_Options',
      name: optionsName(name, family),
      columns: { cidr, options: new Map([...defaults[family], ...(family === 'IPv4' ? v4 : v6)]) },
      externalIds: new Map([...ownerIds(ledger), ['ls', name], ['protocol', family]]),
    };
  });
  const hasRa = settings.enableIPv6RA && gateways.some((gateway) => !isIPv4(gateway));
  const ra = configs.size > 0 ? configs : Object.entries(raDefaults);
  return { dhcp, ra: new Map(hasRa ? ra : []), problems };
}

/**
 * Computes a locally administered MAC (IEEE 802, bit 1 of the first octet). It is always the same,
 * so that Pods need not resolve their gateway again. The ledger id distinguishes the routers of two
 * clusters that share a physical network.
 */
export function routerMac(ledger: string, router: string, subnet: string): string {
  const digest = createHash('sha256').update([ledger, router, subnet].join('/')).digest();
  return ['0e', ...[...digest.subarray(0, 5)].map((octet) => octet.toString(16).padStart(2, '0'))].join(':');
}
