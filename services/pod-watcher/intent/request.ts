/**
 * One attachment's request, from the Pod's annotations.
 *
 * An address that was asked for beside the network's name goes before the annotation for the interface, that before
 * `ip_address`, that before `ip_pool`; with none of them any free address will do. Of several attachments to one provider,
 * `ip_address` and `mac_address` are the first one's: they name one address.
 */
import type { Input } from '../../../proto/codec.ts';
import type { AddressSet, AttachmentRequest, Route } from '../../../proto/ipledger.ts';
import type { Pod } from '../kubernetes/objects.ts';
import { addressSet, parseMac, parsePool, parseRoutes } from './addresses.ts';
import type { Selection } from './attachments.ts';
import { memberOf, ownerOf } from './owner.ts';
import { ok, problem, type Result } from './result.ts';

export interface Wanted {
  readonly pod: Pod;
  readonly selection: Selection;
  readonly provider: string;
  readonly ordinal: number;
  /** Best first; at least one. */
  readonly subnets: readonly string[];
}

/** The request; or what is wrong with the annotations, which it names. */
export function requestOf(wanted: Wanted): Result<Input<AttachmentRequest>> {
  const { selection, provider, ordinal, subnets } = wanted;
  const [familyKey, family] = annotation(wanted, 'ip_family');
  if (family !== '')
    return problem(`${familyKey}: choosing a family is not served yet; name a Subnet of that family instead`);
  const candidates = candidatesOf(wanted);
  if (!candidates.ok) return candidates;
  const mac = macOf(wanted);
  if (!mac.ok) return mac;
  const routes = routesOf(wanted);
  if (!routes.ok) return routes;
  const defaultRoute = defaultRouteOf(wanted);
  if (!defaultRoute.ok) return defaultRoute;
  return ok({
    provider,
    ordinal,
    interface: selection.interface,
    subnets,
    candidates: candidates.value,
    mac: mac.value,
    routes: routes.value,
    defaultRoute: defaultRoute.value,
  });
}

/** The annotation's key, and its value without surrounding blanks; "" if there is none. */
function annotation({ pod, provider }: Wanted, suffix: string): [key: string, value: string] {
  const key = `${provider}.kubernetes.io/${suffix}`;
  return [key, pod.annotations[key]?.trim() ?? ''];
}

/** As above, of the key for one interface, which has no ".ovn" in it. */
function interfaceAnnotation({ pod, selection }: Wanted, suffix: string): [key: string, value: string] {
  if (selection.interface === '') return ['', ''];
  const key = `${selection.name}.${selection.namespace}.kubernetes.io/${suffix}.${selection.interface}`;
  return [key, pod.annotations[key]?.trim() ?? ''];
}

function candidatesOf(wanted: Wanted): Result<AddressSet[]> {
  const { selection, ordinal } = wanted;
  if (selection.addresses.length > 0)
    return only(selection.addresses, `ips of network ${selection.namespace}/${selection.name}`);
  const [interfaceKey, ofInterface] = interfaceAnnotation(wanted, 'ip_address');
  if (ofInterface !== '') return only(ofInterface.split(','), interfaceKey);
  const [key, address] = annotation(wanted, 'ip_address');
  if (address !== '' && ordinal === 0) return only(address.split(','), key);
  return poolOf(wanted);
}

function only(addresses: readonly string[], key: string): Result<AddressSet[]> {
  const set = addressSet(addresses);
  return set.ok ? ok([set.value]) : problem(`${key}: ${set.problem}`);
}

function poolOf(wanted: Wanted): Result<AddressSet[]> {
  const { pod, provider } = wanted;
  const key = `${provider}.kubernetes.io/ip_pool`;
  const value = pod.annotations[key];
  if (value === undefined) return ok([]);
  const pool = parsePool(value, key);
  if (!pool.ok) return pool;
  if (pool.value.kind === 'named')
    return problem(`${key} names IPPool ${pool.value.pool}: IPPools are not served yet; list the addresses instead`);
  const { sets } = pool.value;
  const member = memberOf(pod, ownerOf(pod));
  if (member === undefined) return ok([...sets]);
  const own = sets[member];
  return own
    ? ok([own])
    : problem(`NoAvailableAddress: ${key} has ${sets.length} entries, none for member ${member} of the StatefulSet`);
}

function macOf(wanted: Wanted): Result<string> {
  const { selection, ordinal } = wanted;
  if (selection.mac !== '') return parseMac(selection.mac, `mac of network ${selection.namespace}/${selection.name}`);
  const [interfaceKey, ofInterface] = interfaceAnnotation(wanted, 'mac_address');
  if (ofInterface !== '') return parseMac(ofInterface, interfaceKey);
  const [key, mac] = annotation(wanted, 'mac_address');
  return mac !== '' && ordinal === 0 ? parseMac(mac, key) : ok('');
}

function routesOf(wanted: Wanted): Result<Route[]> {
  const [key, value] = annotation(wanted, 'routes');
  if (value === '') return ok([]);
  const routes = parseRoutes(value);
  const { namespace, name } = wanted.pod;
  return routes.ok ? routes : problem(`invalid routes for pod ${namespace}/${name}: ${key}: ${routes.problem}`);
}

function defaultRouteOf(wanted: Wanted): Result<boolean | undefined> {
  const [key, value] = annotation(wanted, 'default_route');
  if (value === '') return ok(undefined);
  return value === 'true' || value === 'false'
    ? ok(value === 'true')
    : problem(`${value} is not a valid ${key}: want true or false`);
}
