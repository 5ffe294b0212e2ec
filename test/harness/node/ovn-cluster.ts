/**
 * Starts a Kubernetes cluster on real nodes with OVN. Its Pods have the networks of their
 * annotations.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Cluster, startCluster } from '../kubernetes/cluster.ts';
import { waitForNodes } from '../kubernetes/kubectl.ts';
import type { Etcd } from '../etcd.ts';
import { type OvnCentral, startOvnCentral } from '../ovn/ovn-central.ts';
import { root } from '../paths.ts';
import type { Run } from '../run.ts';
import { type AllocatorServer, startOvnProjector, startWatcher, type WatcherServer } from '../services.ts';
import { startLedger } from '../stack.ts';
import { installAttachingRuntime } from './containerd.ts';
import { type Node, startNode } from './node.ts';
import { buildPodImage } from './pod-image.ts';
import { startScheduler } from './scheduler.ts';

export interface OvnCluster {
  /** etcd of the ledger. The cluster has another etcd. */
  readonly etcd: Etcd;
  readonly cluster: Cluster;
  readonly allocator: AllocatorServer;
  readonly watcher: WatcherServer;
  readonly central: OvnCentral;
  readonly projector: WatcherServer;
  readonly nodes: readonly [Node, Node];
}

const serviceAccount = (name: string): string => `system:serviceaccount:kube-system:ipledger-${name}`;

/**
 * The namespace whose Pods get the network `default/ovn-networkobj`, in which OVN4NFV's plugin
 * makes its NICs.
 */
export const ovn4nfvNamespace = 'nfv';

/** Starts the cluster. Resolves when both nodes are Ready. */
export async function startOvnCluster(run: Run): Promise<OvnCluster> {
  const folder = join(run.folder, 'image');
  mkdirSync(folder);
  const [cluster, [etcd, allocator], image, central] = await Promise.all([
    startCluster(run, { nodes: [], kubelets: true }),
    startLedger(run),
    buildPodImage(folder),
    startOvnCentral(run),
  ]);
  await cluster.apply(join(root, 'deploy', 'rbac.yaml'));
  const [watcherUser, agentUser, projectorUser] = await Promise.all(
    ['pod-watcher', 'node-agent', 'ovn-projector'].map((name) => cluster.kubeconfigFor(serviceAccount(name))),
  );
  if (!watcherUser || !agentUser || !projectorUser) throw new Error('no kubeconfig');
  const start = (name: string, number: number): Promise<Node> =>
    startNode(run, {
      name,
      number,
      cluster,
      allocator,
      image,
      agentUser,
      central,
      provider: '',
      install: (state) =>
        installAttachingRuntime(state, {
          podRange: `10.244.${number}.0/24`,
          kubeconfig: cluster.kubeconfig,
          defaultNetworks: { [ovn4nfvNamespace]: 'default/ovn-networkobj' },
        }),
    });
  const [watcher, projector, a, b] = await Promise.all([
    startWatcher(run, { allocator, cluster: { kubeconfig: watcherUser } }),
    startOvnProjector(run, { allocator, cluster: { kubeconfig: projectorUser }, northbound: central.northbound }),
    start('node-a', 1),
    start('node-b', 2),
    startScheduler(run, cluster),
  ]);
  await waitForNodes(cluster.kubectl, [a.name, b.name]);
  return { etcd, cluster, allocator, watcher, central, projector, nodes: [a, b] };
}
