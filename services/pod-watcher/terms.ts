/**
 * Runs the terms of a pod-watcher: an active watcher runs while this process holds the Lease.
 * Before each term an allocator has to answer, and Kube-OVN's controller must not run.
 */
import { errorMessage } from '../../lib/errors.ts';
import type { Connection } from '../../lib/grpc/calls.ts';
import { ApiError } from '../../lib/kubernetes/client/api-error.ts';
import type { Api } from '../../lib/kubernetes/client/kubernetes-api.ts';
import { workInTerms } from '../../lib/kubernetes/leader-election.ts';
import { kubeOvnRunningMessage, podWatcherLease } from '../../lib/kubernetes/lease-observer.ts';
import type { UntypedJson } from '../../lib/kubernetes/untyped-json.ts';
import { createLedgerClient } from '../../lib/ledger-client/ledger-client.ts';
import { pause, timeoutSignal } from '../../lib/process/abortable.ts';
import type { Lifecycle } from '../../lib/process/lifecycle.ts';
import type { Logger } from '../../lib/process/log.ts';
import { type ActiveWatcher, type ActiveWatcherOptions, startActiveWatcher } from './active-watcher.ts';
import { parseHandoverState } from './handover-state.ts';
import { kubeOvnControllerCheck } from './kubernetes/kube-ovn-controller-check.ts';
import { createReachProbe, isUnreachableFor, waitUntilReachable } from './ledger/allocator-reach.ts';
import { storeCheckpoints } from './projection/checkpoint-configmap.ts';

export interface TermsOptions extends Pick<
  ActiveWatcherOptions,
  'api' | 'kubeOvnApi' | 'garbageIntervalMs' | 'namespaceLimit' | 'tracer'
> {
  /** The connection to the allocators. */
  readonly client: Connection;
  /** The namespace of the Lease. */
  readonly namespace: string;
  /** The identity in the Lease; default: an identity of the process. */
  readonly identity?: string;
  /** The interval of checkpoints; 0: none are stored. */
  readonly checkpointIntervalMs: number;
  /** The silence of all allocators after which the Lease is handed over. */
  readonly allocatorTimeoutMs: number;
  /** Called when the readiness of the program changes, and with each active watcher. */
  readonly onReadiness: (ready: () => boolean | string) => void;
  readonly onActive: (watcher: ActiveWatcher | undefined) => void;
  readonly life: Lifecycle;
  readonly log: Logger;
}

const kubeOvnCheckMs = 2_000;

/** Runs until the program stops. @throws Error when Kube-OVN's controller runs */
export async function runTerms(options: TermsOptions): Promise<void> {
  const { api, kubeOvnApi, client, namespace, onReadiness, life, log } = options;
  const { signal } = life;
  const ledger = createLedgerClient(client, signal);
  let watching: ActiveWatcher | undefined;
  const probe = createReachProbe(client, (status) => watching?.onLedgerStatus(status));
  let checkKubeOvn = (): void => undefined;
  const lease = {
    api,
    namespace,
    name: podWatcherLease,
    ...(options.identity !== undefined && { identity: options.identity }),
    log,
    life,
    prepare: async () => {
      await waitUntilReachable(probe, { log, signal }, () => onReadiness(() => 'no allocator answers'));
      if (kubeOvnApi) return;
      await refuseKubeOvn(api, log, signal);
      // Renews the check: an earlier check would compare the Lease with its former state.
      checkKubeOvn = kubeOvnAlarm(api, log, life);
    },
    // Reports a standby as ready. The active watcher is ready when its inputs are current.
    onStandby: () => onReadiness(() => true),
    onRenewed: (annotations: UntypedJson) => (checkKubeOvn(), watching?.onLeaseAnnotations(annotations)),
    handoverState: () => watching?.handoverState(),
  };
  await workInTerms(lease, async (held, term) => {
    const active = startActiveWatcher({
      ...options,
      allocator: ledger,
      lease: { namespace, name: podWatcherLease },
      handoverState: parseHandoverState(held.handoverState),
      storeHandoverState: () => held.store(),
      signal: term,
      fail: (error) => life.fail(error),
    });
    watching = active;
    const intervalMs = options.checkpointIntervalMs;
    if (intervalMs > 0) void storeCheckpoints({ api, namespace, intervalMs, allocator: ledger, log, signal: term });
    onReadiness(() => active.ready);
    options.onActive(active);
    // Hands over to a standby that an allocator may answer.
    if (await isUnreachableFor(options.allocatorTimeoutMs, probe, { signal: term }))
      log.warn('no allocator answers: handing the Lease over');
    watching = undefined;
    onReadiness(() => 'the Lease was lost');
    options.onActive(undefined);
  });
}

/**
 * Waits until Kube-OVN's controller has certainly stopped, or an abort.
 * @throws Error when it runs
 */
export async function refuseKubeOvn(api: Api, log: Logger, signal: AbortSignal): Promise<void> {
  const check = kubeOvnControllerCheck(api);
  for (let checks = 0; !signal.aborted; checks++) {
    try {
      const status = await check(signal);
      if (status === 'absent') return;
      if (status !== 'unknown') throw new Error(kubeOvnRunningMessage(status, orBeside));
      if (checks === 0) log.info("Kube-OVN's controller has a Lease: checking whether it renews it");
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      log.warn({ reason: error.message }, 'the Kubernetes API server is unavailable, retrying');
    }
    await pause(kubeOvnCheckMs, signal);
  }
}

/** Returns a function that ends the program when Kube-OVN runs. Must be called at intervals. */
function kubeOvnAlarm(api: Api, log: Logger, { signal, fail }: Lifecycle): () => void {
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
