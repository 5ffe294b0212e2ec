/** The cgroup of a node or a program, in cgroup version 1 or 2. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mustRun } from '../processes/command.ts';
import type { Launch } from '../processes/launch.ts';
import type { Run } from '../run.ts';

const mountPoint = '/sys/fs/cgroup';

/** The controllers that a kubelet needs, with their names in version 2. */
const neededControllers = ['cpu', 'cpuset', 'memory', 'pids'];

const remove = ['sh', join(import.meta.dirname, 'remove-cgroup')] as const;

/**
 * Creates a cgroup in every hierarchy of the machine. It is removed with the run.
 * @throws Error if a controller that a kubelet needs is missing
 */
export function createCgroup(run: Run, name: string): void {
  const found = hierarchies();
  run.cleanUpWith([...remove, name]);
  for (const hierarchy of found) {
    const group = join(hierarchy, name);
    mkdirSync(group, { recursive: true });
    // A new cpuset of version 1 has no CPU and no memory node, and accepts no process.
    if (hierarchy === mountPoint) continue;
    for (const file of ['cpuset.cpus', 'cpuset.mems'])
      if (existsSync(join(group, file))) writeFileSync(join(group, file), readFileSync(join(hierarchy, file)));
  }
  const missing = missingControllers(found, name);
  if (missing.length > 0) throw new Error(`the cgroups of this machine have no ${missing.join(', ')}`);
}

/**
 * Creates a cgroup with a memory limit, and returns its folder. It is removed with the run.
 * @throws Error if this machine or user cannot create it
 */
export function createMemoryCgroup(run: Run, name: string, bytes: number): string {
  run.cleanUpWith([...remove, name]);
  const isUnified = existsSync(join(mountPoint, 'cgroup.controllers'));
  const group = join(mountPoint, isUnified ? '' : 'memory', name);
  mkdirSync(group, { recursive: true });
  writeFileSync(join(group, isUnified ? 'memory.max' : 'memory.limit_in_bytes'), String(bytes));
  return group;
}

/**
 * The launch in a cgroup from the first moment on: Node sizes its heap by the memory limit.
 * @param group folder of the cgroup
 */
export const launchInCgroup = (launch: Launch, group: string): Launch => ({
  ...launch,
  program: 'sh',
  args: ['-c', 'echo $$ > "$0" && exec "$@"', join(group, 'cgroup.procs'), launch.program, ...launch.args],
});

/** Removes the cgroup before the run ends. @throws Error while it contains a process */
export async function removeCgroup(name: string): Promise<void> {
  const [program, ...args] = remove;
  await mustRun(program, [...args, name]);
}

function hierarchies(): string[] {
  if (existsSync(join(mountPoint, 'cgroup.controllers'))) return [mountPoint];
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
  return mounts.flatMap((line) => {
    const [, place = '', type] = line.split(' ');
    return type === 'cgroup' ? [place] : [];
  });
}

function missingControllers(found: readonly string[], name: string): string[] {
  const [first] = found;
  const present =
    first === mountPoint
      ? readFileSync(join(first, name, 'cgroup.controllers'), 'utf8')
          .trim()
          .split(' ')
      : found.flatMap((hierarchy) => hierarchy.split('/').at(-1)?.split(',') ?? []);
  return neededControllers.filter((controller) => !present.includes(controller));
}
