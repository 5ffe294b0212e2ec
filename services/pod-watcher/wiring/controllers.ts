/** Connects the controllers and the projection to each other. Starts nothing. */
import { mergePatch, objectPath } from '../../../lib/kubernetes/client/object-requests.ts';
import type { UntypedJson } from '../../../lib/kubernetes/untyped-json.ts';
import type { SandboxBinding } from '../../../proto/generated/ipledger.ts';
import { Alarms } from '../alarms.ts';
import { ipReservationReason } from '../../../lib/kubernetes/ip-object-name.ts';
import { fieldsIgnored } from '../controllers/object-controller/conditions.ts';
import { IpamClaimController } from '../controllers/ipam-claims/ipam-claim-controller.ts';
import type { IpamClaimOwner } from '../controllers/ipam-claims/ipam-claim-creator.ts';
import { subnetAccessRefusal } from '../controllers/namespaces/namespace-access.ts';
import { NamespaceController } from '../controllers/namespaces/namespace-controller.ts';
import { allObjects } from '../controllers/mass-deletion-guard.ts';
import { NodeController } from '../controllers/nodes/node-controller.ts';
import { EventBudget } from '../controllers/pods/event-budget.ts';
import { AllocationCache } from '../controllers/pods/allocation-cache.ts';
import { PodController } from '../controllers/pods/pod-controller.ts';
import { PoolCache } from '../controllers/pools/pool-cache.ts';
import { PoolController } from '../controllers/pools/pool-controller.ts';
import {
  appliedIpFields,
  desiredIpReservation,
  ipReservationDifferences,
  ipReservationReasons,
  isIpReservation,
} from '../controllers/reservations/ip-reservation.ts';
import { ReservationController } from '../controllers/reservations/reservation-controller.ts';
import { VipAddressCache } from '../controllers/reservations/vip-address-cache.ts';
import {
  appliedVipFields,
  desiredVipReservation,
  vipDifferences,
  vipReasons,
} from '../controllers/reservations/vip-reservation.ts';
import { NetworkController } from '../controllers/ovn4nfv/network-controller.ts';
import { SubnetCache } from '../controllers/subnets/subnet-cache.ts';
import { KubeOvnSubnets } from '../controllers/subnets/kube-ovn-subnets.ts';
import { SubnetController } from '../controllers/subnets/subnet-controller.ts';
import { createLookups, type Lookups } from '../kubernetes/client/lookups.ts';
import { EventRecorder, type PodEvent } from '../kubernetes/event-recorder.ts';
import { isLauncher, LauncherVerifier } from '../kubernetes/launcher-verifier.ts';
import { LedgerPods } from '../kubernetes/ledger-pods.ts';
import { PodsByNode } from '../kubernetes/pods-by-node.ts';
import { ipPools } from '../kubernetes/objects/ip-pool.ts';
import { type IpObject, ips } from '../kubernetes/objects/ip.ts';
import { type NamespaceObject, namespaces } from '../kubernetes/objects/namespace.ts';
import { nodes } from '../kubernetes/objects/node.ts';
import { type Pod, pods } from '../kubernetes/objects/pod.ts';
import { subnets } from '../kubernetes/objects/subnet.ts';
import { type VipObject, vips } from '../kubernetes/objects/vip.ts';
import type { HeldAllocation } from '../ledger/ledger-events.ts';
import type { LedgerSubscriber } from '../ledger/ledger-subscriber.ts';
import { WaitingAnnotation } from '../kubernetes/waiting-annotation.ts';
import { PodTraces } from '../pod-traces.ts';
import { Projection } from '../projection/projection.ts';
import type { Informers, VerifiedInformers, WiringOptions } from './inputs.ts';
import {
  annotationRemover,
  ipamClaimAccess,
  deletionLister,
  networkAccess,
  objectAccess,
  podEventRecorder,
} from './object-access.ts';

/** The parts that the functions of this file share. */
interface Context {
  /** The options that most controllers need. */
  readonly base: Pick<WiringOptions, 'allocator' | 'log' | 'signal'>;
  readonly options: WiringOptions;
  readonly informers: VerifiedInformers;
  readonly ledgerPods: LedgerPods;
  readonly lookups: Lookups;
  readonly events: EventRecorder;
  readonly recordPodEvent: (pod: Pod, event: PodEvent) => void;
  readonly alarms: Alarms;
  readonly budget: EventBudget;
  readonly waiting: WaitingAnnotation;
  readonly traces: PodTraces | undefined;
}

/** The caches of the ledger's state. */
interface Caches {
  readonly subnets: SubnetCache;
  readonly allocations: AllocationCache;
  readonly pools: PoolCache;
  readonly vipAddresses: VipAddressCache;
}

/** Connects the parts. Subscribers are in order: a cache precedes its readers. */
export function wireControllers(options: WiringOptions, watched: Informers) {
  const { api, allocator, lease, tracer, log, signal } = options;
  const base = { allocator, log, signal };
  const lookups = createLookups(api);
  const { lookUpMachines } = lookups;
  const informers = { ...watched, pods: new LauncherVerifier({ pods: watched.pods, lookUpMachines, log, signal }) };
  // Must be the first subscriber of the Pods: all others rely on its updates.
  const ledgerPods = new LedgerPods(informers.pods);
  const traces = tracer && new PodTraces(tracer, informers.pods);
  const events = new EventRecorder(api, log, signal);
  const recordLeaseEvent = (event: PodEvent): void =>
    events.record({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', ...lease, uid: '' }, event);
  const alarms = new Alarms(log, recordLeaseEvent);
  const budget = new EventBudget(options.namespaceLimit);
  const waiting = new WaitingAnnotation(api, log, signal);
  const recordPodEvent = podEventRecorder(events, waiting);
  const shared = { recordPodEvent, alarms, budget, waiting, traces };
  const context: Context = { base, options, informers, ledgerPods, lookups, events, ...shared };
  const caches: Caches = {
    subnets: new SubnetCache(informers.subnets.objects),
    allocations: new AllocationCache(),
    pools: new PoolCache((name) => isEmptyPool(informers.pools.objects.get(name)?.status)),
    vipAddresses: new VipAddressCache(informers.vips.objects),
  };
  const ipamClaimController = createIpamClaimController(context, caches, (topic) => podController.wakeWaiters(topic));
  const podController = createPodController(context, caches, ipamClaimController);
  wakeOnChange(informers, podController);
  const subnetController = createSubnetController(context, caches, podController);
  const networkController = createNetworkController(context, caches);
  const poolController = createPoolController(context, caches);
  const reservationControllers = createReservationControllers(context, caches);
  const namespaceController = createNamespaceController(context, caches);
  const projection = new Projection({ ...base, api, recordEvent: recordPodEvent, ledgerPods, traces, ...informers });
  const nodeController = createNodeController(context, projection);
  const subscribers: LedgerSubscriber[] = [
    caches.subnets,
    caches.allocations,
    caches.pools,
    caches.vipAddresses,
    ipamClaimController,
    subnetController,
    poolController,
    ...reservationControllers,
    namespaceController,
    podController,
    projection.view,
    projection.vipUsers,
    nodeController,
  ];
  return {
    podController,
    subnetController,
    networkController,
    poolController,
    reservationControllers,
    ipamClaimController,
    namespaceController,
    nodeController,
    projection,
    alarms,
    recordLeaseEvent,
    subscribers,
    subnets: caches.subnets,
  };
}

/** @param wakeWaiters not called before the Pod controller exists */
function createIpamClaimController(
  { base, options, informers, ledgerPods, events, budget }: Context,
  caches: Caches,
  wakeWaiters: (topic: string) => void,
): IpamClaimController {
  const { api } = options;
  return new IpamClaimController({
    ...base,
    objects: informers.ipamClaims,
    pods: informers.pods,
    ledgerPods,
    quota: { subnets: caches.subnets, allocations: caches.allocations },
    budget,
    namespacesOfPool: caches.pools.clusterView.namespacesOf,
    wakeWaiters,
    ipamClaimOwnerOf: (pod) => ipamClaimOwnerOf(ledgerPods.get(pod)),
    ...ipamClaimAccess(api, events),
  });
}

function ipamClaimOwnerOf(pod: Pod | undefined): IpamClaimOwner | 'machine' | undefined {
  if (pod && isLauncher(pod)) return 'machine';
  return pod && { apiVersion: 'v1', kind: 'Pod', name: pod.name, uid: pod.uid };
}

function createPodController(
  { base, options, informers, ledgerPods, lookups, recordPodEvent, alarms, budget, waiting, traces }: Context,
  caches: Caches,
  ipamClaims: IpamClaimController,
): PodController {
  const { api, garbageIntervalMs, handoverState, signal } = options;
  const { lookUpPod, lookUpStatefulSet, lookUpMachines, nodeExists } = lookups;
  const podsByNode = new PodsByNode(informers.pods);
  return new PodController({
    ...base,
    garbageIntervalMs,
    pods: informers.pods,
    ledgerPods,
    statefulSets: informers.statefulSets,
    machines: [informers.machines, informers.machineInstances],
    networks: informers.networks,
    subnets: caches.subnets,
    clusterView: {
      pools: caches.pools.clusterView,
      vip: caches.vipAddresses.get,
      ipamClaim: ipamClaims.view,
      namespaceOf: (name) => informers.namespaces.objects.get(name),
      hasOtherPod: (node, namespace) => podsByNode.has(node, namespace),
    },
    allocations: caches.allocations,
    budget,
    endWaitReason: (pod) => waiting.end(pod),
    ipamClaims,
    traces,
    recordEvent: recordPodEvent,
    removeAnnotations: annotationRemover(api, signal),
    lookUpPod,
    lookUpStatefulSet,
    lookUpMachines,
    nodeExists,
    listDeleted: deletionLister(api, pods, () => informers.pods.versionBeforeList ?? handoverState.pods),
    haltedBefore: { [allObjects]: handoverState.vanishedPods, ...handoverState.haltedNamespaces },
    terminatingBefore: handoverState.terminating,
    alarm: alarms.setterFor('MassPodDeletion'),
    leaseNamespace: options.lease.namespace,
  });
}

/** Reconciles Pods when a primary network, or a Vip's namespace, changes. */
function wakeOnChange(informers: VerifiedInformers, podController: PodController): void {
  informers.namespaces.subscribe((change) => {
    if (change.kind === 'present' && primaryNetworkChanged(change)) podController.enqueueNamespace(change.object.name);
  });
  informers.vips.subscribe((change) => {
    if (change.kind === 'present' && change.before?.spec.namespace !== change.object.spec.namespace)
      podController.wakeWaiters(`vip:${change.object.name}`);
  });
}

type PrimaryNetwork = Pick<NamespaceObject, 'subnets' | 'pools' | 'labels' | 'problems'>;

function primaryNetworkChanged(change: { object: NamespaceObject; before: NamespaceObject | undefined }): boolean {
  const textOf = ({ subnets: names, pools, labels, problems }: PrimaryNetwork): string =>
    JSON.stringify([names, pools, labels, problems]);
  return textOf(change.object) !== textOf(change.before ?? { subnets: [], pools: [], labels: {} });
}

function createSubnetController(
  { base, options, informers, events }: Context,
  caches: Caches,
  podController: PodController,
): SubnetController {
  const { api } = options;
  const { kubeOvnSubnets, networks } = informers;
  return new SubnetController({
    ...base,
    objects: informers.subnets,
    networks: informers.networks,
    subnets: caches.subnets,
    clusterAddresses: () => ({
      apiServer: process.env['KUBERNETES_SERVICE_HOST'] ?? '',
      nodes: informers.nodes.objects,
    }),
    wakeWaiters: (topic) => podController.wakeWaiters(topic),
    kubeOvn: kubeOvnSubnets && new KubeOvnSubnets(kubeOvnSubnets, networks),
    ...objectAccess(api, events, 'Subnet', subnets),
  });
}

function createNetworkController({ base, options, informers, events }: Context, { subnets: cache }: Caches) {
  const { api } = options;
  return new NetworkController({
    ...base,
    objects: informers.ovn4nfvNetworks,
    subnetObjects: informers.subnets,
    subnets: cache,
    ...networkAccess(api, events),
  });
}

function createPoolController({ base, options, informers, events }: Context, caches: Caches): PoolController {
  const { api } = options;
  return new PoolController({
    ...base,
    objects: informers.pools,
    cache: caches.pools,
    ...objectAccess(api, events, 'IPPool', ipPools),
  });
}

/** Whether the status of an IPPool shows no available address; false if it lacks these fields. */
function isEmptyPool(status: UntypedJson | undefined): boolean {
  return status?.['v4AvailableIPs'] === 0 && status['v6AvailableIPs'] === 0;
}

/** Creates the controllers of Vips, and of IP objects that reserve an address. */
function createReservationControllers({ base, options, informers, events }: Context, caches: Caches) {
  const { api } = options;
  const access = {
    subnets: caches.subnets,
    namespaceOf: (name: string) => informers.namespaces.objects.get(name),
  };
  const shared = {
    ...base,
    suspensionOf: (subnet: string) => caches.subnets.suspensionOf(subnet),
    subnetAccessRefusal: (subnet: string, namespace: string) => subnetAccessRefusal(subnet, namespace, access),
  };
  const ipController = new ReservationController<IpObject>({
    ...shared,
    objects: informers.ips,
    isRelevant: isIpReservation,
    reasonPrefix: ipReservationReason,
    desired: (object) => desiredIpReservation(object, (subnet) => caches.subnets.providerOf(subnet)),
    appliedFields: appliedIpFields,
    differences: ipReservationDifferences,
    reasons: ipReservationReasons,
    ...objectAccess(api, events, 'IP', ips),
    writeStatus: () => Promise.resolve(), // IP objects have no status, and get only Events
  });
  const vipController = new ReservationController<VipObject>({
    ...shared,
    objects: informers.vips,
    reasonPrefix: 'Vip object ',
    desired: desiredVipReservation,
    appliedFields: appliedVipFields,
    differences: vipDifferences,
    warnings: (vip) => [fieldsIgnored(vip)],
    reasons: vipReasons,
    ...objectAccess(api, events, 'Vip', vips),
  });
  return [ipController, vipController] as const;
}

function createNamespaceController({ base, options, informers }: Context, caches: Caches): NamespaceController {
  const { api } = options;
  return new NamespaceController({
    ...base,
    namespaces: informers.namespaces,
    subnetObjects: informers.subnets,
    subnets: caches.subnets,
    pools: caches.pools,
    write: ({ name, uid }, annotations, callSignal) => {
      const body = { metadata: { uid, annotations } };
      return mergePatch(api, { path: objectPath(namespaces.path, name), body, signal: callSignal });
    },
  });
}

function createNodeController(
  { base, options, informers, lookups, alarms }: Context,
  { view }: Pick<Projection, 'view'>,
): NodeController {
  const { api, handoverState } = options;
  const podKeyOf = ({ attachment }: SandboxBinding): string => `${attachment?.namespace}/${attachment?.pod}`;
  return new NodeController({
    ...base,
    nodes: informers.nodes,
    isAddressHeld: (binding) =>
      view.allocationsOfPod(podKeyOf(binding)).some((allocation) => isBindingOf(binding, allocation)),
    nodeExists: lookups.nodeExists,
    listDeleted: deletionLister(api, nodes, () => handoverState.nodes),
    missingBefore: handoverState.vanishedNodes,
    outOfServiceBefore: handoverState.outOfService,
    alarm: alarms.setterFor('MassNodeDeletion'),
    leaseNamespace: options.lease.namespace,
  });
}

/** Whether a binding is this allocation's: addresses transfer. An allocationSeq of 0 is unknown. */
const isBindingOf = ({ subnet, addresses, allocationSeq }: SandboxBinding, allocation: HeldAllocation): boolean =>
  allocation.subnet === subnet &&
  (allocationSeq === 0 || allocationSeq === allocation.seq) &&
  allocation.addresses.some(({ address }) => addresses.includes(address));
