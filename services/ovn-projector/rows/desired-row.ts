/** A row to write to the northbound database. Pure. */
import { vendor } from '../../../lib/ovn/names.ts';
import { type Row, textMap, type Value } from '../../../lib/ovsdb/values.ts';

/** The tables in which ipledger owns rows. */
export const ownedTables = [
  'Logical_Switch',
  'Logical_Router',
  'Logical_Switch_Port',
  'Logical_Router_Port',
  'DHCP_Options',
] as const;
export type OwnedTable = (typeof ownedTables)[number];

/** The table whose `ports` refer to a port table. OVN deletes ports without a reference. */
export const parentTables = {
  Logical_Switch_Port: 'Logical_Switch',
  Logical_Router_Port: 'Logical_Router',
} as const satisfies Partial<Record<OwnedTable, OwnedTable>>;
export type PortTable = keyof typeof parentTables;
export type ContainerTable = (typeof parentTables)[PortTable];

/** A switch or a router. */
export interface DesiredContainer {
  readonly table: ContainerTable;
  readonly name: string;
  readonly externalIds: ReadonlyMap<string, string>;
}

/** A port of a switch or a router. */
export interface DesiredPort {
  readonly table: PortTable;
  readonly name: string;
  /** Name of the switch or router that has the port. */
  readonly parent: string;
  /** Name of the router on the other side. The port is omitted while that router is missing. */
  readonly router?: string;
  /** Whether it has the DHCP options of its Subnet. */
  readonly hasDhcp?: boolean;
  /** The columns that the projector sets, except the name and references. */
  readonly columns: Row;
  readonly externalIds: ReadonlyMap<string, string>;
}

/** The DHCP options of one family of a Subnet. */
export interface DesiredOptions {
  readonly table: 'DHCP_Options';
  readonly name: string;
  readonly columns: Row;
  readonly externalIds: ReadonlyMap<string, string>;
}

/** Makes the name of DHCP options from the entries `ls` and `protocol` of their `external_ids`. */
export const optionsName = (subnet: string, family: string): string => `${subnet}/${family}`;

/** Makes a key that is unique among the rows of all tables. */
export const rowKey = ({ table, name }: { readonly table: OwnedTable; readonly name: string }): string =>
  `${table}/${name}`;

const ledgerKey = 'ipledger';

/** The `external_ids` that mark a row as owned by a ledger. */
export const ownerIds = (ledger: string): ReadonlyMap<string, string> =>
  new Map([
    ['vendor', vendor],
    [ledgerKey, ledger],
  ]);

/** Whether a ledger owns a row with these `external_ids`. */
export function isOwned(externalIds: Value, ledger: string): boolean {
  const ids = textMap(externalIds);
  return ids.get('vendor') === vendor && ids.get(ledgerKey) === ledger;
}
