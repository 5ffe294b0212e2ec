/**
 * `make sizing`: the memory of each program with 100, 1,000 and 10,000 Pods in the cluster, and of
 * an agent with 110 Pods on its node. The agent is bundled, with the flags of the chart.
 * docs/install.md has the figures, and the requests and limits of the chart follow from them.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleAgent } from '../../build/bundle/bundle-programs.ts';
import { formatTextTable } from '../../cli/output/table.ts';
import { callKubeOvnPlugin } from '../e2e/support/plugin-call.ts';
import { makeNetworkAndSubnet, openTestEnvironment, type TestEnvironment } from '../e2e/support/test-environment.ts';
import { printProgress } from '../harness/progress.ts';
import type { Server } from '../harness/processes/server.ts';
import { startAllocator, startReadModel, startWatcher } from '../harness/services.ts';
import { forEachConcurrent } from '../scale/for-each-concurrent.ts';
import { createPods, definePodBatch, deletePods } from '../scale/pod-batch.ts';
import { startPodObserver } from '../scale/pod-observer.ts';
import { peakResidentMiB, resetPeakMemory, residentMiB } from '../scale/resource-usage.ts';

const podCounts = (process.env['PODS'] ?? '100,1000,10000').split(',').map(Number);
/** The number of Pods that a kubelet allows by default. */
const podsPerNode = 110;
/** ADDs that run at the same time on a node that boots. */
const concurrentAdds = 10;
const namespace = 'default';
const network = 'lan';

/** The processes of one role. The table shows the largest process. */
type Programs = ReadonlyMap<string, readonly Server[]>;

const bundle = mkdtempSync(join(tmpdir(), 'ipledger-sizing-'));
const environment = await openTestEnvironment({ ownCluster: true, agentProgram: await bundleAgent(bundle) });
try {
  const programs = await startPrograms(environment);
  const rows = [['PODS', 'MEMORY', ...programs.keys()]];
  await makeNetworkAndSubnet(environment, network, '10.8.0.0/16');
  const { api } = environment.kubernetes;
  const { signal } = environment.run;
  const observer = await startPodObserver(api, namespace, signal);
  const all = definePodBatch(namespace, Math.max(...podCounts), [network]);
  let existing = 0;
  for (const count of podCounts) {
    resetPeaks(programs);
    await createPods(api, { ...all, names: all.names.slice(existing, count) }, signal);
    await observer.waitUntilServed({ ...all, names: all.names.slice(0, count) });
    if (existing < podsPerNode) await addPods(all.names.slice(existing, Math.min(count, podsPerNode)));
    existing = count;
    rows.push([String(count), 'highest while they were created', ...memoryOf(programs, peakResidentMiB)]);
    rows.push(['', 'afterwards', ...memoryOf(programs, residentMiB)]);
    for (const server of [...programs.values()].flat()) await server.restart();
    rows.push(['', 'highest since a restart', ...memoryOf(programs, peakResidentMiB)]);
    printProgress(formatTextTable(rows[0] ?? [], rows.slice(-3)));
  }
  resetPeaks(programs);
  await deletePods(api, all, signal);
  await observer.waitUntilGone();
  rows.push(['', 'highest while they were deleted', ...memoryOf(programs, peakResidentMiB)]);
  process.stdout.write(`\nMemory in MiB\n\n${formatTextTable(rows[0] ?? [], rows.slice(1))}`);
} finally {
  await environment.run.end();
  rmSync(bundle, { recursive: true });
}

/** Adds a standby of allocator and pod-watcher, and a read model, as the chart installs them. */
async function startPrograms({ run, stack }: TestEnvironment): Promise<Programs> {
  const { etcd, allocator, watcher, cluster, agents } = stack;
  const standby = await startAllocator(run, { etcd, name: 'allocator-2' });
  const secondWatcher = await startWatcher(run, { allocator, cluster, name: 'pod-watcher-2' });
  return new Map<string, readonly Server[]>([
    ['allocator', [allocator, standby]],
    ['pod-watcher', [watcher, secondWatcher]],
    ['read-model', [await startReadModel(run, { allocator })]],
    ['agent', [agents[0]]],
    ['etcd', [etcd]],
  ]);
}

/** Runs CNI ADD for Pods of one node, through the plugin. */
function addPods(names: readonly string[]): Promise<void> {
  return forEachConcurrent(names, concurrentAdds, async (pod) => {
    const { code, stdout, stderr } = await callKubeOvnPlugin(environment, { pod, network });
    if (code !== 0) throw new Error(`ADD for ${pod} failed: ${stdout}${stderr}`);
  });
}

function resetPeaks(programs: Programs): void {
  for (const { pid } of [...programs.values()].flat()) resetPeakMemory(pid);
}

function memoryOf(programs: Programs, measure: (pid: number) => number): string[] {
  return [...programs.values()].map((servers) => String(Math.max(...servers.map(({ pid }) => measure(pid)))));
}
