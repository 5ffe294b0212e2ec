/** Starts etcd with one member on loopback. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TlsFiles } from '../../lib/tls/credentials.ts';
import { childEnvironment, type Launch } from './processes/launch.ts';
import { mustRun } from './processes/command.ts';
import { findFreePort } from './processes/free-ports.ts';
import { type ClientCertificate, probeHttp } from './processes/readiness-probes.ts';
import { findProgram } from './programs/find-program.ts';
import type { Run } from './run.ts';
import { type Server, startServer } from './processes/server.ts';

export interface EtcdSettings {
  readonly name: string;
  readonly folder: string;
  readonly port: number;
  /** Host name of its URL (default: 127.0.0.1). A certificate may name it. */
  readonly host?: string | undefined;
  /** Whether a write is on disk before its answer, as tests of durability need it. */
  readonly fsync: boolean;
  readonly tls?: EtcdTls | undefined;
  readonly quotaBytes?: number | undefined;
}

/** Files for TLS: etcd accepts each client with a certificate of its authority. */
export interface EtcdTls {
  readonly server: TlsFiles;
  /** Certificate of the client. */
  readonly client: TlsFiles;
}

export interface Etcd extends Server {
  /** "http://127.0.0.1:<port>", or https:// */
  readonly endpoint: string;
  readonly port: number;
  /** Client certificate of an allocator. */
  readonly tls?: TlsFiles;
  /**
   * Runs etcdctl and returns its stdout.
   * @throws Error if the exit status is not 0, or after a timeout.
   */
  etcdctl(args: readonly string[], options?: EtcdctlOptions): Promise<string>;
}

export interface EtcdctlOptions {
  /** The text for its stdin. */
  readonly input?: string;
  /**
   * Limit of a long request. Default: one minute for the process, five seconds for a request of
   * etcdctl.
   */
  readonly timeoutMs?: number;
}

// The peer address, which etcd requires: a single member has no peers.
const peer = 'http://127.0.0.1:0';

/** The URL of an etcd on this machine. */
export const etcdEndpoint = (port: number, tls: EtcdTls | undefined, host = '127.0.0.1'): string =>
  `${tls ? 'https' : 'http'}://${host}:${port}`;

/** The launch of etcd. */
export async function etcdLaunch({ name, folder, port, host, fsync, tls, quotaBytes }: EtcdSettings): Promise<Launch> {
  const endpoint = etcdEndpoint(port, tls, host);
  return {
    name,
    program: await findProgram('etcd'),
    args: [
      `--name=${name}`,
      `--data-dir=${join(folder, name)}`,
      `--listen-client-urls=${etcdEndpoint(port, tls)}`,
      `--advertise-client-urls=${endpoint}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=${name}=${peer}`,
      '--log-level=warn',
      '--auto-compaction-mode=periodic',
      '--auto-compaction-retention=1h',
      ...(fsync ? [] : ['--unsafe-no-fsync']),
      ...(quotaBytes === undefined ? [] : [`--quota-backend-bytes=${quotaBytes}`]),
      ...(tls ? tlsFlags(tls.server) : []),
    ],
    ready: (signal) => probeHttp(`${endpoint}/readyz`, signal, tls && pemsOf(tls.client)),
    readyWithinMs: 120_000,
  };
}

const tlsFlags = ({ ca, cert, key }: TlsFiles): string[] => [
  `--trusted-ca-file=${ca}`,
  `--cert-file=${cert}`,
  `--key-file=${key}`,
  '--client-cert-auth',
];

function pemsOf({ ca, cert, key }: TlsFiles): ClientCertificate {
  const read = (file: string): string => readFileSync(file, 'utf8');
  return { ca: read(ca), cert: read(cert), key: read(key) };
}

/** Environment variables of etcdctl. */
export function etcdctlVariables(endpoint: string, tls: TlsFiles | undefined): Record<string, string> {
  const files = { ETCDCTL_CACERT: tls?.ca ?? '', ETCDCTL_CERT: tls?.cert ?? '', ETCDCTL_KEY: tls?.key ?? '' };
  return { ETCDCTL_ENDPOINTS: endpoint, ...files };
}

export interface EtcdOptions {
  readonly name?: string;
  /** Size limit of the database (etcd's default: 2 GiB). */
  readonly quotaBytes?: number;
  /** Default: only with FSYNC=1 in the environment. */
  readonly fsync?: boolean;
  readonly tls?: EtcdTls;
  /** Host name of its URL (default: 127.0.0.1). */
  readonly host?: string;
}

/** Starts an empty etcd that ends with the run. */
export async function startEtcd(
  run: Run,
  { name = 'etcd', fsync = process.env['FSYNC'] === '1', tls, host, quotaBytes }: EtcdOptions = {},
): Promise<Etcd> {
  const port = await findFreePort();
  const endpoint = etcdEndpoint(port, tls, host);
  const settings = { name, folder: run.folder, port, host, fsync, tls, quotaBytes };
  const server = await startServer(run, await etcdLaunch(settings));
  return Object.assign(server, {
    endpoint,
    port,
    ...(tls && { tls: tls.client }),
    etcdctl: async (args: readonly string[], { input, timeoutMs }: EtcdctlOptions = {}) => {
      const limit = timeoutMs === undefined ? [] : [`--command-timeout=${timeoutMs}ms`];
      return mustRun(await findProgram('etcdctl'), [...args, ...limit], {
        env: childEnvironment(etcdctlVariables(endpoint, tls?.client)),
        input,
        ...(timeoutMs !== undefined && { timeoutMs }),
        signal: run.signal,
      });
    },
  });
}

/** The limit of compaction and defragmentation, which read the complete database. */
export const maintenanceMs = 30 * 60_000;

export interface EtcdStatus {
  readonly header: { readonly revision: number };
  /** The bytes of the file, and of its part in use. */
  readonly dbSize: number;
  readonly dbSizeInUse: number;
}

export async function readEtcdStatus(etcd: Pick<Etcd, 'etcdctl'>): Promise<EtcdStatus> {
  const [{ Status: status }] = JSON.parse(await etcd.etcdctl(['endpoint', 'status', '-w', 'json'])) as [
    { readonly Status: EtcdStatus },
  ];
  return status;
}

/**
 * Compacts old revisions, as etcd's auto-compaction does. With `--physical` it waits until they are
 * removed from the file.
 */
export async function compactEtcd(etcd: Pick<Etcd, 'etcdctl'>, ...flags: readonly '--physical'[]): Promise<void> {
  const { header } = await readEtcdStatus(etcd);
  await etcd.etcdctl(['compact', ...flags, String(header.revision)], { timeoutMs: maintenanceMs });
}
