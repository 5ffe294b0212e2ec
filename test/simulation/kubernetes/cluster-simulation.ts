/**
 * The simulation of a Kubernetes cluster: pod-watchers and node agents over models of the API
 * server and of nodes, and an allocator over the model of etcd, while users and faults change all
 * of it.
 */
import { noBindingTimeoutMs } from '../../../ledger/domain/commands/command.ts';
import type { StoredEvent } from '../../../ledger/log/chain/chain.ts';
import { errorMessage } from '../../../lib/errors.ts';
import { sourceFor } from '../kernel/seeded-source.ts';
import { calm, type Faults } from '../kernel/faults.ts';
import type { World } from '../kernel/world.ts';
import { AllocatorCluster } from '../ledger/allocator-cluster.ts';
import { LogWitness } from '../ledger/log-witness.ts';
import type { RunOptions, Simulation } from '../plan.ts';
import { runSeed, schedule } from '../run-seed.ts';
import { SimulatedCluster } from './cluster.ts';
import { lookMs, observeRest } from './observer.ts';
import { checkPendingDels } from './node-files.ts';
import { planOfCluster } from './plan.ts';
import { ReleaseWitness } from './release-witness.ts';
import { installVirtualFiles } from './virtual-files.ts';

const planMs = 80_000;
/** Long enough for all that waits: grace periods, backoffs, and the intervals of collectors. */
const restMs = 1_200_000;
/** Rest must last so long in each tenth seed: longer than the interval of the collectors. */
const lastingMs = 600_000;

async function liveCluster(world: World, options: RunOptions): Promise<number> {
  const removeFiles = installVirtualFiles();
  try {
    return await runWorld(world, options);
  } finally {
    removeFiles();
  }
}

/** Returns the number of the last event in the ledger. */
async function runWorld(world: World, options: RunOptions): Promise<number> {
  // No fault here is a reason for a program to end by itself
  world.onFailure = (program, error) => world.fail('failure', `${program} ends: ${errorMessage(error)}`);
  const pageSize = world.random('pages').pick([0, 3]);
  const allocators = new AllocatorCluster(world, { replicas: 1, seals: false, pageSize });
  allocators.startAll();
  const cluster = new SimulatedCluster(world, allocators);
  const lastSeq = watchLedger(world, allocators, cluster);
  cluster.start();
  world.faults = hostility(world);
  schedule(world, planOf(world.seed), cluster, options);
  await world.runUntil(() => false, planMs);
  world.faults = calm;
  cluster.heal();
  const observed = observeRest(world, (program) => allocators.connect(program), cluster);
  const isAtRest = (after: number) => (): boolean => observed.at > after && observed.unrest.length === 0;
  if (!(await world.runUntil(isAtRest(cluster.quietAt), restMs))) world.fail('rest', observed.unrest.join('; '));
  if (world.seed % 10 !== 0) return lastSeq();
  await world.runUntil(() => false, lastingMs);
  // A look may fall into a renewal, and the next one does not
  if (!world.violation && !(await world.runUntil(isAtRest(world.now), lookMs * 3)))
    world.fail('lasting rest', observed.unrest.join('; '));
  return lastSeq();
}

/**
 * Checks all that is committed to etcd, also after it got the keys of a backup. Returns a function
 * that returns the number of the last event.
 */
function watchLedger(world: World, { etcd }: AllocatorCluster, cluster: SimulatedCluster): () => number {
  const releases = new ReleaseWitness(cluster);
  const check = (event: StoredEvent): void => {
    releases.read(event);
    cluster.bindings.read(event);
  };
  let log = new LogWitness(world, noBindingTimeoutMs, check);
  etcd.onCommit = (changes) => {
    log.read(changes);
    for (const node of cluster.nodes) checkPendingDels(node);
  };
  cluster.etcdRestores.onRestored = () => {
    const restored: StoredEvent[] = [];
    let onEvent = (event: StoredEvent): void => void restored.push(event);
    log = new LogWitness(world, noBindingTimeoutMs, (event) => onEvent(event));
    log.read(etcd.keys('', '\0').map((after) => ({ key: after.key, before: undefined, after })));
    cluster.bindings.restore(restored);
    onEvent = check;
  };
  return () => log.head.seq;
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

export const clusterSimulation: Simulation = {
  name: 'cluster',
  testedSeeds: 40,
  plan: planOf,
  run: (seed, options = {}) => runSeed(seed, options, (world) => liveCluster(world, options)),
};
