/** The rows of a Subnet: its switch, and its connection to a router or a physical network. Pure. */
import { isIPv4 } from 'node:net';
import { localnetPortName, routerPortName, switchRouterPortName } from '../../../lib/ovn/names.ts';
import { type DesiredContainer, type DesiredOptions, type DesiredPort, ownerIds } from './desired-row.ts';
import { type GuestOptions, guestOptions, type GuestSettings, noGuestSettings, routerMac } from './dhcp-options.ts';
import type { LedgerSubnet } from './row-sources.ts';
import type { Problem } from './problem.ts';

/** The settings of a Subnet that the ledger does not contain. */
export interface SubnetSettings {
  /** Name of a Vlan object; "" for an overlay Subnet. */
  readonly vlan: string;
  /** Name of the router; "" for the default one. */
  readonly vpc: string;
  /** Whether OVN is the gateway of an underlay Subnet. */
  readonly hasLogicalGateway: boolean;
  /** DHCP and router advertisements. */
  readonly guests: GuestSettings;
  /** Fields that the projector does not support, such as "spec.natOutgoing". */
  readonly unsupported: readonly string[];
  /** Fields that cannot be parsed. With any, the Subnet gets a switch, but no connection. */
  readonly problems: readonly string[];
}

export interface Vlan {
  /** The VLAN id; 0 if untagged. */
  readonly id: number;
  /** Name of a ProviderNetwork. */
  readonly provider: string;
  /** Fields that cannot be parsed. */
  readonly problems: readonly string[];
}

/** The settings and other objects on which the rows of a Subnet depend. */
export interface SubnetContext {
  readonly ledger: string;
  readonly settings: SubnetSettings;
  readonly vlans: ReadonlyMap<string, Vlan>;
  readonly providerNetworks: ReadonlyMap<string, unknown>;
}

export interface SubnetRows {
  readonly containers: readonly DesiredContainer[];
  readonly ports: readonly DesiredPort[];
  readonly dhcp: readonly DesiredOptions[];
  readonly problems: readonly Problem[];
}

/** The router of Subnets without `vpc`, as in Kube-OVN. */
const defaultRouter = 'ovn-cluster';

export const overlayDefaults: SubnetSettings = {
  vlan: '',
  vpc: '',
  hasLogicalGateway: false,
  guests: noGuestSettings,
  unsupported: [],
  problems: [],
};

/** Computes the rows of a Subnet, and the reasons why some of them are missing. */
export function subnetRows(subnet: LedgerSubnet, context: SubnetContext): SubnetRows {
  const { ledger, settings } = context;
  const { name } = subnet;
  const problem = (kind: Problem['kind'], message: string): Problem => ({ kind, subject: `Subnet ${name}`, message });
  const problems = settings.unsupported.map((field) =>
    problem('unsupported', `${field} has no effect: the data path of ipledger does not have it. Remove the field`),
  );
  const guests = guestOptions(subnet, settings.guests, ledger);
  const hasRouter = settings.vlan === '' || settings.hasLogicalGateway;
  problems.push(
    ...guests.problems.map((each) => problem('invalid', `${each}. Guests learn no address. Correct the field`)),
  );
  if (guests.ra.size > 0 && !hasRouter)
    problems.push(
      problem('unsupported', 'spec.enableIPv6RA has no effect: the Subnet has no router. Set spec.logicalGateway'),
    );
  const parts: Pick<SubnetRows, 'containers' | 'ports'>[] = [
    { containers: [{ table: 'Logical_Switch', name, externalIds: ownerIds(ledger) }], ports: [] },
  ];
  if (settings.problems.length > 0)
    problems.push(...settings.problems.map((each) => problem('invalid', `${each}. Correct the field`)));
  else {
    const localnet = settings.vlan === '' ? undefined : localnetPort(name, context);
    if (localnet && 'reason' in localnet) problems.push(problem(localnet.kind, localnet.reason));
    else if (localnet) parts.push({ containers: [], ports: [localnet] });
    if (hasRouter) parts.push(routerRows(subnet, context, guests));
  }
  return {
    containers: parts.flatMap(({ containers }) => containers),
    ports: parts.flatMap(({ ports }) => ports),
    dhcp: guests.dhcp,
    problems,
  };
}

interface Missing {
  readonly kind: Problem['kind'];
  readonly reason: string;
}

function localnetPort(
  subnet: string,
  { ledger, settings, vlans, providerNetworks }: SubnetContext,
): DesiredPort | Missing {
  const vlan = vlans.get(settings.vlan);
  const noWire = 'the Subnet has no connection to its physical network';
  if (!vlan)
    return {
      kind: 'vlan-missing',
      reason: `spec.vlan names Vlan ${settings.vlan}, which does not exist: ${noWire}. Create the Vlan`,
    };
  const [first] = vlan.problems;
  if (first !== undefined)
    return { kind: 'invalid', reason: `Vlan ${settings.vlan}: ${first}: ${noWire}. Correct the field` };
  if (!providerNetworks.has(vlan.provider))
    return {
      kind: 'provider-network-missing',
      reason: `Vlan ${settings.vlan} names ProviderNetwork "${vlan.provider}", which does not exist: ${noWire}. Create the ProviderNetwork`,
    };
  return {
    table: 'Logical_Switch_Port',
    name: localnetPortName(subnet),
    parent: subnet,
    columns: {
      type: 'localnet',
      addresses: new Set(['unknown']),
      port_security: new Set(),
      options: new Map([['network_name', vlan.provider]]),
      tag: vlan.id === 0 ? undefined : vlan.id,
    },
    externalIds: new Map([...ownerIds(ledger), ['ls', subnet]]),
  };
}

/** Makes the router, its port with the gateway's addresses, and the switch port for it. */
function routerRows(
  { name, cidrs, gateways }: LedgerSubnet,
  { ledger, settings }: SubnetContext,
  { ra }: GuestOptions,
): Pick<SubnetRows, 'containers' | 'ports'> {
  const router = settings.vpc || defaultRouter;
  const networks = gateways.flatMap((gateway) => {
    const cidr = cidrs.find((each) => isIPv4(each.split('/')[0] ?? '') === isIPv4(gateway));
    return cidr === undefined ? [] : [`${gateway}/${cidr.split('/')[1] ?? ''}`];
  });
  // OVN rejects a router port without an address
  if (networks.length === 0) return { containers: [], ports: [] };
  const externalIds = new Map([...ownerIds(ledger), ['ls', name], ['lr', router]]);
  const routerPort: DesiredPort = {
    table: 'Logical_Router_Port',
    name: routerPortName(router, name),
    parent: router,
    columns: { mac: routerMac(ledger, router, name), networks: new Set(networks), ipv6_ra_configs: ra },
    externalIds,
  };
  const switchPort: DesiredPort = {
    table: 'Logical_Switch_Port',
    name: switchRouterPortName(router, name),
    parent: name,
    router,
    columns: {
      type: 'router',
      addresses: new Set(['router']),
      port_security: new Set(),
      options: new Map([['router-port', routerPort.name]]),
      tag: undefined,
    },
    externalIds,
  };
  return {
    containers: [{ table: 'Logical_Router', name: router, externalIds: ownerIds(ledger) }],
    ports: [routerPort, switchPort],
  };
}
