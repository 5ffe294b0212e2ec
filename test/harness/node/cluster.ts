/** A Kubernetes cluster with whole nodes, each Pod of which gets its main NIC by macvlan and its address from the ledger. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Cluster, startCluster } from '../cluster.ts';
import type { Etcd } from '../etcd.ts';
import { root } from '../paths.ts';
import type { Run } from '../run.ts';
import type { Server } from '../server.ts';
import { type Allocator, startWatcher, type Watcher } from '../services.ts';
import { startLedger } from '../stack.ts';
import { makeImage } from './image.ts';
import { type Node, startNode } from './node.ts';
import { startScheduler } from './scheduler.ts';

export interface NodeCluster {
  /** The ledger's; the cluster has its own. */
  readonly etcd: Etcd;
  readonly cluster: Cluster;
  readonly allocator: Allocator;
  readonly watcher: Watcher;
  readonly scheduler: Server;
  readonly nodes: readonly [Node, Node];
}

/** The network of all Pods' main NICs; no object of that name is made here. */
export const podNetwork = 'lan';

/** Starts everything; resolves when both nodes are Ready. About 10 s. */
export async function startNodeCluster(run: Run): Promise<NodeCluster> {
  const folder = join(run.folder, 'image');
  mkdirSync(folder);
  const [cluster, [etcd, allocator], image] = await Promise.all([
    startCluster(run, { nodes: [], kubelets: true }),
    startLedger(run),
    makeImage(folder),
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
  for (const state of ['create', 'condition=Ready'])
    await cluster.kubectl(['wait', `--for=${state}`, '--timeout=120s', ...nodes.map(({ name }) => `node/${name}`)]);
  return { etcd, cluster, allocator, watcher, scheduler, nodes };
}
