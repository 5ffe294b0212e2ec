/**
 * The environment of cases: one Kubernetes API for all, and for each case an allocator with an
 * empty ledger and a watcher, which run in this process. All objects are deleted between cases.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import type { Logger } from '../../../lib/process/log.ts';
import { type AddressRecord, IpamService } from '../../../proto/generated/ipledger.ts';
import { type ServedAllocator, serveAllocator } from '../../../services/allocator/grpc/testing/served-allocator.ts';
import { emptyHandoverState } from '../../../services/pod-watcher/handover-state.ts';
import { borrowCluster } from '../../harness/kubernetes/shared-cluster.ts';
import type { Run } from '../../harness/run.ts';
import { type AgentServer, startAgent } from '../../harness/services.ts';

import { findDifferences, type Comparison } from '../compare.ts';
import { type IdleDetector, createIdleDetector } from './idle-detector.ts';
import { type KubernetesClient, createKubernetesClient } from '../../harness/kubernetes/kubernetes-client.ts';
import { deleteAllObjects, waitUntilServed } from './cleanup.ts';
import { sentinel } from './sentinel-pod.ts';
import { startTcpProxy, type TcpProxy } from '../../harness/network/tcp-proxy.ts';
import { startInProcessWatcher, type InProcessWatcher } from './in-process-watcher.ts';

const pollMs = 20;

export interface Environment {
  /** Starts a case, without objects and without a running watcher. */
  startCase(): Promise<CaseEnvironment>;
}

/** The environment of one case. Its objects are deleted before the next case begins. */
export interface CaseEnvironment extends AsyncDisposable {
  readonly run: Run;
  readonly kubernetes: KubernetesClient;
  readonly allocator: ServedAllocator;
  /** Wraps the calls of the watcher. */
  readonly idleDetector: IdleDetector;
  /** @param env environment variables of the watcher */
  startWatcher(env?: Readonly<Record<string, string>>): Promise<void>;
  stopWatcher(): Promise<void>;
  /** Starts the agent of node-1, on its socket. */
  agent(): Promise<AgentServer>;
  /** Resolves when the watcher has processed all earlier changes. */
  waitUntilProcessed(): Promise<void>;
  /**
   * Repeats `observe` until both sides match, or until the timeout; resolves to the last
   * comparison.
   */
  waitForMatch(observe: () => Promise<Comparison>): Promise<Comparison>;
}

interface Parts {
  readonly run: Run;
  /** Timeout of `waitForMatch`. */
  readonly timeoutMs: number;
  readonly kubernetes: KubernetesClient;
  /** Forwards the agent's calls to the allocator of the current case. */
  readonly proxy: TcpProxy;
  readonly agent: () => Promise<AgentServer>;
  /** The watchers' log, a file in the run's folder; KEEP=1 keeps it. */
  readonly log: Logger;
}

/** Starts the API server, which takes about 5 s. */
export async function startEnvironment(run: Run, timeoutMs: number): Promise<Environment> {
  const cluster = await borrowCluster(run, { controllers: false });
  const kubernetes = createKubernetesClient(cluster.kubeconfig, run.signal);
  await waitUntilServed(kubernetes);
  await sentinel.prepare(kubernetes);
  const proxy = await startTcpProxy(run);
  const destination = pino.destination({ dest: `${run.folder}/pod-watcher.log`, sync: true });
  const log = pino({ level: 'debug', base: { part: 'pod-watcher' } }, destination);
  let started: Promise<AgentServer> | undefined;
  const agent = (): Promise<AgentServer> => (started ??= startAgent(run, { allocator: proxy, cluster }));
  const parts = { run, timeoutMs, kubernetes, proxy, agent, log };
  return {
    async startCase() {
      await deleteAllObjects(kubernetes);
      return createCaseEnvironment(parts);
    },
  };
}

async function createCaseEnvironment({
  run,
  timeoutMs,
  kubernetes,
  proxy,
  agent,
  log,
}: Parts): Promise<CaseEnvironment> {
  const served = await serveAllocator();
  proxy.setTarget(served.endpoint);
  const idleDetector = createIdleDetector(kubernetes.api);
  let watcher: InProcessWatcher | undefined;
  let handoverState = emptyHandoverState;
  const environment: CaseEnvironment = {
    run,
    kubernetes,
    allocator: served,
    idleDetector: idleDetector,
    agent,
    async startWatcher(env = {}) {
      watcher = await startInProcessWatcher({
        served,
        idleDetector: idleDetector,
        env,
        handoverState,
        log,
        signal: run.signal,
      });
    },
    async stopWatcher() {
      handoverState = (await watcher?.stop()) ?? handoverState;
      watcher = undefined;
    },
    async waitUntilProcessed() {
      if (!watcher) return;
      await sentinel.pass(kubernetes, run.signal);
      await idleDetector.waitUntilIdle();
    },
    async waitForMatch(observe) {
      const deadline = performance.now() + timeoutMs;
      for (;;) {
        const comparison = await observe();
        const { expected, got } = comparison;
        if (findDifferences(expected, got).length === 0 || performance.now() > deadline) return comparison;
        await sleep(pollMs);
      }
    },
    async [Symbol.asyncDispose]() {
      await environment.stopWatcher();
      await served[Symbol.asyncDispose]();
    },
  };
  return environment;
}

/** Resolves to the ledger's record of an address. */
export async function getAddressRecord(
  { allocator }: CaseEnvironment,
  subnet: string,
  address: string,
): Promise<AddressRecord | undefined> {
  return (await allocator.call(IpamService.getAddress, { subnet, address })).record;
}
