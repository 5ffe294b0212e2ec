/** What the Kubernetes API shows. */
import { allocationAnnotation } from '../../lib/marks.ts';
import {
  controllerOf,
  identityOf,
  machineClaimOf,
  type MachineInstance,
  machineInstanceOf,
  whyNotLauncher,
} from '../../lib/pod-identity.ts';
import type { Kubernetes } from '../kubernetes.ts';
import type { ClusterPicture, IpObject, Pod, StatefulSet, StatusObject, Vip } from './picture.ts';
import { type Raw, record, text } from '../../lib/raw.ts';

const kubeOvn = '/apis/kubeovn.io/v1';
/** Where the objects of each kind are. */
export const collections = {
  Subnet: `${kubeOvn}/subnets`,
  IPPool: `${kubeOvn}/ippools`,
  IP: `${kubeOvn}/ips`,
  Vip: `${kubeOvn}/vips`,
  Pod: '/api/v1/pods',
  Node: '/api/v1/nodes',
  StatefulSet: '/apis/apps/v1/statefulsets',
  Network: '/apis/k8s.cni.cncf.io/v1/network-attachment-definitions',
} as const;
/** Of KubeVirt, which most clusters do not have. */
const machinesApi = '/apis/kubevirt.io/v1';

/**
 * All objects that show an address, or want one.
 * @throws Failure when the API cannot be read.
 */
export async function readCluster(kubernetes: Reading): Promise<ClusterPicture> {
  const read = async <T>(kind: keyof typeof collections, as: (item: Raw) => T): Promise<T[]> =>
    (await kubernetes.list(collections[kind])).map(as);
  const [wanting, ips, subnets, pools, vips, nodes] = await Promise.all([
    readWanting(kubernetes, podOf),
    read('IP', ipOf),
    read('Subnet', withStatus),
    read('IPPool', withStatus),
    read('Vip', vipOf),
    read('Node', nameOf),
  ]);
  return { ...wanting, ips, subnets, pools, vips, nodes: new Set(nodes) };
}

type Reading = Pick<Kubernetes, 'get' | 'list'>;

/** Pods, which want addresses, and what says which, and for whom one is kept. */
export type Wanting<AnyPod extends Pod> = Pick<ClusterPicture, 'statefulSets' | 'machines' | 'networks'> & {
  readonly pods: readonly AnyPod[];
};

/** @throws Failure when the API cannot be read. */
export async function readWanting<AnyPod extends Pod>(
  kubernetes: Reading,
  podAs: (item: Raw, instances: Instances) => AnyPod,
): Promise<Wanting<AnyPod>> {
  const [pods, statefulSets, networks, { machines, instances }] = await Promise.all([
    kubernetes.list(collections.Pod),
    kubernetes.list(collections.StatefulSet),
    kubernetes.list(collections.Network),
    readMachines(kubernetes),
  ]);
  return {
    pods: pods.map((item) => podAs(item, instances)),
    statefulSets: new Map(statefulSets.map(statefulSetOf)),
    networks: new Map(networks.map(networkOf)),
    machines,
  };
}

/** VirtualMachineInstances, by "namespace/name". */
export type Instances = ReadonlyMap<string, MachineInstance>;

/** A Pod as the API has it; as the machine that it runs, where that is there and lists it. */
export function podOf(item: Raw, instances: Instances): Pod {
  const [metadata, spec, status] = [record(item['metadata']), record(item['spec']), record(item['status'])];
  const all = Object.entries(record(metadata['annotations'])).map(([key, value]) => [key, text(value)] as const);
  const annotations = Object.fromEntries(all);
  const [name, uid] = [text(metadata['name']), text(metadata['uid'])];
  const claim = machineClaimOf({ name, controller: controllerOf(metadata['ownerReferences']) });
  const instance = claim && instances.get(`${text(metadata['namespace'])}/${claim.name}`);
  const isBelieved = claim && !whyNotLauncher(instance, claim, { name, uid });
  const identity = isBelieved ? claim : identityOf({ name, uid, annotations });
  const deletion = text(metadata['deletionTimestamp']);
  // Each DELETE has a period of its own, the last one of a kubelet 0.
  const grace = metadata['deletionGracePeriodSeconds'] ?? spec['terminationGracePeriodSeconds'];
  return {
    namespace: text(metadata['namespace']),
    name,
    ...(identity.name !== name && { ledgerName: identity.name }),
    identity: identity.uid,
    hostNetwork: spec['hostNetwork'] === true,
    restartPolicy: text(spec['restartPolicy']),
    phase: text(status['phase']),
    reason: text(status['reason']),
    deletionAt: deletion === '' ? undefined : Date.parse(deletion),
    graceSeconds: typeof grace === 'number' ? grace : 30,
    annotations,
  };
}

function ipOf(item: Raw): IpObject {
  const metadata = record(item['metadata']);
  const allocation = text(record(metadata['annotations'])[allocationAnnotation]);
  return { name: text(metadata['name']), allocation, spec: record(item['spec']) };
}

const nameOf = (item: Raw): string => text(record(item['metadata'])['name']);

const withStatus = (item: Raw): StatusObject => ({ name: nameOf(item), status: record(item['status']) });

function vipOf(item: Raw): Vip {
  const { v4ip, v6ip } = record(item['status']);
  const addresses = [text(v4ip), text(v6ip)].filter((address) => address !== '');
  return { name: nameOf(item), subnet: text(record(item['spec'])['subnet']), addresses };
}

/** By "namespace/name". */
function statefulSetOf(item: Raw): [string, StatefulSet] {
  const { namespace, name, uid, deletionTimestamp } = record(item['metadata']);
  const { replicas, ordinals } = record(item['spec']);
  const count = (value: unknown, absent: number): number => (typeof value === 'number' ? value : absent);
  const counted = { replicas: count(replicas, 1), firstOrdinal: count(record(ordinals)['start'], 0) };
  return [`${text(namespace)}/${text(name)}`, { uid: text(uid), deleting: text(deletionTimestamp) !== '', ...counted }];
}

/** VirtualMachines that are not being deleted, by "namespace/name"; and those that run. @throws Failure when the API cannot be read. */
async function readMachines({ get, list }: Reading) {
  if (!(await get(machinesApi))) return { machines: new Set<string>(), instances: new Map<string, MachineInstance>() };
  const machines = new Set((await list(`${machinesApi}/virtualmachines`)).flatMap(lastingMachineOf));
  const running = await list(`${machinesApi}/virtualmachineinstances`);
  return { machines, instances: new Map(running.map((item) => [keyOf(item), machineInstanceOf(item)] as const)) };
}

function keyOf(item: Raw): string {
  const { namespace, name } = record(item['metadata']);
  return `${text(namespace)}/${text(name)}`;
}

function lastingMachineOf(item: Raw): string[] {
  const { namespace, name, deletionTimestamp } = record(item['metadata']);
  return text(deletionTimestamp) === '' ? [`${text(namespace)}/${text(name)}`] : [];
}

/** The CNI configuration, by "namespace/name". */
function networkOf(item: Raw): [string, string] {
  const { namespace, name } = record(item['metadata']);
  return [`${text(namespace)}/${text(name)}`, text(record(item['spec'])['config'])];
}
