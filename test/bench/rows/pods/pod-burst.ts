/**
 * The row about a burst of Pods: from the first creation to the last annotation and IP object, and
 * from the first deletion to the last IP object. The floor sends the same requests to the same API
 * server from this process, while no watcher runs.
 */
import type { Pod } from '../../../../services/pod-watcher/kubernetes/objects/pod.ts';
import {
  applyWrites,
  createPods,
  definePodBatch,
  deleteIpObjects,
  deletePods,
  planWrites,
  type PodBatch,
} from '../../../scale/pod-batch.ts';
import { expectAllServed, expectNothingLeft, waitForAgreement } from '../../../scale/three-views.ts';
import { type Alternated, alternate, measureTime } from '../../measurement.ts';
import { namespace, networkNames, type PodEnvironment } from './pod-environment.ts';

/** The times of both sides in milliseconds, by round. */
export interface BurstTimes {
  readonly created: Alternated;
  readonly deleted: Alternated;
}

export interface Burst {
  readonly pods: number;
  readonly networks: number;
}

/** Pods that warm up the API server and a started watcher. They are not measured. */
const warmUpPods = 50;

/**
 * Measures both sides in turns.
 * @throws AssertionError when annotations, IP objects and ledger differ
 */
export async function measureBurst(
  environment: PodEnvironment,
  { pods, networks }: Burst,
  rounds: number,
): Promise<BurstTimes> {
  const { stack, run } = environment;
  const batch = definePodBatch(namespace, pods, networkNames(networks));
  const warmUp = definePodBatch(namespace, Math.min(pods, warmUpPods), batch.networks);
  const deleted = { ours: [] as number[], floor: [] as number[] };
  const created = await alternate(
    rounds,
    async () => {
      if (!stack.watcher.isAlive) await stack.watcher.start();
      await create(environment, warmUp);
      await remove(environment, warmUp);
      const createdMs = await create(environment, batch);
      expectAllServed(await waitForAgreement(stack, run.signal), batch);
      deleted.ours.push(await remove(environment, batch));
      expectNothingLeft(await waitForAgreement(stack, run.signal));
      return createdMs;
    },
    async () => {
      await stack.watcher.stop();
      await sendRaw(environment, warmUp);
      const raw = await sendRaw(environment, batch);
      deleted.floor.push(raw.deletedMs);
      return raw.createdMs;
    },
  );
  // The first round only warms up.
  return { created, deleted: { ours: deleted.ours.slice(1), floor: deleted.floor.slice(1) } };
}

/** Measures the milliseconds until each Pod is annotated and each address has its IP object. */
async function create({ api, observer, run }: PodEnvironment, batch: PodBatch): Promise<number> {
  const { ms } = await measureTime(async () => {
    await createPods(api, batch, run.signal);
    await observer.waitUntilServed(batch);
  });
  return ms;
}

/** Measures the milliseconds until no Pod and no IP object is left. */
async function remove({ api, observer, run }: PodEnvironment, batch: PodBatch): Promise<number> {
  const { ms } = await measureTime(async () => {
    await deletePods(api, batch, run.signal);
    await observer.waitUntilGone();
  });
  return ms;
}

async function sendRaw({ api, observer, run: { signal } }: PodEnvironment, batch: PodBatch) {
  let created: Pod[] = [];
  const creation = await measureTime(async () => (created = await createPods(api, batch, signal)));
  const writes = planWrites(created, batch);
  const projection = await measureTime(async () => {
    await applyWrites(api, writes, signal);
    await observer.waitUntilServed(batch);
  });
  const deletion = await measureTime(async () => {
    await deletePods(api, batch, signal);
    await deleteIpObjects(api, writes, signal);
    await observer.waitUntilGone();
  });
  return { createdMs: creation.ms + projection.ms, deletedMs: deletion.ms };
}
