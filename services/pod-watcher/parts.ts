/** The parts of the active watcher, wired to each other, to the Kubernetes API and to the ledger. */
import { within } from '../../lib/deadline.ts';
import type { Logger } from '../../lib/log.ts';
import { Alarms } from './alarm.ts';
import { Configurer } from './intent/configure.ts';
import { Holdings } from './intent/holdings.ts';
import type { Machines } from './intent/machines.ts';
import { Namespaces } from './intent/namespaces.ts';
import { Nodes } from './intent/nodes.ts';
import { Pools } from './intent/pools.ts';
import { PoolsInForce } from './intent/pools-in-force.ts';
import { Reconciler } from './intent/reconcile.ts';
import { Reservations } from './intent/reservations.ts';
import { isReserving, reservedDifferences, reservedReasons, reservedShown, reservedWish } from './intent/reserved.ts';
import { Subnets } from './intent/subnets.ts';
import { whyNoSubnet } from './intent/tenancy.ts';
import { VipAddresses } from './intent/vip-addresses.ts';
import { vipDifferences, vipReasons, vipShown, vipWish } from './intent/vips.ts';
import { type Api, ApiError } from './kubernetes/api.ts';
import { Events, type Happening } from './kubernetes/events.ts';
import { deletedSince } from './kubernetes/history.ts';
import { Launchers } from './kubernetes/launchers.ts';
import { type Kind, type Named, Source } from './kubernetes/list-watch.ts';
import { type IpObject, ipPools, ips, type Kept, subnets, type VipObject, vips } from './kubernetes/kept-objects.ts';
import {
  type Machine,
  machinePaths,
  type NamespaceObject,
  namespaces,
  networkDefinitions,
  nodes,
  type Pod,
  pods,
  type StatefulSet,
  statefulSets,
  toMachine,
  toPod,
  toStatefulSet,
} from './kubernetes/objects.ts';
import { mergePatch, objectPath, podPath, read } from './kubernetes/patch.ts';
import type { Raw } from '../../lib/raw.ts';
import type { SandboxBinding } from '../../proto/ipledger.ts';
import type { Allocator } from './ledger/allocator.ts';
import type { Holding } from './ledger/facts.ts';
import type { Reader } from './ledger/follow.ts';
import type { Memory } from './memory.ts';
import { Projector } from './projection/project.ts';

export interface PartsOptions {
  readonly api: Api;
  readonly allocator: Allocator;
  /** Go on also when most Pods or Nodes vanished at once. */
  readonly acceptVanished: boolean;
  /** How often all who hold something are looked at; 0: never. */
  readonly garbageEveryMs: number;
  /** The Lease that this watcher holds: alarms are Events about it. */
  readonly lease: { readonly namespace: string; readonly name: string };
  /** What the watcher before left. */
  readonly memory: Memory;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const lookUpTimeoutMs = 10_000;

/** All that is watched. */
export function sourcesOf({ api, log }: Pick<PartsOptions, 'api' | 'log'>) {
  return {
    pods: new Source(api, pods, log),
    networks: new Source(api, networkDefinitions, log),
    subnets: new Source(api, subnets, log),
    statefulSets: new Source(api, statefulSets, log),
    namespaces: new Source(api, namespaces, log),
    ips: new Source(api, ips, log),
    pools: new Source(api, ipPools, log),
    vips: new Source(api, vips, log),
    nodes: new Source(api, nodes, log),
  };
}

type Sources = ReturnType<typeof sourcesOf>;
/** With Pods that go by the machine that they run, where it was seen. */
type Known = Omit<Sources, 'pods'> & { readonly pods: Launchers };

/** Both halves, not started. The readers are in order: who looks things up comes after who knows them. */
export function partsOf(options: PartsOptions, watched: Sources) {
  const { api, allocator, lease, log, signal } = options;
  const lookUp = (key: string, callSignal: AbortSignal) => lookUpMachines(api, key, callSignal);
  const sources = { ...watched, pods: new Launchers({ pods: watched.pods, lookUpMachines: lookUp, log, signal }) };
  const events = new Events(api, log, signal);
  const alarms = new Alarms(log, (happening) =>
    events.say({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', ...lease, uid: '' }, happening),
  );
  const intent = intentOf(options, sources, events, alarms);
  const say = sayerOf(events);
  const projector = new Projector({ api, allocator, log, signal, say, ...sources });
  const nodeKeeper = nodesOf(options, sources, projector, alarms);
  const readers: Reader[] = [...intent.readers, projector.view, projector.vipUsers, nodeKeeper];
  return { ...intent, projector, nodes: nodeKeeper, alarms, readers };
}

/** The half that asks. */
function intentOf(options: PartsOptions, sources: Known, events: Events, alarms: Alarms) {
  const { api, allocator, acceptVanished, garbageEveryMs, memory, log, signal } = options;
  const inForce = new Subnets(sources.subnets.objects);
  const holdings = new Holdings();
  const drawn = new PoolsInForce((name) => isEmptyPool(sources.pools.objects.get(name)?.status));
  const vipAddresses = new VipAddresses(sources.vips.objects);
  const reconciler = new Reconciler({
    allocator,
    acceptVanished,
    garbageEveryMs,
    log,
    signal,
    pods: sources.pods,
    statefulSets: sources.statefulSets,
    networks: sources.networks,
    subnets: inForce,
    sight: {
      pools: drawn.sight,
      vip: vipAddresses.of,
      namespaceOf: (name) => sources.namespaces.objects.get(name),
    },
    holdings,
    say: sayerOf(events),
    lookUp: (key, callSignal) => lookUp(api, key, callSignal),
    lookUpStatefulSet: (key, callSignal) => lookUpStatefulSet(api, key, callSignal),
    lookUpMachines: (key, callSignal) => lookUpMachines(api, key, callSignal),
    ...recalling(api, pods, memory.pods),
    vanishedBefore: memory.vanishedPods,
    alarm: alarms.bell('PodsVanished'),
  });
  wakeOnChange(sources, reconciler);
  const configurer = new Configurer({
    allocator,
    log,
    signal,
    objects: sources.subnets,
    networks: sources.networks,
    subnets: inForce,
    surroundings: () => ({ apiServer: process.env['KUBERNETES_SERVICE_HOST'] ?? '', nodes: sources.nodes.objects }),
    ring: (topic) => reconciler.ring(topic),
    ...tellingOf(api, events, 'Subnet', subnets),
  });
  const pools = new Pools({
    allocator,
    log,
    signal,
    objects: sources.pools,
    inForce: drawn,
    ...tellingOf(api, events, 'IPPool', ipPools),
  });
  const reservations = reservationsOf(options, sources, events, inForce);
  const bindings = new Namespaces({
    log,
    signal,
    namespaces: sources.namespaces,
    objects: sources.subnets,
    subnets: inForce,
    pools: drawn,
    write: ({ name, uid }, annotations, callSignal) => {
      const body = { metadata: { uid, annotations } };
      return mergePatch(api, { path: objectPath(namespaces.path, name), body, signal: callSignal });
    },
  });
  const readers = [inForce, holdings, drawn, vipAddresses, configurer, pools, ...reservations, bindings, reconciler];
  return { reconciler, configurer, pools, reservations, bindings, readers };
}

/** Looks again at Pods when what their namespace, or a Vip, may be used for changes. */
function wakeOnChange(sources: Known, reconciler: Reconciler): void {
  sources.namespaces.subscribe((change) => {
    if (change.kind === 'present' && primaryChanged(change)) reconciler.lookAtNamespace(change.object.name);
  });
  sources.vips.subscribe((change) => {
    if (change.kind === 'present' && change.before?.spec.namespace !== change.object.spec.namespace)
      reconciler.ring(`vip:${change.object.name}`);
  });
}

/** IP objects that people make, and Vips. */
function reservationsOf(options: PartsOptions, sources: Known, events: Events, inForce: Subnets) {
  const { api, allocator, log, signal } = options;
  const world = { subnets: inForce, namespaceOf: (name: string) => sources.namespaces.objects.get(name) };
  const shared = {
    allocator,
    log,
    signal,
    whyNoSubnet: (subnet: string, namespace: string) => whyNoSubnet(subnet, namespace, world),
  };
  const ofPods = new Reservations<IpObject>({
    ...shared,
    objects: sources.ips,
    concerns: isReserving,
    reason: 'IP object ',
    wish: (object) => reservedWish(object, (subnet) => inForce.providerOf(subnet)),
    shown: reservedShown,
    differences: reservedDifferences,
    reasons: reservedReasons,
    ...tellingOf(api, events, 'IP', ips),
    // It has no status: what is said to it are Events.
    writeStatus: () => Promise.resolve(),
  });
  const ofVips = new Reservations<VipObject>({
    ...shared,
    objects: sources.vips,
    reason: 'Vip object ',
    wish: vipWish,
    shown: vipShown,
    differences: vipDifferences,
    reasons: vipReasons,
    ...tellingOf(api, events, 'Vip', vips),
  });
  return [ofPods, ofVips] as const;
}

/** Whether an IPPool's status says that no address of it is left; of one that says nothing nobody knows. */
function isEmptyPool(status: Raw | undefined): boolean {
  return status?.['v4AvailableIPs'] === 0 && status['v6AvailableIPs'] === 0;
}

/** How a Keeper writes to objects of its kind, and tells people about them. */
function tellingOf<T extends Kept>(api: Api, events: Events, kind: string, { path: collection }: Kind<T>) {
  const pathOf = ({ name }: T): string => objectPath(collection, name);
  return {
    write: (object: T, body: object, signal: AbortSignal) => mergePatch(api, { path: pathOf(object), body, signal }),
    writeStatus: (object: T, status: object, signal: AbortSignal) =>
      mergePatch(api, { path: `${pathOf(object)}/status`, body: { status }, signal }),
    say: (object: T, happening: Happening) =>
      events.say({ apiVersion: 'kubeovn.io/v1', kind, ...nameOf(object) }, happening),
  };
}

type Said = Pick<NamespaceObject, 'subnets' | 'pools' | 'labels' | 'problems'>;

function primaryChanged({ object, before }: { object: NamespaceObject; before: NamespaceObject | undefined }): boolean {
  const said = ({ subnets: from, pools, labels, problems }: Said): string =>
    JSON.stringify([from, pools, labels, problems]);
  return said(object) !== said(before ?? { subnets: [], pools: [], labels: {} });
}

function nodesOf(options: PartsOptions, sources: Known, { view }: Projector, alarms: Alarms): Nodes {
  const { api, allocator, acceptVanished, memory, log, signal } = options;
  return new Nodes({
    allocator,
    acceptVanished,
    log,
    signal,
    nodes: sources.nodes,
    holds: (sandbox) => view.ofPod(podOf(sandbox)).some((held) => isOf(sandbox, held)),
    exists: async (name, callSignal) => (await found(api, objectPath(nodes.path, name), callSignal)) !== undefined,
    ...recalling(api, nodes, memory.nodes),
    vanishedBefore: memory.vanishedNodes,
    alarm: alarms.bell('NodesVanished'),
  });
}

const podOf = ({ attachment }: SandboxBinding): string => `${attachment?.namespace}/${attachment?.pod}`;

/** Whether a container was bound to what is held. What was passed on to another Pod of the name is another holding (0: not known). */
const isOf = ({ subnet, addresses, allocationSeq }: SandboxBinding, held: Holding): boolean =>
  held.subnet === subnet &&
  (allocationSeq === 0 || allocationSeq === held.seq) &&
  held.addresses.some(({ address }) => addresses.includes(address));

/** From where the watcher before had come; nobody remembers anything before the first one. */
function recalling<T extends Named>(api: Api, kind: Kind<T>, version: string) {
  return version !== '' && { recall: (signal: AbortSignal) => deletedSince(api, kind, { version, signal }) };
}

const sayerOf =
  (events: Events) =>
  (pod: Pod, happening: Happening): void =>
    events.say({ apiVersion: 'v1', kind: 'Pod', ...nameOf(pod) }, happening);

function nameOf({ namespace, name, uid }: { namespace: string; name: string; uid: string }) {
  return { namespace, name, uid };
}

async function lookUp(api: Api, key: string, signal: AbortSignal): Promise<Pod | undefined> {
  const [namespace = '', name = ''] = key.split('/');
  const raw = await found(api, podPath(namespace, name), signal);
  return raw === undefined ? undefined : toPod(raw);
}

async function lookUpStatefulSet(api: Api, key: string, signal: AbortSignal): Promise<StatefulSet | undefined> {
  const [namespace = '', name = ''] = key.split('/');
  const collection = `/apis/apps/v1/namespaces/${encodeURIComponent(namespace)}/statefulsets`;
  const raw = await found(api, objectPath(collection, name), signal);
  return raw === undefined ? undefined : toStatefulSet(raw);
}

async function lookUpMachines(api: Api, key: string, signal: AbortSignal): Promise<Machines> {
  const [namespace = '', name = ''] = key.split('/');
  const one = async (plural: string): Promise<Machine | undefined> => {
    const collection = `/apis/kubevirt.io/v1/namespaces/${encodeURIComponent(namespace)}/${plural}`;
    const raw = await found(api, objectPath(collection, name), signal);
    return raw === undefined ? undefined : toMachine(raw);
  };
  const { VirtualMachine, VirtualMachineInstance } = machinePaths;
  const [machine, instance] = await Promise.all([one(VirtualMachine), one(VirtualMachineInstance)]);
  return { VirtualMachine: machine, VirtualMachineInstance: instance };
}

/** An object as the API has it at this moment; undefined if there is none. */
async function found(api: Api, path: string, signal: AbortSignal): Promise<unknown> {
  try {
    return await read(api, path, within(lookUpTimeoutMs, signal));
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}
