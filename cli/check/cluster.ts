/** What the Kubernetes API shows. */
import { allocationAnnotation } from '../../lib/marks.ts';
import { controllerOf, identityOf } from '../../lib/pod-identity.ts';
import type { Kubernetes } from '../kubernetes.ts';
import type { ClusterPicture, IpObject, Pod, StatefulSet, StatusObject, Vip } from './picture.ts';
import { type Raw, record, text } from '../../lib/raw.ts';

const paths = {
  pods: '/api/v1/pods',
  ips: '/apis/kubeovn.io/v1/ips',
  subnets: '/apis/kubeovn.io/v1/subnets',
  pools: '/apis/kubeovn.io/v1/ippools',
  vips: '/apis/kubeovn.io/v1/vips',
  nodes: '/api/v1/nodes',
  statefulSets: '/apis/apps/v1/statefulsets',
  networks: '/apis/k8s.cni.cncf.io/v1/network-attachment-definitions',
};
/** Of KubeVirt, which most clusters do not have. */
const machinesApi = '/apis/kubevirt.io/v1';

/**
 * All objects that show an address, or want one.
 * @throws Failure when the API cannot be read.
 */
export async function readCluster(kubernetes: Pick<Kubernetes, 'get' | 'list'>): Promise<ClusterPicture> {
  const read = async <T>(path: string, as: (item: Raw) => T): Promise<T[]> => (await kubernetes.list(path)).map(as);
  const [pods, ips, subnets, pools, vips, nodes, statefulSets, networks, machines] = await Promise.all([
    read(paths.pods, podOf),
    read(paths.ips, ipOf),
    read(paths.subnets, withStatus),
    read(paths.pools, withStatus),
    read(paths.vips, vipOf),
    read(paths.nodes, nameOf),
    read(paths.statefulSets, statefulSetOf),
    read(paths.networks, networkOf),
    readMachines(kubernetes),
  ]);
  const byName = {
    statefulSets: new Map(statefulSets),
    networks: new Map(networks),
    machines,
  };
  return { pods, ips, subnets, pools, vips, nodes: new Set(nodes), ...byName };
}

/** A Pod as the API has it. */
export function podOf(item: Raw): Pod {
  const [metadata, spec, status] = [record(item['metadata']), record(item['spec']), record(item['status'])];
  const all = Object.entries(record(metadata['annotations'])).map(([key, value]) => [key, text(value)] as const);
  const annotations = Object.fromEntries(all);
  const [name, uid] = [text(metadata['name']), text(metadata['uid'])];
  const identity = identityOf({ name, uid, annotations, controller: controllerOf(metadata['ownerReferences']) });
  const deletion = text(metadata['deletionTimestamp']);
  const grace = spec['terminationGracePeriodSeconds'];
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
export function statefulSetOf(item: Raw): [string, StatefulSet] {
  const { namespace, name, uid, deletionTimestamp } = record(item['metadata']);
  const { replicas, ordinals } = record(item['spec']);
  const count = (value: unknown, absent: number): number => (typeof value === 'number' ? value : absent);
  const counted = { replicas: count(replicas, 1), firstOrdinal: count(record(ordinals)['start'], 0) };
  return [`${text(namespace)}/${text(name)}`, { uid: text(uid), deleting: text(deletionTimestamp) !== '', ...counted }];
}

/** VirtualMachines that are not being deleted, by "namespace/name". @throws Failure when the API cannot be read. */
export async function readMachines({ get, list }: Pick<Kubernetes, 'get' | 'list'>): Promise<Set<string>> {
  if (!(await get(machinesApi))) return new Set();
  return new Set((await list(`${machinesApi}/virtualmachines`)).flatMap(lastingMachineOf));
}

function lastingMachineOf(item: Raw): string[] {
  const { namespace, name, deletionTimestamp } = record(item['metadata']);
  return text(deletionTimestamp) === '' ? [`${text(namespace)}/${text(name)}`] : [];
}

/** The CNI configuration, by "namespace/name". */
export function networkOf(item: Raw): [string, string] {
  const { namespace, name } = record(item['metadata']);
  return [`${text(namespace)}/${text(name)}`, text(record(item['spec'])['config'])];
}
