/** What the specs of the intent loop are written with. */
import { FakeAllocator, FakeSource, holding, inForce, podNamed, type PodParts, silent, subnetNamed } from '../fakes.ts';
import type { Happening } from '../kubernetes/events.ts';
import { Launchers } from '../kubernetes/launchers.ts';
import { type SubnetObject } from '../kubernetes/kept-objects.ts';
import { type NetworkDefinition, networksAnnotation, type Pod, type StatefulSet } from '../kubernetes/objects.ts';
import type { Fact, Holding } from '../ledger/facts.ts';
import { Holdings } from './holdings.ts';
import type { Machines } from './machines.ts';
import { Reconciler, type ReconcilerOptions } from './reconcile.ts';
import { Subnets } from './subnets.ts';

export const macvlan: NetworkDefinition = {
  namespace: 'default',
  name: 'macvlan',
  uid: 'uid-nad',
  resourceVersion: '1',
  config: '{"type":"macvlan","ipam":{"type":"kube-ovn","provider":"macvlan.default"}}',
};

/** A Pod that wants one attachment to it. */
export const wanting = (name: string, parts: PodParts = {}): Pod =>
  podNamed(name, { ...parts, annotations: { [networksAnnotation]: 'macvlan', ...parts.annotations } });

/** As the API tells it at its end: whatever it deletes, it marks first. */
export const beingDeleted = (pod: Pod): Pod => ({ ...pod, deletionTimestamp: '2026-01-31T08:00:00Z' });

/** What the ledger says when a holding ends. */
export const ended = ({ seq, subnet, namespace, pod, uid, addresses }: Holding): Fact => ({
  kind: 'ended',
  seq,
  subnet,
  namespace,
  pod,
  uid,
  addresses: addresses.map(({ address }) => address),
});

/** What the ledger says when a container ends that answered on what was held. */
export const unbound = ({ subnet, namespace, pod, addresses }: Holding): Fact => ({
  kind: 'unbound',
  subnet,
  namespace,
  pod,
  addresses: addresses.map(({ address }) => address),
});

/** Long enough for everything that needs no backoff. */
export const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

/** So many Pods, "p0" and on, that hold an address each. */
export const holdingMany = (count: number): Holding[] =>
  Array.from({ length: count }, (_, index) => holding(`p${index}`, { seq: index + 1 }));

export interface WorldOptions extends Partial<
  Pick<
    ReconcilerOptions,
    | 'acceptVanished'
    | 'mirrorGraceMs'
    | 'vanishedGraceMs'
    | 'vanishedBefore'
    | 'recall'
    | 'confirmMs'
    | 'garbageEveryMs'
  >
> {
  readonly holdings?: readonly Holding[];
  /** Names of Subnets that are in force. */
  readonly subnets?: readonly string[];
  /** Of all Subnets. */
  readonly cooldownMs?: number;
  /** Those who are refused wait for an hour, or for a ring. */
  readonly patient?: boolean;
}

/** A reconciler between fakes: the Pods in the API, the allocator, and what it says to people. */
export function worldOf(
  signal: AbortSignal,
  {
    holdings: held = [],
    acceptVanished = false,
    subnets = ['macvlan'],
    patient = false,
    mirrorGraceMs = 3_600_000,
    confirmMs = 0,
    cooldownMs = 0,
    ...more
  }: WorldOptions,
) {
  const pods = new FakeSource<Pod>();
  const statefulSets = new FakeSource<StatefulSet>();
  const networks = new FakeSource<NetworkDefinition>();
  const objects = new FakeSource<SubnetObject>();
  const allocator = new FakeAllocator();
  const said: { pod: string; happening: Happening }[] = [];
  /** Pods of which the API says otherwise than the source. */
  const api = new Map<string, Pod>();
  const lookedUp: string[] = [];
  /** The same of StatefulSets; undefined where there is none any more. */
  const apiSets = new Map<string, StatefulSet | undefined>();
  /** The virtual machines that the API has, by "namespace/name". */
  const machines = new Map<string, Partial<Machines>>();
  const alarms: (string | undefined)[] = [];
  const known = new Subnets(objects.objects);
  const holdings = new Holdings();
  const lookUpMachines = (key: string): Promise<Machines> =>
    Promise.resolve({ VirtualMachine: undefined, VirtualMachineInstance: undefined, ...machines.get(key) });
  const reconciler = new Reconciler({
    allocator,
    pods: new Launchers({ pods, lookUpMachines, log: silent, signal }),
    statefulSets,
    networks,
    subnets: known,
    sight: {
      pools: { subnetOf: () => undefined, namespacesOf: () => [], whyNot: () => '', ofNamespace: () => [] },
      vip: () => undefined,
      namespaceOf: () => undefined,
    },
    holdings,
    say: (pod, happening) => said.push({ pod: pod.name, happening }),
    lookUp: (key) => {
      lookedUp.push(key);
      return Promise.resolve(api.get(key) ?? pods.objects.get(key));
    },
    lookUpMachines,
    lookUpStatefulSet: (key) => Promise.resolve(apiSets.has(key) ? apiSets.get(key) : statefulSets.objects.get(key)),
    acceptVanished,
    // The patient wait for an hour, or for a ring.
    backoffMs: patient ? [3_600_000, 3_600_000] : [20, 100],
    mirrorGraceMs,
    confirmMs,
    alarm: (sentence) => alarms.push(sentence),
    ...more,
    log: silent,
    signal,
  });
  networks.put(macvlan);
  for (const name of subnets) objects.put(subnetNamed(name));
  const snapshot = {
    seq: 50,
    holdings: held,
    subnets: subnets.map((name) => {
      const { spec, ...subnet } = inForce(name);
      return { ...subnet, spec: { ...spec, cooldownMs } };
    }),
    pools: [],
    reservations: [],
  };
  const readers = [known, holdings, reconciler];
  for (const reader of readers) reader.snapshot(snapshot);
  const facts = (seq: number, ...each: Fact[]): void => {
    for (const reader of readers) reader.facts(each, seq);
  };
  const rewind = (seq: number, ...left: Holding[]): void => {
    for (const reader of readers) reader.snapshot({ ...snapshot, seq, holdings: left });
  };
  return {
    pods,
    statefulSets,
    networks,
    objects,
    allocator,
    said,
    api,
    apiSets,
    machines,
    lookedUp,
    alarms,
    holdings,
    reconciler,
    facts,
    rewind,
  };
}
