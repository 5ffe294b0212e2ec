/** Everything at once: etcd, a Kubernetes API, an allocator, a pod-watcher and an agent for each node. */
import { type Cluster, startCluster } from './cluster.ts';
import { type Etcd, startEtcd } from './etcd.ts';
import type { Run } from './run.ts';
import { type Agent, type Allocator, startAgent, startAllocator, startWatcher, type Watcher } from './services.ts';

export interface Stack {
  /** The ledger's; the cluster has its own. */
  readonly etcd: Etcd;
  readonly cluster: Cluster;
  readonly allocator: Allocator;
  readonly watcher: Watcher;
  /** One a node, in the order of `nodes`. */
  readonly agents: readonly [Agent, ...Agent[]];
}

export interface StackOptions {
  /** Node names (default `node-1` alone). */
  readonly nodes?: readonly [string, ...string[]];
}

/** Starts the whole path; resolves when a Pod could be applied. About 7 s. */
export async function startStack(run: Run, { nodes = ['node-1'] }: StackOptions = {}): Promise<Stack> {
  const [cluster, [etcd, allocator]] = await Promise.all([startCluster(run, { nodes }), startLedger(run)]);
  const [watcher, first, ...others] = await Promise.all([
    startWatcher(run, { allocator, cluster }),
    startAgent(run, { allocator, cluster, node: nodes[0] }),
    ...nodes.slice(1).map((node) => startAgent(run, { allocator, cluster, node })),
  ]);
  return { etcd, cluster, allocator, watcher, agents: [first, ...others] };
}

/** etcd and an allocator on it: all that somebody without Kubernetes needs. */
export async function startLedger(run: Run): Promise<[Etcd, Allocator]> {
  const etcd = await startEtcd(run);
  return [etcd, await startAllocator(run, { etcd })];
}
