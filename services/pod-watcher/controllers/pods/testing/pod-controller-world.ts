/** A Pod controller with fakes of the API and the allocator, for its specs. */
import { fakeLedgerClient } from '../../../../../lib/ledger-client/testing/fake-ledger-client.ts';
import {
  FakeAllocator,
  FakeInformer,
  heldAllocation,
  appliedSubnet,
  mirrorOf,
  podNamed,
  type PodParts,
  silentLogger,
  subnetNamed,
} from '../../../testing/fakes.ts';
import { keyOf } from '../../../../../lib/kubernetes/client/informer.ts';
import type { PodEvent } from '../../../kubernetes/event-recorder.ts';
import { LauncherVerifier } from '../../../kubernetes/launcher-verifier.ts';
import { LedgerPods } from '../../../kubernetes/ledger-pods.ts';
import type { SubnetObject } from '../../../kubernetes/objects/subnet.ts';
import type { NetworkDefinition } from '../../../kubernetes/objects/network-definition.ts';
import { networksAnnotation, type Pod } from '../../../kubernetes/objects/pod.ts';
import type { MachineObject } from '../../../kubernetes/objects/virtual-machine.ts';
import type { StatefulSet } from '../../../kubernetes/objects/stateful-set.ts';
import type { LedgerEvent, HeldAllocation } from '../../../ledger/ledger-events.ts';
import { AllocationCache } from '../allocation-cache.ts';
import { EventBudget } from '../event-budget.ts';
import type { VirtualMachines } from '../retention.ts';
import { PodController, type PodControllerOptions } from '../pod-controller.ts';
import { SubnetCache } from '../../subnets/subnet-cache.ts';

export const macvlan: NetworkDefinition = {
  namespace: 'default',
  name: 'macvlan',
  uid: 'uid-nad',
  resourceVersion: '1',
  config: '{"type":"macvlan","ipam":{"type":"kube-ovn","provider":"macvlan.default"}}',
};

/** Makes a Pod that selects network macvlan. */
export const podWithNetwork = (name: string, parts: PodParts = {}): Pod =>
  podNamed(name, { ...parts, annotations: { [networksAnnotation]: 'macvlan', ...parts.annotations } });

/** Makes the mirror of a static Pod that selects network macvlan. */
export const mirrorWithNetwork = (name: string, hash: string, parts: PodParts = {}): Pod =>
  mirrorOf(name, hash, { ...parts, annotations: { [networksAnnotation]: 'macvlan' } });

/** Adds the mark that the API sets before it deletes an object. */
export const beingDeleted = (pod: Pod): Pod => ({ ...pod, deletionTimestamp: '2026-01-31T08:00:00Z' });

/** Makes the ledger event about the release of an allocation. */
export const allocationEnded = ({ seq, subnet, namespace, pod, uid, addresses }: HeldAllocation): LedgerEvent => ({
  kind: 'released',
  seq,
  subnet,
  namespace,
  pod,
  uid,
  addresses: addresses.map(({ address }) => address),
});

/** Makes the ledger event about a container that is unbound from an allocation. */
export const bindingEnded = ({ subnet, namespace, pod, addresses }: HeldAllocation): LedgerEvent => ({
  kind: 'unbound',
  subnet,
  namespace,
  pod,
  addresses: addresses.map(({ address }) => address),
});

/** Waits for all reconciliations without a backoff. */
export const waitForIdle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

/** Makes one allocation each for Pods "p0", "p1", … */
export const manyAllocations = (count: number): HeldAllocation[] =>
  Array.from({ length: count }, (_, index) => heldAllocation(`p${index}`, { seq: index + 1 }));

export interface PodControllerWorldOptions extends Partial<
  Pick<
    PodControllerOptions,
    | 'mirrorGraceMs'
    | 'missingGraceMs'
    | 'haltedBefore'
    | 'terminatingBefore'
    | 'listDeleted'
    | 'confirmDelayMs'
    | 'garbageIntervalMs'
    | 'lookUpMachines'
    | 'traces'
  >
> {
  readonly allocations?: readonly HeldAllocation[];
  /** Names of Subnets that are in force. */
  readonly subnets?: readonly string[];
  /** The cooldown of all Subnets. */
  readonly cooldownMs?: number;
  /** Whether refused Pods wait for an hour, unless an event wakes them. */
  readonly longBackoff?: boolean;
  /** The number of first removals of annotations that fail. */
  readonly failingRemovals?: number;
}

export function createPodControllerWorld(
  signal: AbortSignal,
  {
    allocations: held = [],
    subnets = ['macvlan'],
    longBackoff = false,
    mirrorGraceMs = 3_600_000,
    confirmDelayMs = 0,
    cooldownMs = 0,
    failingRemovals = 0,
    ...more
  }: PodControllerWorldOptions,
) {
  const pods = new FakeInformer<Pod>();
  const statefulSets = new FakeInformer<StatefulSet>();
  const networks = new FakeInformer<NetworkDefinition>();
  const objects = new FakeInformer<SubnetObject>();
  const allocator = new FakeAllocator();
  const removedAnnotations: { pod: string; keys: readonly string[] }[] = [];
  const podEvents: { pod: string; podEvent: PodEvent }[] = [];
  /** Pods whose reason for waiting was removed. */
  const endedWaits: string[] = [];
  /** Pods that a look-up finds in another state than the watch. */
  const api = new Map<string, Pod>();
  const lookedUp: string[] = [];
  /** StatefulSets in another state than the watch has; undefined for deleted ones. */
  const apiSets = new Map<string, StatefulSet | undefined>();
  /** The virtual machines that the API has, by "namespace/name". */
  const machines = new Map<string, Partial<VirtualMachines>>();
  /** The informers of machines, by kind. */
  const machineObjects = {
    VirtualMachine: new FakeInformer<MachineObject>(),
    VirtualMachineInstance: new FakeInformer<MachineObject>(),
  };
  /** Machines whose look-up fails. */
  const failingMachines = new Set<string>();
  const alarms: (string | undefined)[] = [];
  let removals = 0;
  /** The number of IPAMClaims that each Pod has requested last. */
  const ipamClaimsOf = new Map<string, number>();
  /** Nodes that do not exist. */
  const deletedNodes = new Set<string>();
  const subnetCache = new SubnetCache(objects.objects);
  const allocations = new AllocationCache();
  const lookUpMachines = (key: string): Promise<VirtualMachines> =>
    failingMachines.has(key)
      ? Promise.reject(new Error('the API server is unavailable'))
      : Promise.resolve({ VirtualMachine: undefined, VirtualMachineInstance: undefined, ...machines.get(key) });
  const verified = new LauncherVerifier({ pods, lookUpMachines, log: silentLogger, signal });
  const controller = new PodController({
    allocator: fakeLedgerClient({
      allocate: (request) => allocator.allocate(request),
      release: (request) => allocator.release(request),
      listBindings: (request) => allocator.listBindings(request),
    }),
    pods: verified,
    ledgerPods: new LedgerPods(verified),
    statefulSets,
    networks,
    subnets: subnetCache,
    clusterView: {
      pools: { subnetOf: () => undefined, namespacesOf: () => [], whyNot: () => '', ofNamespace: () => [] },
      vip: () => undefined,
      ipamClaim: () => ({ problem: '' }),
      namespaceOf: () => undefined,
      hasOtherPod: () => true,
    },
    allocations,
    budget: new EventBudget(),
    endWaitReason: (pod) => endedWaits.push(pod.name),
    ipamClaims: { request: (pod, demands) => void ipamClaimsOf.set(pod, demands.length) },
    recordEvent: (pod, podEvent) => podEvents.push({ pod: pod.name, podEvent }),
    removeAnnotations: (pod, keys) => {
      removals += 1;
      if (removals <= failingRemovals) return Promise.reject(new Error('the API server is unavailable'));
      const current = pods.objects.get(keyOf(pod));
      if (current?.resourceVersion !== pod.resourceVersion) return Promise.resolve(false);
      removedAnnotations.push({ pod: pod.name, keys });
      const left = Object.entries(pod.annotations).filter(([key]) => !keys.includes(key));
      pods.put({ ...current, resourceVersion: `${current.resourceVersion}+`, annotations: Object.fromEntries(left) });
      return Promise.resolve(true);
    },
    lookUpPod: (key) => {
      lookedUp.push(key);
      return Promise.resolve(api.get(key) ?? pods.objects.get(key));
    },
    lookUpMachines,
    machines: Object.values(machineObjects),
    nodeExists: (name) => Promise.resolve(!deletedNodes.has(name)),
    lookUpStatefulSet: (key) => Promise.resolve(apiSets.has(key) ? apiSets.get(key) : statefulSets.objects.get(key)),
    backoffMs: longBackoff ? [3_600_000, 3_600_000] : [20, 100],
    mirrorGraceMs,
    confirmDelayMs,
    alarm: (message) => alarms.push(message),
    leaseNamespace: 'ipledger-system',
    ...more,
    log: silentLogger,
    signal,
  });
  networks.put(macvlan);
  for (const name of subnets) objects.put(subnetNamed(name));
  const snapshot = {
    seq: 50,
    allocations: held,
    subnets: subnets.map((name) => {
      const { spec, ...subnet } = appliedSubnet(name);
      return { ...subnet, spec: { ...spec, cooldownMs } };
    }),
    pools: [],
    reservations: [],
  };
  const subscribers = [subnetCache, allocations, controller];
  for (const subscriber of subscribers) subscriber.onSnapshot(snapshot);
  const sendEvents = (seq: number, ...each: LedgerEvent[]): void => {
    for (const subscriber of subscribers) subscriber.onEvents(each, seq);
  };
  const rewind = (seq: number, ...remaining: HeldAllocation[]): void => {
    for (const subscriber of subscribers) subscriber.onSnapshot({ ...snapshot, seq, allocations: remaining });
  };
  return {
    pods,
    statefulSets,
    networks,
    objects,
    allocator,
    podEvents,
    endedWaits,
    removedAnnotations,
    removals: () => removals,
    ipamClaimsOf,
    api,
    apiSets,
    machines,
    failingMachines,
    machineObjects,
    lookedUp,
    alarms,
    deletedNodes,
    allocations,
    controller,
    sendEvents,
    rewind,
  };
}
