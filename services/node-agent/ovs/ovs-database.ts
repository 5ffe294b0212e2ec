/**
 * The agent's connection to the node's Open_vSwitch database (ovs-vswitchd.conf.db(5)): a replica
 * of the tables for NICs and physical networks, and transactions. The agent also runs while the
 * database is unreachable.
 */
import { IpledgerError } from '../../../lib/errors.ts';
import { OvsdbClient } from '../../../lib/ovsdb/client.ts';
import type { OvsdbError } from '../../../lib/ovsdb/ovsdb-error.ts';
import type { MonitoredColumns } from '../../../lib/ovsdb/replica.ts';
import type { Operation, OperationResult } from '../../../lib/ovsdb/transaction.ts';
import type { Row } from '../../../lib/ovsdb/values.ts';
import { rejectWhenAborted } from '../../../lib/process/abortable.ts';
import type { Logger } from '../../../lib/process/log.ts';

/** A node has at most some thousand ports. A replica of this many rows takes about 100 MB. */
const maxRows = 200_000;
const requestMs = 5_000;

const columns = {
  Open_vSwitch: ['bridges', 'external_ids', 'cur_cfg'],
  Bridge: ['name', 'datapath_type', 'ports', 'external_ids', 'other_config'],
  Port: ['name', 'interfaces', 'qos', 'tag', 'trunks', 'external_ids'],
  Interface: ['name', 'type', 'options', 'ofport', 'error', 'mtu', 'external_ids'],
  QoS: ['type', 'queues', 'other_config', 'external_ids'],
  Queue: ['other_config', 'external_ids'],
} as const satisfies MonitoredColumns;

export type OvsTable = keyof typeof columns;

/** A row of the replica with its UUID. */
export interface OvsRow {
  readonly uuid: string;
  readonly row: Row;
}

export interface OvsDatabaseOptions {
  /** An endpoint `unix:/path` or `tcp:host:port`; flag `--ovs-db`. */
  readonly endpoint: string;
  readonly log: Logger;
  /** Ends the connection when it is aborted. */
  readonly signal: AbortSignal;
}

export class OvsDatabase {
  readonly endpoint: string;
  readonly #client: OvsdbClient;
  readonly #log: Logger;
  readonly #listeners = new Set<() => void>();
  /** Why the last connection failed; '' while connected, and before the first attempt ends. */
  #lastError = '';

  /** Starts to connect. @throws Error if the endpoint is invalid */
  constructor({ endpoint, log, signal }: OvsDatabaseOptions) {
    this.endpoint = endpoint;
    this.#log = log;
    this.#client = new OvsdbClient({
      endpoints: [endpoint],
      database: 'Open_vSwitch',
      columns,
      limits: { maxRows, requestMs },
      signal,
      onChange: () => this.#notify(),
      onStatus: (status) => {
        this.#logStatus(status.isConnected ? undefined : status.error);
        this.#notify();
      },
    });
  }

  get isConnected(): boolean {
    return this.#client.endpoint !== undefined;
  }

  /**
   * Resolves when the agent is connected and the replica is complete.
   * @throws IpledgerError DATA_PATH_FAILED when the signal is aborted before
   */
  async ready(signal: AbortSignal): Promise<void> {
    try {
      await this.#client.ready(signal);
    } catch (error) {
      const reason = this.#lastError || 'no answer yet';
      throw new IpledgerError(
        'DATA_PATH_FAILED',
        `no connection to the Open vSwitch database: ${reason}. Start ovsdb-server on this node, or correct --ovs-db ${this.endpoint}`,
        { cause: error },
      );
    }
  }

  /** Returns the rows of a table by UUID; the last known rows while the agent is not connected. */
  rows(table: OvsTable): ReadonlyMap<string, Row> {
    return this.#client.replica.rows(table);
  }

  /** Returns the first row of a table with this name. */
  named(table: 'Bridge' | 'Port' | 'Interface', name: string): OvsRow | undefined {
    for (const [uuid, row] of this.rows(table)) if (row['name'] === name) return { uuid, row };
    return undefined;
  }

  /** Returns the only row of table Open_vSwitch; undefined before `ovs-vsctl init`. */
  root(): OvsRow | undefined {
    const [first] = this.rows('Open_vSwitch');
    return first && { uuid: first[0], row: first[1] };
  }

  /** Runs one transaction. Resolves when the replica has its changes. @throws OvsdbError */
  transact(operations: readonly Operation[]): Promise<readonly OperationResult[]> {
    return this.#client.transact(operations);
  }

  /**
   * Runs operations as one transaction. Resolves when ovs-vswitchd has applied them: it then copies
   * `next_cfg` to `cur_cfg`.
   * @throws OvsdbError; the reason of the signal when it is aborted before
   */
  async apply(operations: readonly Operation[], signal: AbortSignal): Promise<void> {
    const results = await this.transact([
      ...operations,
      { op: 'mutate', table: 'Open_vSwitch', where: [], mutations: [['next_cfg', '+=', 1]] },
      { op: 'select', table: 'Open_vSwitch', where: [], columns: ['next_cfg'] },
    ]);
    const applied = Number(results.at(-1)?.rows?.[0]?.['next_cfg']);
    await this.when(() => Number(this.root()?.row['cur_cfg']) >= applied || undefined, signal);
  }

  /** Calls the listener after each change, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Resolves to the first result of `find` that is not undefined. Calls `find` now, and after each
   * change of the replica or the connection.
   * @throws the reason of the signal when it is aborted before; the error of `find`
   */
  async when<T>(find: () => T | undefined, signal: AbortSignal): Promise<T> {
    const found = Promise.withResolvers<T>();
    const check = (): void => {
      try {
        const result = find();
        if (result !== undefined) found.resolve(result);
      } catch (error) {
        found.reject(error);
      }
    };
    const stop = this.onChange(check);
    try {
      check();
      return await rejectWhenAborted(found.promise, signal);
    } finally {
      stop();
    }
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }

  #logStatus(error: OvsdbError | undefined): void {
    const message = error?.message ?? '';
    const { endpoint } = this;
    if (!error) this.#log.info({ endpoint }, 'connected to the Open vSwitch database');
    else if (message !== this.#lastError)
      this.#log.warn({ endpoint, err: error }, 'no connection to the Open vSwitch database: start ovsdb-server');
    this.#lastError = message;
  }
}
