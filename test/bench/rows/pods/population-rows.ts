/**
 * The rows about a pod-watcher with many Pods: its start, a steady churn beside them, and its
 * memory.
 */
import { pause } from '../../../../lib/process/abortable.ts';
import { createPods } from '../../../scale/pod-batch.ts';
import { enableHeapProbes, type LiveHeap } from '../../../scale/heap.ts';
import { residentMiB } from '../../../scale/resource-usage.ts';
import { waitForAgreement } from '../../../scale/three-views.ts';
import { printProgress } from '../../../harness/progress.ts';
import type { BenchGroup, BenchOptions } from '../../bench-row.ts';
import { createMeasurement, median, quantile } from '../../measurement.ts';
import { type ChurnPlan, type ChurnResult, runChurn } from './churn.ts';
import { measureManyPods } from './many-pods.ts';
import { namespace, networkNames, observe, openPodStack, type PodEnvironment } from './pod-environment.ts';
import { followPodTimes, type PodTimes } from './pod-times.ts';
import { measureWatcherStart } from './watcher-start.ts';

interface Plan {
  /** Pods with one address: the heap is compared between these two numbers. */
  readonly pods: readonly [few: number, many: number];
  /** Allocations during the churn that precedes the memory rows. */
  readonly allocations: number;
  readonly churn: ChurnPlan;
  /** The time for programs to become idle and collect garbage (lib/process/idle-collection.ts). */
  readonly restMs: number;
}

type HeapProbes = ReturnType<typeof enableHeapProbes>;
const heapReadings = 5;

const rate = Number(process.env['RATE'] || 50);
const churnPlan = (seconds: number): ChurnPlan => ({ podsPerSecond: rate, networks: 3, seconds, lifetimeSeconds: 10 });
const plans: Readonly<Record<BenchOptions['size'], Plan>> = {
  smoke: {
    pods: [10, 50],
    allocations: 56,
    churn: { podsPerSecond: 4, networks: 3, seconds: 3, lifetimeSeconds: 1 },
    restMs: 0,
  },
  normal: { pods: [2_000, 10_000], allocations: 15_000, churn: churnPlan(60), restMs: 15_000 },
  // A million events: one for each allocation and one for each release.
  long: {
    pods: [2_000, 10_000],
    allocations: 15_000,
    churn: churnPlan(Math.ceil(1_000_000 / (2 * 3 * rate))),
    restMs: 15_000,
  },
};

export const podPopulationRows: BenchGroup = {
  rows: ['memory-watcher', 'watcher-start', 'churn', 'rss-allocator', 'rss-watcher', 'watcher-100k'],
  async measure(options) {
    const { run, rows } = options;
    const heaps = rows.has('memory-watcher') ? enableHeapProbes({ hasBufferPool: false }) : undefined;
    run.onEnd(() => heaps?.end());
    const opened = await openPodStack(run, 3);
    const observing = new AbortController();
    if ([...rows].some((name) => name !== 'watcher-100k'))
      await measurePopulation(await observe(opened, observing.signal), { ...options, heaps }, observing.signal);
    // The lists and watches of the observers would take a part of the API server.
    observing.abort();
    if (rows.has('watcher-100k')) await measureManyPods(opened, options);
  },
};

/** @param signal ends the observers of the Pods */
async function measurePopulation(
  environment: PodEnvironment,
  { run, rounds, rows, size, record, heaps }: BenchOptions & { readonly heaps: HeapProbes | undefined },
  signal: AbortSignal,
): Promise<void> {
  const plan = plans[size];
  const times = await followPodTimes(environment.api, namespace, signal);
  const { stack } = environment;
  const [few, many] = plan.pods;
  const hasMemoryRow = rows.has('rss-allocator') || rows.has('rss-watcher');
  if (rows.has('memory-watcher') || rows.has('watcher-start') || hasMemoryRow) {
    const restMs = heaps ? plan.restMs : 0;
    await populateAtRest(environment, times, { prefix: 'few', pods: few, restMs });
    const before = heaps ? await settledHeap(heaps, stack.watcher) : 0;
    await populateAtRest(environment, times, { prefix: 'many', pods: many - few, restMs });
    if (heaps) {
      const grown = (await settledHeap(heaps, stack.watcher)) - before;
      // A heap with few objects may shrink.
      const slope = Math.max(1, grown) / (many - few);
      const what = 'bytes of live heap without code for an allocation, with its Pod and its IP object';
      record(createMeasurement({ name: 'memory-watcher', what, ours: [slope], goal: { atMost: 900 } }));
      // The collections have returned memory, and the probe takes some: the other rows measure
      // programs without both.
      heaps.end();
      await stack.allocator.restart();
      // A killed watcher keeps its Lease, and the next watcher would wait for its end.
      await stack.watcher.stop();
      await stack.watcher.start();
    }
  }
  if (rows.has('watcher-start')) {
    const what = `ms from exec until ${many} Pods with nothing to change are compared`;
    const values = await measureWatcherStart(environment, times, { pods: many, rounds });
    record(createMeasurement({ name: 'watcher-start', what, ...values, goal: { atMost: 1.5 } }));
  }
  if (hasMemoryRow) {
    const pods = Math.ceil((plan.allocations - times.ipNames.size) / 3);
    await populate(environment, times, { prefix: 'wide', pods, networks: 3 });
  }
  if (!rows.has('churn') && !hasMemoryRow) return;
  const result = await runChurn(environment, times, plan.churn);
  if (rows.has('churn')) recordChurn(result, record);
  const recordMemory = (when: string, suffix = ''): void => {
    for (const [name, server] of [
      ['rss-allocator', stack.allocator],
      ['rss-watcher', stack.watcher],
    ] as const) {
      const what = `resident MiB with ${times.ipNames.size} allocations, ${when} a churn with ${result.allocations}`;
      const ours = [residentMiB(server.pid)];
      if (rows.has(name)) record(createMeasurement({ name: `${name}${suffix}`, what, ours, goal: { atMost: 200 } }));
    }
  };
  recordMemory('at the end of');
  await waitForAgreement(stack, run.signal);
  if (!hasMemoryRow) return;
  await pause(plan.restMs, run.signal);
  recordMemory('at rest after', ' at rest');
}

/**
 * Measures the smallest of several heaps, because objects of the last requests are not state.
 * Leaves out code, of which V8 compiles more while the Pods stay the same.
 */
async function settledHeap(heaps: HeapProbes, program: { readonly pid: number }): Promise<number> {
  const readings: LiveHeap[] = [];
  for (let reading = 0; reading < heapReadings; reading++) readings.push(await heaps.liveHeap(program));
  const [code, values] = [
    Math.min(...readings.map(({ codeBytes }) => codeBytes)),
    Math.min(...readings.map(({ bytes, codeBytes }) => bytes - codeBytes)),
  ];
  printProgress(`  live heap: ${values} bytes, and ${code} bytes of code`);
  return values;
}

/**
 * Creates Pods, and waits until the watcher is at rest. The last Pod is created after the others:
 * its request drops the budgets of their requests (controllers/pods/event-budget.ts), which would
 * stay until then.
 */
async function populateAtRest(
  environment: PodEnvironment,
  times: PodTimes,
  { prefix, pods, restMs }: { readonly prefix: string; readonly pods: number; readonly restMs: number },
): Promise<void> {
  const { signal } = environment.run;
  await populate(environment, times, { prefix, pods: pods - 1, networks: 1 });
  await pause(restMs, signal);
  await populate(environment, times, { prefix: `${prefix}-last`, pods: 1, networks: 1 });
  await pause(restMs, signal);
}

/** Creates Pods, and waits until each of them is annotated and each address has its IP object. */
async function populate(
  { api, run }: PodEnvironment,
  times: PodTimes,
  { prefix, pods, networks }: { readonly prefix: string; readonly pods: number; readonly networks: number },
): Promise<void> {
  const [annotated, objects] = [times.annotatedAt.size + pods, times.ipNames.size + pods * networks];
  const names = Array.from({ length: pods }, (_, index) => `${prefix}-${index}`);
  await createPods(api, { namespace, names, networks: networkNames(networks) }, run.signal);
  await times.until(() => times.annotatedAt.size === annotated && times.ipNames.size === objects);
  printProgress(`  ${objects} allocations`);
}

function recordChurn(
  { latencies, aloneLatencies, waiting, idle, allocations, cost }: ChurnResult,
  record: BenchOptions['record'],
): void {
  const goal = { atMost: 10 };
  const [p99, alone] = [quantile(latencies, 0.99), median(aloneLatencies)];
  const what = 'ms from the creation of a Pod to its annotations: p99 beside the median of single Pods';
  record(createMeasurement({ name: 'churn', what, ours: [p99], floor: [alone], goal }));
  const third = Math.ceil(waiting.length / 3);
  const meanOf = (part: readonly number[]): number => 1 + part.reduce((sum, each) => sum + each, 0) / part.length;
  const [early, late] = [[meanOf(waiting.slice(0, third))], [meanOf(waiting.slice(-third))]];
  const queue = `1 + Pods without addresses, in the last third beside the first third, with ${Math.round(idle * 100)} % of the CPU idle`;
  record(createMeasurement({ name: 'churn queue', what: queue, ours: late, floor: early, goal: { atMost: 2 } }));
  for (const [name, seconds] of cost.cpu)
    printProgress(`  ${name}: ${((seconds * 1e6) / allocations).toFixed(0)} CPU-ms for 1,000 allocations and releases`);
}
