/**
 * Builds the request for one attachment from the Pod's annotations, or returns the first error in them.
 *
 * Precedence of addresses: `ips` beside the network's name, the annotation for the interface, `ip_address`, `ip_pool`. Without
 * any of them the request is for any free address. Lower ones are validated, too. `ip_address` and `mac_address` name one
 * address: of several attachments to one network they apply to the first.
 */
import type { MessageInput } from '../../../../../proto/codec.ts';
import type { AddressSet, AttachmentRequest, Route } from '../../../../../proto/generated/ipledger.ts';
import { isOvnProvider } from '../../../../../lib/kubernetes/provider.ts';
import type { Pod } from '../../../kubernetes/objects/pod.ts';
import { truncate } from '../../../limits.ts';
import {
  type AddressConstraints,
  noConstraints,
  parseAddresses,
  parseCidrs,
  parseFamily,
  parseMac,
  parsePool,
  parseRoutes,
  validateRate,
} from './address-annotations.ts';
import {
  isSingleValueKeyOf,
  readAnnotation,
  readConstraintAnnotation,
  readInterfaceAnnotation,
  readProviderAnnotation,
  type ServedAttachment,
} from './attachment-annotations.ts';
import { networkKey } from './network-selections.ts';
import type { ResolvedAttachment } from './resolve-pod.ts';
import { ok, problem, type Result } from './result.ts';

/** The attachment, without what its network and IPPool decide. */
export type RequestedAttachment = ServedAttachment & Pick<ResolvedAttachment, 'member'>;

/** Parsed annotations of one Pod by key: each is parsed once for all attachments. */
export type AnnotationCache = Map<string, Result<unknown>>;

/** @param parse must depend on the key alone, for one Pod. */
function parseOnce<T>(cache: AnnotationCache, key: string, parse: () => Result<T>): Result<T> {
  const result = (cache.get(key) as Result<T> | undefined) ?? parse();
  cache.set(key, result);
  return result;
}

/** @returns the request without Subnets and IPPool. */
export function buildAttachmentRequest(
  pod: Pod,
  attachment: RequestedAttachment,
  cache: AnnotationCache = new Map(),
): Result<Omit<MessageInput<AttachmentRequest>, 'subnets' | 'pool'>> {
  const constraints = readConstraints(pod, attachment, cache);
  if (!constraints.ok) return constraints;
  const candidates = readCandidates(pod, attachment, { constraints: constraints.value, cache });
  if (!candidates.ok) return candidates;
  const mac = readMac(pod, attachment);
  if (!mac.ok) return mac;
  const values = validateValues(pod, attachment);
  if (!values.ok) return values;
  const routes = readRoutes(pod, attachment, cache);
  if (!routes.ok) return routes;
  const defaultRoute = readDefaultRoute(pod, attachment);
  if (!defaultRoute.ok) return defaultRoute;
  return ok({
    provider: attachment.provider,
    ordinal: attachment.ordinal,
    interface: attachment.selection.interface,
    candidates: candidates.value,
    mac: mac.value,
    routes: routes.value,
    defaultRoute: defaultRoute.value,
    ipFamily: constraints.value.family,
  });
}

function readConstraints(pod: Pod, attachment: ServedAttachment, cache: AnnotationCache): Result<AddressConstraints> {
  const [cidrKey, cidrs] = readConstraintAnnotation(pod, attachment, 'cidr');
  // Beside `allocated` the annotation is no constraint: the watcher wrote it to show what an attachment got.
  const isConstraint = cidrs !== '' && pod.annotations[cidrKey.replace(/cidr$/, 'allocated')] !== 'true';
  const cidr = isConstraint ? parseOnce(cache, cidrKey, () => parseCidrs(cidrs, cidrKey)) : ok(noConstraints.cidrs);
  if (!cidr.ok) return cidr;
  const [familyKey, value] = readConstraintAnnotation(pod, attachment, 'ip_family');
  const family = parseFamily(value, familyKey);
  return family.ok ? ok({ cidrs: cidr.value, family: family.value, familyKey }) : family;
}

/** The address sets that may be allocated, best first; empty for any address. */
function readCandidates(
  pod: Pod,
  attachment: RequestedAttachment,
  { constraints, cache }: { readonly constraints: AddressConstraints; readonly cache: AnnotationCache },
): Result<readonly AddressSet[]> {
  const { selection } = attachment;
  const poolCandidates = readPoolCandidates(pod, attachment, { constraints, cache });
  if (!poolCandidates.ok) return poolCandidates;
  const [interfaceKey, interfaceAddress] = readInterfaceAnnotation(pod, attachment, 'ip_address');
  const [key, address] = readAnnotation(pod, attachment, 'ip_address');
  const sources: [texts: readonly string[], key: string, label: string][] = [
    [selection.addresses, `ips of network ${networkKey(selection)}`, 'ips'],
    [splitList(interfaceAddress), interfaceKey, 'ip_address annotation'],
    [isSingleValueKeyOf(attachment, key) ? splitList(address) : [], key, 'ip_address annotation'],
  ];
  let first: AddressSet | undefined;
  for (const [texts, sourceKey, label] of sources) {
    if (texts.length === 0) continue;
    const allowsPrefixLength = texts === selection.addresses;
    const set = parseAddresses(texts, { key: sourceKey, label, allowsPrefixLength }, constraints);
    if (!set.ok) return set;
    first ??= set.value;
  }
  return first ? ok([first]) : poolCandidates;
}

const splitList = (value: string): string[] => (value === '' ? [] : value.split(','));

/** The addresses that `ip_pool` lists; for a member of a StatefulSet the entry at its place. Empty if it names an IPPool. */
function readPoolCandidates(
  pod: Pod,
  attachment: RequestedAttachment,
  { constraints, cache }: { readonly constraints: AddressConstraints; readonly cache: AnnotationCache },
): Result<readonly AddressSet[]> {
  const [key] = readAnnotation(pod, attachment, 'ip_pool');
  const value = pod.annotations[key];
  if (value === undefined) return ok([]);
  const pool = parseOnce(cache, key, () => parsePool(value, key, constraints));
  if (!pool.ok) return pool;
  if (pool.value.kind === 'named') return ok([]);
  const { sets } = pool.value;
  if (!attachment.member) return ok(sets);
  const { ordinal, firstOrdinal } = attachment.member;
  const own = sets[ordinal - firstOrdinal];
  if (own) return ok([own]);
  const from = firstOrdinal === 0 ? '' : `, whose first member is ${firstOrdinal}`;
  return problem(
    `NoAvailableAddress: ${key} has ${sets.length} entries, none for member ${ordinal} of the StatefulSet${from}`,
  );
}

function readMac(pod: Pod, attachment: ServedAttachment): Result<string> {
  const { selection } = attachment;
  const [interfaceKey, interfaceMac] = readInterfaceAnnotation(pod, attachment, 'mac_address');
  const [key, mac] = readAnnotation(pod, attachment, 'mac_address');
  const sources: [mac: string, key: string][] = [
    [selection.mac, `mac of network ${networkKey(selection)}`],
    [interfaceMac, interfaceKey],
    [isSingleValueKeyOf(attachment, key) ? mac : '', key],
  ];
  let first = '';
  for (const [text, sourceKey] of sources) {
    if (text === '') continue;
    const parsed = parseMac(text, sourceKey);
    if (!parsed.ok) return parsed;
    first ||= parsed.value;
  }
  return ok(first);
}

/**
 * Validates every `ip_family`, rate and burst of the provider, also under the key of one interface of a Kube-OVN-type network
 * ("<nad>.<namespace>.ovn.<interface>"), whether that key applies or not. Another plugin sets the bandwidth limits.
 */
function validateValues({ annotations }: Pod, { provider }: ServedAttachment): Result<undefined> {
  for (const [key, value] of Object.entries(annotations)) {
    const [, keyProvider = '', suffix] = validatedKey.exec(key) ?? [];
    if ((keyProvider !== provider && !isInterfaceOf(provider, keyProvider)) || value.trim() === '') continue;
    const result = suffix === 'ip_family' ? parseFamily(value.trim(), key) : validateRate(value.trim(), key);
    if (!result.ok) return result;
  }
  return ok(undefined);
}

const validatedKey = /^(.+)\.kubernetes\.io\/(ip_family|(?:in|e)gress_(?:rate|burst))$/;

const isInterfaceOf = (provider: string, keyProvider: string): boolean =>
  provider.includes('.') && isOvnProvider(provider) && keyProvider.slice(0, keyProvider.lastIndexOf('.')) === provider;

function readRoutes(pod: Pod, attachment: ServedAttachment, cache: AnnotationCache): Result<Route[]> {
  const [key, value] = readProviderAnnotation(pod, attachment, 'routes');
  if (value === '') return ok([]);
  const routes = parseOnce(cache, key, () => parseRoutes(value));
  return routes.ok ? routes : problem(`invalid routes for pod ${pod.namespace}/${pod.name}: ${key}: ${routes.problem}`);
}

function readDefaultRoute(pod: Pod, attachment: ServedAttachment): Result<boolean | undefined> {
  const [key, value] = readProviderAnnotation(pod, attachment, 'default_route');
  if (value === '') return ok(undefined);
  return value === 'true' || value === 'false'
    ? ok(value === 'true')
    : problem(`${truncate(value)} is not a valid ${key}: must be true or false`);
}
