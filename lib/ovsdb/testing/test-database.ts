/** Test support: a database with columns of every shape, and clients that record updates. */
import { EventEmitter, once } from 'node:events';
import type { Context } from 'mocha';
import { probeOvn } from '../../../test/harness/ovn/ovn-programs.ts';
import { openRun, type Run } from '../../../test/harness/run.ts';
import { type ClientOptions, type ConnectionStatus, OvsdbClient } from '../client.ts';
import { OvsdbError, type OvsdbErrorCode } from '../ovsdb-error.ts';
import type { ReplicaUpdate } from '../replica.ts';
import type { Operation } from '../transaction.ts';
import type { NewRow, Row } from '../values.ts';

const unlimited = { min: 0, max: 'unlimited' };

/** `Item` is a root table. A `Part` exists only while an `Item` refers to it. */
export const testSchema = {
  name: 'Test',
  version: '1.0.0',
  tables: {
    Item: {
      isRoot: true,
      indexes: [['name']],
      columns: {
        name: { type: 'string' },
        integer: { type: 'integer' },
        real: { type: 'real' },
        flag: { type: 'boolean' },
        reference: { type: 'uuid' },
        optional: { type: { key: 'string', min: 0, max: 1 } },
        texts: { type: { key: 'string', ...unlimited } },
        integers: { type: { key: 'integer', ...unlimited } },
        labels: { type: { key: 'string', value: 'string', ...unlimited } },
        limits: { type: { key: 'string', value: 'integer', ...unlimited } },
        onePair: { type: { key: 'string', value: 'string', min: 0, max: 1 } },
        parts: { type: { key: { type: 'uuid', refTable: 'Part' }, ...unlimited } },
      },
    },
    Part: { columns: { name: { type: 'string' } } },
  },
};

export const itemColumns = Object.keys(testSchema.tables.Item.columns);

/** Opens a run, or skips the suite if OVS is missing. Call it in `before`. */
export function openOvsRun(context: Context): Run {
  const ability = probeOvn();
  if (!ability.isAvailable) {
    process.stdout.write(`      skipped: ${ability.reason}\n`);
    context.skip();
  }
  return openRun();
}

export interface RecordingClient {
  readonly client: OvsdbClient;
  readonly updates: readonly ReplicaUpdate[];
  readonly statuses: readonly ConnectionStatus[];
  /** Resolves when `check` holds, after an update or a change of the connection. */
  until(check: () => boolean): Promise<void>;
  /** The names of the items in the replica, sorted. */
  items(): string[];
  end(): Promise<void>;
}

/** Connects to the test database, with all columns in the replica. */
export function connectClient(
  run: Run,
  options: Pick<ClientOptions, 'endpoints'> & Partial<ClientOptions>,
): RecordingClient {
  const controller = new AbortController();
  const updates: ReplicaUpdate[] = [];
  const statuses: ConnectionStatus[] = [];
  const changes = new EventEmitter();
  const client = new OvsdbClient({
    database: testSchema.name,
    columns: { Item: itemColumns, Part: ['name'] },
    ...options,
    signal: AbortSignal.any([controller.signal, run.signal]),
    onChange: (update) => {
      updates.push(update);
      changes.emit('change');
    },
    onStatus: (status) => {
      statuses.push(status);
      changes.emit('change');
    },
  });
  return {
    client,
    updates,
    statuses,
    async until(check) {
      while (!check()) await once(changes, 'change');
    },
    items: () => [...client.replica.rows('Item').values()].map(({ name }) => name as string).sort(),
    async end() {
      controller.abort();
      await client.ended;
    },
  };
}

/** The errors with which connections failed or ended. */
export const failuresOf = ({ statuses }: RecordingClient): OvsdbError[] =>
  statuses.flatMap((status) => (status.isConnected ? [] : [status.error]));

export const insertItem = (row: NewRow): Operation => ({ op: 'insert', table: 'Item', row });

export const updateItem = (name: string, row: NewRow): Operation => ({
  op: 'update',
  table: 'Item',
  where: [['name', '==', name]],
  row,
});

export const deleteItems: Operation = { op: 'delete', table: 'Item', where: [] };

/** The item of this name in the replica. */
export function itemOf({ client }: RecordingClient, name: string): Row | undefined {
  return [...client.replica.rows('Item').values()].find((row) => row['name'] === name);
}

/** Returns the error of a promise, which must reject with this code. */
export async function expectError(promise: Promise<unknown>, code: OvsdbErrorCode): Promise<OvsdbError> {
  const outcome: unknown = await promise.then(
    () => 'no error',
    (error: unknown) => error,
  );
  if (outcome instanceof OvsdbError && outcome.code === code) return outcome;
  throw new Error(`expected ${code}`, { cause: outcome });
}
