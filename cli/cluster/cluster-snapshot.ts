/** Reads the objects that Kube-OVN's controller and ipledger manage, and the Pods. */
import { allocationAnnotation, finalizer } from '../../lib/kubernetes/kubernetes-metadata.ts';
import { canonicalAddress } from '../../ledger/domain/addresses/address.ts';
import { cidrContains } from '../../lib/net/ip.ts';
import { collectionPaths, type KubernetesReader, readPodsAndNetworks, type PodsAndNetworks } from './read-cluster.ts';
import { type UntypedJson, asRecord, asText, asTexts } from '../../lib/kubernetes/untyped-json.ts';

/** The common fields of Kube-OVN's custom resources. */
export interface KubeOvnObject {
  readonly kind: 'Subnet' | 'IPPool' | 'IP' | 'Vip';
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly finalizers: readonly string[];
}

export interface KubeOvnSubnet extends KubeOvnObject {
  readonly spec: {
    readonly cidrBlock: string;
    readonly gateway: string;
    readonly excludeIps: readonly string[];
    readonly provider: string;
    readonly protocol: string;
  };
  /** The namespaces whose Pods may use it; empty for all, unless it has selectors. */
  readonly namespaces: readonly string[];
  /** Whether labels select more namespaces, which a snapshot does not have. */
  readonly hasSelectors: boolean;
}

export interface KubeOvnPool extends KubeOvnObject {
  readonly spec: { readonly subnet: string; readonly ips: readonly string[]; readonly namespaces: readonly string[] };
}

export interface KubeOvnIp extends KubeOvnObject {
  /** Whether ipledger created the object, or has taken it over. */
  readonly isOurs: boolean;
  /** The event of the allocation that the object shows; 0 if the pod-watcher did not write it. */
  readonly allocation: number;
  readonly isReserved: boolean;
  readonly pod: string;
  readonly namespace: string;
  readonly podType: string;
  readonly subnet: string;
  readonly addresses: readonly string[];
  readonly mac: string;
}

export interface KubeOvnVip extends KubeOvnObject {
  readonly subnet: string;
  readonly addresses: readonly string[];
  readonly mac: string;
}

export interface ClusterSnapshot extends PodsAndNetworks {
  readonly subnets: readonly KubeOvnSubnet[];
  readonly pools: readonly KubeOvnPool[];
  readonly ips: readonly KubeOvnIp[];
  readonly vips: readonly KubeOvnVip[];
}

/** The provider of a Subnet object: the network of its addresses. */
export const providerOf = ({ spec }: KubeOvnSubnet): string => spec.provider || 'ovn';

/** Whether an address is in a CIDR of a Subnet object. */
export const subnetContains = ({ spec }: KubeOvnSubnet, address: string): boolean =>
  spec.cidrBlock.split(',').some((cidr) => cidrContains(cidr.trim(), address));

/** The API path of an object. */
export const objectPath = ({ kind, name }: KubeOvnObject): string =>
  `${collectionPaths[kind]}/${encodeURIComponent(name)}`;

/** Metadata that make the API reject a patch of another object or another version. */
export const preconditions = ({ uid, resourceVersion }: KubeOvnObject) => ({ uid, resourceVersion });

/** @throws CliError when the API cannot be read. */
export async function readClusterSnapshot(kubernetes: KubernetesReader): Promise<ClusterSnapshot> {
  const read = async <T>(kind: KubeOvnObject['kind'], as: (item: UntypedJson) => T): Promise<T[]> =>
    (await kubernetes.list(collectionPaths[kind])).map(as);
  const [subnets, pools, ips, vips] = await Promise.all([
    read('Subnet', parseSubnet),
    read('IPPool', parsePool),
    read('IP', parseIp),
    read('Vip', parseVip),
  ]);
  return { subnets, pools, ips, vips, ...(await readPodsAndNetworks(kubernetes)) };
}

function parseMetadata(kind: KubeOvnObject['kind'], item: UntypedJson): KubeOvnObject {
  const metadata = asRecord(item['metadata']);
  return {
    kind,
    name: asText(metadata['name']),
    uid: asText(metadata['uid']),
    resourceVersion: asText(metadata['resourceVersion']),
    generation: Number(metadata['generation'] ?? 0),
    finalizers: asTexts(metadata['finalizers']),
  };
}

function parseSubnet(item: UntypedJson): KubeOvnSubnet {
  const spec = asRecord(item['spec']);
  const [cidrBlock, gateway] = [asText(spec['cidrBlock']), asText(spec['gateway'])];
  const [provider, protocol] = [asText(spec['provider']), asText(spec['protocol'])];
  return {
    ...parseMetadata('Subnet', item),
    spec: { cidrBlock, gateway, excludeIps: asTexts(spec['excludeIps']), provider, protocol },
    namespaces: asTexts(spec['namespaces']),
    hasSelectors: !isEmpty(spec['namespaceSelectors']) || !isReadable(spec['namespaces']),
  };
}

const isEmpty = (list: unknown): boolean => list === undefined || (Array.isArray(list) && list.length === 0);

/**
 * Whether a list of namespaces can be read. If a damaged list counted as absent, it would allow all
 * namespaces.
 */
const isReadable = (list: unknown): boolean =>
  list === undefined || (Array.isArray(list) && list.every((each) => typeof each === 'string'));

function parsePool(item: UntypedJson): KubeOvnPool {
  const spec = asRecord(item['spec']);
  return {
    ...parseMetadata('IPPool', item),
    spec: { subnet: asText(spec['subnet']), ips: asTexts(spec['ips']), namespaces: asTexts(spec['namespaces']) },
  };
}

function parseIp(item: UntypedJson): KubeOvnIp {
  const common = parseMetadata('IP', item);
  const [metadata, spec] = [asRecord(item['metadata']), asRecord(item['spec'])];
  const single = nonEmpty(spec['v4IpAddress'], spec['v6IpAddress']);
  const joined = nonEmpty(...asText(spec['ipAddress']).split(','));
  const allocation = Number(asText(asRecord(metadata['annotations'])[allocationAnnotation]));
  return {
    ...common,
    isOurs: common.finalizers.includes(finalizer) || allocation !== 0,
    allocation: Number.isSafeInteger(allocation) ? allocation : 0,
    isReserved: asText(asRecord(metadata['labels'])['ovn.kubernetes.io/ip_reserved']) === 'true',
    pod: asText(spec['podName']),
    namespace: asText(spec['namespace']),
    podType: asText(spec['podType']),
    subnet: asText(spec['subnet']),
    // A reservation of one family shows the other in ipAddress alone
    addresses: (single.every((address) => joined.includes(address)) ? joined : single).map(
      (each) => canonicalAddress(each) ?? each,
    ),
    mac: asText(spec['macAddress']),
  };
}

function parseVip(item: UntypedJson): KubeOvnVip {
  const [spec, status] = [asRecord(item['spec']), asRecord(item['status'])];
  const field = (name: string): string => asText(spec[name]) || asText(status[name]);
  return {
    ...parseMetadata('Vip', item),
    subnet: asText(spec['subnet']),
    addresses: nonEmpty(field('v4ip'), field('v6ip')),
    mac: asText(spec['macAddress']) || asText(status['mac']),
  };
}

const nonEmpty = (...values: readonly unknown[]): string[] => values.map((each) => asText(each).trim()).filter(Boolean);
