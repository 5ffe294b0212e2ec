/**
 * pod-watcher: the only part that watches the Kubernetes API. Reads its configuration, wires, starts.
 *
 *   Pods, networks, Subnets ─► intent ─► allocator ─► ledger ─► projection ─► annotations, IP objects, Subnet status
 *
 * The two halves meet at the ledger alone. One watcher is active at a time; the others stand by.
 */
import { Command, InvalidArgumentError, Option } from 'commander';
import { pause, within } from '../../lib/deadline.ts';
import { startHealth } from '../../lib/health.ts';
import { kubeOvnRuns } from '../../lib/kube-ovn.ts';
import { type Lifecycle, run } from '../../lib/lifecycle.ts';
import { createLogger } from '../../lib/log.ts';
import { connect } from '../../lib/rpc.ts';
import { tlsFromEnvironment } from '../../lib/tls.ts';
import { type Api, ApiError, connectApi, reasonOf } from './kubernetes/api.ts';
import { kubeOvnObserver } from './kubernetes/kube-ovn.ts';
import { acquireLease, type HeldLease } from './kubernetes/lease.ts';
import { allocatorOver, checkpointOver } from './ledger/allocator.ts';
import { readMemory } from './memory.ts';
import { watcherMetrics } from './metrics.ts';
import { keepCheckpoints } from './projection/checkpoints.ts';
import { type Figures, watchCluster, type Watching } from './watch.ts';

interface Options {
  readonly allocator: string;
  readonly healthListen: string;
  readonly namespace: string;
  readonly acceptVanished: boolean;
  /** Seconds. */
  readonly garbageInterval: number;
  readonly checkpointInterval: number;
}

const log = createLogger('pod-watcher');
const kubeOvnLookMs = 2_000;
const leaseName = 'ipledger-pod-watcher';

function readOptions(): Options {
  return new Command('pod-watcher')
    .description('Asks the allocator for the addresses that Pods want, and shows in Kubernetes what the ledger says.')
    .addOption(
      new Option('--allocator <host:port>', 'where the allocator is; its replicas joined with commas')
        .env('IPLEDGER_ENDPOINT')
        .makeOptionMandatory(),
    )
    .addOption(
      new Option('--health-listen <host:port>', 'HTTP /livez, /readyz and /metrics')
        .env('IPLEDGER_HEALTH_LISTEN')
        .default('127.0.0.1:8081'),
    )
    .addOption(
      new Option('--namespace <name>', 'of the Lease and the checkpoints')
        .env('IPLEDGER_NAMESPACE')
        .default('kube-system'),
    )
    .addOption(
      new Option('--garbage-interval <seconds>', 'how often all who hold addresses are looked at; 0: never')
        .env('IPLEDGER_GARBAGE_INTERVAL')
        .argParser(seconds)
        .default(360),
    )
    .addOption(
      new Option(
        '--checkpoint-interval <seconds>',
        'how often a checkpoint of the ledger is kept in a ConfigMap; 0: never',
      )
        .env('IPLEDGER_CHECKPOINT_INTERVAL')
        .argParser(seconds)
        .default(300),
    )
    .option('--accept-vanished', 'go on also when most Pods or Nodes vanished from the API at once', false)
    .parse()
    .opts<Options>();
}

await run(log, (life) => start(life, readOptions()));

/** @throws InvalidArgumentError */
function seconds(value: string): number {
  if (!/^\d{1,6}$/.test(value)) throw new InvalidArgumentError('want whole seconds, as 360.');
  return Number(value);
}

async function start(life: Lifecycle, options: Options): Promise<void> {
  const { allocator, healthListen, namespace, acceptVanished, garbageInterval } = options;
  const { signal } = life;
  const api = connectApi();
  const client = connect(allocator, tlsFromEnvironment(process.env, log));
  life.onStop(() => client.close());
  let ready = (): boolean | string => 'still starting';
  let figures = (): Figures | undefined => undefined;
  const metrics = watcherMetrics(() => figures());
  const health = await startHealth({ listen: healthListen, ready: () => ready(), metrics, log });
  life.onStop(() => health.close());
  log.info({ server: api.server, allocator }, 'starting');

  let lease: HeldLease | undefined;
  life.onStop(() => lease?.release());
  while (!signal.aborted) {
    await refuseBesideKubeOvn(api, signal);
    // A standby is ready: it stands by. The active one is, when it knows the cluster and the ledger.
    const onStandby = (): void => void (ready = () => true);
    const onRenewed = kubeOvnAlarm(api, life);
    let watching: Watching | undefined;
    const memory = (): string | undefined => watching?.memory();
    lease = await acquireLease({ api, namespace, name: leaseName, log, signal, onStandby, onRenewed, memory });
    if (!lease) return;
    const term = new AbortController();
    const active = watchCluster({
      api,
      allocator: allocatorOver(client),
      acceptVanished,
      garbageEveryMs: garbageInterval * 1_000,
      lease: { namespace, name: leaseName },
      memory: readMemory(lease.memory),
      log,
      signal: AbortSignal.any([signal, term.signal]),
      fail: (error) => life.fail(error),
    });
    watching = active;
    const everyMs = options.checkpointInterval * 1_000;
    const keeping = { api, namespace, everyMs, checkpoint: checkpointOver(client), log };
    if (everyMs > 0) void keepCheckpoints({ ...keeping, signal: AbortSignal.any([signal, term.signal]) });
    ready = () => active.ready;
    figures = () => active.figures;
    await lease.ended;
    ready = () => 'the Lease was lost';
    figures = () => undefined;
    term.abort();
  }
}

/** @throws Error when Kube-OVN's controller runs on this cluster. Waits until it is known whether it does. */
async function refuseBesideKubeOvn(api: Api, signal: AbortSignal): Promise<void> {
  const look = kubeOvnObserver(api);
  for (let looks = 0; !signal.aborted; looks++) {
    try {
      const sight = await look(signal);
      if (sight === 'away') return;
      if (sight !== 'unsure') throw new Error(kubeOvnRuns(sight, 'start this watcher'));
      if (looks === 0) log.info("Kube-OVN's controller has left a Lease: waiting to see whether it renews it");
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      log.warn({ reason: error.message }, 'the Kubernetes API does not answer, trying again');
    }
    await pause(kubeOvnLookMs, signal);
  }
}

/** Kube-OVN may be deployed while this watcher is active: who calls this now and then stops the program then. */
function kubeOvnAlarm(api: Api, { signal, fail }: Lifecycle): () => void {
  const look = kubeOvnObserver(api);
  return () => {
    look(within(kubeOvnLookMs, signal)).then(
      (sight) => typeof sight === 'object' && fail(new Error(kubeOvnRuns(sight, 'start this watcher'))),
      (error: unknown) => log.debug({ reason: reasonOf(error) }, "Kube-OVN's Lease could not be looked at"),
    );
  };
}
