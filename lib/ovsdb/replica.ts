/** A local copy of chosen tables and columns, kept current by the updates of a monitor. */
import { isObject, type JsonObject, readObject } from './json.ts';
import { invalidRequest, protocolError } from './ovsdb-error.ts';
import { columnOf, type DatabaseSchema, type TableSchema, tableOf } from './schema.ts';
import { applyDifference, areEqual, decodeValue, defaultValue, type Row, type Value } from './values.ts';

/** The columns to copy, by table. */
export type MonitoredColumns = Readonly<Record<string, readonly string[]>>;

/** A row before and after a change; undefined if it does not exist. */
export interface RowChange {
  readonly table: string;
  readonly uuid: string;
  readonly before: Row | undefined;
  readonly after: Row | undefined;
}

/** One transaction of the server, or several that the server has joined. */
export interface ReplicaUpdate {
  readonly changes: readonly RowChange[];
  /** Whether all rows were read again. Then `changes` is the difference to the previous copy. */
  readonly isReload: boolean;
}

type Rows = Map<string, Row>;
type RowsByTable = ReadonlyMap<string, Rows>;

export class Replica {
  readonly #columns: MonitoredColumns;
  readonly #maxRows: number;
  #tables: RowsByTable;
  #count = 0;

  /** @param maxRows the limit for all tables together */
  constructor(columns: MonitoredColumns, maxRows: number) {
    this.#columns = columns;
    this.#maxRows = maxRows;
    this.#tables = emptyTables(columns);
  }

  /**
   * The rows of a table by UUID.
   * @throws OvsdbError INVALID_REQUEST if the replica does not copy the table
   */
  rows(table: string): ReadonlyMap<string, Row> {
    const rows = this.#tables.get(table);
    if (!rows) throw invalidRequest(`the replica does not contain table ${table}`);
    return rows;
  }

  /** The third parameter of `monitor_cond` and `monitor_cond_since`. @throws OvsdbError */
  monitorRequests(schema: DatabaseSchema): JsonObject {
    const requests = Object.entries(this.#columns).map(([table, columns]) => {
      for (const column of columns) columnOf(schema, table, column);
      return [table, [{ columns }]] as const;
    });
    return Object.fromEntries(requests);
  }

  /**
   * Applies a `<table-updates2>` to the present rows. If that fails, no row changes.
   * @throws OvsdbError PROTOCOL if the update does not fit the rows or the schema
   */
  apply(schema: DatabaseSchema, updates: unknown): ReplicaUpdate {
    const changes = this.#decode(schema, updates, this.#tables);
    this.#store(changes);
    return { changes, isReload: false };
  }

  /** Replaces all rows by those in a `<table-updates2>`. Throws as `apply`. */
  reload(schema: DatabaseSchema, updates: unknown): ReplicaUpdate {
    const fresh = emptyTables(this.#columns);
    for (const { table, uuid, after } of this.#decode(schema, updates, fresh))
      if (after) fresh.get(table)?.set(uuid, after);
    const changes = [...fresh].flatMap(([table, rows]) =>
      differences(table, this.#tables.get(table) ?? new Map(), rows),
    );
    this.#store(changes);
    return { changes, isReload: true };
  }

  #decode(schema: DatabaseSchema, updates: unknown, present: RowsByTable): RowChange[] {
    return Object.entries(readObject(updates, 'an update')).flatMap(([table, rowUpdates]) => {
      const rows = present.get(table);
      if (!rows) throw protocolError(`the server sent rows of ${table}, which is not monitored`);
      const columns = monitoredTypes(schema, table, this.#columns[table] ?? []);
      return Object.entries(readObject(rowUpdates, `an update of ${table}`)).map(([uuid, update]) => {
        const before = rows.get(uuid);
        return { table, uuid, before, after: decodeUpdate(columns, before, readObject(update, `a row of ${table}`)) };
      });
    });
  }

  #store(changes: readonly RowChange[]): void {
    let count = this.#count;
    for (const { before, after } of changes) count += Number(after !== undefined) - Number(before !== undefined);
    if (count > this.#maxRows) throw protocolError(`the database has more than ${this.#maxRows} rows`);
    this.#count = count;
    for (const { table, uuid, after } of changes) {
      const rows = this.#tables.get(table);
      if (after) rows?.set(uuid, after);
      else rows?.delete(uuid);
    }
  }
}

const emptyTables = (columns: MonitoredColumns): RowsByTable =>
  new Map(Object.keys(columns).map((table) => [table, new Map<string, Row>()]));

const monitoredTypes = (schema: DatabaseSchema, table: string, columns: readonly string[]): TableSchema => {
  const types = tableOf(schema, table);
  return new Map([...types].filter(([column]) => columns.includes(column)));
};

/** The row after a `<row-update2>`; undefined if the row was deleted. */
function decodeUpdate(columns: TableSchema, before: Row | undefined, update: JsonObject): Row | undefined {
  const inserted = update['initial'] ?? update['insert'];
  if (isObject(inserted)) {
    const row = Object.fromEntries([...columns].map(([column, type]) => [column, defaultValue(type)]));
    return decodeColumns(columns, inserted, row, (column, json) => decodeValue(column, json));
  }
  if (!before) throw protocolError('the server changed a row that it has not sent');
  if ('delete' in update) return undefined;
  const modified = readObject(update['modify'], 'a modified row');
  return decodeColumns(columns, modified, before, (column, json, value) => applyDifference(column, value, json));
}

function decodeColumns(
  columns: TableSchema,
  sent: JsonObject,
  row: Row,
  decode: (type: Parameters<typeof decodeValue>[0], json: unknown, value: Value) => Value,
): Row {
  const decoded = Object.entries(sent).map(([column, json]) => {
    const type = columns.get(column);
    if (!type) throw protocolError(`the server sent column ${column}, which is not monitored`);
    return [column, decode(type, json, row[column])] as const;
  });
  return { ...row, ...Object.fromEntries(decoded) };
}

function differences(table: string, before: ReadonlyMap<string, Row>, after: ReadonlyMap<string, Row>): RowChange[] {
  const removed = [...before].filter(([uuid]) => !after.has(uuid));
  const changed = [...after].filter(([uuid, row]) => !isSameRow(before.get(uuid), row));
  return [
    ...removed.map(([uuid, row]) => ({ table, uuid, before: row, after: undefined })),
    ...changed.map(([uuid, row]) => ({ table, uuid, before: before.get(uuid), after: row })),
  ];
}

const isSameRow = (left: Row | undefined, right: Row): boolean =>
  left !== undefined && Object.keys(right).every((column) => areEqual(left[column], right[column]));
