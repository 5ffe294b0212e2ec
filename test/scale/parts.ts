/** The processes of a stack, and what each of them spends on what. */
import type { Stack } from '../harness/stack.ts';
import { busySeconds, cpuSeconds, residentMiB } from './meter.ts';

/** Who does not belong to us, and shares the machine. */
const elsewhere = 'elsewhere';

/** Names and pids of those that run now; ourselves among them. */
function partsOf({ allocator, watcher, etcd, cluster }: Stack): [name: string, pid: number][] {
  const servers = [
    ['allocator', allocator],
    ['pod-watcher', watcher],
    ['etcd of the ledger', etcd],
    ['kube-apiserver', cluster.apiServer],
    ['etcd of Kubernetes', cluster.etcd],
    ['kube-controller-manager', cluster.controllerManager],
    ['this test', { pid: process.pid, alive: true }],
  ] as const;
  return servers.flatMap(([name, server]) => (server?.alive === true ? [[name, server.pid]] : []));
}

/** What something took. */
export interface Cost {
  readonly seconds: number;
  /** CPU seconds of each part that was there. */
  readonly cpu: ReadonlyMap<string, number>;
  /** CPU seconds of everybody else on this machine meanwhile. */
  readonly elsewhere: number;
}

/** Does it, and says what it took. */
export async function costOf(stack: Stack, work: () => Promise<unknown>): Promise<Cost> {
  const parts = partsOf(stack);
  const look = () =>
    new Map([...parts.map(([name, pid]) => [name, cpuSeconds(pid)] as const), [elsewhere, busySeconds()]]);
  const [before, startedAt] = [look(), performance.now()];
  await work();
  const [after, endedAt] = [look(), performance.now()];
  const spent = (name: string): number => (after.get(name) ?? 0) - (before.get(name) ?? 0);
  const cpu = new Map(parts.map(([name]) => [name, spent(name)]));
  return { seconds: (endedAt - startedAt) / 1000, cpu, elsewhere: Math.max(0, spent(elsewhere) - total(cpu)) };
}

/** All of these, one after the other. */
export function sumOf(costs: readonly Cost[]): Cost {
  const names = new Set(costs.flatMap(({ cpu }) => [...cpu.keys()]));
  const sum = (of: (cost: Cost) => number): number => costs.reduce((all, cost) => all + of(cost), 0);
  return {
    seconds: sum(({ seconds }) => seconds),
    cpu: new Map([...names].map((name) => [name, sum(({ cpu }) => cpu.get(name) ?? 0)])),
    elsewhere: sum((cost) => cost.elsewhere),
  };
}

/** CPU seconds of all parts. */
export const total = (cpu: Cost['cpu']): number => [...cpu.values()].reduce((sum, seconds) => sum + seconds, 0);

/** MiB that each part has in memory now. */
export const memoryOf = (stack: Stack): ReadonlyMap<string, number> =>
  new Map(partsOf(stack).map(([name, pid]) => [name, residentMiB(pid)]));
