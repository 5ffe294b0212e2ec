/**
 * pod-watcher: requests addresses for Pods, and shows the ledger in Kubernetes. Reads its options
 * and runs the leader election.
 *
 *   Pods, networks, Subnets ─► controllers ─► allocator ─► ledger ─► projection ─► annotations, IP objects, Subnet status
 *
 * Controllers and projection share only the ledger. One watcher is active at a time; the others are
 * standbys.
 */
import { hostname } from 'node:os';
import { errorMessage } from '../../lib/errors.ts';
import { defaultNamespaceLimit } from './controllers/pods/event-budget.ts';
import { Option } from 'commander';
import { pause, timeoutSignal } from '../../lib/process/abortable.ts';
import { startHealthServer } from '../../lib/process/health-server.ts';
import { collectWhenIdle } from '../../lib/process/idle-collection.ts';
import { forgetRecentTexts } from './shared-values.ts';
import { withOwnObjects } from '../../lib/kubernetes/beside-kube-ovn.ts';
import { kubeOvnRunningMessage, podWatcherLease } from '../../lib/kubernetes/lease-observer.ts';
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
import { type Api, connectDefaultApi } from '../../lib/kubernetes/client/kubernetes-api.ts';
import type { UntypedJson } from '../../lib/kubernetes/untyped-json.ts';
import { ApiError } from '../../lib/kubernetes/client/api-error.ts';
import { kubeOvnControllerCheck } from './kubernetes/kube-ovn-controller-check.ts';
import { workInTerms } from '../../lib/kubernetes/leader-election.ts';
import { createLedgerClient } from '../../lib/ledger-client/ledger-client.ts';
import { createReachProbe, isUnreachableFor, waitUntilReachable } from './ledger/allocator-reach.ts';
import { parseHandoverState } from './handover-state.ts';
import { watcherMetrics } from './metrics.ts';
import { storeCheckpoints } from './projection/checkpoint-configmap.ts';
import { type WatcherStats, startActiveWatcher, type ActiveWatcher } from './active-watcher.ts';

interface Options extends TracingSettings {
  readonly allocator: string;
  readonly healthListen: string;
  readonly namespace: string;
  /** Seconds. */
  readonly garbageInterval: number;
  readonly checkpointInterval: number;
  readonly allocatorTimeout: number;
  readonly namespaceRate: number;
  readonly namespaceBurst: number;
  readonly besideKubeOvn: boolean;
}

const log = createLogger('pod-watcher');
const kubeOvnCheckMs = 2_000;
/** Seconds, or a count. */
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
  const { signal } = life;
  collectWhenIdle({ onIdle: forgetRecentTexts, log, signal });
  let stats = (): WatcherStats | undefined => undefined;
  const metrics = watcherMetrics(() => stats());
  const traced = { settings: options, metrics, service: 'ipledger-pod-watcher', instance: hostname() };
  const tracer = await openTracing({ ...traced, life, log });
  const clusterApi = await connectDefaultApi();
  const api = besideKubeOvn ? withOwnObjects(clusterApi) : clusterApi;
  const client = connect(allocator, tlsFromEnvironment(process.env, log));
  life.onStop(() => client.close());
  const ledger = createLedgerClient(client, signal);
  let ready = (): boolean | string => 'still starting';
  await startHealthServer({ listen: healthListen, ready: () => ready(), metrics, log }, life);
  log.info({ server: api.server, allocator }, 'starting');

  let watching: ActiveWatcher | undefined;
  const probe = createReachProbe(client, (status) => watching?.onLedgerStatus(status));
  let checkKubeOvn = (): void => undefined;
  const lease = {
    api,
    namespace,
    name: podWatcherLease,
    log,
    life,
    prepare: async () => {
      await waitUntilReachable(probe, { log, signal }, () => (ready = () => 'no allocator answers'));
      if (besideKubeOvn) return;
      await refuseKubeOvn(api, signal);
      // An alarm of an earlier term would compare the Lease with what it was then.
      checkKubeOvn = kubeOvnAlarm(api, life);
    },
    // A standby is always ready. The active watcher is ready when its inputs are current.
    onStandby: () => void (ready = () => true),
    onRenewed: (annotations: UntypedJson) => (checkKubeOvn(), watching?.onLeaseAnnotations(annotations)),
    handoverState: () => watching?.handoverState(),
  };
  await workInTerms(lease, async (held, term) => {
    const active = startActiveWatcher({
      api,
      kubeOvnApi: besideKubeOvn ? clusterApi : undefined,
      allocator: ledger,
      garbageIntervalMs: garbageInterval * 1_000,
      namespaceLimit: { perSecond: namespaceRate, burst: namespaceRate === 0 ? Infinity : namespaceBurst },
      lease: { namespace, name: podWatcherLease },
      handoverState: parseHandoverState(held.handoverState),
      storeHandoverState: () => held.store(),
      tracer,
      log,
      signal: term,
      fail: (error) => life.fail(error),
    });
    watching = active;
    const intervalMs = options.checkpointInterval * 1_000;
    if (intervalMs > 0) void storeCheckpoints({ api, namespace, intervalMs, allocator: ledger, log, signal: term });
    ready = () => active.ready;
    stats = () => active.stats;
    // A standby that an allocator answers can take over
    if (await isUnreachableFor(options.allocatorTimeout * 1_000, probe, { signal: term }))
      log.warn('no allocator answers: handing the Lease over');
    watching = undefined;
    ready = () => 'the Lease was lost';
    stats = () => undefined;
  });
}

/** Waits until Kube-OVN's controller certainly does not run. @throws Error when it runs */
async function refuseKubeOvn(api: Api, signal: AbortSignal): Promise<void> {
  const check = kubeOvnControllerCheck(api);
  for (let checks = 0; !signal.aborted; checks++) {
    try {
      const status = await check(signal);
      if (status === 'absent') return;
      if (status !== 'unknown') throw new Error(kubeOvnRunningMessage(status, orBeside));
      if (checks === 0) log.info("Kube-OVN's controller has a Lease: checking whether it renews it");
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      log.warn({ reason: error.message }, 'the Kubernetes API server is unavailable, retrying');
    }
    await pause(kubeOvnCheckMs, signal);
  }
}

/** Returns a function that ends the program when Kube-OVN runs. Call it at intervals. */
function kubeOvnAlarm(api: Api, { signal, fail }: Lifecycle): () => void {
  const check = kubeOvnControllerCheck(api);
  return () => {
    check(timeoutSignal(kubeOvnCheckMs, signal)).then(
      (status) => typeof status === 'object' && fail(new Error(kubeOvnRunningMessage(status, orBeside))),
      (error: unknown) =>
        log.debug({ reason: errorMessage(error) }, "could not read the Lease of Kube-OVN's controller"),
    );
  };
}

const orBeside = 'start this watcher; or serve other networks beside it with --beside-kube-ovn';
