/**
 * The simulation of a Kubernetes cluster: pod-watchers and node agents over models of the API
 * server and of nodes, and an allocator over the model of etcd, while users and faults change all
 * of it.
 */
import { noBindingTimeoutMs } from '../../../ledger/domain/commands/command.ts';
import { errorMessage } from '../../../lib/errors.ts';
import { sourceFor } from '../kernel/seeded-source.ts';
import { calm, type Faults } from '../kernel/faults.ts';
import { installVirtualTime } from '../kernel/virtual-time.ts';
import { World } from '../kernel/world.ts';
import { Cluster as Allocators } from '../ledger/cluster.ts';
import { LogWitness } from '../ledger/log-witness.ts';
import type { Outcome, RunOptions, Simulation } from '../plan.ts';
import { SimulatedCluster } from './cluster.ts';
import { lookMs, observeRest } from './observer.ts';
import { planOfCluster } from './plan.ts';
import { ReleaseWitness } from './release-witness.ts';
import { installVirtualFiles } from './virtual-files.ts';

const planMs = 80_000;
/** Long enough for all that waits: grace periods, backoffs, and the intervals of collectors. */
const restMs = 1_200_000;
/** Rest must last so long in each tenth seed: longer than the interval of the collectors. */
const lastingMs = 600_000;

async function runSeed(seed: number, { only, keepsHistory = false }: RunOptions = {}): Promise<Outcome> {
  const uninstall = [installVirtualTime(), installVirtualFiles()];
  const { stackTraceLimit } = Error;
  if (!keepsHistory) Error.stackTraceLimit = 0;
  const world = new World(seed, keepsHistory);
  const onRejection = (error: unknown): void =>
    world.fail('unhandled rejection', String((error as Error).stack ?? error));
  process.on('unhandledRejection', onRejection);
  try {
    const events = await runWorld(world, only);
    const { violation, traceHash, steps, now: virtualMs, history = [] } = world;
    return {
      violation: violation?.message,
      invariant: violation?.invariant,
      traceHash,
      steps,
      virtualMs,
      events,
      history,
    };
  } finally {
    process.off('unhandledRejection', onRejection);
    Error.stackTraceLimit = stackTraceLimit;
    for (const each of uninstall) each();
  }
}

/** Returns the number of the last event in the ledger. */
async function runWorld(world: World, only: ReadonlySet<string> | undefined): Promise<number> {
  // No fault here is a reason for a program to end by itself
  world.onFailure = (program, error) => world.fail('failure', `${program} ends: ${errorMessage(error)}`);
  const allocators = new Allocators(world, { replicas: 1, seals: false });
  allocators.startAll();
  const cluster = new SimulatedCluster(world, allocators.network, (program) => allocators.connect(program));
  const releases = new ReleaseWitness(cluster);
  const log = new LogWitness(world, noBindingTimeoutMs, (event) => releases.read(event));
  allocators.etcd.onCommit = (changes) => log.read(changes);
  cluster.start();
  world.faults = hostility(world);
  const act = ({ id, what, act: run }: ReturnType<typeof planOf>[number]): void => {
    world.trace(`${id}: ${what}`);
    run(cluster);
  };
  for (const item of planOf(world.seed))
    if (!only || only.has(item.id)) world.after(item.atMs, () => act(item), undefined, 'plan');
  await world.runUntil(() => false, planMs);
  world.faults = calm;
  cluster.heal();
  const observed = observeRest(world, (program) => allocators.connect(program), cluster);
  const isAtRest = (after: number) => (): boolean => observed.at > after && observed.unrest.length === 0;
  if (!(await world.runUntil(isAtRest(cluster.quietAt), restMs))) world.fail('rest', observed.unrest.join('; '));
  if (world.seed % 10 !== 0) return log.head.seq;
  await world.runUntil(() => false, lastingMs);
  // A look may fall into a renewal, and the next one does not
  if (!world.violation && !(await world.runUntil(isAtRest(world.now), lookMs * 3)))
    world.fail('lasting rest', observed.unrest.join('; '));
  return log.head.seq;
}

/** Some worlds are calm but for the plan, others lose messages all the time. */
function hostility(world: World): Faults {
  const random = world.random('hostility');
  if (random.nextBoolean(0.4)) return calm;
  const [lose, reset, slow] = [random.pick([0, 0.002, 0.01]), random.pick([0, 0.005, 0.02]), random.pick([0, 0.05])];
  const timers = { late: random.pick([0, 0.02]), maxLateMs: 2_000 };
  return { network: { lose, reset, slow, maxSlowMs: 3_000 }, timers };
}

const planOf = (seed: number) => planOfCluster(sourceFor(seed, 'plan of the cluster'), planMs);

export const clusterSimulation: Simulation = { name: 'cluster', testedSeeds: 20, plan: planOf, run: runSeed };
