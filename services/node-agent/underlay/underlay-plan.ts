/**
 * Plans the bridges of physical networks on one node: compares what is desired with what the node's
 * Open vSwitch has. Pure.
 *
 * Bridges and ports of other programs are never changed, and their mappings stay. A bridge of the
 * agent that no network needs is removed when no other program has a port on it. While a Pod of the
 * node uses the network, ovn-controller has one, so a lost object does not interrupt the traffic of
 * Pods.
 */
import type { NodeLink } from './node-links.ts';
import { bridgeOf, type ProviderNetwork } from './provider-network.ts';
import { vendor } from '../../../lib/ovn/names.ts';
import { type Row, textMap, textOf, textSet } from '../../../lib/ovsdb/values.ts';
import type { OvsRow, OvsTable } from '../ovs/ovs-database.ts';

export interface UnderlayInput {
  readonly networks: readonly ProviderNetwork[];
  readonly links: readonly NodeLink[];
  readonly present: PresentUnderlay;
}

export type UnderlayChange =
  | { readonly kind: 'add bridge'; readonly bridge: string; readonly nic: string }
  | { readonly kind: 'remove bridge'; readonly bridge: PresentBridge }
  | { readonly kind: 'add port'; readonly bridge: PresentBridge; readonly nic: string }
  | { readonly kind: 'remove port'; readonly bridge: PresentBridge; readonly port: PresentPort }
  | { readonly kind: 'set mappings'; readonly mappings: readonly BridgeMapping[] };

/** A network that the agent cannot serve on this node, with the reason. */
export interface Refusal {
  readonly network: string;
  readonly problem: string;
}

export interface UnderlayPlan {
  /** The changes to make; empty if the node has what is desired. */
  readonly changes: readonly UnderlayChange[];
  readonly refusals: readonly Refusal[];
  /** The networks that the node serves after the changes. */
  readonly served: readonly string[];
  /** NICs that are down and must be set up. */
  readonly linksDown: readonly string[];
}

/** Plans the changes in time and memory that are linear in the input. */
export function planUnderlay(input: UnderlayInput): UnderlayPlan {
  const { networks, present } = input;
  const view = createView(input);
  const [changes, refusals, served]: [UnderlayChange[], Refusal[], ProviderNetwork[]] = [[], [], []];
  const kept = new Set<string>();
  for (const network of networks.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const outcome = planNetwork(network, view);
    if (outcome === 'elsewhere') continue;
    kept.add(bridgeOf(network.name));
    if ('problem' in outcome) refusals.push({ network: network.name, problem: outcome.problem });
    else {
      changes.push(...outcome.changes);
      served.push(network);
    }
  }
  const removed = present.bridges.filter(({ name, isOurs }) => isOurs && !kept.has(name));
  const unused = removed.filter((bridge) => bridge.ports.every(({ name, isOurs }) => isOurs || name === bridge.name));
  changes.push(...unused.map((bridge): UnderlayChange => ({ kind: 'remove bridge', bridge })));
  const mappings = planMappings(present.mappings, served, new Set(unused.map(({ name }) => name)));
  if (mappings) changes.push({ kind: 'set mappings', mappings });
  const linksDown = served.flatMap(({ nic = '' }) => (view.links.get(nic)?.isUp === false ? [nic] : []));
  return { changes, refusals, served: served.map(({ name }) => name), linksDown };
}

/** The input by name, and the NICs that ProviderNetworks have taken so far. */
interface View {
  readonly links: ReadonlyMap<string, NodeLink>;
  /** Links with addresses, keyed by the link below them. */
  readonly users: ReadonlyMap<string, NodeLink>;
  readonly bridges: ReadonlyMap<string, PresentBridge>;
  /** The bridge that has a port of this name. */
  readonly bridgeOfPort: ReadonlyMap<string, PresentBridge>;
  readonly mappings: ReadonlyMap<string, string>;
  readonly takenBy: Map<string, string>;
}

const createView = ({ links, present: { bridges, mappings } }: UnderlayInput): View => ({
  links: new Map(links.map((link) => [link.name, link])),
  users: new Map(links.filter(({ addresses }) => addresses.length > 0).map((link) => [link.parent, link])),
  bridges: new Map(bridges.map((bridge) => [bridge.name, bridge])),
  bridgeOfPort: new Map(bridges.flatMap((bridge) => bridge.ports.map(({ name }) => [name, bridge] as const))),
  mappings: new Map(mappings.map(({ network, bridge }) => [network, bridge])),
  takenBy: new Map(),
});

type Outcome = 'elsewhere' | { readonly problem: string } | { readonly changes: readonly UnderlayChange[] };

function planNetwork({ name, nic, problem }: ProviderNetwork, view: View): Outcome {
  if (problem !== undefined) return { problem };
  if (nic === undefined) return 'elsewhere';
  const bridge = view.bridges.get(bridgeOf(name));
  const found = findProblem(name, nic, view) ?? (bridge ? foreignBridgeProblem(name, nic, bridge, view) : undefined);
  if (found !== undefined) return { problem: found };
  view.takenBy.set(nic, name);
  if (!bridge) return { changes: [{ kind: 'add bridge', bridge: bridgeOf(name), nic }] };
  if (!bridge.isOurs) return { changes: [] };
  const others = bridge.ports.filter((port) => port.isOurs && port.name !== nic);
  return {
    changes: [
      ...others.map((port): UnderlayChange => ({ kind: 'remove port', bridge, port })),
      ...(bridge.ports.some((port) => port.name === nic) ? [] : [{ kind: 'add port' as const, bridge, nic }]),
    ],
  };
}

/** Returns why the NIC cannot be connected to the network's bridge. */
function findProblem(name: string, nic: string, { links, users, bridgeOfPort, mappings, takenBy }: View) {
  const mapped = mappings.get(name);
  if (mapped !== undefined && mapped !== bridgeOf(name))
    return `another program maps the network to bridge ${mapped || 'none'}: remove it from external_ids:ovn-bridge-mappings, or rename the ProviderNetwork`;
  const other = takenBy.get(nic);
  if (other !== undefined) return `its NIC ${nic} is in use by ProviderNetwork ${other}: name another NIC`;
  const holder = bridgeOfPort.get(nic);
  if (holder && holder.name !== bridgeOf(name))
    return `its NIC ${nic} is a port of bridge ${holder.name}: remove the port, or name another NIC`;
  const link = links.get(nic);
  // Accepts a NIC that the kernel does not show if it is a port of another program's bridge.
  if (holder && (link || !holder.isOurs)) return undefined;
  if (!link) return `the node has no NIC ${nic}: add the node to excludeNodes, or to customInterfaces with another NIC`;
  if (link.master !== '') return `its NIC ${nic} is a port of ${link.master}: name that link, or another NIC`;
  const [user, address] = [link, users.get(nic)].flatMap((each) =>
    each?.addresses[0] ? [each.name, each.addresses[0]] : [],
  );
  if (address === undefined) return undefined;
  return `${user === nic ? `its NIC ${nic}` : `${user} on its NIC ${nic}`} has the address ${address}, which would not be reachable any more: remove the address, or name another NIC`;
}

/** Returns why another program's bridge cannot serve: it needs the NIC and the mapping. */
function foreignBridgeProblem(name: string, nic: string, { isOurs, ports }: PresentBridge, { mappings }: View) {
  if (isOurs || (mappings.has(name) && ports.some((port) => port.name === nic))) return undefined;
  return `bridge ${bridgeOf(name)} belongs to another program: delete the bridge, or add NIC ${nic} and the mapping ${name}:${bridgeOf(name)} yourself`;
}

/** Returns all mappings if they change. Mappings of other programs keep their place. */
function planMappings(
  present: readonly BridgeMapping[],
  served: readonly ProviderNetwork[],
  removedBridges: ReadonlySet<string>,
): BridgeMapping[] | undefined {
  const known = new Set(present.map(({ network }) => network));
  const kept = present.filter(({ bridge }) => !removedBridges.has(bridge));
  const added = served
    .filter(({ name }) => !known.has(name))
    .map(({ name }) => ({ network: name, bridge: bridgeOf(name) }));
  return kept.length === present.length && added.length === 0 ? undefined : [...kept, ...added];
}

export interface PresentPort {
  readonly uuid: string;
  readonly name: string;
  /** Whether an agent made the port. ovn-controller makes ports while a Pod uses the network. */
  readonly isOurs: boolean;
}

export interface PresentBridge {
  readonly uuid: string;
  readonly name: string;
  readonly isOurs: boolean;
  readonly ports: readonly PresentPort[];
}

export interface PresentUnderlay {
  readonly bridges: readonly PresentBridge[];
  readonly mappings: readonly BridgeMapping[];
}

/** Reads bridges, ports and mappings from the rows of the database. */
export function presentUnderlay(root: OvsRow, rows: (table: OvsTable) => ReadonlyMap<string, Row>): PresentUnderlay {
  const [bridges, ports] = [rows('Bridge'), rows('Port')];
  return {
    bridges: [...textSet(root.row['bridges'])].flatMap((uuid) => {
      const row = bridges.get(uuid);
      if (!row) return [];
      const own = [...textSet(row['ports'])].flatMap((port) => presentPort(port, ports.get(port)));
      return [{ uuid, name: textOf(row['name']), isOurs: isOurs(row), ports: own }];
    }),
    mappings: parseMappings(textMap(root.row['external_ids']).get(mappingsKey) ?? ''),
  };
}

function presentPort(uuid: string, row: Row | undefined): PresentPort[] {
  return row ? [{ uuid, name: textOf(row['name']), isOurs: isOurs(row) }] : [];
}

const isOurs = (row: Row): boolean => textMap(row['external_ids']).get('vendor') === vendor;

/** The bridge on which OVN finds a network. */
export interface BridgeMapping {
  readonly network: string;
  readonly bridge: string;
}

/** The key of Open_vSwitch.external_ids that holds the mappings (ovn-controller(8)). */
export const mappingsKey = 'ovn-bridge-mappings';

/** Parses `network:bridge,…`. Keeps a part of another form as a mapping without a bridge. */
export function parseMappings(text: string): BridgeMapping[] {
  return text
    .split(',')
    .filter((entry) => entry !== '')
    .map((entry) => {
      const at = entry.indexOf(':');
      return at < 0 ? { network: entry, bridge: '' } : { network: entry.slice(0, at), bridge: entry.slice(at + 1) };
    });
}

/** Formats what `parseMappings` parses. */
export const formatMappings = (mappings: readonly BridgeMapping[]): string =>
  mappings.map(({ network, bridge }) => (bridge === '' ? network : `${network}:${bridge}`)).join(',');
