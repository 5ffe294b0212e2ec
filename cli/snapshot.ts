/** All objects of the Kubernetes API that Kube-OVN's controller and ipledger keep, and the Pods for which they do; read once. */
import { allocationAnnotation, finalizer, ownerKind } from '../lib/marks.ts';
import { controllerOf, machineKind } from '../lib/pod-identity.ts';
import type { Owner } from '../proto/ipledger.ts';
import { collections, type Instances, podOf, readWanting, type Wanting } from './check/cluster.ts';
import type { Pod } from './check/picture.ts';
import type { Kubernetes } from './kubernetes.ts';
import { type Raw, record, text, texts } from '../lib/raw.ts';

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

export interface Snapshot extends Wanting<PlacedPod> {
  readonly subnets: readonly LeftSubnet[];
  readonly pools: readonly LeftPool[];
  readonly ips: readonly LeftIp[];
  readonly vips: readonly LeftVip[];
  /** When it was read, milliseconds since 1970. */
  readonly at: number;
}

/** Where an object is. */
export const pathOf = ({ kind, name }: Left): string => `${collections[kind]}/${encodeURIComponent(name)}`;

/** Makes the API refuse the patch of another object of the name, or of another version of it. */
export const unchanged = ({ uid, resourceVersion }: Left) => ({ uid, resourceVersion });

/** @throws Failure when the API cannot be read. */
export async function takeSnapshot(kubernetes: Pick<Kubernetes, 'get' | 'list'>): Promise<Snapshot> {
  const read = async <T>(kind: Left['kind'], as: (item: Raw) => T): Promise<T[]> =>
    (await kubernetes.list(collections[kind])).map(as);
  const [subnets, pools, ips, vips] = await Promise.all([
    read('Subnet', subnetOf),
    read('IPPool', poolOf),
    read('IP', ipOf),
    read('Vip', vipOf),
  ]);
  return { subnets, pools, ips, vips, ...(await readWanting(kubernetes, placedPodOf)), at: Date.now() };
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

function placedPodOf(item: Raw, instances: Instances): PlacedPod {
  const pod = podOf(item, instances);
  return { ...pod, node: text(record(item['spec'])['nodeName']), owner: ownerOf(pod, item) };
}

/** A virtual machine is the owner of its launchers only. */
function ownerOf({ ledgerName }: Pod, item: Raw): Owner | undefined {
  const controller = controllerOf(record(item['metadata'])['ownerReferences']);
  if (!controller) return undefined;
  const { apiVersion, name, uid } = controller;
  const kind = ownerKind(apiVersion, controller.kind);
  return kind === machineKind && ledgerName === undefined ? undefined : { kind, name, uid };
}

const given = (...values: readonly unknown[]): string[] => values.map((each) => text(each).trim()).filter(Boolean);
