/**
 * A client of one OVSDB database (RFC 7047, and the extensions of ovsdb-server(7)). It stays
 * connected to a server that can serve the database, keeps a replica of chosen tables, and runs
 * transactions.
 */
import { backoffMs, pause, rejectWhenAborted, timeoutSignal } from '../process/abortable.ts';
import { type OvsdbTls, openSocket, parseEndpoint } from './endpoint.ts';
import { readArray, readText } from './json.ts';
import { OvsdbError, protocolError } from './ovsdb-error.ts';
import { type ReplicaUpdate, type MonitoredColumns, Replica } from './replica.ts';
import { type DatabaseSchema, parseSchema } from './schema.ts';
import { type RequestOptions, Session, type SessionLimits } from './session.ts';
import { ServerStatus } from './server-status.ts';
import { decodeResults, encodeTransaction, type Operation, type OperationResult } from './transaction.ts';
import { zeroUuid } from './values.ts';

export interface ClientLimits extends SessionLimits {
  /** The time limit for a connection, until the server accepts it. */
  readonly connectMs: number;
  /** The time limit of each request. */
  readonly requestMs: number;
  /** The longest pause between two rounds through the endpoints. */
  readonly maxBackoffMs: number;
  /** The most rows of the replica, in all tables together. */
  readonly maxRows: number;
}

const defaultLimits: ClientLimits = {
  maxMessageBytes: 64 << 20,
  maxRequests: 1_000,
  probeMs: 10_000,
  connectMs: 5_000,
  requestMs: 30_000,
  maxBackoffMs: 2_000,
  maxRows: 1_000_000,
};

const firstBackoffMs = 50;

export type ConnectionStatus =
  | { readonly isConnected: true; readonly endpoint: string; readonly isResumed: boolean }
  | { readonly isConnected: false; readonly endpoint: string; readonly error: OvsdbError };

export interface ClientOptions {
  /** `unix:/path`, `tcp:host:port` or `ssl:host:port`. The client connects to one of them. */
  readonly endpoints: readonly string[];
  readonly database: string;
  /** Required for `ssl:` endpoints. */
  readonly tls?: OvsdbTls;
  /** The tables and columns of the replica. Default: none. */
  readonly columns?: MonitoredColumns;
  /** Whether a clustered server must be the leader. Default: true. */
  readonly needsLeader?: boolean;
  readonly limits?: Partial<ClientLimits>;
  /** Ends the client. */
  readonly signal: AbortSignal;
  /** Called after each update that the replica has applied. It must not throw. */
  readonly onChange?: (update: ReplicaUpdate) => void;
  /** Called after each connection that is ready, failed or ended. It must not throw. */
  readonly onStatus?: (status: ConnectionStatus) => void;
}

interface Connected {
  readonly session: Session;
  readonly schema: DatabaseSchema;
  readonly endpoint: string;
}

const replicaMonitorId = 'replica';

export class OvsdbClient {
  /** The rows that were received last. They stay while the client is not connected. */
  readonly replica: Replica;
  /** Resolves when the client has ended, after an abort. */
  readonly ended: Promise<void>;
  readonly #options: ClientOptions;
  readonly #limits: ClientLimits;
  #connected: Connected | undefined;
  /** The schema of the rows in the current session. */
  #monitored: DatabaseSchema | undefined;
  #ready = Promise.withResolvers<void>();
  /** The last transaction in the replica; zero if it is not known. */
  #lastTransaction = zeroUuid;

  /** Starts connecting. @throws Error if an endpoint is invalid or lacks certificates */
  constructor(options: ClientOptions) {
    if (options.endpoints.length === 0) throw new Error(`${options.database}: no endpoint`);
    for (const endpoint of options.endpoints)
      if (parseEndpoint(endpoint).kind === 'ssl' && !options.tls)
        throw new Error(`${endpoint} needs certificate files`);
    this.#options = options;
    this.#limits = { ...defaultLimits, ...options.limits };
    this.replica = new Replica(options.columns ?? {}, this.#limits.maxRows);
    this.ended = this.#run();
  }

  /** The connected server; undefined for none. */
  get endpoint(): string | undefined {
    return this.#connected?.endpoint;
  }

  /** The schema of the server. @throws OvsdbError NOT_CONNECTED */
  get schema(): DatabaseSchema {
    return this.#current().schema;
  }

  /** Resolves when the replica is complete. @throws the signal's reason if it is aborted before */
  async ready(signal?: AbortSignal): Promise<void> {
    const signals = signal ? [this.#options.signal, signal] : [this.#options.signal];
    while (!this.#connected) await rejectWhenAborted(this.#ready.promise, AbortSignal.any(signals));
  }

  /**
   * Runs operations as one transaction. When it resolves, the replica contains the changes. A
   * transaction is never sent twice.
   * @returns one result per operation
   * @throws OvsdbError whose code shows whether it may be repeated; see OvsdbErrorCode
   */
  async transact(
    operations: readonly Operation[],
    options: Partial<RequestOptions> = {},
  ): Promise<readonly OperationResult[]> {
    const { session, schema } = this.#current();
    const answer = await session.request('transact', encodeTransaction(schema, operations), this.#request(options));
    return decodeResults(schema, operations, answer);
  }

  #current(): Connected {
    if (this.#connected) return this.#connected;
    throw new OvsdbError('NOT_CONNECTED', `not connected to a server of ${this.#options.database}`);
  }

  #request(options: Partial<RequestOptions> = {}): RequestOptions {
    return { timeoutMs: this.#limits.requestMs, ...options };
  }

  async #run(): Promise<void> {
    const { signal, endpoints } = this.#options;
    for (let failures = 0; !signal.aborted; failures++) {
      for (const endpoint of shuffle(endpoints)) {
        const startedAt = performance.now();
        await this.#serve(endpoint);
        if (signal.aborted) return;
        // A connection that ends soon after its start counts as a failure, so that the client
        // pauses before it reconnects.
        if (performance.now() - startedAt > this.#limits.maxBackoffMs) failures = 0;
      }
      await pause(backoffMs(failures, firstBackoffMs, this.#limits.maxBackoffMs), signal);
    }
  }

  /** Connects to an endpoint. Resolves when the connection has ended. */
  async #serve(endpoint: string): Promise<void> {
    const { signal, tls, onStatus } = this.#options;
    let session: Session | undefined;
    const end = (): void => session?.close(new OvsdbError('NOT_CONNECTED', 'the client has ended'));
    signal.addEventListener('abort', end);
    let error: OvsdbError;
    try {
      const socket = await openSocket(endpoint, tls, timeoutSignal(this.#limits.connectMs, signal));
      const status = new ServerStatus({ needsLeader: true, ...this.#options });
      session = new Session(socket, this.#limits, (method, params) => this.#receive(status, method, params));
      if (signal.aborted) end();
      await status.start(session, this.#request());
      await this.#open(session, endpoint);
      error = await session.closed;
    } catch (thrown) {
      error = thrown instanceof OvsdbError ? thrown : protocolError(String(thrown));
      session?.close(error);
      // If the session ended first, that is the cause.
      error = (await session?.closed) ?? error;
    }
    signal.removeEventListener('abort', end);
    if (this.#connected) this.#ready = Promise.withResolvers();
    this.#connected = undefined;
    this.#monitored = undefined;
    if (!signal.aborted) onStatus?.({ isConnected: false, endpoint, error });
  }

  /** Reads the schema, updates the replica, and makes the session the current one. */
  async #open(session: Session, endpoint: string): Promise<void> {
    const { database, columns, onStatus } = this.#options;
    const schema = parseSchema(await session.request('get_schema', [database], this.#request()));
    const isResumed = columns !== undefined && (await this.#monitor(session, schema));
    this.#connected = { session, schema, endpoint };
    onStatus?.({ isConnected: true, endpoint, isResumed });
    this.#ready.resolve();
  }

  /** Returns whether the server sent only the rows that the replica lacks. */
  async #monitor(session: Session, schema: DatabaseSchema): Promise<boolean> {
    const params = [this.#options.database, replicaMonitorId, this.replica.monitorRequests(schema)];
    let isResumed = false;
    const receive = (answer: unknown): void => {
      const [isFound, last, updates] = readArray(answer, 'the answer to monitor_cond_since');
      isResumed = isFound === true;
      this.#monitored = schema;
      this.#apply(last, () => (isResumed ? this.replica.apply(schema, updates) : this.replica.reload(schema, updates)));
    };
    try {
      await session.request('monitor_cond_since', [...params, this.#lastTransaction], { ...this.#request(), receive });
    } catch (error) {
      if (!(error instanceof OvsdbError) || error.code !== 'REFUSED') throw error;
      // A server older than OVS 2.12 does not know `monitor_cond_since`.
      await session.request('monitor_cond', params, {
        ...this.#request(),
        receive: (updates) => receive([false, zeroUuid, updates]),
      });
    }
    return isResumed;
  }

  #receive(status: ServerStatus, method: string, params: unknown): void {
    if (method !== 'update2' && method !== 'update3') return;
    const [id, ...rest] = readArray(params, 'an update');
    if (id === ServerStatus.monitorId) {
      status.update(params);
      return;
    }
    const schema = this.#monitored;
    if (id !== replicaMonitorId || !schema) throw protocolError('the server sent an update that was not requested');
    const [last, updates] = method === 'update3' ? rest : [zeroUuid, rest[0]];
    this.#apply(last, () => this.replica.apply(schema, updates));
  }

  /** Applies an update. If that fails, the next connection reads all rows again. */
  #apply(last: unknown, apply: () => ReplicaUpdate): void {
    this.#lastTransaction = zeroUuid;
    const update = apply();
    if (update.isReload || update.changes.length > 0) this.#options.onChange?.(update);
    this.#lastTransaction = readText(last, 'a transaction id');
  }
}

/** Copies in random order, so that not all clients use the same server. */
function shuffle<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, rank: Math.random() }))
    .sort((left, right) => left.rank - right.rank)
    .map(({ item }) => item);
}
