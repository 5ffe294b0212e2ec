/**
 * The row about attacks: how long an agent's bind waits during an attack, beside its wait alone.
 * Prints two more figures of each attacker: the wait while a process takes the attacker's CPU and
 * sends nothing, and the CPU time of the allocator's event loop for a bind.
 *
 *   ATTACK=a,b   only these attackers
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startAttackedLedger, type TimedBind } from '../../attack/attacked-ledger.ts';
import { type AttackerName, attackers, startAttacker, startIdleLoad } from '../../attack/running-attacker.ts';
import { printProgress } from '../../harness/progress.ts';
import { openRun } from '../../harness/run.ts';
import { cpuSeconds } from '../../scale/resource-usage.ts';
import type { BenchGroup, BenchOptions } from '../bench-row.ts';
import { alternate, createMeasurement, median, type Measurement, quantile } from '../measurement.ts';

const allocations = { smoke: 50, normal: 20_000, long: 200_000 };
/**
 * The binds of a round: enough that the p99 is not the slowest bind, and within the bursts of five
 * agents.
 */
const binds = { smoke: 2, normal: 400, long: 400 };
const selected = process.env['ATTACK'] ? process.env['ATTACK'].split(',') : undefined;
const names = (Object.keys(attackers) as AttackerName[]).filter((name) => selected?.includes(name) ?? true);

export const attackRows: BenchGroup = {
  rows: ['attack'],
  async measure(options) {
    for (const name of options.size === 'smoke' ? names.slice(0, 1) : names)
      options.record(await measure(name, options));
  },
};

async function measure(name: AttackerName, { rounds, size }: BenchOptions): Promise<Measurement> {
  const run = openRun();
  try {
    const ledger = await startAttackedLedger(run, allocations[size]);
    const [attacked, alone]: [TimedBind[], TimedBind[]] = [[], []];
    const shares: number[] = [];
    const bindInto = async (all: TimedBind[]): Promise<number> => {
      const timed = await ledger.attachRepeatedly(binds[size]);
      all.push(...timed);
      return p99(timed.map(({ waitedMs }) => waitedMs));
    };
    const { ours, floor } = await alternate(
      rounds,
      async () => {
        await using attacker = await startAttacker(name, ledger.target, size === 'smoke' ? 1 : attackers[name].calls);
        const [startedAt, before] = [performance.now(), cpuSeconds(attacker.pid)];
        const waited = await bindInto(attacked);
        shares.push((cpuSeconds(attacker.pid) - before) / ((performance.now() - startedAt) / 1_000));
        return waited;
      },
      async () => {
        await untilIdle(ledger.allocator);
        return bindInto(alone);
      },
    );
    const share = median(shares);
    startIdleLoad(run, share);
    const beside = await bindInto([]);
    const loop = (all: readonly TimedBind[]): string => {
      const times = all.map(({ loopMs }) => loopMs);
      return `${median(times).toFixed(1)} ms, p99 ${p99(times).toFixed(1)}`;
    };
    printProgress(
      `  attack ${name}: the same CPU without calls (${share.toFixed(2)} of a core): p99 ${beside.toFixed(1)} ms. ` +
        `CPU of the event loop for a bind: ${loop(attacked)}, beside ${loop(alone)}`,
    );
    return createMeasurement({ name: `attack ${name}`, what: 'ms, p99 of a bind', ours, floor, goal: { atMost: 3 } });
  } finally {
    await run.end();
  }
}

/**
 * Waits until the allocator takes less than a twentieth of a core, at most a minute: what an attack
 * left to do would be in the floor.
 */
async function untilIdle({ pid }: { readonly pid: number }): Promise<void> {
  for (let second = 0; second < 60; second++) {
    const before = cpuSeconds(pid);
    await sleep(1_000);
    if (cpuSeconds(pid) - before < 0.05) return;
  }
}

const p99 = (values: readonly number[]): number => quantile(values, 0.99);
