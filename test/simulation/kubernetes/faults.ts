/**
 * The faults of a cluster: programs that end or pause, nodes without power, and what the API server
 * does.
 */
import { ApiError } from '../../../lib/kubernetes/client/api-error.ts';
import { pickWeighted, type SeededRandom } from '../../faults/seeded-random.ts';
import type { PlanItem } from '../plan.ts';
import type { SimulatedCluster } from './cluster.ts';
import type { SimulatedNode } from './node.ts';
import { setOutOfService } from './pod-lifecycle.ts';

type Action = Pick<PlanItem<SimulatedCluster>, 'what' | 'act'>;

export function anyFault(random: SeededRandom): Action {
  const make = pickWeighted<(random: SeededRandom) => Action>(random, [
    [3, replaceWatcher],
    [2, pauseWatcher],
    [3, agentFault],
    [2, kubeletFault],
    [2, failingSandboxes],
    [2, powerLoss],
    [2, apiFault],
    [2, cutOff],
    [2, slowWatches],
    [1, stepClock],
  ]);
  return make(random);
}

function replaceWatcher(random: SeededRandom): Action {
  const [index, how] = [random.nextInt(2), random.pick(['crash', 'stop'] as const)];
  return {
    what: `${how} watcher ${index}, and start another one`,
    act: (cluster) => cluster.replaceWatcher(index, how),
  };
}

function pauseWatcher(random: SeededRandom): Action {
  const [index, ms] = [random.nextInt(2), random.pick([1_000, 8_000, 20_000, 60_000])];
  return { what: `pause watcher ${index} for ${ms} ms`, act: ({ watchers }) => watchers[index]?.program.pauseFor(ms) };
}

function agentFault(random: SeededRandom): Action {
  const [index, offMs] = [random.nextInt(3), random.pick([0, 500, 5_000, 40_000])];
  return {
    what: `the agent of node ${index} is away for ${offMs} ms`,
    act: (cluster) => {
      const node = nodeAt(cluster, index);
      node.agent?.crash();
      cluster.endFault(offMs, () => node.agent?.isAlive || cluster.restartAgent(node));
    },
  };
}

function failingSandboxes(random: SeededRandom): Action {
  const [index, count] = [random.nextInt(3), random.pick([1, 3])];
  return {
    what: `the next ${count} sandboxes of node ${index} fail after their NICs are added`,
    act: (cluster) => void (nodeAt(cluster, index).failingSandboxes = count),
  };
}

/** Containers run on without kubelet and runtime. */
function kubeletFault(random: SeededRandom): Action {
  const [index, offMs] = [random.nextInt(3), random.pick([0, 10_000, 180_000])];
  return {
    what: `kubelet and runtime of node ${index} are away for ${offMs} ms`,
    act: (cluster) => {
      const node = nodeAt(cluster, index);
      node.kubelet?.crash();
      cluster.endFault(offMs, () => node.kubelet?.isAlive || cluster.startKubelet(node));
    },
  };
}

/** A machine whose Node is deleted, or out of service, does not run: the operator made sure. */
function powerLoss(random: SeededRandom): Action {
  const [index, offMs] = [random.nextInt(3), random.pick([2_000, 30_000, 120_000, 300_000])];
  const response =
    offMs === 2_000 ? 'wait' : random.pick(['wait', 'delete its Node', 'declare it out of service'] as const);
  return {
    what: `node ${index} is without power for ${offMs} ms; operators ${response}`,
    act: (cluster) => {
      const { world, user } = cluster;
      const node = nodeAt(cluster, index);
      const { boot } = node;
      if (!node.isOn) return;
      node.powerOff();
      world.after(offMs / 2, () => {
        if (node.isOn || node.boot !== boot) return;
        if (response === 'delete its Node') user.try('DELETE', `/api/v1/nodes/${node.name}`);
        if (response === 'declare it out of service') setOutOfService(user, node.name, true);
      });
      cluster.endFault(offMs, () => cluster.bootNode(node));
    },
  };
}

function apiFault(random: SeededRandom): Action {
  const fault = random.pick(['compaction', 'restart', 'overload'] as const);
  const forMs = random.pick([1_000, 15_000]);
  return {
    what: `API server: ${fault} (${forMs} ms)`,
    act: ({ server, world }) => {
      if (fault !== 'overload') {
        if (fault === 'compaction') server.model.compact();
        return server.endWatches();
      }
      const refusal = world.random(`overload at ${world.now}`);
      const until = world.now + forMs;
      server.refusal = () =>
        world.now < until && refusal.nextBoolean(0.5) ? new ApiError(429, 'too many requests') : undefined;
    },
  };
}

function cutOff(random: SeededRandom): Action {
  const who = random.pick(['watcher-0', 'watcher-1', 'node-0', 'node-1', 'node-2', 'kube-apiserver']);
  const forMs = random.pick([3_000, 15_000, 40_000]);
  return {
    what: `${who} is cut off for ${forMs} ms`,
    act: (cluster) => {
      const heal = cluster.server.network.cut(cluster.world.machine(who));
      cluster.endFault(forMs, heal);
    },
  };
}

/** Lists and single reads are of the present, and watches are behind. */
function slowWatches(random: SeededRandom): Action {
  const [maxLagMs, forMs] = [random.pick([2_000, 10_000, 30_000]), random.pick([15_000, 40_000])];
  return {
    what: `watches are up to ${maxLagMs} ms behind, for ${forMs} ms`,
    act: (cluster) => {
      const { server, world } = cluster;
      const lag = world.random(`watches at ${world.now}`);
      server.watchLagMs = () => lag.nextInt(maxLagMs);
      cluster.endFault(forMs, () => (server.watchLagMs = () => 0));
    },
  };
}

function stepClock(random: SeededRandom): Action {
  const who = random.pick(['watcher-0', 'watcher-1', 'node-0', 'kube-apiserver']);
  const ms = random.pick([-3_600_000, -20_000, 20_000, 3_600_000]);
  return { what: `the clock of ${who} steps by ${ms} ms`, act: ({ world }) => world.machine(who).stepClock(ms) };
}

/** Appears also on an address that a Pod has. Its next container finds it. */
export function foreignHost(random: SeededRandom): Action {
  const [address, forMs] = [`10.0.0.${5 + random.nextInt(10)}`, random.pick([5_000, 30_000, 60_000])];
  return {
    what: `a foreign host has ${address} for ${forMs} ms`,
    act: (cluster) => {
      cluster.foreignHosts.appear(address);
      cluster.endFault(forMs, () => cluster.foreignHosts.leave(address));
    },
  };
}

export function etcdRestore(random: SeededRandom): Action {
  const [ageMs, recoverAfterMs] = [random.pick([500, 5_000, 30_000]), random.pick([100, 10_000, 60_000])];
  const isDocumented = random.nextBoolean(0.5);
  const how = isDocumented ? 'by the documented command' : 'by another command';
  return {
    what: `etcd gets a backup that is ${ageMs} ms old, ${how}; an operator recovers after ${recoverAfterMs} ms`,
    act: ({ etcdRestores }) => etcdRestores.begin({ ageMs, recoverAfterMs, isDocumented }),
  };
}

function nodeAt({ nodes }: SimulatedCluster, index: number): SimulatedNode {
  const node = nodes[index];
  if (!node) throw new Error(`the cluster has no node ${index}`);
  return node;
}
