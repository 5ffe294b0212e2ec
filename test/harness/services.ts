/** The project's own programs, each as a process of its own. They are told everything by environment variables. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TlsFiles } from '../../lib/tls.ts';
import { type CommandResult, runCommand } from './command.ts';
import type { Etcd } from './etcd.ts';
import { childEnvironment, type Launch } from './launch.ts';
import { root } from './paths.ts';
import { freePort } from './ports.ts';
import { grpcServing, httpOk, socketAnswers } from './probes.ts';
import type { Run } from './run.ts';
import { type Server, startServer } from './server.ts';

const readyWithinMs = 120_000;
/** It may have a long log to read. */
const catchUpWithinMs = 3_600_000;

export interface AllocatorSettings {
  /** Name of the process, and the replica's id. */
  readonly name: string;
  /** etcd's endpoints, "http://host:port". */
  readonly etcd: readonly string[];
  /** "host:port" */
  readonly listen: string;
  /** Where it is reached on this machine, when that is not `listen`. */
  readonly endpoint?: string;
  readonly tls?: TlsFiles | undefined;
  /** What it shows etcd. */
  readonly etcdTls?: TlsFiles | undefined;
  /** "host:port" of /livez, /readyz and /metrics; none unless said. */
  readonly healthListen?: string;
  readonly archive?: ArchiveSettings | undefined;
}

/** Where old events go, and when; what is not said is as usual. */
export interface ArchiveSettings {
  readonly location: string;
  readonly keepEvents?: number;
  readonly segmentEvents?: number;
  /** How it is reached. */
  readonly env?: Readonly<Record<string, string>>;
}

function archiveVariables({ location, keepEvents, segmentEvents, env }: ArchiveSettings): Record<string, string> {
  return {
    IPLEDGER_ARCHIVE: location,
    ...(keepEvents !== undefined && { IPLEDGER_KEEP_EVENTS: String(keepEvents) }),
    ...(segmentEvents !== undefined && { IPLEDGER_SEGMENT_EVENTS: String(segmentEvents) }),
    ...env,
  };
}

/** How an allocator is started; ready when its health service says SERVING. */
export function allocatorLaunch(settings: AllocatorSettings): Launch {
  const { name, etcd, listen, endpoint = listen, tls, etcdTls, healthListen = '', archive } = settings;
  return {
    ...node('allocator', name),
    env: {
      IPLEDGER_ETCD: etcd.join(','),
      IPLEDGER_LISTEN: listen,
      IPLEDGER_REPLICA: name,
      IPLEDGER_HEALTH_LISTEN: healthListen,
      ...tlsVariables(tls),
      ...tlsVariables(etcdTls, 'IPLEDGER_ETCD'),
      ...(archive && archiveVariables(archive)),
    },
    ready: (signal) => grpcServing(endpoint, tls, signal),
  };
}

export interface WatcherSettings {
  readonly name: string;
  readonly allocator: string;
  readonly kubeconfig: string;
  /** "host:port" */
  readonly healthListen: string;
  readonly tls?: TlsFiles | undefined;
}

/** How a pod-watcher is started; ready when its /readyz answers 200. */
export function watcherLaunch({ name, allocator, kubeconfig, healthListen, tls }: WatcherSettings): Launch {
  return {
    ...node('pod-watcher', name),
    env: {
      IPLEDGER_ENDPOINT: allocator,
      KUBECONFIG: kubeconfig,
      IPLEDGER_HEALTH_LISTEN: healthListen,
      ...tlsVariables(tls),
    },
    ready: (signal) => httpOk(`http://${local(healthListen)}/readyz`, signal),
  };
}

export interface IndexSettings {
  readonly name: string;
  readonly allocator: string;
  /** "host:port" */
  readonly listen: string;
  /** Where it is reached on this machine, when that is not `listen`. */
  readonly endpoint?: string;
  /** Its SQLite file. */
  readonly file: string;
  readonly healthListen?: string;
  readonly tls?: TlsFiles | undefined;
}

/** How the read model is started; ready when it knows as much of the ledger as there was. */
export function indexLaunch(settings: IndexSettings): Launch {
  const { name, allocator, listen, endpoint = listen, file, healthListen = '', tls } = settings;
  return {
    ...node('index', name),
    env: {
      IPLEDGER_ENDPOINT: allocator,
      IPLEDGER_LISTEN: listen,
      IPLEDGER_INDEX_FILE: file,
      IPLEDGER_HEALTH_LISTEN: healthListen,
      ...tlsVariables(tls),
    },
    ready: (signal) => grpcServing(endpoint, tls, signal, { server: 'index' }),
  };
}

export interface AgentSettings extends WatcherSettings {
  /** Name of the Node that it serves. */
  readonly node: string;
  /** Unix sockets that it listens on; the first is asked whether it is ready. */
  readonly sockets: readonly [string, ...string[]];
  /** Folder of the DELs that are left to be done later (default: the plugin's, /var/lib/cni/ipledger). */
  readonly journal?: string;
  /** Folder of the files of bindings (default: /var/lib/ipledger/bindings). */
  readonly bindings?: string;
  /** Says which boot of the node it is (default: that of this machine). */
  readonly bootIdFile?: string;
}

/** How a node-agent is started; ready when its socket answers. */
export function agentLaunch(settings: AgentSettings): Launch {
  const {
    name,
    allocator,
    kubeconfig,
    healthListen,
    node: nodeName,
    sockets,
    journal,
    bindings,
    bootIdFile,
    tls,
  } = settings;
  return {
    ...node('node-agent', name),
    env: {
      IPLEDGER_ENDPOINT: allocator,
      IPLEDGER_SOCKETS: sockets.join(','),
      IPLEDGER_NODE: nodeName,
      KUBECONFIG: kubeconfig,
      IPLEDGER_HEALTH_LISTEN: healthListen,
      ...(journal !== undefined && { IPLEDGER_JOURNAL: journal }),
      ...(bindings !== undefined && { IPLEDGER_BINDINGS: bindings }),
      ...(bootIdFile !== undefined && { IPLEDGER_BOOT_ID_FILE: bootIdFile }),
      ...tlsVariables(tls),
    },
    ready: (signal) => socketAnswers(sockets[0], signal),
  };
}

function node(service: string, name: string): Omit<Launch, 'ready'> {
  const main = join(root, 'services', service, 'main.ts');
  if (!existsSync(main)) throw new Error(`no program ${main}`);
  return { name, program: process.execPath, args: [main], readyWithinMs };
}

/** Where something that listens on all addresses is reached on this machine. */
export function local(listen: string): string {
  return listen.replace(/^0\.0\.0\.0:/, '127.0.0.1:').replace(/^\[::\]:/, '[::1]:');
}

/** IPLEDGER_TLS_CA, _CERT and _KEY, or the same of another prefix; empty for plaintext. */
export function tlsVariables(tls: TlsFiles | undefined, prefix = 'IPLEDGER_TLS'): Record<string, string> {
  return { [`${prefix}_CA`]: tls?.ca ?? '', [`${prefix}_CERT`]: tls?.cert ?? '', [`${prefix}_KEY`]: tls?.key ?? '' };
}

export interface Allocator extends Server {
  /** "127.0.0.1:<port>" */
  readonly endpoint: string;
  /** The same, of /livez, /readyz and /metrics. */
  readonly health: string;
}

export interface AllocatorOptions {
  readonly etcd: Pick<Etcd, 'endpoint' | 'tls'>;
  /** Tell replicas apart by it (default `allocator`). */
  readonly name?: string;
  readonly tls?: TlsFiles | undefined;
  /** Nothing is sealed unless it is given. */
  readonly archive?: ArchiveSettings;
}

/** Starts an allocator on a port of its own. */
export async function startAllocator(
  run: Run,
  { etcd, name = 'allocator', tls, archive }: AllocatorOptions,
): Promise<Allocator> {
  const endpoint = `127.0.0.1:${await freePort()}`;
  const health = `127.0.0.1:${await freePort()}`;
  const reached = { listen: endpoint, healthListen: health };
  const launch = allocatorLaunch({ name, etcd: [etcd.endpoint], ...reached, tls, etcdTls: etcd.tls, archive });
  return Object.assign(await startServer(run, launch), { endpoint, health });
}

export interface WatcherOptions {
  readonly allocator: { readonly endpoint: string };
  /** A Cluster, or whatever has a kubeconfig file. */
  readonly cluster: { readonly kubeconfig: string };
  readonly name?: string;
  readonly tls?: TlsFiles | undefined;
}

export interface Watcher extends Server {
  /** "127.0.0.1:<port>", of /livez, /readyz and /metrics. */
  readonly health: string;
}

/** Starts a pod-watcher. */
export async function startWatcher(run: Run, options: WatcherOptions): Promise<Watcher> {
  const { allocator, cluster, name = 'pod-watcher', tls } = options;
  const health = `127.0.0.1:${await freePort()}`;
  const { kubeconfig } = cluster;
  const launch = watcherLaunch({ name, allocator: allocator.endpoint, kubeconfig, healthListen: health, tls });
  return Object.assign(await startServer(run, launch), { health });
}

export interface Index extends Server {
  /** "127.0.0.1:<port>" */
  readonly endpoint: string;
  /** "127.0.0.1:<port>", of /livez, /readyz and /metrics. */
  readonly health: string;
  /** Its SQLite file: it may be deleted while it is stopped. */
  readonly file: string;
}

/** Starts a read model; resolves when it has caught up. */
export async function startIndex(
  run: Run,
  { allocator, tls }: { readonly allocator: { readonly endpoint: string }; readonly tls?: TlsFiles | undefined },
): Promise<Index> {
  const endpoint = `127.0.0.1:${await freePort()}`;
  const health = `127.0.0.1:${await freePort()}`;
  const file = join(run.folder, 'index.sqlite');
  const reached = { listen: endpoint, healthListen: health };
  const launch = indexLaunch({ name: 'index', allocator: allocator.endpoint, file, ...reached, tls });
  return Object.assign(await startServer(run, { ...launch, readyWithinMs: catchUpWithinMs }), {
    endpoint,
    health,
    file,
  });
}

export interface AgentOptions extends WatcherOptions {
  /** Default `node-1`. */
  readonly node?: string;
}

export interface Agent extends Watcher {
  readonly node: string;
  /** The unix socket that plugins talk to. */
  readonly socket: string;
  /** Folder of the DELs that are left to be done later. */
  readonly journal: string;
  /** Folder of the files of bindings. */
  readonly bindings: string;
  /** What stands in this file is the node's boot, for an agent that starts: another text there is a reboot. */
  readonly bootIdFile: string;
}

/** Starts the agent of a node, listening on a socket in the run's folder. */
export async function startAgent(run: Run, options: AgentOptions): Promise<Agent> {
  const { allocator, cluster, node: nodeName = 'node-1', name = `node-agent-${nodeName}`, tls } = options;
  const health = `127.0.0.1:${await freePort()}`;
  const socket = join(run.folder, `${name}.sock`);
  const journal = join(run.folder, `${name}-journal`);
  const bindings = join(run.folder, `${name}-bindings`);
  const bootIdFile = join(run.folder, `${name}-boot-id`);
  writeFileSync(bootIdFile, `first boot of ${nodeName}\n`);
  const launch = agentLaunch({
    name,
    allocator: allocator.endpoint,
    kubeconfig: cluster.kubeconfig,
    healthListen: health,
    node: nodeName,
    sockets: [socket],
    journal,
    bindings,
    bootIdFile,
    tls,
  });
  const files = { socket, journal, bindings, bootIdFile };
  return Object.assign(await startServer(run, launch), { health, node: nodeName, ...files });
}

export interface CommandLine {
  readonly allocator?: { readonly endpoint: string };
  readonly tls?: TlsFiles;
  /** What else the user has set. */
  readonly env?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Runs the command line tool as a user does. */
export function ipledger(
  args: readonly string[],
  { allocator, tls, env, signal }: CommandLine = {},
): Promise<CommandResult> {
  const endpoint = allocator && { IPLEDGER_ENDPOINT: allocator.endpoint };
  // No cluster but one that is named: a developer may have one at home
  const variables = childEnvironment({ HOME: '', ...endpoint, ...tlsVariables(tls), ...env });
  return runCommand(join(root, 'cli', 'ipledger'), args, { env: variables, signal });
}
