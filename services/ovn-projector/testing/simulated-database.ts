/**
 * A northbound database in memory. It applies the operations that the projector uses as
 * ovsdb-server does. `diff.int.spec.ts` compares it with a real server.
 */
import { randomUUID } from 'node:crypto';
import type { RowChange } from '../../../lib/ovsdb/replica.ts';
import type { Operation } from '../../../lib/ovsdb/transaction.ts';
import type { Atom, NamedUuid, NewRow, NewValue, Row, Value } from '../../../lib/ovsdb/values.ts';
import { type OwnedTable, ownedTables, parentTables, type PortTable } from '../rows/desired-row.ts';

type Tables = Map<OwnedTable, Map<string, Row>>;

const defaults: Readonly<Record<OwnedTable, Row>> = {
  Logical_Switch: { name: '', ports: new Set(), external_ids: new Map() },
  Logical_Router: { name: '', ports: new Set(), external_ids: new Map() },
  Logical_Switch_Port: {
    name: '',
    type: '',
    addresses: new Set(),
    port_security: new Set(),
    options: new Map(),
    tag: undefined,
    up: undefined,
    external_ids: new Map(),
    dhcpv4_options: undefined,
    dhcpv6_options: undefined,
  },
  Logical_Router_Port: {
    name: '',
    mac: '',
    networks: new Set(['']),
    ipv6_ra_configs: new Map(),
    external_ids: new Map(),
  },
  DHCP_Options: { cidr: '', options: new Map(), external_ids: new Map() },
};

export class SimulatedDatabase {
  #tables: Tables = new Map(ownedTables.map((table) => [table, new Map<string, Row>()]));

  /** Returns the rows of a table by UUID. */
  rows(table: OwnedTable): ReadonlyMap<string, Row> {
    return this.#tables.get(table) ?? new Map();
  }

  /**
   * Applies a transaction, and returns the rows that changed.
   * @throws Error if it violates a constraint
   */
  transact(operations: readonly Operation[]): RowChange[] {
    const tables: Tables = new Map([...this.#tables].map(([table, rows]) => [table, new Map(rows)]));
    const named = new Map<string, string>();
    for (const operation of operations)
      if (operation.op === 'insert' && operation.uuidName !== undefined) named.set(operation.uuidName, randomUUID());
    for (const operation of operations) apply(tables, operation, named);
    collectGarbage(tables);
    dropWeakReferences(tables);
    assertValid(tables);
    const before = this.#tables;
    this.#tables = tables;
    return ownedTables.flatMap((table) => changesOf(table, before.get(table), tables.get(table)));
  }
}

function apply(tables: Tables, operation: Operation, named: ReadonlyMap<string, string>): void {
  if (operation.op === 'comment') return;
  const rows = tables.get(operation.table as OwnedTable);
  if (!rows) throw new Error(`no table ${operation.table}`);
  const resolve = (atom: Atom | NamedUuid): Atom =>
    typeof atom === 'object' ? (named.get(atom.uuidName) ?? fail(`no row ${atom.uuidName}`)) : atom;
  const resolveRow = (row: NewRow): Row =>
    Object.fromEntries(Object.entries(row).map(([column, value]) => [column, resolveValue(value, resolve)]));
  switch (operation.op) {
    case 'insert': {
      const uuid = operation.uuidName === undefined ? randomUUID() : resolve({ uuidName: operation.uuidName });
      rows.set(String(uuid), { ...defaults[operation.table as OwnedTable], ...resolveRow(operation.row) });
      return;
    }
    case 'update':
      for (const uuid of matching(rows, operation.where, resolve))
        rows.set(uuid, { ...rows.get(uuid), ...resolveRow(operation.row) });
      return;
    case 'delete':
      for (const uuid of matching(rows, operation.where, resolve)) rows.delete(uuid);
      return;
    case 'mutate':
      for (const uuid of matching(rows, operation.where, resolve))
        for (const [column, mutator, value] of operation.mutations) {
          const set = new Set(rows.get(uuid)?.[column] as ReadonlySet<Atom>);
          for (const atom of value as ReadonlySet<Atom | NamedUuid>)
            if (mutator === 'insert') set.add(resolve(atom));
            else set.delete(resolve(atom));
          rows.set(uuid, { ...rows.get(uuid), [column]: set });
        }
      return;
    case 'select':
    case 'wait':
      throw new Error(`${operation.op} is not simulated`);
  }
}

type Condition = Extract<Operation, { readonly op: 'update' }>['where'][number];

function matching(
  rows: ReadonlyMap<string, Row>,
  where: readonly Condition[],
  resolve: (atom: Atom | NamedUuid) => Atom,
): string[] {
  const [condition, ...more] = where;
  if (condition?.[0] !== '_uuid' || condition[1] !== '==' || more.length > 0) throw new Error('unexpected condition');
  const uuid = String(resolve(condition[2] as Atom | NamedUuid));
  return rows.has(uuid) ? [uuid] : [];
}

function resolveValue(value: NewValue, resolve: (atom: Atom | NamedUuid) => Atom): Value {
  if (value instanceof Set) return new Set([...(value as ReadonlySet<Atom | NamedUuid>)].map(resolve));
  return typeof value === 'object' && 'uuidName' in value ? resolve(value) : (value as Value);
}

const portsIn = (tables: Tables, table: PortTable): string[] =>
  [...(tables.get(parentTables[table])?.values() ?? [])].flatMap(({ ports }) => [...(ports as ReadonlySet<string>)]);

/** Deletes the ports to which no row refers. */
function collectGarbage(tables: Tables): void {
  for (const table of Object.keys(parentTables) as PortTable[]) {
    const used = new Set(portsIn(tables, table));
    for (const uuid of tables.get(table)?.keys() ?? []) if (!used.has(uuid)) tables.get(table)?.delete(uuid);
  }
}

/** Unsets references to DHCP options that no longer exist. */
function dropWeakReferences(tables: Tables): void {
  const ports = tables.get('Logical_Switch_Port') ?? new Map<string, Row>();
  const kept = (reference: Value): Value =>
    typeof reference === 'string' && tables.get('DHCP_Options')?.has(reference) ? reference : undefined;
  for (const [uuid, row] of ports) {
    const [v4, v6] = [kept(row['dhcpv4_options']), kept(row['dhcpv6_options'])];
    if (v4 !== row['dhcpv4_options'] || v6 !== row['dhcpv6_options'])
      ports.set(uuid, { ...row, dhcpv4_options: v4, dhcpv6_options: v6 });
  }
}

function assertValid(tables: Tables): void {
  for (const table of Object.keys(parentTables) as PortTable[]) {
    const rows = tables.get(table) ?? new Map<string, Row>();
    const names = [...rows.values()].map(({ name }) => name);
    if (new Set(names).size !== names.length) throw new Error(`two rows of ${table} have one name`);
    for (const uuid of portsIn(tables, table)) if (!rows.has(uuid)) throw new Error(`a reference to no ${table}`);
  }
}

function changesOf(
  table: OwnedTable,
  before: ReadonlyMap<string, Row> = new Map(),
  after: ReadonlyMap<string, Row> = new Map(),
): RowChange[] {
  const uuids = new Set([...before.keys(), ...after.keys()]);
  return [...uuids]
    .filter((uuid) => before.get(uuid) !== after.get(uuid))
    .map((uuid) => ({ table, uuid, before: before.get(uuid), after: after.get(uuid) }));
}

function fail(message: string): never {
  throw new Error(message);
}
