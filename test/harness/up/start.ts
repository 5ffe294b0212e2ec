/**
 * `make up` without its words: starts what is missing of the whole path as background processes, each ready before those
 * that need it, and writes down how another terminal reaches them.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Background, ensureRunning, logFile, runningNames } from '../background.ts';
import { certificateFolder, type CertificateFolder, makeCertificates } from '../certificates.ts';
import { etcdctlVariables, etcdEndpoint, etcdLaunch, type EtcdTls } from '../etcd.ts';
import { type ControlPlane, controlPlane } from '../kubernetes.ts';
import { addNodes, applyCrds, kubectlFor } from '../kubectl.ts';
import type { Launch } from '../launch.ts';
import { agentLaunch, allocatorLaunch, indexLaunch, local, tlsVariables, watcherLaunch } from '../services.ts';
import { chooseCluster } from './cluster.ts';
import type { Exports } from './env-file.ts';
import { writeReach } from './reach.ts';
import { hostPort, nodeNames, readBearers, type Settings } from './settings.ts';
import { agentName, agentSockets, listensOnDaemonSocket } from './sockets.ts';
import { portOf, readState, type State, writeState } from './state.ts';

export interface UpOptions {
  /** Where data, logs and pid files are kept; one set of servers for each folder. */
  readonly folder: string;
  readonly settings: Settings;
  readonly signal: AbortSignal;
}

/** A server, and where it is reached. */
export interface Row extends Background {
  readonly name: string;
  readonly where: string;
  readonly log: string;
}

/** What runs, and how it is reached. */
export interface Started {
  /** In the order of dependence. */
  readonly rows: readonly Row[];
  /** What the env file says. */
  readonly exports: Exports;
  /** Whether the first agent listens where Kube-OVN's NADs look, too. */
  readonly daemonSocket: boolean;
}

/** What is the same for all servers of one `up`. */
interface Up extends UpOptions {
  readonly state: State;
  /** Names of those that ran before. */
  readonly running: readonly string[];
  readonly rows: Row[];
  /** With TLS. */
  readonly certificates: CertificateFolder | undefined;
}

/**
 * Starts what does not run yet; resolves when all is ready.
 * @throws Error that says what to do; what was started till then goes on running.
 */
export async function startAll(options: UpOptions): Promise<Started> {
  const { folder, settings } = options;
  mkdirSync(folder, { recursive: true });
  const state = readState(folder);
  const running = runningNames(folder);
  const userKubeconfig = await chooseCluster({ folder, state, settings, signal: options.signal });
  // As long as anything runs none of it is taken away; an agent that was killed is missing, not unwanted.
  state.nodes = Math.max(settings.nodes ?? 1, running.length > 0 ? state.nodes : 1);
  state.daemonSocket = await listensOnDaemonSocket(state, running);
  state.tls = speaksTls(state, settings, running);
  const up: Up = { ...options, state, running, rows: [], certificates: await certificatesFor(state, settings) };
  await choosePorts(up, userKubeconfig === undefined);
  writeState(folder, state);

  const [allocator, kubeconfig] = await Promise.all([startLedger(up), userKubeconfig ?? startCluster(up)]);
  const agents = Array.from({ length: state.nodes }, (_, index) => index + 1);
  const [index] = await Promise.all([
    startIndex(up, allocator),
    startWatcher(up, { allocator, kubeconfig }),
    ...agents.map((number) => startAgent(up, { allocator, kubeconfig, number })),
  ]);
  const { certificates } = up;
  const exports = await writeReach({
    folder,
    kubeconfig,
    etcd: etcdctlVariables(etcdEndpoint(port(up, 'etcd'), etcdTls(up)), certificates?.etcd.auditor),
    allocator,
    index,
    tls: tlsVariables(certificates?.operator(ownName)),
    agents: agents.map((number) => agentSockets(folder, state, number)),
  });
  const byOrder = (one: Row, other: Row): number =>
    startOrder(one.name) - startOrder(other.name) || one.name.localeCompare(other.name, 'en', { numeric: true });
  return { rows: up.rows.toSorted(byOrder), exports, daemonSocket: state.daemonSocket };
}

const order = [
  'etcd',
  'kube-etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'allocator',
  'index',
  'pod-watcher',
  'node-agent',
];

/** Servers with a lower number are needed by those with a higher one. */
export function startOrder(name: string): number {
  return order.findLastIndex((prefix) => name === prefix || name.startsWith(`${prefix}-`));
}

/** The operator of this machine, and the only replica. */
const [ownName = ''] = readBearers({}).operators;
const replica = 'allocator';

/** @throws Error when what runs would have to be started anew. */
function speaksTls({ tls }: State, settings: Settings, running: readonly string[]): boolean {
  if (running.length === 0) return settings.tls ?? false;
  if (settings.tls !== undefined && settings.tls !== tls)
    throw new Error(`what runs ${tls ? 'speaks' : 'does not speak'} TLS: run \`make down\`, then \`make up\``);
  return tls;
}

async function certificatesFor({ tls, nodes }: State, settings: Settings): Promise<CertificateFolder | undefined> {
  if (!tls) return undefined;
  const bearers = { allocators: [replica], nodes: nodeNames(nodes), operators: [ownName] };
  await makeCertificates({ folder: settings.certificates, ...bearers });
  return certificateFolder(settings.certificates);
}

const etcdTls = ({ certificates }: Up): EtcdTls | undefined =>
  certificates && { server: certificates.etcd.server, client: certificates.etcd.allocator };

async function choosePorts({ state, running }: Up, ownCluster: boolean): Promise<void> {
  const agents = Array.from({ length: state.nodes }, (_, index) => agentName(index + 1));
  const kubernetes = ownCluster ? ['kube-etcd', 'kube-apiserver', 'kube-controller-manager'] : [];
  for (const name of ['etcd', ...kubernetes, 'allocator', 'index', 'pod-watcher', ...agents])
    await portOf(state, name, running);
}

function port({ state }: Up, name: string): number {
  const known = state.ports[name];
  if (known === undefined) throw new Error(`no port was chosen for ${name}`);
  return known;
}

async function ensure(up: Up, launch: Launch, where: string): Promise<void> {
  const background = await ensureRunning(up.folder, launch, up.signal);
  up.rows.push({ ...background, name: launch.name, where, log: logFile(up.folder, launch.name) });
}

/** etcd and the allocator; gives where the allocator is reached. */
async function startLedger(up: Up): Promise<string> {
  const { folder, settings } = up;
  const etcdPort = port(up, 'etcd');
  const tls = etcdTls(up);
  const etcd = etcdEndpoint(etcdPort, tls);
  await ensure(up, await etcdLaunch({ name: 'etcd', folder, port: etcdPort, fsync: true, tls }), etcd);
  const listen = hostPort(settings.listen, port(up, 'allocator'));
  const endpoint = local(listen);
  const shown = { tls: up.certificates?.allocator(replica), etcdTls: tls?.client };
  await ensure(up, allocatorLaunch({ name: replica, etcd: [etcd], listen, endpoint, ...shown }), listen);
  return endpoint;
}

/** A Kubernetes API of our own; gives its kubeconfig. */
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

/** The read model; gives where it is reached. */
async function startIndex(up: Up, allocator: string): Promise<string> {
  const listen = hostPort(up.settings.listen, port(up, 'index'));
  const endpoint = local(listen);
  const file = join(up.folder, 'index.sqlite');
  const tls = up.certificates?.index;
  await ensure(up, indexLaunch({ name: 'index', allocator, listen, endpoint, file, tls }), listen);
  return endpoint;
}

interface Peers {
  /** "host:port" */
  readonly allocator: string;
  readonly kubeconfig: string;
}

async function startWatcher(up: Up, peers: Peers): Promise<void> {
  const healthListen = hostPort(up.settings.listen, port(up, 'pod-watcher'));
  const tls = up.certificates?.watcher;
  await ensure(
    up,
    watcherLaunch({ name: 'pod-watcher', ...peers, healthListen, tls }),
    `http://${healthListen}/readyz`,
  );
}

async function startAgent(up: Up, { number, ...peers }: Peers & { number: number }): Promise<void> {
  const { folder, settings, state } = up;
  const name = agentName(number);
  const sockets = agentSockets(folder, state, number);
  const healthListen = hostPort(settings.listen, port(up, name));
  const node = `node-${number}`;
  const bindings = join(folder, `${name}-bindings`);
  const tls = up.certificates?.agent(node);
  const launch = agentLaunch({ name, ...peers, healthListen, node, sockets, bindings, tls });
  await ensure(up, launch, sockets.join('\n'));
}
