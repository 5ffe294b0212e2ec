/** The processes of a stack, and the time, CPU and memory that each uses. */
import type { Stack } from '../harness/stack.ts';
import { busySeconds, cpuSeconds, residentMiB } from './resource-usage.ts';

/** The name for all processes outside the stack on this machine. */
const elsewhere = 'elsewhere';

/** Names and pids of the processes that run now, with this test. */
function listProcesses({ allocator, watcher, agents, etcd, cluster }: Stack): [name: string, pid: number][] {
  const servers = [
    ['allocator', allocator],
    ['pod-watcher', watcher],
    ['node-agent', agents[0]],
    ['etcd of the ledger', etcd],
    ['kube-apiserver', cluster.apiServer],
    ['etcd of Kubernetes', cluster.etcd],
    ['kube-controller-manager', cluster.controllerManager],
    ['this test', { pid: process.pid, isAlive: true }],
  ] as const;
  return servers.flatMap(([name, server]) => (server?.isAlive === true ? [[name, server.pid]] : []));
}

/** The cost of a piece of work. */
export interface Cost {
  readonly seconds: number;
  /** CPU seconds by process. */
  readonly cpu: ReadonlyMap<string, number>;
  /** CPU seconds of all other processes on this machine in the same time. */
  readonly elsewhere: number;
}

/** Runs `work` and returns its cost. */
export async function measureCost(stack: Stack, work: () => Promise<unknown>): Promise<Cost> {
  const processes = listProcesses(stack);
  const readCpu = () =>
    new Map([...processes.map(([name, pid]) => [name, cpuSeconds(pid)] as const), [elsewhere, busySeconds()]]);
  const [before, startedAt] = [readCpu(), performance.now()];
  await work();
  const [after, endedAt] = [readCpu(), performance.now()];
  const spent = (name: string): number => (after.get(name) ?? 0) - (before.get(name) ?? 0);
  const cpu = new Map(processes.map(([name]) => [name, spent(name)]));
  return {
    seconds: (endedAt - startedAt) / 1000,
    cpu,
    elsewhere: Math.max(0, spent(elsewhere) - totalCpuSeconds(cpu)),
  };
}

/** Adds up the costs of consecutive work. */
export function sumCosts(costs: readonly Cost[]): Cost {
  const names = new Set(costs.flatMap(({ cpu }) => [...cpu.keys()]));
  const sum = (of: (cost: Cost) => number): number => costs.reduce((all, cost) => all + of(cost), 0);
  return {
    seconds: sum(({ seconds }) => seconds),
    cpu: new Map([...names].map((name) => [name, sum(({ cpu }) => cpu.get(name) ?? 0)])),
    elsewhere: sum((cost) => cost.elsewhere),
  };
}

/** Adds up the CPU seconds of all processes. */
export const totalCpuSeconds = (cpu: Cost['cpu']): number =>
  [...cpu.values()].reduce((sum, seconds) => sum + seconds, 0);

/** Reads the resident memory by process, in MiB. */
export const memoryByProcess = (stack: Stack): ReadonlyMap<string, number> =>
  new Map(listProcesses(stack).map(([name, pid]) => [name, residentMiB(pid)]));
