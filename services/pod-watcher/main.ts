/**
 * pod-watcher: requests addresses for Pods, and shows the ledger in Kubernetes. Reads its options,
 * and runs its terms as active watcher.
 *
 *   Pods, networks, Subnets ─► controllers ─► allocator ─► ledger ─► projection ─► annotations, IP objects, Subnet status
 *
 * Controllers and projection share only the ledger. One watcher is active at a time; the others are
 * standbys.
 */
import { hostname } from 'node:os';
import { defaultNamespaceLimit } from './controllers/pods/event-budget.ts';
import { Option } from 'commander';
import { startHealthServer } from '../../lib/process/health-server.ts';
import { collectWhenIdle } from '../../lib/process/idle-collection.ts';
import { forgetRecentTexts } from './shared-values.ts';
import { withOwnObjects } from '../../lib/kubernetes/beside-kube-ovn.ts';
import { type Lifecycle, runProgram } from '../../lib/process/lifecycle.ts';
import { createLogger } from '../../lib/process/log.ts';
import {
  allocatorOption,
  healthListenOption,
  namespaceOption,
  parseOptions,
  parseWholeNumber,
} from '../../lib/process/options.ts';
import { openTracing, tracingOptions, type TracingSettings } from '../../lib/tracing/open-tracing.ts';
import { connect } from '../../lib/grpc/client.ts';
import { tlsFromEnvironment } from '../../lib/tls/credentials.ts';
import { connectDefaultApi } from '../../lib/kubernetes/client/kubernetes-api.ts';
import { watcherMetrics } from './metrics.ts';
import type { WatcherStats } from './active-watcher.ts';
import { runTerms } from './terms.ts';

interface Options extends TracingSettings {
  readonly allocator: string;
  readonly healthListen: string;
  readonly namespace: string;
  /** Intervals in seconds. */
  readonly garbageInterval: number;
  readonly checkpointInterval: number;
  readonly allocatorTimeout: number;
  readonly namespaceRate: number;
  readonly namespaceBurst: number;
  readonly besideKubeOvn: boolean;
}

const log = createLogger('pod-watcher');
/** Parses seconds, or a count. */
const wholeNumber = (text: string): number => parseWholeNumber(text, 0, 999_999);

function readOptions(): Options {
  const description =
    'requests addresses for Pods from the allocator, and shows the allocations of the ledger in Kubernetes';
  return parseOptions('pod-watcher', description, [
    allocatorOption(),
    healthListenOption('127.0.0.1:8081'),
    namespaceOption('namespace of the Lease and of the checkpoint ConfigMap'),
    new Option(
      '--garbage-interval <seconds>',
      'interval of the garbage collector, which releases allocations of missing Pods; 0: never',
    )
      .env('IPLEDGER_GARBAGE_INTERVAL')
      .argParser(wholeNumber)
      .default(360),
    new Option(
      '--checkpoint-interval <seconds>',
      'interval at which a checkpoint of the ledger is stored in a ConfigMap; 0: never',
    )
      .env('IPLEDGER_CHECKPOINT_INTERVAL')
      .argParser(wholeNumber)
      .default(300),
    new Option('--allocator-timeout <seconds>', 'silence of all allocators after which the Lease is handed over')
      .env('IPLEDGER_ALLOCATOR_TIMEOUT')
      .argParser(wholeNumber)
      .default(30),
    new Option('--namespace-rate <count>', 'addresses per second that the Pods of a namespace may request; 0: no limit')
      .env('IPLEDGER_NAMESPACE_RATE')
      .argParser(wholeNumber)
      .default(defaultNamespaceLimit.perSecond),
    new Option('--namespace-burst <count>', 'addresses that the Pods of a namespace may request in one burst')
      .env('IPLEDGER_NAMESPACE_BURST')
      .argParser(wholeNumber)
      .default(defaultNamespaceLimit.burst),
    new Option('--beside-kube-ovn', 'serve own networks only, on a cluster whose others Kube-OVN serves')
      .env('IPLEDGER_BESIDE_KUBE_OVN')
      .default(false),
    ...tracingOptions(),
  ]).opts<Options>();
}

await runProgram(log, (life) => start(life, readOptions()));

async function start(life: Lifecycle, options: Options): Promise<void> {
  const { allocator, healthListen, namespace, garbageInterval, namespaceRate, namespaceBurst, besideKubeOvn } = options;
  collectWhenIdle({ onIdle: forgetRecentTexts, log, signal: life.signal });
  let stats = (): WatcherStats | undefined => undefined;
  const metrics = watcherMetrics(() => stats());
  const traced = { settings: options, metrics, service: 'ipledger-pod-watcher', instance: hostname() };
  const tracer = await openTracing({ ...traced, life, log });
  const clusterApi = await connectDefaultApi();
  const api = besideKubeOvn ? withOwnObjects(clusterApi) : clusterApi;
  const client = connect(allocator, tlsFromEnvironment(process.env, log));
  life.onStop(() => client.close());
  let ready = (): boolean | string => 'still starting';
  await startHealthServer({ listen: healthListen, ready: () => ready(), metrics, log }, life);
  log.info({ server: api.server, allocator }, 'starting');
  await runTerms({
    api,
    kubeOvnApi: besideKubeOvn ? clusterApi : undefined,
    client,
    namespace,
    garbageIntervalMs: garbageInterval * 1_000,
    checkpointIntervalMs: options.checkpointInterval * 1_000,
    allocatorTimeoutMs: options.allocatorTimeout * 1_000,
    namespaceLimit: { perSecond: namespaceRate, burst: namespaceRate === 0 ? Infinity : namespaceBurst },
    tracer,
    onReadiness: (next) => (ready = next),
    onActive: (watcher) => (stats = () => watcher?.stats),
    life,
    log,
  });
}
