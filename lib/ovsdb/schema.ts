/** The column types of a database, from the answer to `get_schema` (RFC 7047, section 3.2). */
import { isObject, readArray, readObject, readText } from './json.ts';
import { invalidRequest, protocolError } from './ovsdb-error.ts';

export type AtomType = 'integer' | 'real' | 'boolean' | 'string' | 'uuid';

export interface ColumnType {
  readonly key: AtomType;
  /** The type of a map's values; undefined if the column is not a map. */
  readonly value?: AtomType;
  readonly min: number;
  /** Infinity: unlimited. */
  readonly max: number;
}

/** The form of a value: one atom; an atom or undefined; a set; a map. */
export type Shape = 'scalar' | 'optional' | 'set' | 'map';

export function shapeOf({ value, min, max }: ColumnType): Shape {
  if (value !== undefined) return 'map';
  if (max > 1) return 'set';
  return min === 1 ? 'scalar' : 'optional';
}

export type TableSchema = ReadonlyMap<string, ColumnType>;

export interface DatabaseSchema {
  readonly name: string;
  /** The version of the schema, such as "7.0.0". */
  readonly version: string;
  /** The columns of each table, with `_uuid` and `_version`. */
  readonly tables: ReadonlyMap<string, TableSchema>;
}

const uuidType: ColumnType = { key: 'uuid', min: 1, max: 1 };

/** @throws OvsdbError PROTOCOL if the answer is not a schema */
export function parseSchema(answer: unknown): DatabaseSchema {
  const schema = readObject(answer, 'the schema');
  const tables = Object.entries(readObject(schema['tables'], 'tables of the schema')).map(
    ([name, table]) => [name, parseTable(table, name)] as const,
  );
  return {
    name: readText(schema['name'], 'the name of the schema'),
    version: typeof schema['version'] === 'string' ? schema['version'] : '',
    tables: new Map(tables),
  };
}

function parseTable(table: unknown, name: string): TableSchema {
  const columns = Object.entries(readObject(readObject(table, name)['columns'], `columns of ${name}`));
  return new Map([
    ['_uuid', uuidType],
    ['_version', uuidType],
    ...columns.map(([column, definition]) => {
      const what = `${name}.${column}`;
      return [column, parseType(readObject(definition, what)['type'], what)] as const;
    }),
  ]);
}

function parseType(type: unknown, what: string): ColumnType {
  if (!isObject(type)) return { key: parseAtomType(type, what), min: 1, max: 1 };
  const { key, value, min = 1, max = 1 } = type;
  if (min !== 0 && min !== 1) throw protocolError(`${what} has an invalid minimum in the schema`);
  if (max !== 'unlimited' && !(Number.isInteger(max) && Number(max) >= 1))
    throw protocolError(`${what} has an invalid maximum in the schema`);
  return {
    key: parseAtomType(key, what),
    ...(value !== undefined && { value: parseAtomType(value, what) }),
    min,
    max: max === 'unlimited' ? Infinity : Number(max),
  };
}

function parseAtomType(type: unknown, what: string): AtomType {
  const name: unknown = isObject(type) ? type['type'] : type;
  switch (name) {
    case 'integer':
    case 'real':
    case 'boolean':
    case 'string':
    case 'uuid':
      return name;
    default:
      throw protocolError(`${what} has an unknown type in the schema`);
  }
}

/** @throws OvsdbError INVALID_REQUEST if the database has no such table */
export function tableOf(schema: DatabaseSchema, table: string): TableSchema {
  const found = schema.tables.get(table);
  if (found) return found;
  throw invalidRequest(`${schema.name} ${schema.version} has no table ${table}`);
}

/** @throws OvsdbError INVALID_REQUEST if the table has no such column */
export function columnOf(schema: DatabaseSchema, table: string, column: string): ColumnType {
  const found = tableOf(schema, table).get(column);
  if (found) return found;
  throw invalidRequest(`table ${table} of ${schema.name} ${schema.version} has no column ${column}`);
}

/** The names of the databases in the answer to `list_dbs`. */
export const parseDatabaseNames = (answer: unknown): string[] =>
  readArray(answer, 'the list of databases').map((name) => readText(name, 'the name of a database'));
