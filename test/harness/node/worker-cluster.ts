/** Starts a Kubernetes cluster of workers, on which ipledger can be installed. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { type Cluster, startCluster } from '../kubernetes/cluster.ts';
import { applyCrds, multusCrdFile, waitForNodes } from '../kubernetes/kubectl.ts';
import type { Run } from '../run.ts';
import { findMultus, multusAccount } from './multus.ts';
import { buildPodImage } from './pod-image.ts';
import { startScheduler } from './scheduler.ts';
import { startWorker, type Worker, workerAddress } from './worker.ts';

export interface WorkerCluster {
  readonly cluster: Cluster;
  readonly workers: readonly Worker[];
}

export interface WorkerClusterSettings {
  readonly names: readonly string[];
  /** OCI archives besides the image of Pods. */
  readonly images: readonly string[];
}

/**
 * Starts the cluster with Multus, and without other CustomResourceDefinitions. Resolves when all
 * workers are Ready.
 */
export async function startWorkerCluster(run: Run, settings: WorkerClusterSettings): Promise<WorkerCluster> {
  const { names, images } = settings;
  const folder = join(run.folder, 'image');
  mkdirSync(folder);
  const [multus, cluster, podImage] = await Promise.all([
    findMultus(),
    startCluster(run, { nodes: [], kubelets: true, crds: false }),
    buildPodImage(folder),
  ]);
  await applyCrds(cluster.kubectl, [multusCrdFile]);
  await cluster.apply(
    clusterObjects(names, Number(new URL(cluster.url).port))
      .map(toDocument)
      .join(''),
  );
  // Each worker reaches the API through itself, also while the packets between the workers are
  // dropped
  const local = JSON.stringify({ spec: { internalTrafficPolicy: 'Local' } });
  await cluster.kubectl(['wait', '--for=create', '--timeout=60s', 'service/kubernetes', '--namespace=default']);
  await cluster.kubectl(['patch', 'service/kubernetes', '--namespace=default', `--patch=${local}`]);
  const users = {
    proxy: await cluster.kubeconfigFor('system:kube-proxy'),
    dns: await cluster.kubeconfigFor('cluster-dns', ['system:masters']),
  };
  const start = (name: string, index: number): Promise<Worker> => {
    const place = { name, number: index + 1, workers: names.length };
    return startWorker(run, { ...place, cluster, users, multus, images: [podImage, ...images] });
  };
  const [, ...workers] = await Promise.all([startScheduler(run, cluster), ...names.map(start)]);
  await waitForNodes(cluster.kubectl, names);
  return { cluster, workers };
}

const toDocument = (object: object): string => `---\n${stringify(object)}`;

/** The endpoints of the Kubernetes API for Pods, and the account of Multus. */
function clusterObjects(workers: readonly string[], port: number): object[] {
  const labels = { 'kubernetes.io/service-name': 'kubernetes' };
  return [
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'kubernetes', namespace: 'default', labels },
      addressType: 'IPv4',
      ports: [{ name: 'https', port, protocol: 'TCP' }],
      endpoints: workers.map((nodeName, index) => ({
        addresses: [workerAddress(index + 1)],
        nodeName,
        conditions: { ready: true },
      })),
    },
    ...multusAccount,
  ];
}
