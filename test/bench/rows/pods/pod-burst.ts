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
  maxPodRequests,
  maxWrites,
  type ProjectionWrites,
  type PodBatch,
} from '../../../scale/pod-batch.ts';
import { createSemaphore } from '../../../../lib/process/semaphore.ts';
import { forEachConcurrent } from '../../../scale/for-each-concurrent.ts';
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

/**
 * Creates the Pods, and writes their annotations and IP objects as soon as each is created; then
 * deletes them with their IP objects. The requests overlap as those of a watcher do: one kind after
 * the other leaves CPU idle.
 */
async function sendRaw({ api, observer, run: { signal } }: PodEnvironment, batch: PodBatch) {
  const slots = createSemaphore(maxWrites, Number.POSITIVE_INFINITY);
  const objects = new Map<string, ProjectionWrites['ips']>();
  const write = (writes: Partial<ProjectionWrites>): Promise<void> =>
    slots(signal, () => applyWrites(api, { patches: [], ips: [], ...writes }, signal));
  const project = async (pods: readonly Pod[], index: number): Promise<void> => {
    const { patches, ips } = planWrites(pods, batch, index);
    objects.set(batch.names[index] ?? '', ips);
    await write({ patches });
    await Promise.all(ips.map((each) => write({ ips: [each] })));
  };
  const creation = await measureTime(async () => {
    const projected: Promise<void>[] = [];
    await forEachConcurrent(batch.names.entries(), maxPodRequests, async ([index, name]) => {
      projected.push(project(await createPods(api, { ...batch, names: [name] }, signal), index));
    });
    await Promise.all(projected);
    await observer.waitUntilServed(batch);
  });
  const deletion = await measureTime(async () => {
    const deleted: Promise<unknown>[] = [];
    await forEachConcurrent(batch.names, maxPodRequests, async (name) => {
      await deletePods(api, { ...batch, names: [name] }, signal);
      for (const each of objects.get(name) ?? [])
        deleted.push(slots(signal, () => deleteIpObjects(api, { patches: [], ips: [each] }, signal)));
    });
    await Promise.all(deleted);
    await observer.waitUntilGone();
  });
  return { createdMs: creation.ms, deletedMs: deletion.ms };
}
