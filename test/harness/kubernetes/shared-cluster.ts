/**
 * A Kubernetes API that the spec files of one process use one after the other. A start costs 8 s of
 * CPU, a cleanup between two files a tenth of a second. The cleanup deletes the keys in etcd: the
 * API server sees normal deletions, and no finalizer delays them.
 */
import { Etcd3 } from 'etcd3';
import { type Cluster, startCluster } from './cluster.ts';
import { type Content, type ContentStore, readStableContent, restoreContent } from './cluster-content.ts';
import { addNodes } from './kubectl.ts';
import { probeHttp } from '../processes/readiness-probes.ts';
import { openRun, type Run } from '../run.ts';

interface Shared {
  readonly run: Run;
  readonly cluster: Cluster;
  /** Content before the first use. */
  readonly pristine: Content;
}

const answerWithinMs = 20_000;

/** Keys that the servers write at any time. The controllers need their ServiceAccounts. */
const ownKeys =
  /^\/registry\/((masterleases\/|peerserverleases\/|ranges\/|leases\/kube-system\/apiserver-)|(serviceaccounts|configmaps)\/(kube-[^/]+|default)\/)/;

/** The clusters that no run uses now, by whether controllers run in them. */
const idle = new Map<boolean, Shared>();

export interface BorrowOptions {
  /** Node objects. node-1 always exists. */
  readonly nodes?: readonly string[];
  /** Whether controllers run, as for `startCluster`. */
  readonly controllers?: boolean;
}

/**
 * Lends a cluster to a run until the run ends. It contains only the CustomResourceDefinitions of
 * the project and Nodes. A spec that replaces the data in etcd or restarts servers with other flags
 * needs its own cluster.
 */
export async function borrowCluster(
  run: Run,
  { nodes = ['node-1'], controllers = true }: BorrowOptions = {},
): Promise<Cluster> {
  const shared = (await takeIdle(controllers)) ?? (await startShared(controllers));
  run.onEnd(() => void idle.set(controllers, shared));
  const { cluster } = shared;
  const access = cluster.until(run.signal);
  await addNodes(
    access.kubectl,
    nodes.filter((name) => name !== 'node-1'),
  );
  return { ...cluster, ...access };
}

/** Takes the idle cluster and restores it; undefined without such a cluster, or if that fails. */
async function takeIdle(controllers: boolean): Promise<Shared | undefined> {
  const shared = idle.get(controllers);
  if (!shared) return undefined;
  idle.delete(controllers);
  if ((await isServing(shared.cluster)) && (await restore(shared))) return shared;
  await shared.run.end();
  return undefined;
}

async function isServing({ apiServer, etcd, controllerManager, url }: Cluster): Promise<boolean> {
  for (const server of [etcd, apiServer, controllerManager]) {
    if (server?.isAlive === false) return false;
    server?.resume();
  }
  return probeHttp(`${url}/readyz`, AbortSignal.timeout(answerWithinMs)).then(
    () => true,
    () => false,
  );
}

async function startShared(controllers: boolean): Promise<Shared> {
  const run = openRun();
  const cluster = await startCluster(run, { controllers });
  return { run, cluster, pristine: await withStore(cluster, (store) => readStableContent(store)) };
}

/** Restores the pristine content. Returns false if that is impossible. */
const restore = ({ cluster, pristine }: Shared): Promise<boolean> =>
  withStore(cluster, (store) => restoreContent(store, pristine));

/** Connects to the cluster's etcd for the time of `work`. */
async function withStore<T>({ etcd }: Cluster, work: (store: ContentStore) => Promise<T>): Promise<T> {
  const defaultCallOptions = () => ({ deadline: Date.now() + answerWithinMs });
  const client = new Etcd3({ hosts: etcd.endpoint, defaultCallOptions });
  try {
    return await work({
      async read() {
        const all = await client.getAll().prefix('/registry/').buffers();
        return new Map(Object.entries(all).filter(([key]) => !ownKeys.test(key)));
      },
      put: (key, value) => client.put(key).value(value).exec(),
      delete: (key) => client.delete().key(key).exec(),
    });
  } finally {
    client.close();
  }
}
