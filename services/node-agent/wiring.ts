/** Creates the parts of the node agent and starts them. */
import { readFileSync } from 'node:fs';
import { connect } from '../../lib/grpc/http2/connect.ts';
import { startHealthServer } from '../../lib/process/health-server.ts';
import { collectGarbage } from '../../lib/process/idle-collection.ts';
import type { Lifecycle } from '../../lib/process/lifecycle.ts';
import type { Logger } from '../../lib/process/log.ts';
import type { Registry } from '../../lib/process/metrics.ts';
import { openTracing, type TracingSettings } from '../../lib/tracing/open-tracing.ts';
import { tlsFromEnvironment, tokenTlsFromEnvironment } from '../../lib/tls/client-tls.ts';
import { openBindingParts } from './binding-parts.ts';
import { LedgerEpoch } from './bindings/ledger-epoch.ts';
import { createKeyedMutex, type KeyedMutex } from './concurrency/keyed-mutex.ts';
import { createDaemonServer, type RequestHandler } from './daemon/daemon-server.ts';
import { type PublishedSocket, publishSocket } from './daemon/unix-socket.ts';
import { DataPath, type DataPathDeps } from './data-path/data-path.ts';
import { createDataPathMetrics } from './data-path/data-path-metrics.ts';
import { readAddressMtu } from './data-path/nic-mtu.ts';
import { ownedPorts } from './data-path/ovs-port.ts';
import { createPodLinks } from './data-path/pod-links.ts';
import { sweepPorts, sweepPortsForever } from './data-path/port-sweep.ts';
import { readSouthbound } from './data-path/southbound.ts';
import { createKubernetesGet, createObjectReader } from './kubernetes/object-reader.ts';
import { createAgentMetrics } from './metrics.ts';
import { OvsDatabase } from './ovs/ovs-database.ts';
import { comparePlugin } from './plugin-installer/installed-plugin.ts';
import { createAddressProbe } from './requests/address-probe.ts';
import { createNodeSandbox } from './requests/sandbox.ts';
import { UnderlayKeeper } from './underlay/keep-underlay.ts';

/** The flags of the program; see main.ts. */
export interface AgentOptions extends TracingSettings {
  readonly allocator: string;
  readonly socket: readonly string[];
  readonly node: string;
  readonly healthListen: string;
  readonly pendingDels: string;
  readonly bindings: string;
  readonly bootIdFile: string;
  /** The path of the node's plugin to compare; '': it is not compared. */
  readonly installedPlugin: string;
  readonly plugin: string;
  /** The ServiceAccount token's file; absent: the agent identifies itself by certificate. */
  readonly tokenFile?: string;
  readonly sysctls: string;
  /** The endpoint of the Open vSwitch database; '': no data path on this node. */
  readonly ovsDb: string;
  readonly ovsBridge: string;
}

/** Starts the agent; resolves when its sockets are served. */
export async function startAgent(options: AgentOptions, life: Lifecycle, log: Logger): Promise<void> {
  const { node, tokenFile } = options;
  const agentMetrics = createAgentMetrics(node, {
    underlay: () => underlay?.status,
    sandboxes: () => sandboxes?.counts,
    isPluginCurrent: comparePlugin(options.installedPlugin, options.plugin),
  });
  const { registry: metrics, onConflict } = agentMetrics;
  const tracer = await openTracing({
    settings: options,
    metrics,
    service: 'ipledger-node-agent',
    instance: node,
    life,
    log,
  });
  const tls = tokenFile ? tokenTlsFromEnvironment(process.env, tokenFile, log) : tlsFromEnvironment(process.env, log);
  const epoch = new LedgerEpoch();
  const connection = connect(options.allocator, tls, 'allocator', () => epoch.onDisconnected());
  life.onStop(() => connection.close());
  const [socket, ...otherSockets] = options.socket;
  if (socket === undefined) throw new Error('--socket is empty: set it to the path of a unix socket');
  const runExclusive = createKeyedMutex();
  const bootId = readBootId(options.bootIdFile);
  const get = createKubernetesGet();
  const ovs = options.ovsDb === '' ? undefined : new OvsDatabase({ endpoint: options.ovsDb, log, signal: life.signal });
  const nicMetrics = createDataPathMetrics(metrics, () => (ovs ? ownedPorts(ovs).length : 0));
  const read = createObjectReader(get);
  const nics =
    ovs &&
    openDataPath({
      ...options,
      ovs,
      bridge: options.ovsBridge,
      read,
      metrics: nicMetrics,
      runExclusive,
      signal: life.signal,
      log,
    });
  const underlay = ovs && new UnderlayKeeper({ ovs, get, node, log });
  const parts = await openBindingParts({
    ...options,
    bootId,
    sockets: [socket, ...otherSockets],
    connection,
    epoch,
    get,
    read,
    sandbox: createNodeSandbox(options.sysctls),
    probe: createAddressProbe(options.plugin, log),
    onConflict,
    runExclusive,
    nics,
    tracer,
    log,
  });
  const { sandboxes } = parts;
  const handleRequest = agentMetrics.instrument(parts.handleRequest);

  // Collects the 3 MiB of garbage from the start, which V8 would keep for hours on a quiet node.
  collectGarbage();
  await serve(options, { handleRequest, metrics }, life, log);
  log.info({ sockets: options.socket, node, allocator: options.allocator, bootId, ovsDb: ovs?.endpoint }, 'ready');

  const background = [
    ...(nics && underlay ? [nics.sweepForever(life.signal), underlay.run(life.signal)] : []),
    parts.run(life.signal),
  ];
  Promise.all(background).catch((error: unknown) => life.fail(error));
}

/** Serves health endpoints and sockets. The agent is ready while all sockets are its own. */
async function serve(
  options: AgentOptions,
  { handleRequest, metrics }: { readonly handleRequest: RequestHandler; readonly metrics: Registry },
  life: Lifecycle,
  log: Logger,
): Promise<void> {
  const published: PublishedSocket[] = [];
  const ready = (): boolean => published.length > 0 && published.every((each) => each.isOurs());
  await startHealthServer({ listen: options.healthListen, ready, metrics, log }, life);
  published.push(...(await openSockets(options.socket, handleRequest, life, log)));
}

function readBootId(file: string): string {
  const bootId = readFileSync(file, 'utf8').trim();
  if (bootId === '')
    throw new Error(`--boot-id-file ${file} is empty: without it bindings of earlier boots cannot be recognized`);
  return bootId;
}

function openSockets(
  paths: readonly string[],
  handleRequest: RequestHandler,
  life: Lifecycle,
  log: Logger,
): Promise<PublishedSocket[]> {
  return Promise.all(
    paths.map(async (path) => {
      const daemon = createDaemonServer(handleRequest, log);
      const published = await publishSocket(daemon.server, path);
      life.onStop(() => {
        published.unpublish();
        return daemon.close();
      });
      return published;
    }),
  );
}

interface NicParts extends Omit<DataPathDeps, 'links' | 'mtuOf' | 'readSouthbound'> {
  /** The node's /proc/sys/net; flag `--sysctls`. */
  readonly sysctls: string;
  readonly runExclusive: KeyedMutex;
}

/** Makes the data path. `sweep` removes the ports of deleted containers. */
function openDataPath(parts: NicParts) {
  const links = createPodLinks(parts.sysctls);
  const dataPath = new DataPath({ ...parts, links, mtuOf: readAddressMtu, readSouthbound });
  const deps = { ...parts, dataPath };
  return {
    dataPath,
    sweep: (signal: AbortSignal) => sweepPorts(deps, signal),
    sweepForever: (signal: AbortSignal) => sweepPortsForever(deps, signal),
  };
}
