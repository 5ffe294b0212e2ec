/** Pods that are created at a steady rate, live for some seconds, and are deleted. */
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPods, deletePods } from '../../../scale/pod-batch.ts';
import { busySeconds } from '../../../scale/resource-usage.ts';
import { type Cost, measureCost } from '../../../scale/process-costs.ts';
import { namespace, networkNames, type PodEnvironment } from './pod-environment.ts';
import type { PodTimes } from './pod-times.ts';

export interface ChurnPlan {
  readonly podsPerSecond: number;
  readonly networks: number;
  readonly seconds: number;
  readonly lifetimeSeconds: number;
}

export interface ChurnResult {
  /** Milliseconds from the creation of each Pod to its annotations. */
  readonly latencies: readonly number[];
  /** The same of single Pods before, each alone. */
  readonly aloneLatencies: readonly number[];
  /**
   * The number of Pods without addresses in each second from the first deletion on: before, the
   * load is lower.
   */
  readonly waiting: readonly number[];
  /**
   * The part of the machine's CPU that was idle while Pods were created. Without idle CPU a queue
   * must grow.
   */
  readonly idle: number;
  readonly allocations: number;
  readonly cost: Cost;
}

/** The Pods that are created alone, one after the other. */
const podsAlone = 20;

/** Creates and deletes Pods. Resolves when all of them are deleted, with their IP objects. */
export async function runChurn(environment: PodEnvironment, times: PodTimes, plan: ChurnPlan): Promise<ChurnResult> {
  const { podsPerSecond, networks, seconds } = plan;
  const objectsBefore = times.ipNames.size;
  const latencies: number[] = [];
  const waiting: number[] = [];
  const batchOf = (name: string) => ({ namespace, names: [name], networks: networkNames(networks) });
  const create = async (name: string): Promise<number> => {
    const createdAt = performance.now();
    await createPods(environment.api, batchOf(name), environment.run.signal);
    await times.until(() => times.annotatedAt.has(name));
    return (times.annotatedAt.get(name) ?? Number.NaN) - createdAt;
  };
  const remove = (name: string) => deletePods(environment.api, batchOf(name), environment.run.signal);
  const areGone = () => times.until(() => times.ipNames.size <= objectsBefore);
  const aloneLatencies: number[] = [];
  for (let index = 0; index < podsAlone; index++) {
    aloneLatencies.push(await create(`alone-${index}`));
    await remove(`alone-${index}`);
    await areGone();
  }
  let withoutAddress = 0;
  const live = async (index: number): Promise<void> => {
    withoutAddress += 1;
    const latency = await create(`churn-${index}`);
    withoutAddress -= 1;
    latencies.push(latency);
    await sleep(plan.lifetimeSeconds * 1_000);
    await remove(`churn-${index}`);
  };
  const total = podsPerSecond * seconds;
  let idle = 0;
  const cost = await measureCost(environment.stack, async () => {
    const [startedAt, busyBefore] = [performance.now(), busySeconds()];
    const lives: Promise<void>[] = [];
    for (let index = 0; index < total; index++) {
      await sleep(Math.max(0, startedAt + (index * 1_000) / podsPerSecond - performance.now()));
      const hasDeletions = index >= podsPerSecond * plan.lifetimeSeconds;
      if (hasDeletions && index % podsPerSecond === 0) waiting.push(withoutAddress);
      lives.push(live(index));
    }
    const capacity = (availableParallelism() * (performance.now() - startedAt)) / 1_000;
    idle = Math.max(0, 1 - (busySeconds() - busyBefore) / capacity);
    await Promise.all(lives);
    await areGone();
  });
  return { latencies, aloneLatencies, waiting, idle, allocations: total * networks, cost };
}
