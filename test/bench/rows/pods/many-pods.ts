/**
 * The row of a pod-watcher with as many Pods as a large cluster has, all of one namespace: its
 * start, its memory, and how long a new Pod waits for its annotations while many others are
 * released, and after a restart of the API server. Then all kinds are listed again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Api, connectDefaultApi } from '../../../../lib/kubernetes/client/kubernetes-api.ts';
import { asRecord } from '../../../../lib/kubernetes/untyped-json.ts';
import { ips } from '../../../../services/pod-watcher/kubernetes/objects/ip.ts';
import { toPod } from '../../../../services/pod-watcher/kubernetes/objects/pod.ts';
import { printProgress } from '../../../harness/progress.ts';
import { createPods, deletePods } from '../../../scale/pod-batch.ts';
import { peakResidentMiB } from '../../../scale/resource-usage.ts';
import type { BenchOptions } from '../../bench-row.ts';
import { createMeasurement, measureTime, quantile } from '../../measurement.ts';
import { namespace, networkNames, type PodStack } from './pod-environment.ts';
import { hasAllAddresses } from './pod-times.ts';
import { listAndParse } from './watcher-start.ts';

interface Plan {
  readonly pods: number;
  /** New Pods in each phase, `probesPerSecond` of them in a second. */
  readonly probes: number;
  /** Pods that are deleted in one phase. */
  readonly releases: number;
}

const withPods = (pods: number): Plan => ({ pods, probes: 300, releases: Math.min(10_000, pods / 2) });
const plans: Readonly<Record<BenchOptions['size'], Plan>> = {
  smoke: { pods: 6, probes: 2, releases: 2 },
  normal: withPods(Number(process.env['PODS'] || 20_000)),
  long: withPods(100_000),
};
const probesPerSecond = 20;
/**
 * The rate at which a large node pool ends. Without it, the deletions take the CPU of the API
 * server.
 */
const releasesPerSecond = 100;
/** The time after which watcher and API server have ended what the creation of many Pods left. */
const settleMs = 15_000;
const pollMs = 250;
const silenceMs = 120_000;
const podsPath = `/api/v1/namespaces/${namespace}/pods`;
const [first, second] = networkNames(2) as [string, string];

/** Measures the row, beside the Pods that the cluster has already. */
export async function measureManyPods(
  environment: PodStack,
  { size, record }: Pick<BenchOptions, 'size' | 'record'>,
): Promise<void> {
  const { pods, probes, releases } = plans[size];
  const { stack, api, run } = environment;
  const names = Array.from({ length: pods }, (_, index) => `web-${index}`);
  const others = await countIpObjects(api, run.signal);
  const { ms } = await measureTime(() => populate(environment, names));
  printProgress(`  ${pods} Pods with IP objects, ${((1_000 * pods) / ms).toFixed(0)} a second`);
  if (size !== 'smoke') await sleep(settleMs, undefined, { signal: run.signal });
  const warmUps = Math.ceil(probes / 5);
  await probe(environment, 'warm-up', warmUps);
  const quiet = quantile(await probe(environment, 'quiet', probes), 0.99);
  const recordLatency = (name: string, when: string, latencies: readonly number[]): void => {
    const what = `p99 of the ms from the creation of a Pod to its annotations ${when}, beside at rest, with ${pods} Pods`;
    const ours = [quantile(latencies, 0.99)];
    record(createMeasurement({ name: `watcher-100k ${name}`, what, ours, floor: [quiet], goal: { atMost: 2 } }));
  };

  const deleted = names.slice(0, releases);
  const remove = (name: string) => deletePods(api, { namespace, names: [name], networks: [] }, run.signal);
  const [during] = await Promise.all([
    probe(environment, 'releases', probes),
    atRate(deleted, releasesPerSecond, remove),
  ]);
  recordLatency('releases', `during ${releases} releases`, during);
  const left = others + pods - releases + warmUps + 2 * probes;
  await untilIpObjects(environment, left);

  await stack.watcher.stop();
  await listAndParse(stack, 2 * left); // fills the caches of the API server for both sides
  const floor = [await listAndParse(stack, 2 * left)];
  const ours = [await measureStart(environment)];
  const what = `ms from exec until ${left} Pods with nothing to change are compared`;
  record(createMeasurement({ name: 'watcher-100k start', what, ours, floor, goal: { atMost: 1.5 } }));

  if (size !== 'smoke') await stack.cluster.apiServer.restart();
  recordLatency('restart', 'after a restart of the API server', await probe(environment, 'restart', probes));
  const peak = [peakResidentMiB(stack.watcher.pid)];
  const memory = 'highest resident MiB since its start';
  record(createMeasurement({ name: 'watcher-100k rss', what: memory, ours: peak, goal: { atMost: 600 } }));
}

/**
 * Creates Pods, half of them in each network, and waits until each has its IP object, which the
 * watcher writes after the annotations.
 */
async function populate(environment: PodStack, names: readonly string[]): Promise<void> {
  const { api, run } = environment;
  const before = await countIpObjects(api, run.signal);
  const half = Math.ceil(names.length / 2);
  await createPods(api, { namespace, names: names.slice(0, half), networks: [first] }, run.signal);
  await createPods(api, { namespace, names: names.slice(half), networks: [second] }, run.signal);
  await untilIpObjects(environment, before + names.length);
}

async function untilIpObjects({ api, run }: PodStack, count: number): Promise<void> {
  while ((await countIpObjects(api, run.signal)) !== count) await sleep(pollMs, undefined, { signal: run.signal });
}

async function countIpObjects(api: Api, signal: AbortSignal): Promise<number> {
  const list = asRecord(
    await api.request({ method: 'GET', path: `${ips.path}?limit=1`, timeoutMs: silenceMs, signal }),
  );
  return (list['items'] as unknown[]).length + Number(asRecord(list['metadata'])['remainingItemCount'] ?? 0);
}

/**
 * Creates Pods at a steady rate, over connections of its own. Returns the milliseconds until each
 * is annotated.
 */
async function probe({ stack, run }: PodStack, prefix: string, count: number): Promise<number[]> {
  const api = await connectDefaultApi({ kubeconfig: stack.cluster.kubeconfig });
  const labels = { probe: prefix };
  const stop = new AbortController();
  const signal = AbortSignal.any([run.signal, stop.signal]);
  const annotated = new Map(
    Array.from({ length: count }, (_, index) => [`${prefix}-${index}`, Promise.withResolvers<number>()]),
  );
  const follow = async (): Promise<void> => {
    const query = new URLSearchParams({ watch: 'true', labelSelector: `probe=${prefix}` });
    // The API server ends a watch at times. The next one begins with all Pods that exist.
    while (!signal.aborted)
      for await (const event of api.stream(`${podsPath}?${query}`, { silenceMs, signal })) {
        const pod = toPod(asRecord(event)['object']);
        if (hasAllAddresses(pod)) annotated.get(pod.name)?.resolve(performance.now());
      }
  };
  const following = follow();
  const latencies = atRate([...annotated], probesPerSecond, async ([name, { promise }]) => {
    const createdAt = performance.now();
    await createPods(api, { namespace, names: [name], networks: [first], labels }, signal);
    return (await promise) - createdAt;
  });
  const measured = await Promise.race([latencies, following.then(() => latencies)]);
  stop.abort();
  return measured;
}

/** Starts work for each item at a steady rate. Returns the results. */
async function atRate<Item, Result>(
  items: readonly Item[],
  perSecond: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const startedAt = performance.now();
  const started: Promise<Result>[] = [];
  for (const item of items) {
    await sleep(Math.max(0, startedAt + (started.length * 1_000) / perSecond - performance.now()));
    const result = work(item);
    result.catch(() => undefined); // `Promise.all` throws it
    started.push(result);
  }
  return Promise.all(started);
}

/**
 * Measures the time from exec to the IP object of a Pod that existed before, and that the watcher
 * reaches after all others.
 */
async function measureStart(environment: PodStack): Promise<number> {
  const { stack, api } = environment;
  const { signal } = environment.run;
  await createPods(api, { namespace, names: ['zz'], networks: [first] }, signal);
  const before = await countIpObjects(api, signal);
  const { ms } = await measureTime(async () => {
    const started = stack.watcher.start();
    await untilIpObjects(environment, before + 1);
    await started;
  });
  return ms;
}
