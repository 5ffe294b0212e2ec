/** etcd, one member, on loopback. */
import { join } from 'node:path';
import { childEnvironment, type Launch } from './launch.ts';
import { mustRun } from './command.ts';
import { freePort } from './ports.ts';
import { httpOk } from './probes.ts';
import { findProgram } from './programs.ts';
import type { Run } from './run.ts';
import { type Server, startServer } from './server.ts';

export interface EtcdSettings {
  readonly name: string;
  readonly folder: string;
  readonly port: number;
  /** Whether a write is on disk before it is answered. Tests that don't measure durability do without. */
  readonly fsync: boolean;
}

export interface Etcd extends Server {
  /** "http://127.0.0.1:<port>" */
  readonly endpoint: string;
  readonly port: number;
  /** Runs etcdctl against it; gives its stdout. @throws Error when it exits with anything but 0. */
  etcdctl(args: readonly string[], input?: string): Promise<string>;
}

// Nobody is ever a peer of a single member: that it listens for one, on any port, is only because it must.
const peer = 'http://127.0.0.1:0';

/** How etcd is started. */
export async function etcdLaunch({ name, folder, port, fsync }: EtcdSettings): Promise<Launch> {
  const endpoint = `http://127.0.0.1:${port}`;
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
    ],
    ready: (signal) => httpOk(`${endpoint}/readyz`, signal),
    readyWithinMs: 30_000,
  };
}

export interface EtcdOptions {
  readonly name?: string;
  readonly fsync?: boolean;
}

/** Starts an etcd of the run's own, with an empty store. */
export async function startEtcd(run: Run, { name = 'etcd', fsync = false }: EtcdOptions = {}): Promise<Etcd> {
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const server = await startServer(run, await etcdLaunch({ name, folder: run.folder, port, fsync }));
  return Object.assign(server, {
    endpoint,
    port,
    etcdctl: async (args: readonly string[], input?: string) =>
      mustRun(await findProgram('etcdctl'), args, {
        env: childEnvironment({ ETCDCTL_ENDPOINTS: endpoint }),
        input,
        signal: run.signal,
      }),
  });
}
