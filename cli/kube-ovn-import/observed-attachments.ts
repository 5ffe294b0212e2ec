/** Finds the addresses that Pods, IP objects and StatefulSets show, whether or not the ledger has them. Pure. */
import { hasMember } from '../cluster/address-retention.ts';
import { findRequestedAttachments } from '../cluster/requested-attachments.ts';
import { podLifecycleStage } from '../cluster/pod-lifecycle-stage.ts';
import { ipObjectName } from '../../lib/kubernetes/ip-object-name.ts';
import { cidrContains } from '../../lib/net/ip.ts';
import type { Owner, Route } from '../../proto/generated/ipledger.ts';
import { tryParseJson, asRecord, asText } from '../../lib/kubernetes/untyped-json.ts';
import type { KubeOvnIp, PodWithOwner, ClusterSnapshot } from '../cluster/cluster-snapshot.ts';

/** The Pod of an attachment. */
export interface Holder {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly node: string;
  readonly owner: Owner | undefined;
}

/** The addresses of one attachment of a Pod. */
export interface ObservedAttachment {
  readonly holder: Holder;
  readonly provider: string;
  readonly ordinal: number;
  readonly interface: string;
  readonly addresses: readonly string[];
  /** "" if unknown. */
  readonly subnet: string;
  readonly mac: string;
  readonly routes: readonly Route[];
  readonly defaultRoute: boolean | undefined;
  /** The Vip that has the addresses; "" for none. */
  readonly vip: string;
  /** Kube-OVN's IP object; it may be missing. */
  readonly ipObject: KubeOvnIp | undefined;
  /** What is invalid, as a clause. */
  readonly problem?: string;
}

/**
 * The attachments of Pods, and the retained addresses of StatefulSet members without a Pod.
 * @param includesOurs whether ipledger's own IP objects count as retained addresses.
 */
export function findObservedAttachments(snapshot: ClusterSnapshot, includesOurs = false): ObservedAttachment[] {
  const ips = new Map(snapshot.ips.map((ip) => [ip.name, ip]));
  const living = snapshot.pods.filter((pod) => podLifecycleStage(pod) !== 'ended');
  const shown = removeDuplicates(living.flatMap((pod) => findPodAttachments(pod, ips, snapshot)));
  const shownIps = new Set(shown.map(({ ipObject }) => ipObject?.name));
  const absent = snapshot.ips.filter(
    (ip) => ip.podType === 'StatefulSet' && (includesOurs || !ip.isOurs) && !shownIps.has(ip.name),
  );
  return [...shown, ...absent.flatMap((ip) => findMemberAttachment(ip, snapshot) ?? [])];
}

/** During the migration of a virtual machine, two Pods show its attachments. */
function removeDuplicates(attachments: readonly ObservedAttachment[]): ObservedAttachment[] {
  const keyOf = ({ holder: { namespace, name, uid }, provider, ordinal, addresses }: ObservedAttachment): string =>
    [namespace, name, uid, provider, ordinal, ...addresses].join('/');
  return [...new Map(attachments.map((each) => [keyOf(each), each])).values()];
}

const allocated = /^(.+)\.kubernetes\.io\/allocated$/;
/** "<network>.<namespace>.ovn.<interface>": Kube-OVN's key of a NIC if a Pod has several of one network. */
const interfaceKey = /^([^.]+\.[^.]+\.ovn)\.(.+)$/;

function findPodAttachments(
  pod: PodWithOwner,
  ips: ReadonlyMap<string, KubeOvnIp>,
  snapshot: ClusterSnapshot,
): ObservedAttachment[] {
  const nics = findRequestedAttachments(pod, snapshot);
  const used = new Set<string>();
  const keys = Object.entries(pod.annotations).flatMap(([key, value]) =>
    value === 'true' ? (allocated.exec(key)?.[1] ?? []) : [],
  );
  return keys.map((key) => {
    const [, provider = key, named = ''] = interfaceKey.exec(key) ?? [];
    const own = nics.filter((nic) => nic.provider === provider);
    const found = own.findIndex((nic) => nic.interface === named);
    let ordinal = Math.max(named === '' ? 0 : found, 0);
    while (used.has(`${provider}/${ordinal}`)) ordinal += 1;
    used.add(`${provider}/${ordinal}`);
    const interfaceName = provider === 'ovn' ? 'eth0' : named || (own[ordinal]?.interface ?? '');
    return createAttachment({ pod, key, provider, ordinal, interface: interfaceName }, ips, snapshot);
  });
}

interface ShownNic {
  readonly pod: PodWithOwner;
  /** The prefix of its annotations, before ".kubernetes.io/…". */
  readonly key: string;
  readonly provider: string;
  readonly ordinal: number;
  readonly interface: string;
}

function createAttachment(
  nic: ShownNic,
  ips: ReadonlyMap<string, KubeOvnIp>,
  { subnets, vips }: ClusterSnapshot,
): ObservedAttachment {
  const { pod, key, provider, ordinal, interface: interfaceName } = nic;
  const annotation = (suffix: string, prefix = key): string =>
    pod.annotations[`${prefix}.kubernetes.io/${suffix}`]?.trim() ?? '';
  const { namespace, ledgerName: name = pod.name, identity: uid, node, owner } = pod;
  const addresses = annotation('ip_address')
    .split(',')
    .flatMap((each) => each.trim() || []);
  const ip = ips.get(
    ipObjectName({ pod: annotation('virtualmachine') || pod.name, namespace, provider: key, ordinal: 0 }),
  );
  const candidates = subnets.filter(({ spec }) => (spec.provider || 'ovn') === provider);
  const containing = candidates.find(({ spec }) =>
    addresses.some((each) => spec.cidrBlock.split(',').some((cidr) => cidrContains(cidr, each))),
  );
  const vip = vips.find(({ name: vipName }) => vipName === pod.annotations['ovn.kubernetes.io/vip']?.trim());
  const routes = parseRoutes(annotation('routes', provider));
  const isDefault = annotation('default_route', provider);
  return {
    holder: { namespace, name, uid, node, owner },
    provider,
    ordinal,
    interface: interfaceName,
    addresses,
    subnet: ip?.subnet || annotation('logical_switch') || (containing ?? candidates[0])?.name || '',
    mac: annotation('mac_address').toLowerCase(),
    routes: routes ?? [],
    defaultRoute: isDefault === 'true' || isDefault === 'false' ? isDefault === 'true' : undefined,
    vip: vip && vip.addresses.some((each) => addresses.includes(each)) ? vip.name : '',
    ipObject: ip,
    ...(routes === undefined && {
      problem: `its annotation ${provider}.kubernetes.io/routes is not a JSON list of routes`,
    }),
  };
}

/** Undefined for an invalid value. */
function parseRoutes(value: string): Route[] | undefined {
  const all = value === '' ? [] : tryParseJson(value);
  return Array.isArray(all)
    ? all.map(asRecord).map(({ dst, gw }) => ({ dst: asText(dst), gw: asText(gw) }))
    : undefined;
}

/**
 * A member without a Pod that its StatefulSet will create again. The uid of the last Pod is unknown, so the IP object's uid replaces
 * it, and the address is transferred when the Pod is created.
 */
function findMemberAttachment(
  ip: KubeOvnIp,
  { statefulSets, subnets }: ClusterSnapshot,
): ObservedAttachment | undefined {
  const { namespace, pod: name, subnet } = ip;
  const [, setName, ordinal] = /^(.+)-(\d{1,9})$/.exec(name) ?? [];
  const set = statefulSets.get(`${namespace}/${setName}`);
  if (!setName || !set || !hasMember(set, Number(ordinal))) return undefined;
  const suffix = `${name}.${namespace}`;
  const provider = ip.name === suffix ? 'ovn' : ip.name.slice(suffix.length + 1);
  const servedSubnet = subnets.find((each) => each.name === subnet);
  return {
    holder: { namespace, name, uid: ip.uid, node: '', owner: { kind: 'StatefulSet', name: setName, uid: set.uid } },
    provider: servedSubnet?.spec.provider || provider,
    ordinal: 0,
    interface: '',
    addresses: ip.addresses,
    subnet,
    mac: ip.mac.toLowerCase(),
    routes: [],
    defaultRoute: undefined,
    vip: '',
    ipObject: ip,
  };
}
