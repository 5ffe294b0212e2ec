/** The rows of the northbound database, by name and by the rows that refer to them. Pure. */
import { addTo, removeFrom } from '../../../lib/maps.ts';
import type { ReplicaUpdate, RowChange, MonitoredColumns } from '../../../lib/ovsdb/replica.ts';
import { type Row, textMap, textOf, textSet } from '../../../lib/ovsdb/values.ts';
import {
  type ContainerTable,
  isOwned,
  optionsName,
  type OwnedTable,
  ownedTables,
  type PortTable,
} from '../rows/desired-row.ts';

export const northboundDatabase = 'OVN_Northbound';

/** The columns that the projector copies (ovn-nb(5)). */
export const northboundColumns: MonitoredColumns = {
  NB_Global: ['external_ids'],
  Logical_Switch: ['name', 'ports', 'external_ids'],
  Logical_Router: ['name', 'ports', 'external_ids'],
  Logical_Switch_Port: [
    'name',
    'type',
    'addresses',
    'port_security',
    'options',
    'tag',
    'up',
    'external_ids',
    'dhcpv4_options',
    'dhcpv6_options',
  ],
  Logical_Router_Port: ['name', 'mac', 'networks', 'ipv6_ra_configs', 'external_ids'],
  DHCP_Options: ['cidr', 'options', 'external_ids'],
};

export interface StoredRow {
  readonly uuid: string;
  readonly row: Row;
}

/** The part of an update that requires a new comparison. */
export interface Touched {
  /** Whether anything other than NIC ports changed. */
  readonly hasStructure: boolean;
  /** Names of switch ports. */
  readonly ports: ReadonlySet<string>;
}

/** Returns the name of a row. DHCP options have it in `external_ids`. */
export function nameOf(row: Row): string {
  if ('name' in row) return textOf(row['name']);
  const ids = textMap(row['external_ids']);
  return optionsName(ids.get('ls') ?? '', ids.get('protocol') ?? '');
}

/** Maps a table to the table of its ports. */
const portTables: Readonly<Record<ContainerTable, PortTable>> = {
  Logical_Switch: 'Logical_Switch_Port',
  Logical_Router: 'Logical_Router_Port',
};

export class NorthboundView {
  readonly #ledger: string;
  readonly #rows: Readonly<Record<OwnedTable, Map<string, StoredRow>>>;
  readonly #byName: Readonly<Record<OwnedTable, Map<string, Set<string>>>>;
  /** The rows whose `ports` contain a UUID, by that UUID. */
  readonly #parents = new Map<string, Set<string>>();
  #global: StoredRow | undefined;

  /** @param ledger id of the ledger whose rows this program owns */
  constructor(ledger: string) {
    this.#ledger = ledger;
    this.#rows = perTable(() => new Map<string, StoredRow>());
    this.#byName = perTable(() => new Map<string, Set<string>>());
  }

  /** The row of NB_Global; undefined if the database has never been used. */
  get global(): StoredRow | undefined {
    return this.#global;
  }

  /** Returns the rows of a name. Only names of ports are unique. */
  named(table: OwnedTable, name: string): readonly StoredRow[] {
    return [...(this.#byName[table].get(name) ?? [])].sort().flatMap((uuid) => this.#rows[table].get(uuid) ?? []);
  }

  row(table: OwnedTable, uuid: string): StoredRow | undefined {
    return this.#rows[table].get(uuid);
  }

  /** Returns the names of the rows that the ledger owns. */
  ownedNames(table: OwnedTable): string[] {
    return [...this.#rows[table].values()].filter((each) => this.owns(each)).map(({ row }) => nameOf(row));
  }

  /** Whether the ledger owns a row. */
  owns({ row }: StoredRow): boolean {
    return isOwned(row['external_ids'], this.#ledger);
  }

  /** Returns the UUIDs of the switches or routers that have a port. */
  parentsOf(uuid: string): ReadonlySet<string> {
    return this.#parents.get(uuid) ?? new Set();
  }

  /** Returns the name of another owner's port in a switch or router; undefined if there is none. */
  foreignPortOf(table: ContainerTable, uuid: string): string | undefined {
    const portTable = portTables[table];
    const ports = [...portsOf(this.#rows[table].get(uuid)?.row)].flatMap((port) => this.row(portTable, port) ?? []);
    const foreign = ports.find((port) => !this.owns(port));
    return foreign && nameOf(foreign.row);
  }

  /** Applies the changes of a replica. */
  apply({ changes }: Pick<ReplicaUpdate, 'changes'>): Touched {
    const ports = new Set<string>();
    let hasStructure = false;
    const touch = (table: string, row: Row | undefined): void => {
      if (!row) return;
      if (table === 'Logical_Switch_Port') ports.add(nameOf(row));
      else hasStructure = true;
    };
    const moved: { readonly table: PortTable; readonly uuid: string }[] = [];
    for (const change of changes) {
      const { table, before, after } = change;
      if (table === 'NB_Global') this.#global = after && { uuid: change.uuid, row: after };
      else if (isOwnedTable(table)) {
        moved.push(...this.#applyPorts(change));
        // Ignores a change of `ports` alone: only the port needs a comparison.
        if (!(before && after && isSameButPorts(before, after))) for (const row of [before, after]) touch(table, row);
        this.#store(table, change);
      }
    }
    for (const { table, uuid } of moved) touch(table, this.#rows[table].get(uuid)?.row);
    return { hasStructure, ports };
  }

  #store(table: OwnedTable, { uuid, before, after }: RowChange): void {
    const names = this.#byName[table];
    if (before) {
      removeFrom(names, nameOf(before), uuid);
      this.#rows[table].delete(uuid);
    }
    if (!after) return;
    addTo(names, nameOf(after), uuid);
    this.#rows[table].set(uuid, { uuid, row: after });
  }

  /** Returns the ports that a switch or router got or lost. */
  #applyPorts({ table, uuid, before, after }: RowChange): { readonly table: PortTable; readonly uuid: string }[] {
    if (!isContainerTable(table)) return [];
    const portTable = portTables[table];
    const [old, present] = [portsOf(before), portsOf(after)];
    if (old === present) return [];
    const lost = [...old].filter((port) => !present.has(port));
    const got = [...present].filter((port) => !old.has(port));
    for (const port of lost) removeFrom(this.#parents, port, uuid);
    for (const port of got) addTo(this.#parents, port, uuid);
    return [...lost, ...got].map((port) => ({ table: portTable, uuid: port }));
  }
}

const perTable = <Value>(make: () => Value): Record<OwnedTable, Value> =>
  Object.fromEntries(ownedTables.map((table) => [table, make()])) as Record<OwnedTable, Value>;

const isOwnedTable = (table: string): table is OwnedTable => ownedTables.some((owned) => owned === table);

const isContainerTable = (table: string): table is ContainerTable => table in portTables;

/** Returns the UUIDs in the column `ports`. */
const portsOf = (row: Row | undefined): ReadonlySet<string> => textSet(row?.['ports']);

/** Whether only `ports` changed. An update keeps the values of other columns. */
const isSameButPorts = (before: Row, after: Row): boolean =>
  'ports' in after && Object.keys(after).every((column) => column === 'ports' || before[column] === after[column]);
