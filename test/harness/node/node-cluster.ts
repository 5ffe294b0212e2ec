/**
 * Starts a Kubernetes cluster with real nodes. Each Pod gets its main NIC from macvlan and its
 * address from the ledger.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Cluster, startCluster } from '../kubernetes/cluster.ts';
import { waitForNodes } from '../kubernetes/kubectl.ts';
import type { Etcd } from '../etcd.ts';
import { root } from '../paths.ts';
import type { Run } from '../run.ts';
import type { Server } from '../processes/server.ts';
import { type AllocatorServer, startWatcher, type WatcherServer } from '../services.ts';
import { startLedger } from '../stack.ts';
import { buildPodImage } from './pod-image.ts';
import { type Node, startNode } from './node.ts';
import { startScheduler } from './scheduler.ts';

export interface NodeCluster {
  /** etcd of the ledger. The cluster has another etcd. */
  readonly etcd: Etcd;
  readonly cluster: Cluster;
  readonly allocator: AllocatorServer;
  readonly watcher: WatcherServer;
  readonly scheduler: Server;
  readonly nodes: readonly [Node, Node];
}

/** The network of the main NICs of all Pods. The tests create its objects. */
export const podNetwork = 'lan';

/** Starts the cluster. Resolves when both nodes are Ready, after about 10 s. */
export async function startNodeCluster(run: Run): Promise<NodeCluster> {
  const folder = join(run.folder, 'image');
  mkdirSync(folder);
  const [cluster, [etcd, allocator], image] = await Promise.all([
    startCluster(run, { nodes: [], kubelets: true }),
    startLedger(run),
    buildPodImage(folder),
  ]);
  await cluster.apply(join(root, 'deploy', 'rbac.yaml'));
  const [watcherUser, agentUser] = await Promise.all([
    cluster.kubeconfigFor('system:serviceaccount:kube-system:ipledger-pod-watcher'),
    cluster.kubeconfigFor('system:serviceaccount:kube-system:ipledger-node-agent'),
  ]);
  const settings = { cluster, allocator, provider: `${podNetwork}.default`, image, agentUser };
  const [scheduler, watcher, ...nodes] = await Promise.all([
    startScheduler(run, cluster),
    startWatcher(run, { allocator, cluster: { kubeconfig: watcherUser } }),
    startNode(run, { ...settings, name: 'node-a', number: 1 }),
    startNode(run, { ...settings, name: 'node-b', number: 2 }),
  ]);
  await waitForNodes(
    cluster.kubectl,
    nodes.map(({ name }) => name),
  );
  return { etcd, cluster, allocator, watcher, scheduler, nodes };
}
