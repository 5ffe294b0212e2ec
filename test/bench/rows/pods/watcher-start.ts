/**
 * The row about the start of a pod-watcher beside many Pods with nothing to change: from exec to
 * the IP object of a Pod that was created before, and that the watcher reaches after all others.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Stack } from '../../../harness/stack.ts';
import { createPods } from '../../../scale/pod-batch.ts';
import { countSince, readRequestCounts } from '../../../scale/api-requests.ts';
import { floorProgram } from '../../floor-programs.ts';
import { type Alternated, alternate, measureTime } from '../../measurement.ts';
import { namespace, networkNames, type PodEnvironment } from './pod-environment.ts';
import type { PodTimes } from './pod-times.ts';

const run = promisify(execFile);

/**
 * @param pods the number of Pods that have one address each.
 * @throws Error when a started watcher changed any other object
 */
export async function measureWatcherStart(
  { stack, api, run: { signal } }: PodEnvironment,
  times: PodTimes,
  { pods, rounds }: { readonly pods: number; readonly rounds: number },
): Promise<Alternated> {
  const ours = async (round: number): Promise<number> => {
    const names = [`zz-${round}`];
    await stack.watcher.stop();
    const before = await readRequestCounts(stack.cluster);
    await createPods(api, { namespace, names, networks: networkNames(1) }, signal);
    const isServed = (): boolean => times.ipNames.has(`zz-${round}.${namespace}.lan1.${namespace}`);
    const started = stack.watcher.start();
    const { ms } = await measureTime(() => times.until(isServed));
    await started;
    const after = await readRequestCounts(stack.cluster);
    const writes = ['PATCH pods', 'POST ips', 'PATCH ips', 'DELETE ips'].map((kind) => countSince(before, after, kind));
    if (writes.join() !== '1,1,0,0')
      throw new Error(`a started watcher sent writes without a change: ${writes.join()}`);
    return ms;
  };
  const floor = async (): Promise<number> => {
    await stack.watcher.stop();
    return listAndParse(stack, 3 * pods);
  };
  const values = await alternate(rounds, ours, floor);
  if (!stack.watcher.isAlive) await stack.watcher.start();
  return values;
}

/**
 * Measures the milliseconds in which a process lists Pods, IP objects and allocations, of which
 * there are at least so many.
 */
export async function listAndParse({ cluster, allocator }: Stack, objects: number): Promise<number> {
  const env = { ...process.env, NODE_OPTIONS: '', KUBECONFIG: cluster.kubeconfig };
  const args = [floorProgram('list-and-parse'), allocator.endpoint, String(objects)];
  return (await measureTime(() => run(process.execPath, args, { env }))).ms;
}
