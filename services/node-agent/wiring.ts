/** Wires the node agent's parts together and starts them. */
import { readFileSync } from 'node:fs';
import { connect } from '../../lib/grpc/http2/connect.ts';
import { startHealthServer } from '../../lib/process/health-server.ts';
import { collectGarbage } from '../../lib/process/idle-collection.ts';
import type { Lifecycle } from '../../lib/process/lifecycle.ts';
import type { Logger } from '../../lib/process/log.ts';
import type { Registry } from '../../lib/process/metrics.ts';
import { openTracing, type TracingSettings } from '../../lib/tracing/open-tracing.ts';
import { tlsFromEnvironment, tokenTlsFromEnvironment } from '../../lib/tls/client-tls.ts';
import { createBindingClient } from './bindings/binding-client.ts';
import { openBindingFiles, type ContainerInterface, interfaceKey } from './bindings/binding-files.ts';
import { DeletedSandboxes } from './bindings/deleted-sandboxes.ts';
import { LedgerEpoch } from './bindings/ledger-epoch.ts';
import { createEarlierBoots } from './bindings/earlier-boots.ts';
import { LingeringBindings } from './bindings/lingering-bindings.ts';
import { restoreBindingsForever } from './bindings/restored-bindings.ts';
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
import { createPodWarningReader } from './kubernetes/pod-warning.ts';
import { createKubernetesGet, createObjectReader } from './kubernetes/object-reader.ts';
import { createOvn4nfvLookup, createPodLookup } from './kubernetes/pod-lookup.ts';
import { createAgentMetrics } from './metrics.ts';
import { OvsDatabase } from './ovs/ovs-database.ts';
import { del, type DelDeps } from './requests/del.ts';
import { containerKey, type ContainerNicsDeps, delNics, isOvn4nfvType, type OneNic } from './requests/ovn4nfv-nics.ts';
import { replayPendingDelsForever, type ReplayOptions } from './requests/pending-del-replay.ts';
import { hasPendingDel } from './requests/pending-dels.ts';
import { createRequestHandler, type RequestHandlerDeps } from './requests/request-handler.ts';
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
  /** Absent: the agent identifies by its certificate. */
  readonly tokenFile?: string;
  readonly sysctls: string;
  /** '': no data path on this node. */
  readonly ovsDb: string;
  readonly ovsBridge: string;
}

/** Starts the agent; resolves when its sockets are served. */
export async function startAgent(options: AgentOptions, life: Lifecycle, log: Logger): Promise<void> {
  const { node, tokenFile } = options;
  const { registry: metrics, instrument } = createAgentMetrics(node, {
    underlay: () => underlay?.status,
    sandboxes: () => sandboxes?.counts,
  });
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
  const [socket] = options.socket;
  if (socket === undefined) throw new Error('--socket is empty: set it to the path of a unix socket');
  const allocator = createBindingClient(connection, epoch);
  const runExclusive = createKeyedMutex();
  const bootId = readBootId(options.bootIdFile);
  const files = await openBindingFiles({ folder: options.bindings, node, bootId, log });
  const shared = { allocator, node, bootId, files, runExclusive, log };
  const lingering = new LingeringBindings(shared);
  const sandboxes = new DeletedSandboxes(shared);
  const earlierBoots = createEarlierBoots(shared, bootId);
  const get = createKubernetesGet();
  const read = createObjectReader(get);
  const ovs = options.ovsDb === '' ? undefined : new OvsDatabase({ endpoint: options.ovsDb, log, signal: life.signal });
  const nicMetrics = createDataPathMetrics(metrics, () => (ovs ? ownedPorts(ovs).length : 0));
  const nics =
    ovs && openDataPath({ ...options, ovs, bridge: options.ovsBridge, read, metrics: nicMetrics, runExclusive, log });
  const underlay = ovs && new UnderlayKeeper({ ovs, get, node, log });
  const handleRequest = instrument(
    createRequestHandler({
      ...shared,
      lookUpPod: createPodLookup(get),
      lookUpOvn4nfv: createOvn4nfvLookup(read),
      readPodWarning: createPodWarningReader(get),
      sandbox: createNodeSandbox(options.sysctls),
      tracer,
      earlierBoots,
      lingering,
      dataPath: nics?.dataPath,
      sweepPorts: nics?.sweep,
      pendingDels: { folder: options.pendingDels, socket },
    }),
  );

  // The start leaves 3 MiB behind, which V8 would keep for hours on a quiet node.
  collectGarbage();
  await serve(options, { handleRequest, metrics }, life, log);
  log.info({ sockets: options.socket, node, allocator: options.allocator, bootId, ovsDb: ovs?.endpoint }, 'ready');

  const replayDel = createReplayDel({ ...shared, dataPath: nics?.dataPath, lingering });
  const isDelPending = (container: ContainerInterface): boolean => hasPendingDel(options.pendingDels, container);
  const background = [
    ...(nics && underlay ? [nics.sweepForever(life.signal), underlay.run(life.signal)] : []),
    earlierBoots.endBindings(life.signal),
    lingering.settleForever(life.signal),
    sandboxes.lookForever(life.signal),
    restoreBindingsForever({ ...shared, epoch, hasPendingDel: isDelPending }, life.signal),
    replayPendingDelsForever(
      { folder: options.pendingDels, sockets: options.socket, del: replayDel, log },
      life.signal,
    ),
  ];
  Promise.all(background).catch((error: unknown) => life.fail(error));
}

/** A pending DEL is of one NIC, or of all NICs of an OVN4NFV request. */
function createReplayDel(deps: ContainerNicsDeps & DelDeps & Pick<RequestHandlerDeps, 'runExclusive'>) {
  const { runExclusive } = deps;
  const delNic: OneNic<void> = (nic, signal) => runExclusive(interfaceKey(nic), signal, () => del(deps, nic, signal));
  const replay: ReplayOptions['del'] = (request, isPending, signal) => {
    const isForContainer = isOvn4nfvType(request.cniType);
    return runExclusive(isForContainer ? containerKey(request) : interfaceKey(request), signal, async () => {
      if (!isPending()) return;
      await (isForContainer ? delNics({ ...deps, delNic }, request, signal) : del(deps, request, signal));
    });
  };
  return replay;
}

/** Serves the health endpoints and the sockets. Ready means that all sockets are its own. */
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

/** Makes the data path. `sweep` removes ports of deleted containers. */
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
