/** Who had which address of Kube-OVN's, by what Pods, IP objects and StatefulSets show. Pure. */
import { hasMember } from '../check/retained.ts';
import { wantedNics } from '../check/wants.ts';
import { lifeOf } from '../check/pods.ts';
import { ipName } from '../../lib/ip-name.ts';
import { cidrHas } from '../../lib/ip.ts';
import type { Owner, Route } from '../../proto/ipledger.ts';
import { json, record, text } from '../../lib/raw.ts';
import type { LeftIp, PlacedPod, Snapshot } from '../snapshot.ts';

/** Whose addresses they are. */
export interface Holder {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly node: string;
  readonly owner: Owner | undefined;
}

/** The addresses of one attachment of a Pod. */
export interface Claim {
  readonly holder: Holder;
  readonly provider: string;
  readonly ordinal: number;
  readonly interface: string;
  readonly addresses: readonly string[];
  /** "" when nothing says which. */
  readonly subnet: string;
  readonly mac: string;
  readonly routes: readonly Route[];
  readonly defaultRoute: boolean | undefined;
  /** The Vip whose addresses they are; "" for none. */
  readonly vip: string;
  /** What Kube-OVN wrote of it; it may be missing. */
  readonly ip: LeftIp | undefined;
  /** What of this cannot be understood, as a clause. */
  readonly problem?: string;
}

/**
 * All that living Pods show, and what is kept for members of StatefulSets that are away at this moment.
 * @param ours whether also what our own IP objects say of such members counts.
 */
export function claimsOf(snapshot: Snapshot, ours = false): Claim[] {
  const ips = new Map(snapshot.ips.map((ip) => [ip.name, ip]));
  const alive = snapshot.pods.filter((pod) => lifeOf(pod, snapshot.at) !== 'ended');
  const shown = distinct(alive.flatMap((pod) => claimsOfPod(pod, ips, snapshot)));
  const known = new Set(shown.map(({ ip }) => ip?.name));
  const away = snapshot.ips.filter((ip) => ip.podType === 'StatefulSet' && (ours || !ip.ours) && !known.has(ip.name));
  return [...shown, ...away.flatMap((ip) => claimOfMember(ip, snapshot) ?? [])];
}

/** While a virtual machine moves, two Pods show what it has. */
function distinct(claims: readonly Claim[]): Claim[] {
  const keyOf = ({ holder: { namespace, name, uid }, provider, ordinal, addresses }: Claim): string =>
    [namespace, name, uid, provider, ordinal, ...addresses].join('/');
  return [...new Map(claims.map((claim) => [keyOf(claim), claim])).values()];
}

const allocated = /^(.+)\.kubernetes\.io\/allocated$/;
/** "<network>.<namespace>.ovn.<interface>": Kube-OVN's key of a NIC whose network its Pod has several times. */
const ofInterface = /^([^.]+\.[^.]+\.ovn)\.(.+)$/;

function claimsOfPod(pod: PlacedPod, ips: ReadonlyMap<string, LeftIp>, snapshot: Snapshot): Claim[] {
  const nics = wantedNics(pod, snapshot);
  const used = new Set<string>();
  const keys = Object.entries(pod.annotations).flatMap(([key, value]) =>
    value === 'true' ? (allocated.exec(key)?.[1] ?? []) : [],
  );
  return keys.map((key) => {
    const [, provider = key, named = ''] = ofInterface.exec(key) ?? [];
    const own = nics.filter((nic) => nic.provider === provider);
    const found = own.findIndex((nic) => nic.interface === named);
    let ordinal = Math.max(named === '' ? 0 : found, 0);
    while (used.has(`${provider}/${ordinal}`)) ordinal += 1;
    used.add(`${provider}/${ordinal}`);
    const interfaceName = provider === 'ovn' ? 'eth0' : named || (own[ordinal]?.interface ?? '');
    return claimOf({ pod, key, provider, ordinal, interface: interfaceName }, ips, snapshot);
  });
}

interface Shown {
  readonly pod: PlacedPod;
  /** What stands before ".kubernetes.io/…" in its annotations. */
  readonly key: string;
  readonly provider: string;
  readonly ordinal: number;
  readonly interface: string;
}

function claimOf(shown: Shown, ips: ReadonlyMap<string, LeftIp>, { subnets, vips }: Snapshot): Claim {
  const { pod, key, provider, ordinal, interface: interfaceName } = shown;
  const said = (suffix: string, of = key): string => pod.annotations[`${of}.kubernetes.io/${suffix}`]?.trim() ?? '';
  const { namespace, ledgerName: name = pod.name, identity: uid, node, owner } = pod;
  const addresses = said('ip_address')
    .split(',')
    .flatMap((each) => each.trim() || []);
  const ip = ips.get(ipName({ pod: said('virtualmachine') || pod.name, namespace, provider: key, ordinal: 0 }));
  const served = subnets.filter(({ spec }) => (spec.provider || 'ovn') === provider);
  const holding = served.find(({ spec }) =>
    addresses.some((each) => spec.cidrBlock.split(',').some((cidr) => cidrHas(cidr, each))),
  );
  const vip = vips.find(({ name: called }) => called === pod.annotations['ovn.kubernetes.io/vip']?.trim());
  const routes = routesOf(said('routes', provider));
  const always = said('default_route', provider);
  return {
    holder: { namespace, name, uid, node, owner },
    provider,
    ordinal,
    interface: interfaceName,
    addresses,
    subnet: ip?.subnet || said('logical_switch') || (holding ?? served[0])?.name || '',
    mac: said('mac_address').toLowerCase(),
    routes: routes ?? [],
    defaultRoute: always === 'true' || always === 'false' ? always === 'true' : undefined,
    vip: vip && vip.addresses.some((each) => addresses.includes(each)) ? vip.name : '',
    ip,
    ...(routes === undefined && {
      problem: `its annotation ${provider}.kubernetes.io/routes is no JSON list of routes`,
    }),
  };
}

/** Undefined for what is none. */
function routesOf(value: string): Route[] | undefined {
  const all = value === '' ? [] : json(value);
  return Array.isArray(all) ? all.map(record).map(({ dst, gw }) => ({ dst: text(dst), gw: text(gw) })) : undefined;
}

/**
 * A member that is away and that its StatefulSet will have again: the uid of the Pod that had the address is not known any more, so
 * that of the IP object stands for it, and the address is passed on when the member comes.
 */
function claimOfMember(ip: LeftIp, { statefulSets, subnets }: Snapshot): Claim | undefined {
  const { namespace, pod: name, subnet } = ip;
  const [, setName, ordinal] = /^(.+)-(\d{1,9})$/.exec(name) ?? [];
  const set = statefulSets.get(`${namespace}/${setName}`);
  if (!setName || !set || !hasMember(set, Number(ordinal))) return undefined;
  const suffix = `${name}.${namespace}`;
  const provider = ip.name === suffix ? 'ovn' : ip.name.slice(suffix.length + 1);
  const served = subnets.find((each) => each.name === subnet);
  return {
    holder: { namespace, name, uid: ip.uid, node: '', owner: { kind: 'StatefulSet', name: setName, uid: set.uid } },
    provider: served?.spec.provider || provider,
    ordinal: 0,
    interface: '',
    addresses: ip.addresses,
    subnet,
    mac: ip.mac.toLowerCase(),
    routes: [],
    defaultRoute: undefined,
    vip: '',
    ip,
  };
}
