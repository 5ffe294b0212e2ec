/**
 * Allocation and ADD of new Pods, beside the plugin whereabouts: single, 50 at once, and a workload
 * that fills its Subnet.
 */
import type { BenchOptions } from '../../bench-row.ts';
import { alternate, createMeasurement, measureTime, type Measurement } from '../../measurement.ts';
import type { AddEnvironment } from './add-environment.ts';
import { type AcknowledgedAdd, type AddPods, addOurs, podNames } from './plugin-calls.ts';
import { openWhereabouts } from './whereabouts.ts';

interface Workload {
  readonly name: string;
  /** The number of bursts. Each begins when the burst before has all results. */
  readonly bursts: number;
  readonly podsOfBurst: number;
  /** Whether the ADDs of a burst are concurrent. */
  readonly atOnce: boolean;
}

const workloads: readonly Workload[] = [
  { name: 'add', bursts: 1, podsOfBurst: 10, atOnce: false },
  { name: 'add-50', bursts: 1, podsOfBurst: 50, atOnce: true },
];
/** 100 Deployments of ten Pods, in a range of exactly 1,000 addresses. */
const full: Workload = { name: 'full', bursts: 100, podsOfBurst: 10, atOnce: true };
const smoke: readonly Workload[] = [{ name: 'add', bursts: 1, podsOfBurst: 2, atOnce: false }];
const exactSubnet = 'exact';
const exactRange = { range: '10.80.0.0/22', range_start: '10.80.0.2', range_end: '10.80.3.233' };
const exactSpec = { cidrBlock: '10.80.0.0/22', gateway: '10.80.0.1', excludeIps: ['10.80.3.234..10.80.3.254'] };

export async function measurePeer(
  environment: AddEnvironment,
  acknowledged: AcknowledgedAdd[],
  { run, rounds, size }: BenchOptions,
): Promise<Measurement[]> {
  const [add, openPeer] = [addOurs(environment), await openWhereabouts(run)];
  const ours = (workload: Workload, subnet?: string): Promise<number> =>
    msOfPod(workload, async () => {
      const allocated = await measureTime(() => environment.allocate(workload.podsOfBurst, subnet));
      const added = await add(allocated.result, workload);
      acknowledged.push(...added.each);
      return allocated.ms + added.ms;
    });
  let burst = 0;
  const peer = (workload: Workload, addPods: AddPods): Promise<number> =>
    msOfPod(workload, async () => (await addPods(podNames(`burst-${burst++}`, workload.podsOfBurst), workload)).ms);
  let ranges = 0;
  /**
   * Measures the peer in a range with one allocation. Each ADD reads and writes all allocations of
   * its range in one object: with those of earlier rounds this floor rises.
   */
  const peerInNewRange = async (workload: Workload): Promise<number> => {
    const number = ranges++;
    const addPods = openPeer({ range: `10.${number >> 4}.${(number & 15) * 16}.0/20` });
    await addPods(podNames(`first-${number}`, 1));
    return peer(workload, addPods);
  };
  const what = 'ms for each Pod, with its allocation';
  const measured: Measurement[] = [];
  for (const each of size === 'smoke' ? smoke : workloads) {
    const alternated = await alternate(
      rounds,
      () => ours(each),
      () => peerInNewRange(each),
    );
    measured.push(createMeasurement({ name: `whereabouts ${each.name}`, what, ...alternated, goal: { atMost: 0.5 } }));
  }
  if (size === 'smoke') return measured;
  await environment.addSubnet(exactSubnet, { ...exactSpec, cooldownMs: 0 });
  const once = { ours: [await ours(full, exactSubnet)], floor: [await peer(full, openPeer(exactRange))] };
  return [...measured, createMeasurement({ name: 'whereabouts full', what, ...once, goal: { atMost: 0.5 } })];
}

/**
 * Measures the milliseconds for each Pod.
 * @param addBurst resolves to the milliseconds of its allocations and ADDs
 */
async function msOfPod({ bursts, podsOfBurst }: Workload, addBurst: () => Promise<number>): Promise<number> {
  let ms = 0;
  for (let index = 0; index < bursts; index++) ms += await addBurst();
  return ms / (bursts * podsOfBurst);
}
