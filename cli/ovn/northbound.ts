/** The rows of OVN's northbound database, compared with the ledger. Pure. */
import { vendor, logicalPortName } from '../../lib/ovn/names.ts';
import { type Row, textMap, textOf, textSet } from '../../lib/ovsdb/values.ts';
import { isOvnProvider } from '../../lib/kubernetes/served-network.ts';
import type { Allocation, Subnet } from '../../proto/generated/ipledger.ts';
import { formatPodName } from '../../lib/ledger-text/texts.ts';
import { formatShellCommand, restartProjectorCommand } from '../shell-command.ts';

export interface LogicalPort {
  readonly name: string;
  /** The name of its switch; "" if no switch has it. */
  readonly switch: string;
  /** Whether ipledger owns the row. */
  readonly isOurs: boolean;
  /** The type: "" for the port of a Pod; "router", "localnet" and others for the network itself. */
  readonly type: string;
  /** Each is a MAC and addresses, separated by spaces. */
  readonly addresses: readonly string[];
  /** The nodes on which the port may be, separated by commas; "" for any. */
  readonly requestedChassis: string;
  /** Whether a node has connected the port. */
  readonly isUp: boolean;
}

export interface LogicalSwitch {
  readonly name: string;
  readonly isOurs: boolean;
}

export interface Northbound {
  readonly switches: readonly LogicalSwitch[];
  readonly ports: readonly LogicalPort[];
}

/** The columns that `parseNorthbound` reads. */
export const northboundColumns = {
  Logical_Switch: ['name', 'ports', 'external_ids'],
  Logical_Switch_Port: ['name', 'type', 'addresses', 'options', 'up', 'external_ids'],
};

/** Rows by UUID, of one table. */
type Rows = ReadonlyMap<string, Row>;

/**
 * Converts the rows of the two tables.
 * @param ledger id of the ledger whose rows are ours; undefined: of any ledger
 */
export function parseNorthbound(switchRows: Rows, portRows: Rows, ledger: string | undefined): Northbound {
  const isOurs = ({ external_ids: ids }: Row): boolean =>
    mapText(ids, 'vendor') === vendor && (ledger === undefined || mapText(ids, 'ipledger') === ledger);
  const switchOf = new Map<string, string>();
  for (const { name, ports } of switchRows.values())
    for (const uuid of textSet(ports)) switchOf.set(uuid, textOf(name));
  return {
    switches: [...switchRows.values()].map((row) => ({ name: textOf(row['name']), isOurs: isOurs(row) })),
    ports: [...portRows].map(([uuid, row]) => ({
      name: textOf(row['name']),
      switch: switchOf.get(uuid) ?? '',
      isOurs: isOurs(row),
      type: textOf(row['type']),
      addresses: [...textSet(row['addresses'])],
      requestedChassis: mapText(row['options'], 'requested-chassis'),
      isUp: row['up'] === true,
    })),
  };
}

/** The text under a key of a map; "" without it. */
export const mapText = (value: Row[string], key: string): string => textMap(value).get(key) ?? '';

/** The part of the ledger that OVN shows. */
interface LedgerRows {
  readonly allocations: readonly Allocation[];
  /** Current Subnets. */
  readonly subnets: readonly Pick<Subnet, 'name' | 'spec'>[];
}

/** The allocations that have a logical port, by the name of the port. */
export const portsOfLedger = (allocations: readonly Allocation[]): Map<string, Allocation> =>
  new Map(
    allocations.flatMap((allocation) => {
      const { attachment } = allocation;
      return attachment && isOvnProvider(attachment.provider) ? [[logicalPortName(attachment), allocation]] : [];
    }),
  );

/** Finds missing switches, then missing and different ports, then ports without an allocation. */
export function compareNorthbound(ledger: LedgerRows, northbound: Northbound, namespace: string): OvnDrift[] {
  const expected = portsOfLedger(ledger.allocations);
  const present = Map.groupBy(northbound.ports, ({ name }) => name);
  return [
    ...ledger.subnets
      .filter(({ spec }) => spec && isOvnProvider(spec.provider))
      .flatMap(({ name }) => compareSwitch(name, northbound, namespace)),
    ...[...expected].flatMap(([name, allocation]) => comparePort(name, allocation, present.get(name) ?? [], namespace)),
    ...northbound.ports
      .filter(({ name, isOurs, type }) => isOurs && type === '' && !expected.has(name))
      .map(({ name, addresses }): OvnDrift => {
        const what = `it has ${addresses.join(', ') || 'no address'}; the ledger has no such allocation`;
        const remedy = restartProjectorCommand(namespace);
        return { kind: 'OVN port without allocation', where: `port ${name}`, what, remedy };
      }),
  ];
}

/**
 * Compares the logical port of one allocation.
 * @param found the ports of this name
 * @param namespace that of the ovn-projector
 */
export function comparePort(
  name: string,
  allocation: Allocation,
  found: readonly LogicalPort[],
  namespace: string,
): OvnDrift[] {
  const where = `port ${name}`;
  const pod = `Pod ${formatPodName(allocation.attachment)}`;
  const own = found.find(({ isOurs }) => isOurs);
  const [foreign] = found;
  if (!own && foreign) {
    const what = `another program owns it; the ledger has it for ${pod}`;
    const remedy = formatShellCommand(
      ['ovn-nbctl', 'list', 'Logical_Switch_Port', name],
      'find the program that made it, and remove it there',
    );
    return [{ kind: 'OVN name conflict', where, what, remedy }];
  }
  if (!own) {
    const what = `it does not exist; the ledger has ${addressesOf(allocation)} of subnet ${allocation.subnet} for ${pod}`;
    return [{ kind: 'OVN port missing', where, what, remedy: restartProjectorCommand(namespace) }];
  }
  return differences(own, allocation).map((what) => ({
    kind: 'OVN port differs',
    where,
    what,
    remedy: restartProjectorCommand(namespace),
  }));
}

function compareSwitch(name: string, { switches }: Northbound, namespace: string): OvnDrift[] {
  const found = switches.filter((each) => each.name === name);
  if (found.some(({ isOurs }) => isOurs)) return [];
  const where = `switch ${name}`;
  if (found.length === 0) {
    const what = `it does not exist; the ledger has subnet ${name}`;
    return [{ kind: 'OVN switch missing', where, what, remedy: restartProjectorCommand(namespace) }];
  }
  const what = `another program owns it; the ledger has subnet ${name}`;
  const remedy = formatShellCommand(
    ['ovn-nbctl', 'list', 'Logical_Switch', name],
    'find the program that made it, and remove it there',
  );
  return [{ kind: 'OVN name conflict', where, what, remedy }];
}

/** Describes each field that differs. */
function differences(port: LogicalPort, allocation: Allocation): string[] {
  const [addresses, nodes] = [addressesOf(allocation), nodesOf(allocation)];
  const fields = [
    ['switch', port.switch, allocation.subnet],
    ['addresses', port.addresses.map(sortedWords).join(', '), sortedWords(addresses)],
    ['requested-chassis', sortedNodes(port.requestedChassis.split(',')), sortedNodes(nodes)],
  ] as const;
  return fields
    .filter(([, present, expected]) => present.toLowerCase() !== expected.toLowerCase())
    .map(([field, present, expected]) => `its ${field} is ${present || 'empty'}; the ledger has ${expected || 'none'}`);
}

/** MAC and addresses in the form of OVN. */
const addressesOf = ({ mac, addresses }: Allocation): string =>
  [mac, ...addresses.map(({ address }) => address)].filter((word) => word !== '').join(' ');

/** Lists the nodes of containers since the allocation; before the first, the Pod's node. */
function nodesOf({ at, bindings, node }: Allocation): string[] {
  const current = bindings.filter((binding) => Date.parse(binding.at) >= Date.parse(at));
  return current.length > 0 ? current.map((binding) => binding.node) : [node];
}

const sortedWords = (text: string): string => text.split(/\s+/).toSorted().join(' ');

const sortedNodes = (nodes: readonly string[]): string =>
  [...new Set(nodes.filter((node) => node !== ''))].toSorted().join(',');

export interface OvnDrift {
  readonly kind: OvnDriftKind;
  /** The row: "port web.default.net.default.ovn", "switch lan", … */
  readonly where: string;
  /** The values of both sides. */
  readonly what: string;
  /** A command that removes the difference; after a #, a comment. */
  readonly remedy: string;
}

export type OvnDriftKind =
  | 'OVN switch missing'
  | 'OVN port missing'
  | 'OVN port differs'
  | 'OVN port without allocation'
  | 'OVN name conflict'
  | 'OVS port missing'
  | 'OVS port without binding';
