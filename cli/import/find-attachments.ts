/**
 * Finds the addresses that Pods, IP objects and StatefulSets show, whether or not the ledger has
 * them. Pure. Tenants write the annotations of their Pods, and cannot write IP objects: where both
 * name addresses, those of the IP object count.
 */
import { canonicalAddress, canonicalMac } from '../../ledger/domain/addresses/address.ts';
import { goFields } from '../../lib/go-fields.ts';
import { ipObjectName } from '../../lib/kubernetes/ip-object-name.ts';
import { asRecord, asText, tryParseJson } from '../../lib/kubernetes/untyped-json.ts';
import { isAddress, isCidr } from '../../lib/net/ip.ts';
import { ovn4nfvProvider } from '../../lib/kubernetes/served-network.ts';
import { parseOvn4nfvRequest } from '../../lib/ovn4nfv/request.ts';
import type { Route } from '../../proto/generated/ipledger.ts';
import { hasEnded, hasMember } from '../cluster/needed-addresses.ts';
import {
  type ClusterSnapshot,
  type KubeOvnIp,
  type KubeOvnSubnet,
  type KubeOvnVip,
  providerOf,
  subnetContains,
} from '../cluster/cluster-snapshot.ts';
import type { Pod } from '../cluster/cluster-state.ts';
import { findRequestedAttachments } from '../cluster/requested-attachments.ts';
import { podKey } from '../output/format.ts';
import {
  createAttachment,
  holderOf,
  maxInterfaceLength,
  maxNics,
  type ObservedAttachment,
} from './observed-attachment.ts';

interface Context {
  readonly snapshot: ClusterSnapshot;
  readonly recovers: boolean;
  readonly ips: ReadonlyMap<string, KubeOvnIp>;
  /** The IP objects by "namespace/name" of the Pod. */
  readonly ipsOfPod: ReadonlyMap<string, readonly KubeOvnIp[]>;
  readonly vips: ReadonlyMap<string, KubeOvnVip>;
  readonly subnets: ReadonlyMap<string, KubeOvnSubnet>;
  readonly subnetsOfProvider: ReadonlyMap<string, readonly KubeOvnSubnet[]>;
}

/**
 * Finds the attachments of Pods, and the retained addresses of StatefulSet members without a Pod.
 * @param recovers whether the pod-watcher wrote the IP objects, and not Kube-OVN: those of an
 * allocation count, also without an annotation
 */
export function findObservedAttachments(snapshot: ClusterSnapshot, recovers = false): ObservedAttachment[] {
  const ips = recovers ? snapshot.ips.filter(({ allocation }) => allocation > 0) : snapshot.ips;
  const context: Context = {
    snapshot,
    recovers,
    ips: new Map(ips.map((ip) => [ip.name, ip])),
    ipsOfPod: Map.groupBy(ips, ({ namespace, pod }) => `${namespace}/${pod}`),
    vips: new Map(snapshot.vips.map((vip) => [vip.name, vip])),
    subnets: new Map(snapshot.subnets.map((subnet) => [subnet.name, subnet])),
    subnetsOfProvider: Map.groupBy(snapshot.subnets, providerOf),
  };
  // The containers of a Pod that has ended may still run: the pod-watcher releases its addresses
  const isRecorded = ({ hostNetwork, namespace, name, ledgerName = name }: Pod): boolean =>
    recovers && !hostNetwork && context.ipsOfPod.has(`${namespace}/${ledgerName}`);
  const counted = snapshot.pods.filter((pod) => !hasEnded(pod) || isRecorded(pod));
  const shown = removeDuplicates(counted.flatMap((pod) => findPodAttachments(pod, context)));
  const shownIps = new Set(shown.map(({ ipObject }) => ipObject?.name));
  const absent = ips.filter((ip) => ip.podType === 'StatefulSet' && (recovers || !ip.isOurs) && !shownIps.has(ip.name));
  return [...shown, ...absent.flatMap((ip) => findMemberAttachment(ip, context) ?? [])];
}

/** During the migration of a virtual machine, two Pods show its attachments. */
function removeDuplicates(attachments: readonly ObservedAttachment[]): ObservedAttachment[] {
  const keyOf = ({ holder, provider, ordinal, addresses }: ObservedAttachment): string =>
    [podKey(holder), holder.uid, provider, ordinal, ...addresses].join('/');
  return [...new Map(attachments.map((each) => [keyOf(each), each])).values()];
}

const allocated = /^(.+)\.kubernetes\.io\/allocated$/;
/** Matches "<network>.<namespace>.ovn.<interface>", Kube-OVN's key of a network's second NIC. */
const interfaceKey = /^([^.]+\.[^.]+\.ovn)\.(.+)$/;

interface ShownNic {
  readonly pod: Pod;
  /** The prefix of its annotations, before ".kubernetes.io/…". */
  readonly key: string;
  readonly provider: string;
  readonly ordinal: number;
  readonly interface: string;
  readonly isRequested: boolean;
  readonly ip: KubeOvnIp | undefined;
}

function findPodAttachments(pod: Pod, context: Context): ObservedAttachment[] {
  const nics = findRequestedAttachments(pod, context.snapshot);
  const keys = Object.entries(pod.annotations)
    .flatMap(([key, value]) => (value === 'true' ? (allocated.exec(key)?.[1] ?? []) : []))
    .slice(0, maxNics);
  const own = context.recovers ? (context.ipsOfPod.get(podKey(holderOf(pod))) ?? []) : [];
  if (keys.length === 0 && own.length === 0) return [];
  const requested = Map.groupBy(nics, ({ provider }) => provider);
  const ovn4nfv = parseOvn4nfvRequest(pod);
  const isRequested = (provider: string, ordinal: number): boolean =>
    provider === 'ovn' ||
    ordinal < (requested.get(provider)?.length ?? 0) ||
    (provider === ovn4nfvProvider && ovn4nfv.ok && ovn4nfv.value !== undefined);
  const interfaceOf = (provider: string, ordinal: number, named: string): string => {
    const name = provider === 'ovn' ? 'eth0' : named || (requested.get(provider)?.[ordinal]?.interface ?? '');
    return name.length > maxInterfaceLength ? '' : name;
  };
  const used = new Map<string, Set<number>>();
  const annotated = keys.map((key): ShownNic => {
    const [, provider = key, named = ''] = interfaceKey.exec(key) ?? [];
    const found = (requested.get(provider) ?? []).findIndex((nic) => nic.interface === named);
    let ordinal = Math.max(named === '' ? 0 : found, 0);
    const taken = used.get(provider) ?? new Set<number>();
    while (taken.has(ordinal)) ordinal += 1;
    used.set(provider, taken.add(ordinal));
    const name = interfaceOf(provider, ordinal, named);
    const ip = findIp({ pod, key, provider, ordinal }, context);
    return { pod, key, provider, ordinal, interface: name, isRequested: isRequested(provider, ordinal), ip };
  });
  const shownIps = new Set(annotated.map(({ ip }) => ip));
  const unannotated = own
    .filter((ip) => !shownIps.has(ip))
    .flatMap((ip): ShownNic[] => {
      const place = findPlace(ip, requested, context);
      if (!place) return [];
      const { provider, ordinal } = place;
      const name = interfaceOf(provider, ordinal, '');
      return [{ pod, key: provider, provider, ordinal, interface: name, isRequested: true, ip }];
    });
  return [...annotated, ...unannotated].map((nic) => observeNic(nic, context));
}

/** The NIC's IP object, by ipledger's name or Kube-OVN's. Names of two Pods can be equal. */
function findIp(
  { pod, key, provider, ordinal }: Pick<ShownNic, 'pod' | 'key' | 'provider' | 'ordinal'>,
  { ips }: Context,
): KubeOvnIp | undefined {
  const name = { pod: pod.ledgerName ?? pod.name, namespace: pod.namespace };
  const ip =
    ips.get(ipObjectName({ ...name, provider, ordinal })) ??
    ips.get(ipObjectName({ ...name, provider: key, ordinal: 0 }));
  return ip?.pod === name.pod && ip.namespace === name.namespace ? ip : undefined;
}

/** The provider and the ordinal of an IP object that the pod-watcher wrote. */
function findPlace(
  { name, pod, namespace, subnet }: KubeOvnIp,
  requested: ReadonlyMap<string, readonly unknown[]>,
  { subnets }: Context,
): { readonly provider: string; readonly ordinal: number } | undefined {
  const served = subnets.get(subnet);
  const providers = new Set([...(served ? [providerOf(served)] : []), ...requested.keys(), 'ovn', ovn4nfvProvider]);
  for (const provider of providers) {
    const count = provider === ovn4nfvProvider ? maxNics : (requested.get(provider)?.length ?? 1);
    for (let ordinal = 0; ordinal < count; ordinal++)
      if (ipObjectName({ pod, namespace, provider, ordinal }) === name) return { provider, ordinal };
  }
  return undefined;
}

function observeNic(nic: ShownNic, { subnetsOfProvider, vips }: Context): ObservedAttachment {
  const { pod, key, provider, ordinal, interface: interfaceName, isRequested, ip } = nic;
  const annotation = (suffix: string, prefix = key): string =>
    pod.annotations[`${prefix}.kubernetes.io/${suffix}`]?.trim() ?? '';
  const annotated = annotation('ip_address')
    .split(',')
    .flatMap((each) => canonicalAddress(each.trim()) ?? (each.trim() || []));
  const isRecorded = ip !== undefined && ip.addresses.length > 0;
  const addresses = isRecorded ? ip.addresses : annotated;
  const candidates = subnetsOfProvider.get(provider) ?? [];
  const containing = candidates.find((subnet) => addresses.some((each) => subnetContains(subnet, each)));
  const vip = vips.get(pod.annotations['ovn.kubernetes.io/vip']?.trim() ?? '');
  const routes = parseRoutes(annotation('routes', provider));
  const isDefault = annotation('default_route', provider);
  return {
    holder: holderOf(pod),
    provider,
    ordinal,
    interface: interfaceName,
    addresses,
    subnet: ip?.subnet || annotation('logical_switch') || (containing ?? candidates[0])?.name || '',
    mac: canonicalMac(isRecorded ? ip.mac : annotation('mac_address')) ?? '',
    routes: routes ?? [],
    defaultRoute: isDefault === 'true' || isDefault === 'false' ? isDefault === 'true' : undefined,
    vip: isRecorded && vip?.addresses.some((each) => addresses.includes(each)) ? vip.name : '',
    ipObject: ip,
    isRecorded,
    isRequested,
    annotated,
    ...(routes === undefined && {
      problem: `its annotation ${provider}.kubernetes.io/routes is not a JSON list of routes`,
    }),
  };
}

/**
 * A member without a Pod that its StatefulSet will create again. The uid of the last Pod is
 * unknown, so the IP object's uid replaces it, and the address is transferred when the Pod is
 * created.
 */
function findMemberAttachment(
  ip: KubeOvnIp,
  { snapshot: { statefulSets }, subnets }: Context,
): ObservedAttachment | undefined {
  const { namespace, pod: name, subnet } = ip;
  const [, setName, ordinal] = /^(.+)-(\d{1,9})$/.exec(name) ?? [];
  const set = statefulSets.get(`${namespace}/${setName}`);
  if (!setName || !set || !hasMember(set, Number(ordinal))) return undefined;
  const suffix = `${name}.${namespace}`;
  const provider = ip.name === suffix ? 'ovn' : ip.name.slice(suffix.length + 1);
  const owner = { kind: 'StatefulSet', name: setName, uid: set.uid };
  const record = {
    provider: subnets.get(subnet)?.spec.provider || provider,
    ordinal: 0,
    interface: '',
    addresses: ip.addresses,
    subnet,
    mac: ip.mac.toLowerCase(),
  };
  return { ...createAttachment({ namespace, name, uid: ip.uid, node: '', owner }, record), ipObject: ip };
}

/** The most routes that the ledger accepts. */
const maxRoutes = 64;
const routeFields = goFields(['dst', 'gw']);

/** Parses the annotation `routes`. Undefined for a value that the ledger would refuse. */
function parseRoutes(value: string): Route[] | undefined {
  const all = value === '' ? [] : tryParseJson(value);
  if (!Array.isArray(all) || all.length > maxRoutes) return undefined;
  const routes = all
    .map((each) => asRecord(routeFields(each)))
    .map(({ dst, gw }) => ({ dst: asText(dst), gw: asText(gw) }));
  return routes.every(isRoute) ? routes : undefined;
}

const isRoute = ({ dst, gw }: Route): boolean =>
  dst + gw !== '' && (dst === '' || isCidr(dst)) && (gw === '' || isAddress(gw));
