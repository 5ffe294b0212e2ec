/**
 * `make soak`: the life of a cluster in fast-forward, under faults. It exits with 1 if a quantity
 * of a program or a store grows, or if something is left after all Pods are deleted.
 *
 *   HOURS=48    simulated hours; in fewer, a role of a process has too few hours to judge its heap
 *   MINUTES=n   of real time, in place of HOURS, but at least a simulated day
 *   NODES=20    nodes, each with an agent
 *   FOLDER=path of samples.csv (default: .cache/soak)
 *   FAULT_SEED  repeats the random choices of a run
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expectConsistency } from '../e2e/support/consistency.ts';
import { isWatching } from '../e2e/support/pod-watcher.ts';
import { startFaultEnvironment } from '../faults/fault-environment.ts';
import { createSeededRandom } from '../faults/seeded-random.ts';
import { testSize } from '../faults/test-size.ts';
import { cacheFolder } from '../harness/paths.ts';
import { formatDuration, printProgress } from '../harness/progress.ts';
import { startReadModel } from '../harness/services.ts';
import { enableHeapProbes } from '../scale/heap.ts';
import { ClusterLife, livingPods } from './cluster-life.ts';
import { fillHistory, smallArchive } from './full-history.ts';
import { judgeSamples } from './judgement.ts';
import { findLeftovers } from './leftovers.ts';
import { faultsOf, isWriter } from './life-faults.ts';
import { formatReport } from './report.ts';
import { Sampler } from './samples.ts';

const minutes = readCount('MINUTES', 0);
const hours = readCount('HOURS', minutes > 0 ? Infinity : 48);
const nodeCount = readCount('NODES', 20);
const folder = process.env['FOLDER'] || join(cacheFolder, 'soak');
mkdirSync(folder, { recursive: true });

const startedAt = performance.now();
const note = (what: string): void => printProgress(`${formatDuration(performance.now() - startedAt)}: ${what}`);
const probes = enableHeapProbes();
const nodes = Array.from({ length: nodeCount }, (_, index) => `node-${index + 1}`);
const random = createSeededRandom('soak');
const environment = await startFaultEnvironment({
  nodes: nodes as [string, ...string[]],
  tls: true,
  subnets: {
    // All their addresses are in use once in the first hours, so that later growth is a leak
    lan: { cidrBlock: '10.16.0.0/24', cooldownSeconds: 5 },
    dual: { cidrBlock: '10.17.0.0/24,fd00:17::/120', cooldownSeconds: 5 },
  },
  archiveOf: smallArchive,
  prepareLedger: async (ledger) => note(`the history is full, with ${await fillHistory(ledger)} events`),
});
const { run, stack, allocators, watchers } = environment;
const life = new ClusterLife(environment, random);
let hour = 0;
try {
  const readModel = await startReadModel(run, { allocator: stack.allocator, tls: stack.certificates?.readModel });
  const programs = [
    ...allocators.map((server) => ({ server, isLeader: () => isWriter(server) })),
    ...watchers.map((server) => ({ server, isLeader: () => isWatching(server) })),
    ...[...stack.agents, readModel].map((server) => ({ server })),
  ];
  const file = join(folder, 'samples.csv');
  await life.start();
  note(`${livingPods} Pods live on ${nodeCount} nodes`);
  const progress = () => ({ hour, pods: life.created });
  const sampler = new Sampler({ environment, programs, probes, file, progress });
  for (; hour < hours && !isOver(); hour++) {
    await liveOneHour();
    await sampler.sampleHour();
    note(`hour ${hour + 1}: ${life.created} Pods created`);
  }
  sampler.end();
  await life.end();
  const leftovers = await findLeftovers(environment);
  const judgement = judgeSamples(sampler.samples);
  console.log(`\n${formatReport(judgement, leftovers)}`);
  const leaks = judgement.verdicts.filter(({ isLeak }) => isLeak).length;
  console.log(
    `${hour} simulated hours: ${life.created} Pods, ${livingPods} at a time, on ${nodeCount} nodes, in ` +
      `${formatDuration(performance.now() - startedAt)}. ${leaks} leaks, ${leftovers.length} things left. All samples: ${file}`,
  );
  process.exitCode = leaks + leftovers.length + judgement.unjudged.length === 0 ? 0 : 1;
} finally {
  await run.end();
  probes.end();
}

function readCount(name: string, absent: number): number {
  const text = process.env[name] ?? '';
  if (text === '') return absent;
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new Error(`${name} is "${text}": set a number from 1`);
  return Number(text);
}

/** Whether the real time is over. A leader and its standby are judged after a day only. */
function isOver(): boolean {
  return minutes > 0 && hour >= 24 && performance.now() - startedAt > minutes * 60_000;
}

async function liveOneHour(): Promise<void> {
  const faults = faultsOf(hour, environment, life);
  for (const { name } of faults) note(`hour ${hour + 1}: ${name}`);
  const beside = faults.filter(({ isBesidePods }) => isBesidePods);
  await Promise.all([life.runHour(hour), ...beside.map(({ inject }) => inject())]);
  for (const { isBesidePods, inject } of faults) if (!isBesidePods) await inject();
  if (hour % 24 === 0) await expectConsistency(stack, testSize.patienceMs);
}
