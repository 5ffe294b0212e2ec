/**
 * Rows about many node agents: their cost for three allocators at rest, and how long another
 * agent's bind waits while they restart.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuSeconds, residentMiB } from '../../../scale/resource-usage.ts';
import type { BenchGroup, BenchOptions } from '../../bench-row.ts';
import { createMeasurement, quantile } from '../../measurement.ts';
import { type AgentsEnvironment, openAgentsEnvironment } from './agents-environment.ts';

interface Size {
  readonly agents: number;
  readonly podsPerNode: number;
  /** The number of agents that restart at once. */
  readonly restarts: number;
  readonly binds: number;
  /**
   * The time at rest. An agent calls an allocator after one to three minutes: a shorter time shows
   * connections only.
   */
  readonly restMs: number;
  readonly settleMs: number;
}

const sizes: Record<string, Size> = {
  smoke: { agents: 6, podsPerNode: 1, restarts: 2, binds: 2, restMs: 500, settleMs: 0 },
  normal: { agents: 1_000, podsPerNode: 20, restarts: 100, binds: 200, restMs: 60_000, settleMs: 70_000 },
  long: { agents: 5_000, podsPerNode: 20, restarts: 500, binds: 300, restMs: 180_000, settleMs: 70_000 },
};

/** The most binds: an agent may send a burst of 4,000 commands, for binds and their ends. */
const maxBinds = 1_500;

export const agentRows: BenchGroup = {
  rows: ['agents'],
  longRows: ['agents-5000'],
  async measure(options) {
    for (const name of options.rows) {
      const size = sizes[name === 'agents-5000' ? 'long' : options.size === 'smoke' ? 'smoke' : 'normal'];
      if (size) await measureAgents(name, size, options);
    }
  },
};

async function measureAgents(name: string, size: Size, { run, rounds, record }: BenchOptions): Promise<void> {
  const environment = await openAgentsEnvironment(run, size);
  const { allocators } = environment;
  await sleep(size.settleMs);
  const cores = await coresAtRest(environment, size.restMs);
  record(createMeasurement({ name: `${name} rest`, what: 'cores of three', ours: [cores], goal: { atMost: 0.1 } }));
  const resident = Math.max(...allocators.map(({ pid }) => residentMiB(pid)));
  record(createMeasurement({ name: `${name} rss`, what: 'MiB of one', ours: [resident], goal: { atMost: 500 } }));

  const [restarting, stopped, alone]: [number[], number[], number[]] = [[], [], []];
  const p99During = async (work: () => Promise<void>): Promise<number> => {
    let isOver = false;
    const binding = environment.bindWhile((bound) => bound < (isOver ? size.binds : maxBinds));
    await work().finally(() => (isOver = true));
    return quantile(await binding, 0.99);
  };
  const measureAlone = (): Promise<number> => p99During(() => Promise.resolve());
  await measureAlone(); // warms up
  for (let round = 0; round < rounds; round++) {
    for (const allocator of allocators) if (!allocator.isAlive) await allocator.start();
    // The agents of the allocator that stopped connect again within a minute.
    if (round > 0) await sleep(size.settleMs);
    alone.push(await measureAlone());
    restarting.push(await p99During(() => environment.restartAgents(size.restarts)));
    const standby = await environment.findStandby();
    stopped.push(await p99During(() => standby.stop()));
  }
  const what = 'ms, p99 of a bind';
  const goal = { atMost: 3 };
  record(createMeasurement({ name: `${name} restart`, what, ours: restarting, floor: alone, goal }));
  record(createMeasurement({ name: `${name} stop`, what, ours: stopped, floor: alone, goal }));
}

async function coresAtRest({ allocators }: AgentsEnvironment, ms: number): Promise<number> {
  const spent = (): number => allocators.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0);
  const [before, startedAt] = [spent(), performance.now()];
  do await sleep(ms);
  while (spent() === before); // Linux counts hundredths of a second
  return (spent() - before) / ((performance.now() - startedAt) / 1_000);
}
