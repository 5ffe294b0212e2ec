/** All objects of the Kubernetes API that Kube-OVN's controller and ipledger keep, and the Pods for which they do; read once. */
import { allocationAnnotation, finalizer, ownerKind } from '../lib/marks.ts';
import { controllerOf } from '../lib/pod-identity.ts';
import type { Owner } from '../proto/ipledger.ts';
import { networkOf, podOf, readMachines, statefulSetOf } from './check/cluster.ts';
import type { Pod, StatefulSet } from './check/picture.ts';
import type { Kubernetes } from './kubernetes.ts';
import { type Raw, record, text, texts } from '../lib/raw.ts';

const kubeOvn = '/apis/kubeovn.io/v1';

/** Where the objects of each kind are. */
const collections = {
  Subnet: `${kubeOvn}/subnets`,
  IPPool: `${kubeOvn}/ippools`,
  IP: `${kubeOvn}/ips`,
  Vip: `${kubeOvn}/vips`,
  Pod: '/api/v1/pods',
  StatefulSet: '/apis/apps/v1/statefulsets',
  Network: '/apis/k8s.cni.cncf.io/v1/network-attachment-definitions',
} as const;

/** What every object of these kinds tells of itself. */
export interface Left {
  readonly kind: 'Subnet' | 'IPPool' | 'IP' | 'Vip';
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly finalizers: readonly string[];
}

export interface LeftSubnet extends Left {
  readonly spec: {
    readonly cidrBlock: string;
    readonly gateway: string;
    readonly excludeIps: readonly string[];
    readonly provider: string;
    readonly protocol: string;
  };
}

export interface LeftPool extends Left {
  readonly spec: { readonly subnet: string; readonly ips: readonly string[]; readonly namespaces: readonly string[] };
}

export interface LeftIp extends Left {
  /** Whether ipledger made it, or made it its own. */
  readonly ours: boolean;
  readonly reserved: boolean;
  readonly pod: string;
  readonly namespace: string;
  readonly podType: string;
  readonly subnet: string;
  readonly addresses: readonly string[];
  readonly mac: string;
}

export interface LeftVip extends Left {
  readonly subnet: string;
  readonly addresses: readonly string[];
  readonly mac: string;
}

/** A Pod with what the ledger is told of it beside its addresses. */
export interface PlacedPod extends Pod {
  readonly node: string;
  readonly owner: Owner | undefined;
}

export interface Snapshot {
  readonly subnets: readonly LeftSubnet[];
  readonly pools: readonly LeftPool[];
  readonly ips: readonly LeftIp[];
  readonly vips: readonly LeftVip[];
  readonly pods: readonly PlacedPod[];
  /** By "namespace/name", as the networks' CNI configurations. */
  readonly statefulSets: ReadonlyMap<string, StatefulSet>;
  readonly networks: ReadonlyMap<string, string>;
  /** KubeVirt's VirtualMachines that are not being deleted, by "namespace/name". */
  readonly machines: ReadonlySet<string>;
  /** When it was read, milliseconds since 1970. */
  readonly at: number;
}

/** Where an object is. */
export const pathOf = ({ kind, name }: Left): string => `${collections[kind]}/${encodeURIComponent(name)}`;

/** Makes the API refuse the patch of another object of the name, or of another version of it. */
export const unchanged = ({ uid, resourceVersion }: Left) => ({ uid, resourceVersion });

/** @throws Failure when the API cannot be read. */
export async function takeSnapshot(kubernetes: Pick<Kubernetes, 'get' | 'list'>): Promise<Snapshot> {
  const { list } = kubernetes;
  const { Subnet, IPPool, IP, Vip, Pod: pods, StatefulSet: sets, Network } = collections;
  const [subnets, pools, ips, vips] = await Promise.all([list(Subnet), list(IPPool), list(IP), list(Vip)]);
  const [running, wanted, networks, machines] = await Promise.all([
    list(pods),
    list(sets),
    list(Network),
    readMachines(kubernetes),
  ]);
  return {
    subnets: subnets.map(subnetOf),
    pools: pools.map(poolOf),
    ips: ips.map(ipOf),
    vips: vips.map(vipOf),
    pods: running.map(placedPodOf),
    statefulSets: new Map(wanted.map(statefulSetOf)),
    machines,
    networks: new Map(networks.map(networkOf)),
    at: Date.now(),
  };
}

function leftOf(kind: Left['kind'], item: Raw): Left {
  const metadata = record(item['metadata']);
  return {
    kind,
    name: text(metadata['name']),
    uid: text(metadata['uid']),
    resourceVersion: text(metadata['resourceVersion']),
    generation: Number(metadata['generation'] ?? 0),
    finalizers: texts(metadata['finalizers']),
  };
}

function subnetOf(item: Raw): LeftSubnet {
  const spec = record(item['spec']);
  const [cidrBlock, gateway] = [text(spec['cidrBlock']), text(spec['gateway'])];
  const [provider, protocol] = [text(spec['provider']), text(spec['protocol'])];
  return {
    ...leftOf('Subnet', item),
    spec: { cidrBlock, gateway, excludeIps: texts(spec['excludeIps']), provider, protocol },
  };
}

function poolOf(item: Raw): LeftPool {
  const spec = record(item['spec']);
  return {
    ...leftOf('IPPool', item),
    spec: { subnet: text(spec['subnet']), ips: texts(spec['ips']), namespaces: texts(spec['namespaces']) },
  };
}

function ipOf(item: Raw): LeftIp {
  const left = leftOf('IP', item);
  const [metadata, spec] = [record(item['metadata']), record(item['spec'])];
  const single = given(spec['v4IpAddress'], spec['v6IpAddress']);
  return {
    ...left,
    ours: left.finalizers.includes(finalizer) || text(record(metadata['annotations'])[allocationAnnotation]) !== '',
    reserved: text(record(metadata['labels'])['ovn.kubernetes.io/ip_reserved']) === 'true',
    pod: text(spec['podName']),
    namespace: text(spec['namespace']),
    podType: text(spec['podType']),
    subnet: text(spec['subnet']),
    addresses: single.length > 0 ? single : given(...text(spec['ipAddress']).split(',')),
    mac: text(spec['macAddress']),
  };
}

function vipOf(item: Raw): LeftVip {
  const [spec, status] = [record(item['spec']), record(item['status'])];
  const field = (name: string): string => text(spec[name]) || text(status[name]);
  return {
    ...leftOf('Vip', item),
    subnet: text(spec['subnet']),
    addresses: given(field('v4ip'), field('v6ip')),
    mac: text(spec['macAddress']) || text(status['mac']),
  };
}

function placedPodOf(item: Raw): PlacedPod {
  const controller = controllerOf(record(item['metadata'])['ownerReferences']);
  const { apiVersion = '', kind = '', name = '', uid = '' } = controller ?? {};
  return {
    ...podOf(item),
    node: text(record(item['spec'])['nodeName']),
    owner: controller && { kind: ownerKind(apiVersion, kind), name, uid },
  };
}

const given = (...values: readonly unknown[]): string[] => values.map((each) => text(each).trim()).filter(Boolean);
