/**
 * `make up` without its output: starts the missing servers in the background, in the order of their
 * dependencies, and writes the files with which another terminal uses them.
 */
import { mkdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { type Background, ensureRunning, logFile, runningNames } from './background.ts';
import {
  certificateFolder,
  type CertificateFolder,
  makeCertificates,
} from '../../test/harness/certificates/certificates.ts';
import { etcdctlVariables, etcdEndpoint, etcdLaunch, type EtcdTls } from '../../test/harness/etcd.ts';
import { type ControlPlane, controlPlane } from '../../test/harness/kubernetes/control-plane.ts';
import { addNodes, applyCrds, kubectlFor } from '../../test/harness/kubernetes/kubectl.ts';
import type { Launch } from '../../test/harness/processes/launch.ts';
import { printProgress } from '../../test/harness/progress.ts';
import { findPrograms, type SearchTarget } from '../../test/harness/programs/find-program.ts';
import type { ProgramName } from '../../test/harness/programs/program-catalog.ts';
import {
  agentLaunch,
  allocatorLaunch,
  readModelLaunch,
  loopbackOf,
  tlsVariables,
  watcherLaunch,
} from '../../test/harness/services.ts';
import { chooseCluster } from './cluster-choice.ts';
import type { EnvFileContents } from './env-file.ts';
import { probeReadyOrHalted } from './halted-releases.ts';
import { writeClientAccess } from './client-access.ts';
import { hostPort, nodeNames, readCertificateSubjects, type Settings } from './settings.ts';
import { agentName, agentSockets, shouldServeDaemonSocket } from './agent-sockets.ts';
import { assignPort, readState, type UpState, writeState } from './state.ts';

export interface UpOptions {
  /** Folder of data, logs and pid files. Each folder has one set of servers. */
  readonly folder: string;
  readonly settings: Settings;
  /** Programs that the env file adds to PATH, besides the CLI. */
  readonly tools: readonly ProgramName[];
  readonly signal: AbortSignal;
}

/** A server with its endpoint. */
export interface ServerRow extends Background {
  readonly name: string;
  readonly where: string;
  readonly log: string;
}

/** The servers and their endpoints. */
export interface StartResult {
  /** The servers, sorted by their dependencies. */
  readonly rows: readonly ServerRow[];
  /** The contents of the env file. */
  readonly exports: EnvFileContents;
  /** Whether the first agent also serves the socket of Kube-OVN. */
  readonly daemonSocket: boolean;
  /** The nodes with an agent. */
  readonly nodes: readonly string[];
}

/** The context of one `make up`. */
interface Up extends UpOptions {
  readonly state: UpState;
  /** Names of the servers that were already running. */
  readonly running: readonly string[];
  readonly rows: ServerRow[];
  /** The nodes with an agent. */
  readonly nodes: readonly string[];
  /** The certificates; undefined without TLS. */
  readonly certificates: CertificateFolder | undefined;
}

/**
 * Starts the missing servers. Resolves when all are ready.
 * @throws Error with the necessary action. Servers that are already started continue to run.
 */
export async function startAll(options: UpOptions): Promise<StartResult> {
  const { folder, settings } = options;
  mkdirSync(folder, { recursive: true });
  const state = readState(folder);
  const running = runningNames(folder);
  // While a server runs, the number of agents does not decrease: a killed agent is started again.
  state.nodes = Math.max(settings.nodes ?? 1, running.length > 0 ? state.nodes : 1);
  const ownNodes = nodeNames(state.nodes);
  const candidates = [hostname(), ...ownNodes];
  const userCluster = await chooseCluster({ folder, state, settings, signal: options.signal }, candidates);
  const nodes = userCluster?.nodes ?? ownNodes;
  state.daemonSocket = await shouldServeDaemonSocket(state, running);
  state.tls = chooseTls(state, settings, running);
  await findPrograms(listPrograms(options.tools, userCluster === undefined), options.signal);
  const up: Up = {
    ...options,
    state,
    running,
    rows: [],
    nodes,
    certificates: await certificatesFor(state, settings, nodes),
  };
  await choosePorts(up, userCluster === undefined);
  writeState(folder, state);

  const [allocator, kubeconfig] = await Promise.all([startLedger(up), userCluster?.kubeconfig ?? startCluster(up)]);
  const agents = nodes.map((_, index) => index + 1);
  const agent = { allocator, kubeconfig: userCluster?.agent ?? kubeconfig };
  const [readModel] = await Promise.all([
    startReadModel(up, allocator),
    startWatcher(up, { allocator, kubeconfig: userCluster?.watcher ?? kubeconfig }),
    ...agents.map((number) => startAgent(up, { ...agent, number })),
  ]);
  const { certificates } = up;
  const exports = await writeClientAccess({
    folder,
    tools: options.tools,
    kubeconfig,
    etcd: {
      ...etcdctlVariables(etcdEndpoint(port(up, 'etcd'), etcdTls(up)), certificates?.etcd.auditor),
      ...tlsVariables(certificates?.etcd.auditor, 'IPLEDGER_ETCD'),
    },
    allocator,
    readModel,
    metrics: [
      ...[replica, 'read-model'].map((name) => metricsListen(up, name)),
      ...['pod-watcher', ...agents.map(agentName)].map((name) => loopbackOf(hostPort(settings.listen, port(up, name)))),
    ],
    tls: tlsVariables(certificates?.operator(ownName)),
    agents: agents.map((number) => agentSockets(folder, state, number)),
  });
  const byOrder = (one: ServerRow, other: ServerRow): number =>
    startOrder(one.name) - startOrder(other.name) || one.name.localeCompare(other.name, 'en', { numeric: true });
  return { rows: up.rows.toSorted(byOrder), exports, daemonSocket: state.daemonSocket, nodes };
}

/** The programs that `startAll` starts or links. */
export function listPrograms(tools: readonly ProgramName[], ownCluster: boolean): SearchTarget[] {
  const kubernetes = ownCluster ? (['kube-apiserver', 'kube-controller-manager'] as const) : [];
  return ['etcd', ...kubernetes, ...tools, 'plugins'];
}

const order = [
  'etcd',
  'kube-etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'allocator',
  'read-model',
  'pod-watcher',
  'node-agent',
];

/** Servers with a higher number need those with a lower number. */
export function startOrder(name: string): number {
  return order.findLastIndex((prefix) => name === prefix || name.startsWith(`${prefix}-`));
}

/** The name of this machine's operator. */
const [ownName = ''] = readCertificateSubjects({}).operators;
const replica = 'allocator';

/** @throws Error if the running servers use another setting. */
function chooseTls({ tls }: UpState, settings: Settings, running: readonly string[]): boolean {
  if (running.length === 0) return settings.tls ?? false;
  if (settings.tls !== undefined && settings.tls !== tls)
    throw new Error(`the running servers ${tls ? 'use' : 'do not use'} TLS: run \`make down\`, then \`make up\``);
  return tls;
}

async function certificatesFor(
  { tls }: UpState,
  settings: Settings,
  nodes: readonly string[],
): Promise<CertificateFolder | undefined> {
  if (!tls) return undefined;
  const subjects = { allocators: [replica], nodes, operators: [ownName] };
  await makeCertificates({ folder: settings.certificates, ...subjects });
  return certificateFolder(settings.certificates);
}

const etcdTls = ({ certificates }: Up): EtcdTls | undefined =>
  certificates && { server: certificates.etcd.server, client: certificates.etcd.allocator };

async function choosePorts({ state, running, nodes }: Up, ownCluster: boolean): Promise<void> {
  const agents = nodes.map((_, index) => agentName(index + 1));
  const kubernetes = ownCluster ? ['kube-etcd', 'kube-apiserver', 'kube-controller-manager'] : [];
  const servers = ['etcd', ...kubernetes, replica, 'read-model', 'pod-watcher', ...agents];
  const inUse = [...running, ...running.map(metricsOf)];
  for (const name of [...servers, ...[replica, 'read-model'].map(metricsOf)]) await assignPort(state, name, inUse);
}

/** The name of the port of a server whose own port is that of gRPC. */
const metricsOf = (server: string): string => `${server}-metrics`;

const metricsListen = (up: Up, server: string): string => `127.0.0.1:${port(up, metricsOf(server))}`;

function port({ state }: Up, name: string): number {
  const chosen = state.ports[name];
  if (chosen === undefined) throw new Error(`no port was chosen for ${name}`);
  return chosen;
}

async function ensure(up: Up, launch: Launch, where: string): Promise<void> {
  const background = await ensureRunning(up.folder, launch, up.signal);
  up.rows.push({ ...background, name: launch.name, where, log: logFile(up.folder, launch.name) });
}

/** Starts etcd and the allocator. Returns the endpoint of the allocator. */
async function startLedger(up: Up): Promise<string> {
  const { folder, settings } = up;
  const etcdPort = port(up, 'etcd');
  const tls = etcdTls(up);
  const etcd = etcdEndpoint(etcdPort, tls);
  await ensure(up, await etcdLaunch({ name: 'etcd', folder, port: etcdPort, fsync: true, tls }), etcd);
  const listen = hostPort(settings.listen, port(up, 'allocator'));
  const endpoint = loopbackOf(listen);
  const tlsFiles = { tls: up.certificates?.allocator(replica), etcdTls: tls?.client };
  const reached = { listen, endpoint, healthListen: metricsListen(up, replica) };
  await ensure(up, allocatorLaunch({ name: replica, etcd: [etcd], ...reached, ...tlsFiles }), listen);
  return endpoint;
}

/** Starts an own Kubernetes API. Returns its kubeconfig. */
async function startCluster(up: Up): Promise<string> {
  const { folder, state, signal } = up;
  const etcdPort = port(up, 'kube-etcd');
  const etcdEndpoint = `http://127.0.0.1:${etcdPort}`;
  const plane: ControlPlane = await controlPlane({
    folder,
    etcdEndpoint,
    port: port(up, 'kube-apiserver'),
    controllerManagerPort: port(up, 'kube-controller-manager'),
  });
  await ensure(up, await etcdLaunch({ name: 'kube-etcd', folder, port: etcdPort, fsync: true }), etcdEndpoint);
  await ensure(up, plane.apiServer, plane.url);
  const kubectl = kubectlFor(plane.kubeconfig, join(folder, 'kubectl-cache'), signal);
  const nodes = nodeNames(state.nodes);
  const manager = `https://127.0.0.1:${port(up, 'kube-controller-manager')}`;
  await Promise.all([ensure(up, plane.controllerManager, manager), applyCrds(kubectl), addNodes(kubectl, nodes)]);
  return plane.kubeconfig;
}

/** Starts the read model. Returns its endpoint. */
async function startReadModel(up: Up, allocator: string): Promise<string> {
  const listen = hostPort(up.settings.listen, port(up, 'read-model'));
  const endpoint = loopbackOf(listen);
  const file = join(up.folder, 'read-model.sqlite');
  const tls = up.certificates?.readModel;
  const reached = { listen, endpoint, healthListen: metricsListen(up, 'read-model') };
  await ensure(up, readModelLaunch({ name: 'read-model', allocator, ...reached, file, tls }), listen);
  return endpoint;
}

interface Peers {
  /** The allocator, "host:port". */
  readonly allocator: string;
  readonly kubeconfig: string;
}

async function startWatcher(up: Up, peers: Peers): Promise<void> {
  const healthListen = hostPort(up.settings.listen, port(up, 'pod-watcher'));
  const tls = up.certificates?.watcher;
  await ensure(
    up,
    {
      ...watcherLaunch({ name: 'pod-watcher', ...peers, healthListen, tls }),
      ready: (signal) => probeReadyOrHalted(`http://${loopbackOf(healthListen)}/readyz`, signal, reportHalt),
    },
    `http://${healthListen}/readyz`,
  );
}

const reportHalt = (text: string): void => printProgress(`up: ${text}`);

async function startAgent(up: Up, { number, ...peers }: Peers & { number: number }): Promise<void> {
  const { folder, settings, state, nodes } = up;
  const name = agentName(number);
  const sockets = agentSockets(folder, state, number);
  const healthListen = hostPort(settings.listen, port(up, name));
  const node = nodes[number - 1] ?? '';
  const bindings = join(folder, `${name}-bindings`);
  const tls = up.certificates?.agent(node);
  const launch = agentLaunch({ name, ...peers, healthListen, node, sockets, bindings, tls });
  await ensure(up, launch, sockets.join('\n'));
}
