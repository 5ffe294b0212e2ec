/** Starts the programs of this project as processes. Environment variables configure them. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TlsFiles } from '../../lib/tls/credentials.ts';
import type { Etcd } from './etcd.ts';
import type { Launch } from './processes/launch.ts';
import { distFolder, root } from './paths.ts';
import { findFreePort } from './processes/free-ports.ts';
import { probeGrpcHealth, probeHttp, probeSocket } from './processes/readiness-probes.ts';
import type { Run } from './run.ts';
import { type Server, startServer } from './processes/server.ts';

const readyWithinMs = 120_000;
/** The time in which a read model catches up: it may have to read a long log. */
const catchUpWithinMs = 3_600_000;

/** A program that can send traces. */
export interface TracedProgram {
  /** The base URL of the collector. Without it, the program sends no traces. */
  readonly traceEndpoint?: string | undefined;
}

const traceVariables = ({ traceEndpoint = '' }: TracedProgram): Record<string, string> => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: traceEndpoint,
});

export interface AllocatorSettings extends TracedProgram {
  /** Name of the process, and id of the replica. */
  readonly name: string;
  /** Endpoints of etcd, "http://host:port". */
  readonly etcd: readonly string[];
  /** "host:port" */
  readonly listen: string;
  /** The server's address on this machine, if different from `listen`. */
  readonly endpoint?: string;
  readonly tls?: TlsFiles | undefined;
  /** Client certificate for etcd. */
  readonly etcdTls?: TlsFiles | undefined;
  /** "host:port" of /livez, /readyz and /metrics (default: none). */
  readonly healthListen?: string;
  readonly archive?: ArchiveSettings | undefined;
  readonly tokenReview?: TokenReviewSettings | undefined;
}

/** The verification of tokens. */
export interface TokenReviewSettings {
  /** kubeconfig file of a user that may create TokenReviews. */
  readonly kubeconfig: string;
  /** "namespace/name" of the agents' ServiceAccount. */
  readonly account: string;
  /** Whether Kubernetes users are accepted. The kubeconfig must permit SubjectAccessReviews. */
  readonly users?: boolean;
}

const tokenReviewVariables = ({ kubeconfig, account, users }: TokenReviewSettings): Record<string, string> => ({
  KUBECONFIG: kubeconfig,
  IPLEDGER_TOKEN_REVIEW: '1',
  IPLEDGER_AGENT_SERVICE_ACCOUNT: account,
  ...(users && { IPLEDGER_KUBERNETES_USERS: '1' }),
});

/** The archive of old events. Missing settings have the defaults of the allocator. */
export interface ArchiveSettings {
  readonly location: string;
  readonly keepEvents?: number;
  readonly segmentEvents?: number;
  /** Environment variables for access to the archive. */
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

/** The launch of an allocator. It is ready when its health service reports SERVING. */
export function allocatorLaunch(settings: AllocatorSettings): Launch {
  const { name, etcd, listen, endpoint = listen, tls, etcdTls, healthListen = '', archive, tokenReview } = settings;
  return {
    ...launchOf('allocator', name),
    env: {
      IPLEDGER_ETCD: etcd.join(','),
      IPLEDGER_LISTEN: listen,
      IPLEDGER_REPLICA: name,
      IPLEDGER_HEALTH_LISTEN: healthListen,
      ...tlsVariables(tls),
      ...tlsVariables(etcdTls, 'IPLEDGER_ETCD'),
      ...(archive && archiveVariables(archive)),
      ...(tokenReview && tokenReviewVariables(tokenReview)),
      ...traceVariables(settings),
    },
    ready: (signal) => probeGrpcHealth(endpoint, tls, signal),
  };
}

export interface WatcherSettings extends TracedProgram {
  readonly name: string;
  readonly allocator: string;
  readonly kubeconfig: string;
  /** "host:port" */
  readonly healthListen: string;
  readonly tls?: TlsFiles | undefined;
  /** Addresses per second of a namespace; 0: no limit (default: the program's). */
  readonly namespaceRate?: number | undefined;
  readonly besideKubeOvn?: boolean | undefined;
  /** How long it keeps its Lease without an allocator; absent for the default. */
  readonly allocatorTimeoutSeconds?: number | undefined;
}

/** The launch of a pod-watcher. It is ready when its /readyz answers 200. */
export function watcherLaunch(settings: WatcherSettings): Launch {
  const { name, allocator, kubeconfig, healthListen, tls, namespaceRate, besideKubeOvn, allocatorTimeoutSeconds } =
    settings;
  return {
    ...launchOf('pod-watcher', name),
    env: {
      IPLEDGER_ENDPOINT: allocator,
      KUBECONFIG: kubeconfig,
      IPLEDGER_HEALTH_LISTEN: healthListen,
      ...(namespaceRate !== undefined && { IPLEDGER_NAMESPACE_RATE: String(namespaceRate) }),
      ...(allocatorTimeoutSeconds !== undefined && { IPLEDGER_ALLOCATOR_TIMEOUT: String(allocatorTimeoutSeconds) }),
      ...(besideKubeOvn && { IPLEDGER_BESIDE_KUBE_OVN: 'true' }),
      ...tlsVariables(tls),
      ...traceVariables(settings),
    },
    ready: (signal) => probeHttp(`http://${loopbackOf(healthListen)}/readyz`, signal),
  };
}

export interface OvnProjectorSettings extends WatcherSettings {
  /** Endpoints of the northbound database, as "unix:/path". */
  readonly northbound: readonly string[];
  /** Client certificate for `ssl:` endpoints. */
  readonly ovnTls?: TlsFiles | undefined;
}

/** The launch of an ovn-projector. It is ready when its /readyz answers 200. */
export function ovnProjectorLaunch(settings: OvnProjectorSettings): Launch {
  const { name, allocator, kubeconfig, healthListen, tls, northbound, ovnTls } = settings;
  return {
    ...launchOf('ovn-projector', name),
    env: {
      IPLEDGER_ENDPOINT: allocator,
      KUBECONFIG: kubeconfig,
      IPLEDGER_OVN_NB: northbound.join(','),
      IPLEDGER_HEALTH_LISTEN: healthListen,
      ...tlsVariables(tls),
      ...tlsVariables(ovnTls, 'IPLEDGER_OVN'),
    },
    ready: (signal) => probeHttp(`http://${loopbackOf(healthListen)}/readyz`, signal),
  };
}

export interface ReadModelSettings {
  readonly name: string;
  readonly allocator: string;
  /** "host:port" */
  readonly listen: string;
  /** Its address on this machine, if different from `listen`. */
  readonly endpoint?: string;
  /** SQLite file of the read model. */
  readonly file: string;
  readonly healthListen?: string;
  readonly tls?: TlsFiles | undefined;
}

/** The launch of the read model. It is ready when it has caught up with the ledger. */
export function readModelLaunch(settings: ReadModelSettings): Launch {
  const { name, allocator, listen, endpoint = listen, file, healthListen = '', tls } = settings;
  return {
    ...launchOf('read-model', name),
    env: {
      IPLEDGER_ENDPOINT: allocator,
      IPLEDGER_LISTEN: listen,
      IPLEDGER_READ_MODEL_FILE: file,
      IPLEDGER_HEALTH_LISTEN: healthListen,
      ...tlsVariables(tls),
    },
    ready: (signal) => probeGrpcHealth(endpoint, tls, signal, { server: 'read-model' }),
  };
}

export interface AgentSettings extends WatcherSettings {
  /** Name of its Node. */
  readonly node: string;
  /** Unix sockets to listen on. The readiness probe uses the first. */
  readonly sockets: readonly [string, ...string[]];
  /** Folder of pending DELs (default: that of the plugin, /var/lib/cni/ipledger). */
  readonly pendingDels?: string;
  /** Folder of the binding files (default: /var/lib/ipledger/bindings). */
  readonly bindings?: string;
  /** File with the boot id of the node (default: that of this machine). */
  readonly bootIdFile?: string;
  /** The token that identifies the agent instead of `tls`. */
  readonly token?: AgentToken | undefined;
  /** Endpoint of the node's Open vSwitch database (default: the agent makes no NICs). */
  readonly ovsDb?: string;
  readonly program?: AgentProgram | undefined;
}

/** The flags of Node, and the file of the bundled agent (default: the sources). */
export type AgentProgram = readonly string[];

/** The paths of the trusted authorities and of the ServiceAccount token. */
export interface AgentToken {
  readonly ca: string;
  readonly file: string;
}

/** The launch of a node-agent. It is ready when its socket answers. */
export function agentLaunch(settings: AgentSettings): Launch {
  const {
    name,
    allocator,
    kubeconfig,
    healthListen,
    node: nodeName,
    sockets,
    pendingDels,
    bindings,
    bootIdFile,
    tls,
    token,
    ovsDb,
    program,
  } = settings;
  return {
    ...launchOf('node-agent', name, program),
    env: {
      IPLEDGER_ENDPOINT: allocator,
      IPLEDGER_SOCKETS: sockets.join(','),
      IPLEDGER_NODE: nodeName,
      KUBECONFIG: kubeconfig,
      IPLEDGER_HEALTH_LISTEN: healthListen,
      IPLEDGER_PLUGIN: join(distFolder, 'kube-ovn'),
      ...(pendingDels !== undefined && { IPLEDGER_PENDING_DELS: pendingDels }),
      ...(bindings !== undefined && { IPLEDGER_BINDINGS: bindings }),
      ...(bootIdFile !== undefined && { IPLEDGER_BOOT_ID_FILE: bootIdFile }),
      ...(ovsDb !== undefined && { IPLEDGER_OVS_DB: ovsDb }),
      ...tlsVariables(tls),
      ...(token && { IPLEDGER_TLS_CA: token.ca, IPLEDGER_TOKEN_FILE: token.file }),
      ...traceVariables(settings),
    },
    ready: (signal) => probeSocket(sockets[0], signal),
  };
}

/** The variable with a folder of bundled programs, which then start in place of the sources. */
export const bundlesVariable = 'IPLEDGER_TEST_BUNDLES';

/** The launch of a program of ipledger, without its environment. */
export function launchOf(service: string, name: string, bundled?: AgentProgram): Omit<Launch, 'ready'> {
  const bundles = process.env[bundlesVariable] ?? '';
  const main = bundles === '' ? join(root, 'services', service, 'main.ts') : join(bundles, `${service}.mjs`);
  if (!existsSync(main)) throw new Error(`${main} does not exist`);
  const args = [...nodeOptionsOf(service), ...profileArgs(name), ...(bundled ?? [main])];
  return { name, program: process.execPath, args, readyWithinMs };
}

/** The options of Node with which the chart starts a program. */
function nodeOptionsOf(service: string): string[] {
  const file = join(root, 'deploy', 'chart', 'files', 'node-options.json');
  const options = JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, string>>;
  return options[service]?.split(' ') ?? [];
}

/** Returns the flags for a CPU profile, which a program writes when it stops: `make profile`. */
function profileArgs(name: string): string[] {
  const folder = process.env['PROFILE_FOLDER'] ?? '';
  return folder === '' ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`, `--cpu-prof-name=${name}.cpuprofile`];
}

/** Replaces a wildcard listen address by loopback. */
export function loopbackOf(listen: string): string {
  return listen.replace(/^0\.0\.0\.0:/, '127.0.0.1:').replace(/^\[::\]:/, '[::1]:');
}

/** Returns IPLEDGER_TLS_CA, _CERT and _KEY, or those of another prefix; empty for plaintext. */
export function tlsVariables(tls: TlsFiles | undefined, prefix = 'IPLEDGER_TLS'): Record<string, string> {
  return { [`${prefix}_CA`]: tls?.ca ?? '', [`${prefix}_CERT`]: tls?.cert ?? '', [`${prefix}_KEY`]: tls?.key ?? '' };
}

export interface AllocatorServer extends Server {
  /** "127.0.0.1:<port>" */
  readonly endpoint: string;
  /** "127.0.0.1:<port>" of /livez, /readyz and /metrics. */
  readonly health: string;
}

export interface AllocatorOptions extends TracedProgram {
  readonly etcd: Pick<Etcd, 'endpoint' | 'tls'>;
  /** Distinguishes replicas (default `allocator`). */
  readonly name?: string;
  readonly tls?: TlsFiles | undefined;
  /** Without it, no events are sealed. */
  readonly archive?: ArchiveSettings;
  /** The verification of tokens. Without it, every client needs a certificate. */
  readonly tokenReview?: TokenReviewSettings;
}

/** Starts an allocator on a free port. */
export async function startAllocator(
  run: Run,
  { etcd, name = 'allocator', tls, archive, tokenReview, traceEndpoint }: AllocatorOptions,
): Promise<AllocatorServer> {
  const endpoint = `127.0.0.1:${await findFreePort()}`;
  const health = `127.0.0.1:${await findFreePort()}`;
  const reached = { listen: endpoint, healthListen: health };
  const stores = { etcd: [etcd.endpoint], etcdTls: etcd.tls, archive };
  const launch = allocatorLaunch({ name, ...stores, ...reached, tls, tokenReview, traceEndpoint });
  return Object.assign(await startServer(run, launch), { endpoint, health });
}

/** The options of a watcher. `cluster` is a Cluster, or another object with a kubeconfig file. */
export interface WatcherOptions extends Partial<Omit<WatcherSettings, 'allocator' | 'kubeconfig' | 'healthListen'>> {
  readonly allocator: { readonly endpoint: string };
  readonly cluster: { readonly kubeconfig: string };
}

export interface WatcherServer extends Server {
  /** "127.0.0.1:<port>" of /livez, /readyz and /metrics. */
  readonly health: string;
}

/** Starts a pod-watcher. */
export async function startWatcher(run: Run, options: WatcherOptions): Promise<WatcherServer> {
  const { allocator, cluster, name = 'pod-watcher', ...more } = options;
  const health = `127.0.0.1:${await findFreePort()}`;
  const { kubeconfig } = cluster;
  const reached = { allocator: allocator.endpoint, healthListen: health };
  const launch = watcherLaunch({ ...more, name, ...reached, kubeconfig });
  return Object.assign(await startServer(run, launch), { health });
}

export interface OvnProjectorOptions extends WatcherOptions {
  /** The northbound database, as of an OvnCentral. */
  readonly northbound: { readonly unix: string; readonly ssl?: string | undefined };
  /** Client certificate for the northbound database, which must listen with TLS. */
  readonly ovnTls?: TlsFiles;
}

/** Starts an ovn-projector. It is ready when it has compared the database, or as a standby. */
export async function startOvnProjector(run: Run, options: OvnProjectorOptions): Promise<WatcherServer> {
  const { allocator, cluster, northbound, name = 'ovn-projector', tls, ovnTls } = options;
  const health = `127.0.0.1:${await findFreePort()}`;
  const { kubeconfig } = cluster;
  const endpoint = (ovnTls && northbound.ssl) ?? northbound.unix;
  const reached = { allocator: allocator.endpoint, healthListen: health, northbound: [endpoint] };
  const launch = ovnProjectorLaunch({ name, ...reached, kubeconfig, tls, ovnTls });
  return Object.assign(await startServer(run, launch), { health });
}

export interface ReadModelServer extends Server {
  /** "127.0.0.1:<port>" */
  readonly endpoint: string;
  /** "127.0.0.1:<port>" of /livez, /readyz and /metrics. */
  readonly health: string;
  /** SQLite file of the read model. A test can delete it while the read model is stopped. */
  readonly file: string;
}

/** Starts a read model. Resolves when it has caught up. */
export async function startReadModel(
  run: Run,
  { allocator, tls }: { readonly allocator: { readonly endpoint: string }; readonly tls?: TlsFiles | undefined },
): Promise<ReadModelServer> {
  const endpoint = `127.0.0.1:${await findFreePort()}`;
  const health = `127.0.0.1:${await findFreePort()}`;
  const file = join(run.folder, 'read-model.sqlite');
  const reached = { listen: endpoint, healthListen: health };
  const launch = readModelLaunch({ name: 'read-model', allocator: allocator.endpoint, file, ...reached, tls });
  return Object.assign(await startServer(run, { ...launch, readyWithinMs: catchUpWithinMs }), {
    endpoint,
    health,
    file,
  });
}

export interface AgentOptions extends WatcherOptions {
  /** The node; default `node-1`. */
  readonly node?: string;
  /** The token that identifies the agent instead of `tls`. */
  readonly token?: AgentToken;
  readonly program?: AgentProgram | undefined;
}

export interface AgentServer extends WatcherServer {
  readonly node: string;
  /** Unix socket for plugins. */
  readonly socket: string;
  /** Folder of pending DELs. */
  readonly pendingDels: string;
  /** Folder of the binding files. */
  readonly bindings: string;
  /** File with the node's boot id. A test changes it to simulate a reboot. */
  readonly bootIdFile: string;
}

/** Starts the agent of a node on a socket in the folder of the run. */
export async function startAgent(run: Run, options: AgentOptions): Promise<AgentServer> {
  const {
    allocator,
    cluster,
    node: nodeName = 'node-1',
    name = `node-agent-${nodeName}`,
    tls,
    token,
    traceEndpoint,
    program,
  } = options;
  const health = `127.0.0.1:${await findFreePort()}`;
  const socket = join(run.folder, `${name}.sock`);
  const pendingDels = join(run.folder, `${name}-pending-dels`);
  const bindings = join(run.folder, `${name}-bindings`);
  const bootIdFile = join(run.folder, `${name}-boot-id`);
  writeFileSync(bootIdFile, `first-boot-of-${nodeName}\n`);
  const launch = agentLaunch({
    name,
    allocator: allocator.endpoint,
    kubeconfig: cluster.kubeconfig,
    healthListen: health,
    node: nodeName,
    sockets: [socket],
    pendingDels,
    bindings,
    bootIdFile,
    tls,
    token,
    traceEndpoint,
    program,
  });
  const files = { socket, pendingDels, bindings, bootIdFile };
  return Object.assign(await startServer(run, launch), { health, node: nodeName, ...files });
}
