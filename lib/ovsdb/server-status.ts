/** Checks whether a server can serve a database, from its `_Server` database (ovsdb-server(7)). */
import { readArray } from './json.ts';
import { OvsdbError, protocolError } from './ovsdb-error.ts';
import { Replica } from './replica.ts';
import { type DatabaseSchema, parseDatabaseNames, parseSchema } from './schema.ts';
import type { RequestOptions, Session } from './session.ts';

const serverDatabase = '_Server';
const maxDatabases = 1_000;

export interface RequiredServer {
  readonly database: string;
  /** Whether a clustered server must be the leader. Followers may have old data. */
  readonly needsLeader: boolean;
}

/** Monitors one server. */
export class ServerStatus {
  /** The id of the monitor in notifications. */
  static readonly monitorId = 'server';

  readonly #replica = new Replica({ Database: ['name', 'model', 'connected', 'leader'] }, maxDatabases);
  readonly #required: RequiredServer;
  #schema: DatabaseSchema | undefined;

  constructor(required: RequiredServer) {
    this.#required = required;
  }

  /**
   * Starts monitoring the server. A server without `_Server` is older than clustering.
   * @throws OvsdbError NOT_CONNECTED with the reason if the server cannot serve the database
   */
  async start(session: Session, options: RequestOptions): Promise<void> {
    const databases = parseDatabaseNames(await session.request('list_dbs', [], options));
    if (!databases.includes(this.#required.database))
      throw unsuitable(`the server has no database ${this.#required.database}`);
    if (!databases.includes(serverDatabase)) return;
    const schema = parseSchema(await session.request('get_schema', [serverDatabase], options));
    this.#schema = schema;
    const params = [serverDatabase, ServerStatus.monitorId, this.#replica.monitorRequests(schema)];
    await session.request('monitor_cond', params, {
      ...options,
      receive: (updates) => this.#replica.reload(schema, updates),
    });
    this.#check();
  }

  /** Applies parameters of `update2`. @throws OvsdbError NOT_CONNECTED if it cannot serve now */
  update(params: unknown): void {
    if (!this.#schema) throw protocolError('the server sent an update of a monitor that it does not have');
    this.#replica.apply(this.#schema, readArray(params, 'an update')[1]);
    this.#check();
  }

  #check(): void {
    const { database, needsLeader } = this.#required;
    const row = [...this.#replica.rows('Database').values()].find(({ name }) => name === database);
    if (!row) throw unsuitable(`the server has no database ${database}`);
    if (row['model'] === 'standalone') return;
    if (row['connected'] !== true) throw unsuitable(`the server has lost the other servers of ${database}`);
    if (needsLeader && row['model'] === 'clustered' && row['leader'] !== true)
      throw unsuitable(`the server is not the leader of ${database}`);
  }
}

const unsuitable = (message: string): OvsdbError => new OvsdbError('NOT_CONNECTED', message);
