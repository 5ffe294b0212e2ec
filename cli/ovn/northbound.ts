/** What the northbound database of OVN has, as far as it is compared with the ledger. */
import { vendor } from '../../lib/ovn/names.ts';
import { type Row, textMap, textOf, textSet } from '../../lib/ovsdb/values.ts';

export interface LogicalPort {
  readonly name: string;
  /** The name of its switch; "" if no switch has it. */
  readonly switch: string;
  /** Whether ipledger owns the row. */
  readonly isOurs: boolean;
  /** "" for the port of a Pod; "router", "localnet" and others for ports of the network itself. */
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
