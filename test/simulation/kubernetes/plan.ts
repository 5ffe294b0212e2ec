/** What users and faults do to a cluster in one run: a list that follows from the seed. */
import { pickWeighted, type SeededRandom } from '../../faults/seeded-random.ts';
import { asRecord } from '../../../lib/kubernetes/untyped-json.ts';
import { nameOf, networksAnnotation, phaseOf, podsPath } from './cluster-user.ts';
import type { PlanItem } from '../plan.ts';
import type { NetworkName, SimulatedCluster } from './cluster.ts';
import { anyFault, etcdRestore, foreignHost } from './faults.ts';
import { foreignFinalizer } from './pod-lifecycle.ts';
import { deleteStatefulSet, scaleStatefulSet } from './stateful-sets.ts';

type Action = Pick<PlanItem<SimulatedCluster>, 'what' | 'act'>;

const counts = { users: 24, faults: 6, foreignHosts: 3 };
/** By then an allocator writes, a watcher is active, and the first Pods exist. */
const beginMs = 12_000;

/** Each item can be left out: it depends on no other item. */
export function planOfCluster(random: SeededRandom, planMs: number): readonly PlanItem<SimulatedCluster>[] {
  const many = (prefix: string, count: number, make: (random: SeededRandom) => Action) =>
    Array.from({ length: count }, (_, index) => {
      const atMs = beginMs + random.nextInt(planMs - beginMs);
      return { id: `${prefix}${index}`, atMs, ...make(random.fork()) };
    });
  const first = firstActions.map((make, index) => ({
    id: `i${index}`,
    atMs: random.nextInt(beginMs),
    ...make(random.fork()),
  }));
  const all = [...first, ...many('u', counts.users, userAction), ...many('k', counts.faults, anyFault)];
  // Drawn last, so that it changes nothing else of a seed's plan
  all.push(...many('h', counts.foreignHosts, foreignHost));
  if (random.nextBoolean(0.2)) all.push(...many('r', 1, etcdRestore));
  return all.toSorted((one, other) => one.atMs - other.atMs);
}

/** The last one is also the name of a machine. */
const podNames = ['a', 'a', 'b', 'b', 'c', 'c', 'd', 'd', 'vm-0'];
const graces = [undefined, undefined, 0, 1, 30] as const;
const staticAddresses = ['10.0.0.5', '10.0.0.6', '10.0.0.7'];
const macs = ['02:00:00:00:00:01', '02:00:00:00:00:02'];

/** What exists before the first change. */
const firstActions: readonly ((random: SeededRandom) => Action)[] = [
  createPod,
  createPod,
  scaleSet,
  placeManifest,
  placeManifest,
  (random) => machineAction(random, 'start'),
];

function userAction(random: SeededRandom): Action {
  const make = pickWeighted<(random: SeededRandom) => Action>(random, [
    [6, createPod],
    [5, deletePod],
    [3, recreatePod],
    [2, finishPod],
    [2, scaleSet],
    [2, deleteMember],
    [1, removeSet],
    [3, machineAction],
    [2, placeManifest],
    [1, removeManifest],
    [4, deleteMirror],
    [2, editNetworks],
    [2, replug],
  ]);
  return make(random);
}

/** Annotations that request addresses. */
function requestOf(random: SeededRandom): Record<string, string> {
  const selected: readonly NetworkName[] = random.pick([['macvlan'], ['macvlan'], ['lan'], ['macvlan', 'lan']]);
  const annotations: Record<string, string> = { [networksAnnotation]: selected.join(',') };
  if (!selected.includes('macvlan')) return annotations;
  const key = (suffix: string): string => `macvlan.default.kubernetes.io/${suffix}`;
  const choice = random.nextInt(6);
  if (choice === 0) annotations[key('ip_address')] = random.pick(staticAddresses);
  if (choice === 1) annotations[key('ip_pool')] = staticAddresses.slice(0, 2).join(',');
  if (choice === 2) annotations[key('mac_address')] = random.pick(macs);
  return annotations;
}

function podManifest(random: SeededRandom, name: string): object {
  const metadata = {
    name,
    annotations: requestOf(random),
    ...(random.nextBoolean(0.15) && { finalizers: [foreignFinalizer] }),
  };
  const seconds = random.pick([1, 10, 30]);
  return {
    metadata,
    spec: {
      terminationGracePeriodSeconds: seconds,
      restartPolicy: random.pick(['Always', 'Never']),
      ...(random.nextBoolean(0.1) && { hostNetwork: true }),
    },
  };
}

function createPod(random: SeededRandom): Action {
  const name = random.pick(podNames);
  const body = podManifest(random, name);
  return {
    what: `create Pod ${name} ${JSON.stringify(body)}`,
    act: ({ user }) => void user.try('POST', podsPath, body),
  };
}

function deletePod(random: SeededRandom): Action {
  const [name, grace] = [random.pick(podNames), random.pick(graces)];
  return { what: `delete Pod ${name}, grace ${grace}`, act: ({ user }) => user.deletePod(name, grace) };
}

/** As `kubectl replace --force`, which creates the Pod as soon as its name is free. */
function recreatePod(random: SeededRandom): Action {
  const [name, grace] = [random.pick(podNames), random.pick(graces)];
  const body = podManifest(random, name);
  return {
    what: `replace Pod ${name}, grace ${grace} ${JSON.stringify(body)}`,
    act: ({ user, world }) => {
      user.deletePod(name, grace);
      const create = (tries: number): void => {
        if (!user.try('POST', podsPath, body) && tries > 0) world.after(500, () => create(tries - 1));
      };
      create(120);
    },
  };
}

/** Containers end for good, or the node evicts the Pod. */
function finishPod(random: SeededRandom): Action {
  const [name, phase] = [random.pick(podNames), random.pick(['Succeeded', 'Failed'])];
  return {
    what: `Pod ${name} ends as ${phase}, or is evicted`,
    act: ({ user }) => {
      const pod = user.pods().find((each) => nameOf(each) === name && phaseOf(each) === 'Running');
      const isRestarted = asRecord(pod?.['spec'])['restartPolicy'] === 'Always';
      const status = isRestarted ? { phase: 'Failed', reason: 'Evicted' } : { phase };
      if (pod) user.try('PATCH', `${podsPath}/${name}/status`, { status });
    },
  };
}

/** The address of the last one is in no Subnet, so the request is refused until it is changed. */
const memberAnnotations: readonly Record<string, string>[] = [
  { [networksAnnotation]: 'macvlan' },
  { [networksAnnotation]: 'macvlan' },
  { [networksAnnotation]: 'macvlan,lan' },
  { [networksAnnotation]: 'macvlan', 'macvlan.default.kubernetes.io/ip_address': '10.9.0.2' },
];

function scaleSet(random: SeededRandom): Action {
  const replicas = random.nextInt(4);
  const template = {
    metadata: { annotations: random.pick(memberAnnotations) },
    spec: { hostNetwork: random.nextBoolean(0.15) },
  };
  return {
    what: `StatefulSet web has ${replicas} replicas, ${JSON.stringify(template)}`,
    act: ({ user }) => scaleStatefulSet(user, 'web', replicas, template),
  };
}

function deleteMember(random: SeededRandom): Action {
  const [name, grace] = [`web-${random.nextInt(3)}`, random.pick(graces)];
  const again = random.pick([0, 0, 500, 2_000]);
  return {
    what: `delete Pod ${name}, grace ${grace}, and again after ${again} ms`,
    act: ({ user, world }) => {
      user.deletePod(name, grace);
      if (again > 0) world.after(again, () => user.deletePod(name, grace));
    },
  };
}

/** Networks are added or left out. The container runs on with those that it has. */
function editNetworks(random: SeededRandom): Action {
  const [name, networks] = [random.pick(podNames), random.pick(['macvlan', 'lan', 'macvlan,lan'])];
  return {
    what: `Pod ${name} requests ${networks}`,
    act: ({ user }) =>
      void user.try('PATCH', `${podsPath}/${name}`, { metadata: { annotations: { [networksAnnotation]: networks } } }),
  };
}

function replug(random: SeededRandom): Action {
  const index = random.nextInt(3);
  return {
    what: `a NIC on node ${index} is removed and added again`,
    act: (cluster) => {
      const node = cluster.nodes[index];
      if (node) cluster.replug(node, random);
    },
  };
}

const removeSet = (): Action => ({ what: 'delete StatefulSet web', act: ({ user }) => deleteStatefulSet(user, 'web') });

function machineAction(
  random: SeededRandom,
  verb = random.pick(['start', 'start', 'stop', 'migrate', 'migrate', 'remove'] as const),
): Action {
  const name = 'vm-0';
  return {
    what: `${verb} machine ${name}`,
    act: ({ machines }) => {
      if (verb === 'migrate') machines.migrate(name);
      else if (verb === 'remove') machines.remove(name);
      else machines.run(name, verb === 'start');
    },
  };
}

/** Static Pods of the first two nodes. */
const manifestNames = ['etcd'];
const manifestNodes = 2;

function placeManifest(random: SeededRandom): Action {
  const [name, index] = [random.pick(manifestNames), random.nextInt(manifestNodes)];
  const hash = Array.from({ length: 32 }, () => random.nextInt(16).toString(16)).join('');
  const annotations = { [networksAnnotation]: random.pick(['macvlan', 'lan']) };
  return {
    what: `place manifest ${name} ${hash} on node ${index}`,
    act: ({ nodes }) => void nodes[index]?.manifests.set(name, { name, hash, annotations }),
  };
}

function removeManifest(random: SeededRandom): Action {
  const [name, index] = [random.pick(manifestNames), random.nextInt(manifestNodes)];
  return {
    what: `remove manifest ${name} on node ${index}`,
    act: ({ nodes }) => void nodes[index]?.manifests.delete(name),
  };
}

function deleteMirror(random: SeededRandom): Action {
  const [name, grace] = [`${random.pick(manifestNames)}-node-${random.nextInt(manifestNodes)}`, random.pick(graces)];
  return { what: `delete mirror ${name}, grace ${grace}`, act: ({ user }) => user.deletePod(name, grace) };
}
