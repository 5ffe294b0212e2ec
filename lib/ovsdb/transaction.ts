/** The operations of a transaction, as JSON, and their results (RFC 7047, section 5.2). */
import { isObject, type JsonObject, readArray, readText, shorten } from './json.ts';
import { invalidRequest, OvsdbError, protocolError, type ServerError } from './ovsdb-error.ts';
import { type ColumnType, columnOf, type DatabaseSchema, shapeOf, tableOf } from './schema.ts';
import {
  decodeUuid,
  decodeValue,
  encodeSet,
  encodeValue,
  isUuidName,
  type NewRow,
  type NewValue,
  type Row,
} from './values.ts';

/** A column, a function such as `==`, and a value. A row must meet all conditions of a list. */
export type Condition = readonly [column: string, test: string, value: NewValue];

/** A column, a mutator such as `+=` or `insert`, and its argument: a Set or Map for many. */
export type Mutation = readonly [column: string, mutator: string, value: NewValue];

export type Operation =
  /**
   * In a table that is not a root of the schema, a row is deleted at commit unless another row
   * refers to it. The insertion still succeeds. So insert the reference in the same transaction.
   */
  | { readonly op: 'insert'; readonly table: string; readonly row: NewRow; readonly uuidName?: string }
  | {
      readonly op: 'select';
      readonly table: string;
      readonly where: readonly Condition[];
      readonly columns: readonly string[];
    }
  | { readonly op: 'update'; readonly table: string; readonly where: readonly Condition[]; readonly row: NewRow }
  | {
      readonly op: 'mutate';
      readonly table: string;
      readonly where: readonly Condition[];
      readonly mutations: readonly Mutation[];
    }
  | { readonly op: 'delete'; readonly table: string; readonly where: readonly Condition[] }
  /** Fails with FENCED unless the matching rows are exactly these, in these columns, in time. */
  | {
      readonly op: 'wait';
      readonly table: string;
      readonly where: readonly Condition[];
      readonly columns: readonly string[];
      readonly until: '==' | '!=';
      readonly rows: readonly NewRow[];
      /** The time to wait; 0 compares once. It must be shorter than the request's time limit. */
      readonly timeoutMs: number;
    }
  | { readonly op: 'comment'; readonly comment: string };

/** The result of one operation. Each kind of operation sets another field. */
export interface OperationResult {
  /** UUID of the inserted row. */
  readonly uuid?: string;
  /** The number of rows that `update`, `mutate` or `delete` matched. */
  readonly count?: number;
  /** The rows of `select`. */
  readonly rows?: readonly Row[];
}

/** The parameters of `transact`. @throws OvsdbError INVALID_REQUEST if the schema forbids them */
export function encodeTransaction(schema: DatabaseSchema, operations: readonly Operation[]): unknown[] {
  return [schema.name, ...operations.map((operation) => encodeOperation(schema, operation))];
}

function encodeOperation(schema: DatabaseSchema, operation: Operation): JsonObject {
  if (operation.op === 'comment') return { op: 'comment', comment: operation.comment };
  const { op, table } = operation;
  const row = (row: NewRow): JsonObject => encodeRow(schema, table, row);
  if (op === 'insert') {
    const { uuidName } = operation;
    if (uuidName !== undefined && !isUuidName(uuidName))
      throw invalidRequest(`the name ${uuidName} of a row may contain letters, digits and underscores only`);
    return { op, table, row: row(operation.row), ...(uuidName !== undefined && { 'uuid-name': uuidName }) };
  }
  const where = operation.where.map(([column, test, value]) => [
    column,
    test,
    encodeArgument(columnOf(schema, table, column), value, `${table}.${column}`),
  ]);
  const columns = (names: readonly string[]): readonly string[] => {
    for (const name of names) columnOf(schema, table, name);
    return names;
  };
  tableOf(schema, table);
  switch (op) {
    case 'select':
      return { op, table, where, columns: columns(operation.columns) };
    case 'update':
      return { op, table, where, row: row(operation.row) };
    case 'mutate':
      return { op, table, where, mutations: operation.mutations.map((each) => encodeMutation(schema, table, each)) };
    case 'delete':
      return { op, table, where };
    case 'wait': {
      const { until, rows, timeoutMs } = operation;
      return { op, table, where, columns: columns(operation.columns), until, rows: rows.map(row), timeout: timeoutMs };
    }
  }
}

const encodeRow = (schema: DatabaseSchema, table: string, row: NewRow): JsonObject =>
  Object.fromEntries(
    Object.entries(row).map(([column, value]) => [
      column,
      encodeValue(columnOf(schema, table, column), value, `${table}.${column}`),
    ]),
  );

const encodeMutation = (schema: DatabaseSchema, table: string, [column, mutator, value]: Mutation): unknown => [
  column,
  mutator,
  encodeArgument(columnOf(schema, table, column), value, `${table}.${column}`),
];

/** Encodes an argument. It may also be one atom of a set, or a Set of the keys of a map. */
function encodeArgument(type: ColumnType, value: NewValue, what: string): unknown {
  if (value instanceof Set) return encodeSet(type, value, what);
  if (shapeOf(type) === 'set') return encodeValue({ key: type.key, min: 1, max: 1 }, value, what);
  return encodeValue(type, value, what);
}

/**
 * Reads the answer to `transact`, which has one result per operation. After a failed operation the
 * other results are null. An error at commit is an additional last result.
 * @throws OvsdbError FENCED, CONSTRAINT or REFUSED if the transaction failed; PROTOCOL if the
 * answer has another form
 */
export function decodeResults(
  schema: DatabaseSchema,
  operations: readonly Operation[],
  answer: unknown,
): OperationResult[] {
  const results = readArray(answer, 'the result of a transaction');
  for (const [at, result] of results.entries())
    if (isObject(result) && 'error' in result && result['error'] !== null)
      throw failedTransaction(readServerError(result, at < operations.length ? at : undefined), operations[at]);
  if (results.length < operations.length)
    throw protocolError(`the server sent ${results.length} results for ${operations.length} operations`);
  return operations.map((operation, at) => decodeResult(schema, operation, results[at]));
}

function decodeResult(schema: DatabaseSchema, operation: Operation, result: unknown): OperationResult {
  if (!isObject(result)) throw protocolError('the server sent a result that is not an object');
  switch (operation.op) {
    case 'insert':
      return { uuid: decodeUuid(result['uuid']) };
    case 'update':
    case 'mutate':
    case 'delete':
      return { count: Number(decodeValue({ key: 'integer', min: 1, max: 1 }, result['count'])) };
    case 'select': {
      const { table } = operation;
      return { rows: readArray(result['rows'], 'the rows of a selection').map((row) => decodeRow(schema, table, row)) };
    }
    case 'wait':
    case 'comment':
      return {};
  }
}

function decodeRow(schema: DatabaseSchema, table: string, row: unknown): Row {
  if (!isObject(row)) throw protocolError('the server sent a row that is not an object');
  return Object.fromEntries(
    Object.entries(row).map(([column, json]) => [column, decodeValue(columnOf(schema, table, column), json)]),
  );
}

export function readServerError(error: JsonObject, operation?: number): ServerError {
  return {
    error: shorten(readText(error['error'], 'an error')),
    details: typeof error['details'] === 'string' ? shorten(error['details']) : '',
    operation,
  };
}

function failedTransaction(serverError: ServerError, operation: Operation | undefined): OvsdbError {
  const { error, details } = serverError;
  const place =
    operation === undefined ? 'at commit' : `in operation ${String(serverError.operation)}, ${operation.op}`;
  const reason = details === '' ? error : `${error}: ${details}`;
  if (error === 'timed out' && operation?.op === 'wait')
    return new OvsdbError('FENCED', `the rows of ${operation.table} are not those that the transaction requires`, {
      serverError,
    });
  const isConstraint = error === 'constraint violation' || error === 'referential integrity violation';
  const message = `the server rejected the transaction ${place}: ${reason}`;
  return new OvsdbError(isConstraint ? 'CONSTRAINT' : 'REFUSED', message, { serverError });
}
