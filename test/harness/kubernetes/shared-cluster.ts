/**
 * A Kubernetes API that the spec files of one process use one after the other. A start costs 8 s of CPU, a cleanup between
 * two files a tenth of a second. The cleanup deletes the keys in etcd: the API server sees normal deletions, and no
 * finalizer delays them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Etcd3 } from 'etcd3';
import { type Cluster, startCluster } from './cluster.ts';
import { addNodes } from './kubectl.ts';
import { probeHttp } from '../processes/readiness-probes.ts';
import { openRun, type Run } from '../run.ts';

/** The objects in etcd, by key. */
type Content = ReadonlyMap<string, Buffer>;

interface Shared {
  readonly run: Run;
  readonly cluster: Cluster;
  /** Content before the first use. */
  readonly pristine: Content;
}

const settleMs = 200;
const answerWithinMs = 5_000;

/** Keys that the servers write at any time. The controllers need their ServiceAccounts. */
const ownKeys =
  /^\/registry\/((masterleases\/|ranges\/|leases\/kube-system\/apiserver-)|(serviceaccounts|configmaps)\/(kube-[^/]+|default)\/)/;
/** The API server derives its paths from these keys. A cluster in which they changed is not used again. */
const schemaKeys = /^\/registry\/(apiextensions|apiregistration)/;

/** The clusters that no run uses now, by whether controllers run in them. */
const idle = new Map<boolean, Shared>();

export interface BorrowOptions {
  /** Node objects. node-1 always exists. */
  readonly nodes?: readonly string[];
  /** As for `startCluster`. */
  readonly controllers?: boolean;
}

/**
 * Lends a cluster to a run until the run ends. It contains only the CustomResourceDefinitions of the project and Nodes. A spec
 * that replaces the data in etcd or restarts servers with other flags needs its own cluster.
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

/** Takes the idle cluster and restores it. undefined if there is none, or it cannot be restored. */
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
  let pristine = await read(cluster);
  // The controllers still create the default objects of a new cluster
  for (;;) {
    await sleep(settleMs);
    const now = await read(cluster);
    if (now.size === pristine.size) return { run, cluster, pristine: now };
    pristine = now;
  }
}

/** Restores the pristine content. Returns false if that is impossible. */
async function restore({ cluster, pristine }: Shared): Promise<boolean> {
  const etcd = clientOf(cluster);
  try {
    // Controllers may still react to deleted objects: repeat until nothing changes
    for (let isQuiet = false; !isQuiet;) {
      const now = await contentOf(etcd);
      const added = [...now.keys()].filter((key) => !pristine.has(key));
      const changed = [...pristine].filter(([key, value]) => now.get(key)?.equals(value) !== true);
      if ([...added, ...changed.map(([key]) => key)].some((key) => schemaKeys.test(key))) return false;
      await Promise.all([
        ...added.map((key) => etcd.delete().key(key).exec()),
        ...changed.map(([key, value]) => etcd.put(key).value(value).exec()),
      ]);
      isQuiet = added.length + changed.length === 0;
      if (!isQuiet) await sleep(settleMs);
    }
    return true;
  } finally {
    etcd.close();
  }
}

async function read(cluster: Cluster): Promise<Content> {
  const etcd = clientOf(cluster);
  try {
    return await contentOf(etcd);
  } finally {
    etcd.close();
  }
}

const clientOf = ({ etcd }: Cluster): Etcd3 => new Etcd3({ hosts: etcd.endpoint });

async function contentOf(etcd: Etcd3): Promise<Content> {
  const all = await etcd.getAll().prefix('/registry/').buffers();
  return new Map(Object.entries(all).filter(([key]) => !ownKeys.test(key)));
}
