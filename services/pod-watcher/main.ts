/**
 * pod-watcher: requests addresses for Pods, and shows the ledger in Kubernetes. Reads its options and runs the leader election.
 *
 *   Pods, networks, Subnets ─► controllers ─► allocator ─► ledger ─► projection ─► annotations, IP objects, Subnet status
 *
 * Controllers and projection share only the ledger. One watcher is active at a time; the others are standbys.
 */
import { hostname } from 'node:os';
import { errorMessage } from '../../lib/errors.ts';
import { defaultNamespaceLimit } from './controllers/pods/event-budget.ts';
import { Command, InvalidArgumentError, Option } from 'commander';
import { pause, timeoutSignal } from '../../lib/process/abortable.ts';
import { startHealthServer } from '../../lib/process/health-server.ts';
import { collectWhenIdle } from '../../lib/process/idle-collection.ts';
import { forgetRecentTexts } from './shared-values.ts';
import { withOwnObjects } from '../../lib/kubernetes/beside-kube-ovn.ts';
import { kubeOvnRunningMessage, podWatcherLease } from '../../lib/kubernetes/lease-observer.ts';
import { type Lifecycle, runProgram } from '../../lib/process/lifecycle.ts';
import { createLogger } from '../../lib/process/log.ts';
import { version } from '../../lib/process/version.ts';
import { openTracing, tracingOptions, type TracingSettings } from '../../lib/tracing/open-tracing.ts';
import { connect } from '../../lib/grpc/client.ts';
import { tlsFromEnvironment } from '../../lib/tls/credentials.ts';
import { type Api, connectDefaultApi } from '../../lib/kubernetes/client/kubernetes-api.ts';
import type { UntypedJson } from '../../lib/kubernetes/untyped-json.ts';
import { ApiError } from '../../lib/kubernetes/client/api-error.ts';
import { kubeOvnControllerCheck } from './kubernetes/kube-ovn-controller-check.ts';
import { acquireLease, type HeldLease } from '../../lib/kubernetes/leader-election.ts';
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
const seconds = (value: string): number => parseDigits(value, 'whole seconds, as 360');
const wholeNumber = (value: string): number => parseDigits(value, 'a whole number, as 20');

function readOptions(): Options {
  const program = new Command('pod-watcher')
    .description(
      'Requests addresses for Pods from the allocator, and shows the allocations of the ledger in Kubernetes.',
    )
    .version(version)
    .addOption(
      new Option('--allocator <host:port>', 'address of the allocator; several replicas separated by commas')
        .env('IPLEDGER_ENDPOINT')
        .makeOptionMandatory(),
    )
    .addOption(
      new Option('--health-listen <host:port>', 'addresses of /livez, /readyz and /metrics, separated by commas')
        .env('IPLEDGER_HEALTH_LISTEN')
        .default('127.0.0.1:8081'),
    )
    .addOption(
      new Option('--namespace <name>', 'namespace of the Lease and of the checkpoint ConfigMap')
        .env('IPLEDGER_NAMESPACE')
        .default('kube-system'),
    )
    .addOption(
      new Option(
        '--garbage-interval <seconds>',
        'interval of the garbage collector, which releases allocations of missing Pods; 0: never',
      )
        .env('IPLEDGER_GARBAGE_INTERVAL')
        .argParser(seconds)
        .default(360),
    )
    .addOption(
      new Option(
        '--checkpoint-interval <seconds>',
        'interval at which a checkpoint of the ledger is stored in a ConfigMap; 0: never',
      )
        .env('IPLEDGER_CHECKPOINT_INTERVAL')
        .argParser(seconds)
        .default(300),
    )
    .addOption(
      new Option('--allocator-timeout <seconds>', 'silence of all allocators after which the Lease is handed over')
        .env('IPLEDGER_ALLOCATOR_TIMEOUT')
        .argParser(seconds)
        .default(30),
    )
    .addOption(
      new Option(
        '--namespace-rate <count>',
        'addresses per second that the Pods of a namespace may request; 0: no limit',
      )
        .env('IPLEDGER_NAMESPACE_RATE')
        .argParser(wholeNumber)
        .default(defaultNamespaceLimit.perSecond),
    )
    .addOption(
      new Option('--namespace-burst <count>', 'addresses that the Pods of a namespace may request in one burst')
        .env('IPLEDGER_NAMESPACE_BURST')
        .argParser(wholeNumber)
        .default(defaultNamespaceLimit.burst),
    );
  program.addOption(
    new Option('--beside-kube-ovn', 'serve own networks only, on a cluster whose others Kube-OVN serves')
      .env('IPLEDGER_BESIDE_KUBE_OVN')
      .default(false),
  );
  for (const option of tracingOptions()) program.addOption(option);
  return program.parse().opts<Options>();
}

await runProgram(log, (life) => start(life, readOptions()));

/** Parses at most six digits. @throws InvalidArgumentError that names what to write */
function parseDigits(value: string, expected: string): number {
  if (!/^\d{1,6}$/.test(value)) throw new InvalidArgumentError(`Use ${expected}.`);
  return Number(value);
}

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
  const health = await startHealthServer({ listen: healthListen, ready: () => ready(), metrics, log });
  life.onStop(() => health.close());
  log.info({ server: api.server, allocator }, 'starting');

  let lease: HeldLease | undefined;
  life.onStop(() => lease?.release());
  let watching: ActiveWatcher | undefined;
  const probe = createReachProbe(client, (status) => watching?.onLedgerStatus(status));
  while (!signal.aborted) {
    await waitUntilReachable(probe, { log, signal }, () => (ready = () => 'no allocator answers'));
    if (!besideKubeOvn) await refuseKubeOvn(api, signal);
    // A standby is always ready. The active watcher is ready when its inputs are current.
    const onStandby = (): void => void (ready = () => true);
    const checkKubeOvn = besideKubeOvn ? () => undefined : kubeOvnAlarm(api, life);
    watching = undefined;
    const onRenewed = (seen: UntypedJson): void => (checkKubeOvn(), watching?.onLeaseAnnotations(seen));
    const held = await acquireLease({
      api,
      namespace,
      name: podWatcherLease,
      log,
      signal,
      onStandby,
      onRenewed,
      handoverState: () => watching?.handoverState(),
    });
    if (!held) return;
    lease = held;
    const term = new AbortController();
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
      signal: AbortSignal.any([signal, term.signal]),
      fail: (error) => life.fail(error),
    });
    watching = active;
    const intervalMs = options.checkpointInterval * 1_000;
    const store = { api, namespace, intervalMs, allocator: ledger, log };
    if (intervalMs > 0) void storeCheckpoints({ ...store, signal: AbortSignal.any([signal, term.signal]) });
    ready = () => active.ready;
    stats = () => active.stats;
    const isSilent = isUnreachableFor(options.allocatorTimeout * 1_000, probe, { signal: term.signal });
    const mustHandOver = await Promise.race([isSilent, held.ended.then(() => false)]);
    ready = () => 'the Lease was lost';
    stats = () => undefined;
    term.abort();
    if (mustHandOver) await handOver(held);
  }
}

/** A standby that an allocator answers can take over. */
async function handOver(held: HeldLease): Promise<void> {
  log.warn('no allocator answers: handing the Lease over');
  await held.release().catch((error: unknown) => log.warn({ reason: errorMessage(error) }, 'lease: not released'));
  await held.ended;
}

/** Waits until it is certain that Kube-OVN's controller does not run on this cluster. @throws Error when it runs */
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

/** Returns a function that ends the program when Kube-OVN was deployed after the start. Call it at intervals. */
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
