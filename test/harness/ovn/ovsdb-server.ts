/** Starts ovsdb-server: one server, or a cluster of several. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TlsFiles } from '../../../lib/tls/certificates.ts';
import { findFreePort } from '../processes/free-ports.ts';
import { isListenedOn } from '../processes/readiness-probes.ts';
import { type Server, startServer } from '../processes/server.ts';
import type { Run } from '../run.ts';
import { type OvnSchema, ovnLaunch, ovnSchema, runOvn } from './ovn-programs.ts';

export interface OvsdbServer extends Server {
  /** Endpoints: `unix:…`, `tcp:127.0.0.1:…`, and with certificates `ssl:127.0.0.1:…`. */
  readonly unix: string;
  readonly tcp: string;
  readonly ssl: string | undefined;
  /** Calls its control socket. Returns the answer. */
  control(args: readonly string[]): Promise<string>;
  /** Converts its database to another schema, as an upgrade does. */
  convert(schema: object): Promise<void>;
  /** Deletes the data of a stopped server and creates an empty database. */
  recreate(): Promise<void>;
}

export interface OvsdbServerSettings {
  readonly name: string;
  /** A schema of OVS or OVN, or a schema as JSON. */
  readonly schema: OvnSchema | object;
  /** The certificates for TLS, with which the server also requires those of clients. */
  readonly tls?: TlsFiles;
  /** Path of the network namespace in which the server runs. */
  readonly namespace?: string;
  /** Folder of the data and the sockets. Default: a folder of the run with the server’s name. */
  readonly folder?: string;
}

/** Starts a server with an empty database, and resolves when it listens. */
export async function startOvsdbServer(run: Run, settings: OvsdbServerSettings): Promise<OvsdbServer> {
  const folder = folderOf(run, settings);
  const schema = schemaFile(folder, settings);
  return startWith(run, settings, (database) => runOvn(folder, 'ovsdb-tool', ['create', database, schema]));
}

/** Starts a cluster of servers. Resolves when all listen; a leader may not be elected yet. */
export async function startOvsdbCluster(
  run: Run,
  { name, schema, size }: { readonly name: string; readonly schema: object & { name: string }; readonly size: number },
): Promise<OvsdbServer[]> {
  const servers: OvsdbServer[] = [];
  const peer = (index: number): string => `unix:${join(run.folder, `${name}-${index}.raft`)}`;
  for (let index = 1; index <= size; index++) {
    const settings = { name: `${name}-${index}`, schema };
    const folder = folderOf(run, settings);
    const create = (database: string): Promise<string> =>
      index === 1
        ? runOvn(folder, 'ovsdb-tool', ['create-cluster', database, schemaFile(folder, settings), peer(1)])
        : runOvn(folder, 'ovsdb-tool', ['join-cluster', database, schema.name, peer(index), peer(1)]);
    servers.push(await startWith(run, settings, create));
  }
  return servers;
}

function folderOf(run: Run, { name, folder = join(run.folder, name) }: OvsdbServerSettings): string {
  mkdirSync(folder, { recursive: true });
  return folder;
}

function schemaFile(folder: string, { name, schema }: OvsdbServerSettings): string {
  if (typeof schema === 'string') return ovnSchema(schema);
  const file = join(folder, `${name}.ovsschema`);
  writeFileSync(file, JSON.stringify(schema));
  return file;
}

async function startWith(
  run: Run,
  settings: OvsdbServerSettings,
  create: (database: string) => Promise<string>,
): Promise<OvsdbServer> {
  const { name, tls, namespace } = settings;
  const folder = folderOf(run, settings);
  const [database, socket, control] = ['db', 'sock', 'ctl'].map((kind) => join(folder, `${name}.${kind}`)) as [
    string,
    string,
    string,
  ];
  const [port, tlsPort] = [await findFreePort(), await findFreePort()];
  if (!existsSync(database)) await create(database);
  const launch = ovnLaunch({
    name,
    program: 'ovsdb-server',
    args: [
      `--unixctl=${control}`,
      `--remote=punix:${socket}`,
      `--remote=ptcp:${port}:127.0.0.1`,
      ...(tls ? [`--remote=pssl:${tlsPort}:127.0.0.1`] : []),
      ...(tls ? [`--private-key=${tls.key}`, `--certificate=${tls.cert}`, `--ca-cert=${tls.ca}`] : []),
      database,
    ],
    runFolder: folder,
    namespace,
    ready: async () => {
      if (!(await isListenedOn(socket))) throw new Error(`nothing listens on ${socket}`);
    },
  });
  const server = await startServer(run, launch);
  return Object.assign(server, {
    unix: `unix:${socket}`,
    tcp: `tcp:127.0.0.1:${port}`,
    ssl: tls && `ssl:127.0.0.1:${tlsPort}`,
    control: (args: readonly string[]) => runOvn(folder, 'ovs-appctl', ['-t', control, ...args]),
    async convert(schema: object) {
      await runOvn(folder, 'ovsdb-client', ['convert', `unix:${socket}`, schemaFile(folder, { name, schema })]);
    },
    async recreate() {
      rmSync(database);
      rmSync(join(folder, `.${name}.db.~lock~`), { force: true });
      await create(database);
    },
  });
}
