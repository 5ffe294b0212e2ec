/**
 * One attachment's request, from the Pod's annotations. Whatever is malformed in them is said before anything is asked for.
 *
 * An address that was asked for beside the network's name goes before the annotation for the interface, that before
 * `ip_address`, that before `ip_pool`; with none of them any free address will do. Of several attachments to one provider,
 * `ip_address` and `mac_address` are the first one's: they name one address.
 */
import type { Input } from '../../../proto/codec.ts';
import type { AddressSet, AttachmentRequest, Route } from '../../../proto/ipledger.ts';
import { isOvnProvider } from '../../../lib/provider.ts';
import type { Pod } from '../kubernetes/objects.ts';
import {
  isPoolName,
  type Limits,
  noLimits,
  parseCidrs,
  parseFamily,
  parseMac,
  parsePool,
  parseRate,
  parseRoutes,
  readAddresses,
} from './addresses.ts';
import type { Selection } from './attachments.ts';
import { memberOf, ownerOf } from './owner.ts';
import { ok, problem, type Result } from './result.ts';
import { shown } from '../limits.ts';

export interface Wanted {
  readonly pod: Pod;
  readonly selection: Selection;
  readonly provider: string;
  readonly ordinal: number;
  /** Best first; at least one. */
  readonly subnets: readonly string[];
  /** Whether the interface is part of its keys: "<provider>.<interface>.kubernetes.io/…". */
  readonly ownKeys?: boolean;
  /** The ordinal of the first member, of a Pod of a StatefulSet; absent: 0. */
  readonly firstMember?: number | undefined;
  /** What was read of the Pod's annotations; absent: nothing yet. */
  readonly readings?: Readings;
}

/** What annotations say, by their keys: each is read once for all attachments of one plan. */
export type Readings = Map<string, Result<unknown>>;

/** @param read must depend on the key alone, for one Pod. */
function once<T>({ readings }: Wanted, key: string, read: () => Result<T>): Result<T> {
  const result = (readings?.get(key) as Result<T> | undefined) ?? read();
  readings?.set(key, result);
  return result;
}

/** Which addresses will do. */
interface Asked {
  /** Best first; empty for any. */
  readonly candidates: readonly AddressSet[];
  /** The IPPool from which alone it may come; "" for the rest of the subnet. */
  readonly pool: string;
}

/** The request; or what is wrong with the annotations, which it names. */
export function requestOf(wanted: Wanted): Result<Input<AttachmentRequest>> {
  const { selection, provider, ordinal, subnets } = wanted;
  const limits = limitsOf(wanted);
  if (!limits.ok) return limits;
  const asked = askedOf(wanted, limits.value);
  if (!asked.ok) return asked;
  const mac = macOf(wanted);
  if (!mac.ok) return mac;
  const values = checkValues(wanted);
  if (!values.ok) return values;
  const routes = routesOf(wanted);
  if (!routes.ok) return routes;
  const defaultRoute = defaultRouteOf(wanted);
  if (!defaultRoute.ok) return defaultRoute;
  return ok({
    provider,
    ordinal,
    interface: selection.interface,
    subnets,
    candidates: asked.value.candidates,
    pool: asked.value.pool,
    mac: mac.value,
    routes: routes.value,
    defaultRoute: defaultRoute.value,
    ipFamily: limits.value.family,
  });
}

/** Whether the request needs to know where the ordinals of the Pod's StatefulSet begin. */
export function countsMembers(wanted: Wanted): boolean {
  const [, value] = annotation(wanted, 'ip_pool');
  return value !== '' && !isPoolName(value) && memberOf(wanted.pod, ownerOf(wanted.pod)) !== undefined;
}

/** The annotation's key, and its value without surrounding blanks; "" if there is none. */
export function annotation(wanted: Wanted, suffix: string): [key: string, value: string] {
  const { pod, provider, selection, ownKeys = false } = wanted;
  const key = `${ownKeys ? `${provider}.${selection.interface}` : provider}.kubernetes.io/${suffix}`;
  return [key, pod.annotations[key]?.trim() ?? ''];
}

/** As above, of the key for one interface, which has no ".ovn" in it. */
function interfaceAnnotation({ pod, selection }: Wanted, suffix: string): [key: string, value: string] {
  if (selection.interface === '') return ['', ''];
  const key = `${selection.name}.${selection.namespace}.kubernetes.io/${suffix}.${selection.interface}`;
  return [key, pod.annotations[key]?.trim() ?? ''];
}

/** Whether a key that names one address is about this attachment. */
const isFirst = ({ ordinal, ownKeys = false }: Wanted): boolean => ordinal === 0 || ownKeys;

function limitsOf(wanted: Wanted): Result<Limits> {
  const [cidrKey, cidrs] = annotation(wanted, 'cidr');
  // Beside `allocated` it is no wish, but what some attachment of the provider got.
  const isWish = cidrs !== '' && annotation(wanted, 'allocated')[1] !== 'true';
  const cidr = isWish ? once(wanted, cidrKey, () => parseCidrs(cidrs, cidrKey)) : ok(noLimits.cidrs);
  if (!cidr.ok) return cidr;
  const [familyKey, value] = annotation(wanted, 'ip_family');
  const family = parseFamily(value, familyKey);
  return family.ok ? ok({ cidrs: cidr.value, family: family.value, familyKey }) : family;
}

function askedOf(wanted: Wanted, limits: Limits): Result<Asked> {
  const { selection } = wanted;
  const pool = poolOf(wanted, limits);
  if (!pool.ok) return pool;
  const [interfaceKey, ofInterface] = interfaceAnnotation(wanted, 'ip_address');
  const [key, address] = annotation(wanted, 'ip_address');
  const beside = `ips of network ${selection.namespace}/${selection.name}`;
  const places: [texts: readonly string[], key: string, what: string][] = [
    [selection.addresses, beside, 'ips'],
    [listed(ofInterface), interfaceKey, 'ip_address annotation'],
    [isFirst(wanted) ? listed(address) : [], key, 'ip_address annotation'],
  ];
  let first: Asked | undefined;
  for (const [texts, place, what] of places) {
    if (texts.length === 0) continue;
    const set = readAddresses(texts, { key: place, what, masks: texts === selection.addresses }, limits);
    if (!set.ok) return set;
    first ??= { candidates: [set.value], pool: '' };
  }
  return ok(first ?? pool.value);
}

const listed = (value: string): string[] => (value === '' ? [] : value.split(','));

function poolOf(wanted: Wanted, limits: Limits): Result<Asked> {
  const { pod, firstMember = 0 } = wanted;
  const [key] = annotation(wanted, 'ip_pool');
  const value = pod.annotations[key];
  if (value === undefined) return ok({ candidates: [], pool: '' });
  const pool = once(wanted, key, () => parsePool(value, key, limits));
  if (!pool.ok) return pool;
  if (pool.value.kind === 'named') return ok({ candidates: [], pool: pool.value.pool });
  const { sets } = pool.value;
  const member = memberOf(pod, ownerOf(pod));
  if (member === undefined) return ok({ candidates: sets, pool: '' });
  const own = sets[member - firstMember];
  if (own) return ok({ candidates: [own], pool: '' });
  const from = firstMember === 0 ? '' : `, whose first member is ${firstMember}`;
  return problem(
    `NoAvailableAddress: ${key} has ${sets.length} entries, none for member ${member} of the StatefulSet${from}`,
  );
}

function macOf(wanted: Wanted): Result<string> {
  const { selection } = wanted;
  const [interfaceKey, ofInterface] = interfaceAnnotation(wanted, 'mac_address');
  const [key, mac] = annotation(wanted, 'mac_address');
  const places: [mac: string, key: string][] = [
    [selection.mac, `mac of network ${selection.namespace}/${selection.name}`],
    [ofInterface, interfaceKey],
    [isFirst(wanted) ? mac : '', key],
  ];
  let first = '';
  for (const [text, place] of places) {
    if (text === '') continue;
    const parsed = parseMac(text, place);
    if (!parsed.ok) return parsed;
    first ||= parsed.value;
  }
  return ok(first);
}

/**
 * The value of every `ip_family`, rate and burst of the provider, also under the key of one interface of a Kube-OVN-type network
 * ("<nad>.<namespace>.ovn.<interface>"), whether that key applies or not. Limits of bandwidth are another plugin's to set.
 */
function checkValues({ pod, provider }: Wanted): Result<undefined> {
  for (const [key, value] of Object.entries(pod.annotations)) {
    const [, of = '', suffix] = checkedKey.exec(key) ?? [];
    if ((of !== provider && !isInterfaceOf(provider, of)) || value.trim() === '') continue;
    const checked = suffix === 'ip_family' ? parseFamily(value.trim(), key) : parseRate(value.trim(), key);
    if (!checked.ok) return checked;
  }
  return ok(undefined);
}

const checkedKey = /^(.+)\.kubernetes\.io\/(ip_family|(?:in|e)gress_(?:rate|burst))$/;

const isInterfaceOf = (provider: string, key: string): boolean =>
  provider.includes('.') && isOvnProvider(provider) && key.slice(0, key.lastIndexOf('.')) === provider;

/** Of the provider alone, also where the other keys name the interface: so does Kube-OVN. */
function routesOf(wanted: Wanted): Result<Route[]> {
  const [key, value] = annotation({ ...wanted, ownKeys: false }, 'routes');
  if (value === '') return ok([]);
  const routes = once(wanted, key, () => parseRoutes(value));
  const { namespace, name } = wanted.pod;
  return routes.ok ? routes : problem(`invalid routes for pod ${namespace}/${name}: ${key}: ${routes.problem}`);
}

function defaultRouteOf(wanted: Wanted): Result<boolean | undefined> {
  const [key, value] = annotation({ ...wanted, ownKeys: false }, 'default_route');
  if (value === '') return ok(undefined);
  return value === 'true' || value === 'false'
    ? ok(value === 'true')
    : problem(`${shown(value)} is not a valid ${key}: want true or false`);
}
