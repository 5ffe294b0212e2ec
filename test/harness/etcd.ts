/** etcd, one member, on loopback. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TlsFiles } from '../../lib/tls.ts';
import { childEnvironment, type Launch } from './launch.ts';
import { mustRun } from './command.ts';
import { freePort } from './ports.ts';
import { type ClientCertificate, httpOk } from './probes.ts';
import { findProgram } from './programs.ts';
import type { Run } from './run.ts';
import { type Server, startServer } from './server.ts';

export interface EtcdSettings {
  readonly name: string;
  readonly folder: string;
  readonly port: number;
  /** Whether a write is on disk before it is answered. Tests that don't measure durability do without. */
  readonly fsync: boolean;
  readonly tls?: EtcdTls | undefined;
  readonly quotaBytes?: number | undefined;
}

/** With it etcd lets in whoever has a certificate of its authority. */
export interface EtcdTls {
  readonly server: TlsFiles;
  /** What its client shows. */
  readonly client: TlsFiles;
}

export interface Etcd extends Server {
  /** "http://127.0.0.1:<port>", or https:// */
  readonly endpoint: string;
  readonly port: number;
  /** What an allocator shows it. */
  readonly tls?: TlsFiles;
  /** Runs etcdctl against it; gives its stdout. @throws Error when it exits with anything but 0, or takes too long. */
  etcdctl(args: readonly string[], options?: EtcdctlOptions): Promise<string>;
}

export interface EtcdctlOptions {
  /** Written to its stdin. */
  readonly input?: string;
  /** For what takes etcd long; a minute, and etcdctl's own five seconds a request, unless said. */
  readonly timeoutMs?: number;
}

// Nobody is ever a peer of a single member: that it listens for one, on any port, is only because it must.
const peer = 'http://127.0.0.1:0';

/** Where an etcd of this machine is reached. */
export const etcdEndpoint = (port: number, tls: EtcdTls | undefined): string =>
  `${tls ? 'https' : 'http'}://127.0.0.1:${port}`;

/** How etcd is started. */
export async function etcdLaunch({ name, folder, port, fsync, tls, quotaBytes }: EtcdSettings): Promise<Launch> {
  const endpoint = etcdEndpoint(port, tls);
  return {
    name,
    program: await findProgram('etcd'),
    args: [
      `--name=${name}`,
      `--data-dir=${join(folder, name)}`,
      `--listen-client-urls=${endpoint}`,
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
    ready: (signal) => httpOk(`${endpoint}/readyz`, signal, tls && pemsOf(tls.client)),
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

/** What etcdctl is told by its environment. */
export function etcdctlVariables(endpoint: string, tls: TlsFiles | undefined): Record<string, string> {
  const files = { ETCDCTL_CACERT: tls?.ca ?? '', ETCDCTL_CERT: tls?.cert ?? '', ETCDCTL_KEY: tls?.key ?? '' };
  return { ETCDCTL_ENDPOINTS: endpoint, ...files };
}

export interface EtcdOptions {
  readonly name?: string;
  /** How large it may grow (etcd's own limit is 2 GiB). */
  readonly quotaBytes?: number;
  readonly fsync?: boolean;
  readonly tls?: EtcdTls;
}

/** Starts an etcd of the run's own, with an empty store. */
export async function startEtcd(
  run: Run,
  { name = 'etcd', fsync = false, tls, quotaBytes }: EtcdOptions = {},
): Promise<Etcd> {
  const port = await freePort();
  const endpoint = etcdEndpoint(port, tls);
  const server = await startServer(run, await etcdLaunch({ name, folder: run.folder, port, fsync, tls, quotaBytes }));
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
