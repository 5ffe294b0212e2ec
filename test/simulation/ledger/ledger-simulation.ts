/** The simulation of the ledger: allocators, etcd and clients, under faults. */
import type { SeededRandom } from '../../faults/seeded-random.ts';
import { sourceFor } from '../kernel/seeded-source.ts';
import type { World } from '../kernel/world.ts';
import type { PlanItem, RunOptions, Simulation } from '../plan.ts';
import { runSeed, schedule } from '../run-seed.ts';
import { CommandSource } from './commands.ts';
import { anyFault } from './faults.ts';
import { LedgerRun } from './ledger-run.ts';
import { endQuietly } from './quiet-end.ts';

/** The virtual time of the commands. */
const planMs = 4_000;
const most = { commands: 36, faults: 4 };

interface Plan {
  readonly replicas: number;
  readonly source: CommandSource;
  readonly items: readonly PlanItem<LedgerRun>[];
}

function makePlan(seed: number): Plan {
  const random = sourceFor(seed, 'plan');
  const source = new CommandSource(sourceFor(seed, 'commands'));
  const replicas = random.pick([1, 2, 2, 2, 3, 3]);
  const commands = [
    ...source.first().map((each, index) => commandItem(`s${index}`, 300 + index, each, random)),
    ...makeCommands(source, random),
  ];
  const faults = Array.from({ length: random.nextInt(most.faults + 1) }, (_, index) => {
    const { what, act } = anyFault(random);
    return { id: `f${index}`, atMs: random.nextInt(planMs), what, act };
  });
  return { replicas, source, items: [...commands, ...faults].toSorted((one, other) => one.atMs - other.atMs) };
}

function makeCommands(source: CommandSource, random: SeededRandom): PlanItem<LedgerRun>[] {
  const times = Array.from({ length: most.commands }, () => 400 + random.nextInt(planMs - 400)).toSorted(
    (a, b) => a - b,
  );
  return times.flatMap((atMs, index) => {
    const item = commandItem(`c${index}`, atMs, source.next(), random);
    // Its sender repeats it much later, as one whose answer was lost
    if (!random.nextBoolean(0.15)) return [item];
    return [
      item,
      { ...item, id: `c${index}r`, atMs: atMs + random.nextInt(planMs - atMs), what: `${item.what}, repeated late` },
    ];
  });
}

function commandItem(
  id: string,
  atMs: number,
  command: Parameters<LedgerRun['clients'][number]['send']>[0],
  random: SeededRandom,
): PlanItem<LedgerRun> {
  const [client, tries] = [random.nextInt(4), random.pick([1, 2, 4])];
  return { id, atMs, what: command.what, act: ({ clients }) => void clients[client]?.send(command, tries) };
}

async function liveLedger(world: World, options: RunOptions): Promise<number> {
  const { replicas, source, items } = makePlan(world.seed);
  const run = new LedgerRun(world, replicas, source.bindingTimeoutMs);
  schedule(world, items, run, options);
  await world.runUntil(() => false, planMs);
  if (!world.violation) await endQuietly(run, source);
  return run.log.head.seq;
}

export const ledgerSimulation: Simulation = {
  name: 'ledger',
  testedSeeds: 250,
  plan: (seed) => makePlan(seed).items,
  run: (seed, options = {}) => runSeed(seed, options, (world) => liveLedger(world, options)),
};
