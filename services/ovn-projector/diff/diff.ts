/**
 * The operations that give the northbound database the desired rows. Pure.
 *
 * Only rows of this ledger change. If a row of another owner has the name of a desired row, the
 * projector reports a conflict and leaves the desired row out. The server deletes ports to which no
 * switch or router refers. So one transaction inserts a port and the reference to it, and a port is
 * deleted by the removal of its reference.
 */
import type { Mutation, Operation } from '../../../lib/ovsdb/transaction.ts';
import type { NamedUuid, NewRow } from '../../../lib/ovsdb/values.ts';
import { nameOf, type NorthboundView, type StoredRow } from '../northbound/northbound-view.ts';
import {
  type ContainerTable,
  type DesiredContainer,
  type DesiredOptions,
  type DesiredPort,
  optionsName,
  type OwnedTable,
  parentTables,
  type PortTable,
  rowKey,
} from '../rows/desired-row.ts';
import type { DesiredRows } from '../rows/desired-rows.ts';
import { changedColumns, type RowContent } from './changed-columns.ts';

export interface DiffOptions {
  /** 'all', or the names of the switch ports to compare. */
  readonly scope: 'all' | ReadonlySet<string>;
  /** The largest number of rows to insert, change or delete. */
  readonly limit: number;
  /** Keys of rows that the server has rejected. They are left out. */
  readonly rejected?: ReadonlySet<string>;
}

/** A row of another owner that prevents a desired row. */
export interface Conflict {
  /** Key of the row of ipledger. */
  readonly key: string;
  readonly message: string;
}

export interface Diff {
  readonly operations: readonly Operation[];
  /** Keys of the rows that they insert, change or delete. */
  readonly keys: readonly string[];
  readonly conflicts: readonly Conflict[];
  /** Whether the database has the desired rows of the scope after these operations. */
  readonly isComplete: boolean;
  /** Names of switch ports that a later transaction must change, because of the limit. */
  readonly left: readonly string[];
}

type Target = string | NamedUuid;
const switchPortPrefix = rowKey({ table: 'Logical_Switch_Port', name: '' });
type DesiredView = Pick<DesiredRows, 'containers' | 'connections' | 'ports' | 'dhcpOptions'>;

/** Compares the desired rows with the present ones. */
export function diffRows(desired: DesiredView, view: NorthboundView, options: DiffOptions): Diff {
  const run = new DiffRun(desired, view, options);
  return options.scope === 'all' ? run.compareAll() : run.comparePorts(options.scope);
}

class DiffRun {
  readonly #desired: DesiredView;
  readonly #view: NorthboundView;
  readonly #options: DiffOptions;
  readonly #operations: Operation[] = [];
  readonly #keys: string[] = [];
  readonly #conflicts: Conflict[] = [];
  /** Changes of the column `ports`, by the switch or router. */
  readonly #references = new Map<Target, { table: ContainerTable; inserted: Set<Target>; deleted: Set<string> }>();
  /** Rows of switches, routers and DHCP options, by key; undefined if the row is missing. */
  readonly #targets = new Map<string, Target | undefined>();
  /** Keys of switches and routers for a later transaction, because of the limit. */
  readonly #postponed = new Set<string>();
  readonly #left: string[] = [];
  #isComplete = true;

  constructor(desired: DesiredView, view: NorthboundView, options: DiffOptions) {
    this.#desired = desired;
    this.#view = view;
    this.#options = options;
  }

  compareAll(): Diff {
    for (const container of this.#desired.containers.values()) this.#targetOf(container);
    const { connections, dhcpOptions, ports } = this.#desired;
    for (const options of dhcpOptions.values()) this.#targetOf(options);
    for (const port of connections.values()) this.#comparePort(port.table, port.name, port);
    for (const [name, port] of ports) this.#comparePort('Logical_Switch_Port', name, port);
    for (const table of Object.keys(parentTables) as PortTable[])
      for (const name of this.#view.ownedNames(table))
        if (!this.#desiredPort(table, name)) this.#comparePort(table, name, undefined);
    for (const row of this.#surplus('DHCP_Options')) this.#deleteRow('DHCP_Options', row);
    // Deletes switches last: a deleted switch takes its ports with it, also those that move.
    if (this.#isComplete)
      for (const table of Object.values(parentTables)) for (const row of this.#surplus(table)) this.#delete(table, row);
    return this.#result();
  }

  comparePorts(names: ReadonlySet<string>): Diff {
    for (const name of names)
      this.#comparePort('Logical_Switch_Port', name, this.#desiredPort('Logical_Switch_Port', name));
    return this.#result();
  }

  #result(): Diff {
    for (const [target, { table, inserted, deleted }] of this.#references) {
      const mutations: Mutation[] = [];
      if (inserted.size > 0) mutations.push(['ports', 'insert', inserted]);
      if (deleted.size > 0) mutations.push(['ports', 'delete', deleted]);
      this.#operations.push({ op: 'mutate', table, where: [['_uuid', '==', target]], mutations });
    }
    return {
      operations: this.#operations,
      keys: this.#keys,
      conflicts: this.#conflicts,
      isComplete: this.#isComplete,
      left: this.#left,
    };
  }

  #desiredPort(table: PortTable, name: string): DesiredPort | undefined {
    const connection = this.#desired.connections.get(rowKey({ table, name }));
    return connection ?? (table === 'Logical_Switch_Port' ? this.#desired.ports.get(name) : undefined);
  }

  /** Counts a change. Returns false if it does not fit, or the server has rejected it. */
  #take(key: string): boolean {
    if (this.#options.rejected?.has(key)) return false;
    if (this.#keys.length >= this.#options.limit) {
      this.#isComplete = false;
      if (key.startsWith(switchPortPrefix)) this.#left.push(key.slice(switchPortPrefix.length));
      return false;
    }
    this.#keys.push(key);
    return true;
  }

  #conflict(key: string, message: string): void {
    this.#conflicts.push({ key, message });
  }

  /** Returns the row of a switch, a router or DHCP options. Inserts or corrects it at first use. */
  #targetOf(desired: DesiredContainer | DesiredOptions): Target | undefined {
    const key = rowKey(desired);
    if (!this.#targets.has(key))
      this.#targets.set(
        key,
        desired.table === 'DHCP_Options' ? this.#compareOptions(desired, key) : this.#compareContainer(desired, key),
      );
    return this.#targets.get(key);
  }

  #compareContainer({ table, name, externalIds }: DesiredContainer, key: string): Target | undefined {
    const rows = this.#view.named(table, name);
    const own = rows.find((row) => this.#view.owns(row));
    if (rows.some((row) => !this.#view.owns(row)))
      this.#conflict(key, `${table} ${name} exists and has another owner. Rename or delete it`);
    if (own) {
      this.#update({ table, key, row: own }, { externalIds, columns: {} });
      return own.uuid;
    }
    if (rows.length > 0) return undefined;
    if (!this.#take(key)) {
      this.#postponed.add(key);
      return undefined;
    }
    return this.#insertRow(table, { name, external_ids: externalIds });
  }

  /** Ignores options of another owner: their names are not unique, so they are no conflict. */
  #compareOptions(desired: DesiredOptions, key: string): Target | undefined {
    const { table, name, columns, externalIds } = desired;
    const own = this.#view.named(table, name).find((row) => this.#view.owns(row));
    if (own) {
      this.#update({ table, key, row: own }, desired);
      return own.uuid;
    }
    if (!this.#take(key)) return undefined;
    return this.#insertRow(table, { ...columns, external_ids: externalIds });
  }

  #insertRow(table: OwnedTable, row: NewRow): NamedUuid {
    const uuidName = `row${this.#operations.length}`;
    this.#operations.push({ op: 'insert', table, uuidName, row });
    return { uuidName };
  }

  /** Adds the references to the DHCP options of the port's Subnet. */
  #columnsOf({ columns, hasDhcp, parent }: DesiredPort): NewRow {
    if (!hasDhcp) return columns;
    const target = (family: string): Target | undefined => {
      const options = this.#desired.dhcpOptions.get(optionsName(parent, family));
      return options && this.#targetOf(options);
    };
    return { ...columns, dhcpv4_options: target('IPv4'), dhcpv6_options: target('IPv6') };
  }

  #comparePort(table: PortTable, name: string, desired: DesiredPort | undefined): void {
    const key = rowKey({ table, name });
    const [row] = this.#view.named(table, name);
    if (row && !this.#view.owns(row)) {
      if (desired) this.#conflict(key, `${table} ${name} exists and has another owner. Rename or delete it`);
      return;
    }
    const parent = desired && this.#parentOf(desired);
    if (desired && parent === undefined && this.#isPostponed(desired)) return;
    if (!desired || parent === undefined) {
      if (row) this.#remove(table, key, row);
      return;
    }
    if (row) this.#correct({ table, key, row }, desired, parent);
    else this.#insert(desired, key, parent);
  }

  /** Returns the switch or router of a port; undefined if it or the other router is missing. */
  #parentOf({ table, parent, router }: DesiredPort): Target | undefined {
    if (router !== undefined && this.#container('Logical_Router', router) === undefined) return undefined;
    return this.#container(parentTables[table], parent);
  }

  #isPostponed({ table, parent, router = '' }: DesiredPort): boolean {
    const parentKey = rowKey({ table: parentTables[table], name: parent });
    return this.#postponed.has(parentKey) || this.#postponed.has(rowKey({ table: 'Logical_Router', name: router }));
  }

  #container(table: ContainerTable, name: string): Target | undefined {
    const container = this.#desired.containers.get(rowKey({ table, name }));
    return container && this.#targetOf(container);
  }

  #insert(desired: DesiredPort, key: string, parent: Target): void {
    const { table, name, externalIds } = desired;
    const columns = this.#columnsOf(desired);
    if (!this.#take(key)) return;
    const row = this.#insertRow(table, { ...columns, name, external_ids: externalIds });
    this.#referencesOf(parentTables[table], parent).inserted.add(row);
  }

  /** Corrects the columns of a port, and moves it to its switch. */
  #correct({ table, key, row }: Place & { readonly table: PortTable }, desired: DesiredPort, parent: Target): void {
    const present = this.#view.parentsOf(row.uuid);
    const foreign = this.#foreignParent(table, present);
    if (foreign !== undefined) {
      this.#conflict(key, `${table} ${desired.name} is a port of ${foreign}, which has another owner. Remove it there`);
      return;
    }
    const columns = this.#columnsOf(desired);
    const isPlaced = present.size === 1 && typeof parent === 'string' && present.has(parent);
    if (!isPlaced) {
      if (!this.#take(key)) return;
      const container = parentTables[table];
      if (typeof parent !== 'string' || !present.has(parent))
        this.#referencesOf(container, parent).inserted.add(row.uuid);
      for (const other of present) if (other !== parent) this.#referencesOf(container, other).deleted.add(row.uuid);
    }
    this.#update({ table, key, row }, { ...desired, columns });
  }

  #remove(table: PortTable, key: string, row: StoredRow): void {
    const present = this.#view.parentsOf(row.uuid);
    const foreign = this.#foreignParent(table, present);
    if (foreign !== undefined)
      this.#conflict(key, `${key} is a surplus port of ${foreign}, which has another owner. Remove it there`);
    else if (this.#take(key))
      for (const parent of present) this.#referencesOf(parentTables[table], parent).deleted.add(row.uuid);
  }

  #update({ table, key, row }: Place, desired: RowContent): void {
    const changed = changedColumns(row.row, desired);
    if (changed && (this.#keys.at(-1) === key || this.#take(key)))
      this.#operations.push({ op: 'update', table, where: [['_uuid', '==', row.uuid]], row: changed });
  }

  /** Returns the name of a switch or router of another owner that has the port. */
  #foreignParent(table: PortTable, parents: ReadonlySet<string>): string | undefined {
    const container = parentTables[table];
    for (const uuid of parents) {
      const row = this.#view.row(container, uuid);
      if (row && !this.#view.owns(row)) return `${container} ${nameOf(row.row)}`;
    }
    return undefined;
  }

  #referencesOf(table: ContainerTable, target: Target) {
    const present = this.#references.get(target) ?? { table, inserted: new Set<Target>(), deleted: new Set<string>() };
    this.#references.set(target, present);
    return present;
  }

  /** Returns own rows that are not desired, and all but the first of a desired name. */
  #surplus(table: 'DHCP_Options' | ContainerTable): StoredRow[] {
    return [...new Set(this.#view.ownedNames(table))].flatMap((name) => {
      const own = this.#view.named(table, name).filter((row) => this.#view.owns(row));
      const { containers, dhcpOptions } = this.#desired;
      const isDesired = table === 'DHCP_Options' ? dhcpOptions.has(name) : containers.has(rowKey({ table, name }));
      return isDesired ? own.slice(1) : own;
    });
  }

  #delete(table: ContainerTable, row: StoredRow): void {
    const key = rowKey({ table, name: nameOf(row.row) });
    const foreign = this.#view.foreignPortOf(table, row.uuid);
    if (foreign !== undefined)
      this.#conflict(key, `${key} is not used any more, but has port ${foreign} of another owner. Remove the port`);
    else this.#deleteRow(table, row);
  }

  #deleteRow(table: OwnedTable, { uuid, row }: StoredRow): void {
    if (this.#take(rowKey({ table, name: nameOf(row) })))
      this.#operations.push({ op: 'delete', table, where: [['_uuid', '==', uuid]] });
  }
}

interface Place {
  readonly table: OwnedTable;
  readonly key: string;
  readonly row: StoredRow;
}
