/**
 * The row about attacks: how long an agent's bind waits during an attack, beside its wait alone.
 */
import { startAttackedLedger } from '../../attack/attacked-ledger.ts';
import { type AttackerName, attackers, startAttacker } from '../../attack/running-attacker.ts';
import { openRun } from '../../harness/run.ts';
import type { BenchGroup, BenchOptions } from '../bench-row.ts';
import { alternate, createMeasurement, type Measurement, quantile } from '../measurement.ts';

const allocations = { smoke: 50, normal: 20_000, long: 200_000 };
/**
 * The binds of a round: enough that the p99 is not the slowest bind, and within the bursts of five
 * agents.
 */
const binds = { smoke: 2, normal: 400, long: 400 };
const names = Object.keys(attackers) as AttackerName[];

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
    const waitOfBinds = async (): Promise<number> => quantile(await ledger.attachRepeatedly(binds[size]), 0.99);
    const { ours, floor } = await alternate(
      rounds,
      async () => {
        const attacker = await startAttacker(name, ledger.target, size === 'smoke' ? 1 : attackers[name].calls);
        try {
          return await waitOfBinds();
        } finally {
          await attacker[Symbol.asyncDispose]();
        }
      },
      waitOfBinds,
    );
    return createMeasurement({ name: `attack ${name}`, what: 'ms, p99 of a bind', ours, floor, goal: { atMost: 3 } });
  } finally {
    await run.end();
  }
}
