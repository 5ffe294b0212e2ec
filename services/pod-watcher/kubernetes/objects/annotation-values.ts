/** Parses annotations about addresses: addresses, CIDRs, families, pools, MACs, routes. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import * as z from 'zod';
import { errorMessage } from '../../../../lib/errors.ts';
import { canonicalAddress, canonicalMac } from '../../../../ledger/domain/addresses/address.ts';
import { proposeForm } from '../../../../ledger/domain/addresses/address-form.ts';
import { goFields } from '../../../../lib/go-fields.ts';
import { ipv4First, isCidr, withoutPrefixLength } from '../../../../lib/net/ip.ts';
import { ok, problem, type Result } from '../../../../lib/result.ts';
import type { AddressSet, Route } from '../../../../proto/generated/ipledger.ts';
import { limitExceeded, podLimits, truncate, textLimits, tooLong, tooMany } from '../../limits.ts';
import { checkShape } from '../../../../lib/check-shape.ts';

/** The constraints that every requested address of an attachment must meet. */
export interface AddressConstraints {
  /** The CIDRs of the annotation `cidr`: at most one per family. */
  readonly cidrs: CidrConstraint;
  /** The family of the addresses; "" means both. */
  readonly family: '' | 'ipv4' | 'ipv6';
  /** The key of the annotation `ip_family`. */
  readonly familyKey: string;
}

/** CIDRs that are parsed once for all addresses. */
export interface CidrConstraint {
  /** The text in the annotation; "" if there is none. */
  readonly text: string;
  readonly ranges: readonly (readonly [network: ipaddr.IPv4 | ipaddr.IPv6, length: number])[];
}

/** The source of requested addresses, for messages. */
export interface AddressSource {
  /** The annotation's key, or a description of the source. */
  readonly key: string;
  /** The name of the list in messages, such as "ip_address annotation". */
  readonly label: string;
  /** Whether addresses may have a prefix length, which is ignored: the Subnet determines it. */
  readonly allowsPrefixLength: boolean;
}

/** Parses one address, or one per family. IPv4 comes first. */
export function parseAddresses(
  texts: readonly string[],
  source: AddressSource,
  constraints: AddressConstraints,
): Result<AddressSet> {
  const many = tooMany(source.key, texts, { most: podLimits.addresses, unit: 'addresses' });
  if (many !== undefined) return problem(many);
  const trimmed = texts.map((text) => text.trim());
  const long = trimmed.map((text) => tooLong(`an address of ${source.key}`, text, textLimits.addressLength));
  const [first] = long.filter((each) => each !== undefined);
  if (first !== undefined) return problem(first);
  const addresses: string[] = [];
  for (const text of trimmed) {
    const address = canonicalAddress(withoutPrefixLength(text));
    if (address === undefined)
      return problem(`${text} is not a valid ${source.key}: failed to parse IP ${text}${proposeForm(text, 'address')}`);
    const violation = constraintViolation(constraints, address, text);
    if (violation !== '') return problem(violation);
    addresses.push(address);
  }
  const prefixed = trimmed.find((text) => text.includes('/'));
  if (prefixed !== undefined && !source.allowsPrefixLength)
    return problem(`failed to parse IP ${prefixed}: ${source.key} takes addresses without a prefix length`);
  return oneOfEachFamily(addresses, `${source.label} "${texts.join(',')}"`, source.key);
}

/** Returns why an address violates the constraints; "" if not. @param text as annotated */
function constraintViolation({ cidrs, family, familyKey }: AddressConstraints, address: string, text: string): string {
  if (cidrs.text !== '' && !contains(cidrs, address)) return `${text} not in cidr ${cidrs.text}`;
  if (family !== '' && `ipv${isIP(address)}` !== family) return `${text} does not match ${familyKey} ${family}`;
  return '';
}

function contains({ ranges }: CidrConstraint, address: string): boolean {
  const parsed = ipaddr.parse(address);
  return ranges.some(([network, length]) => network.kind() === parsed.kind() && parsed.match(network, length));
}

function oneOfEachFamily(addresses: readonly string[], where: string, key: string): Result<AddressSet> {
  for (const family of [4, 6])
    if (addresses.filter((address) => isIP(address) === family).length > 1)
      return problem(`multiple IPv${family} addresses in ${where}: ${key} takes one of each family`);
  return ok({ addresses: ipv4First(addresses) });
}

export type PoolRequest =
  | { readonly kind: 'list'; readonly sets: readonly AddressSet[] }
  /** The name of an IPPool object. */
  | { readonly kind: 'named'; readonly pool: string };

/**
 * Parses the annotation `ip_pool`. A value with `;` is a list of single addresses and `v4,v6`
 * pairs. Any other value is a list of addresses, separated by commas; exactly two of different
 * families are one pair. A single word that is not an address is the name of an IPPool.
 */
export function parsePool(
  value: string,
  key: string,
  constraints: AddressConstraints = noConstraints,
): Result<PoolRequest> {
  const trimmed = value.trim();
  if (trimmed === '') return problem(`annotation ${key} is empty: name addresses or an IPPool, or remove it`);
  if (isPoolName(trimmed)) return ok({ kind: 'named', pool: trimmed });
  const elements = poolElements(trimmed);
  const has = elements.length;
  const remedy = 'remove some, or name an IPPool';
  if (has > podLimits.candidates)
    return problem(limitExceeded(`annotation ${key}`, { has, most: podLimits.candidates, unit: 'entries', remedy }));
  const sets: AddressSet[] = [];
  for (const element of elements) {
    const set = parsePoolEntry(element, key, constraints);
    if (!set.ok) return set;
    sets.push(set.value);
  }
  return ok({ kind: 'list', sets });
}

/** The number of addresses to parse: three are an error, because two of them have one family. */
const maxParsedAddresses = 3;

function parsePoolEntry(element: string, key: string, constraints: AddressConstraints): Result<AddressSet> {
  const addresses: string[] = [];
  for (const each of element.split(',', maxParsedAddresses)) {
    const text = each.trim();
    const address = canonicalAddress(text);
    if (address === undefined) return invalidElement(text, key);
    const violation = constraintViolation(constraints, address, text);
    if (violation !== '') return problem(violation);
    addresses.push(address);
  }
  return oneOfEachFamily(addresses, `"${truncate(element)}"`, `an entry of ${key}`);
}

export const noConstraints: AddressConstraints = { cidrs: { text: '', ranges: [] }, family: '', familyKey: '' };

/** Whether `ip_pool` is the name of an IPPool: a word that does not resemble an address. */
const isPoolName = (word: string): boolean => !/[,;:/]|^[0-9.]+$/.test(word) && proposeForm(word, 'range') === '';

function poolElements(value: string): string[] {
  if (value.includes(';')) return value.split(';').map((element) => element.trim());
  const elements = value.split(',').map((element) => element.trim());
  const [first = '', second = ''] = elements;
  const pair = elements.length === 2 && isIP(first) !== 0 && isIP(second) !== 0 && isIP(first) !== isIP(second);
  return pair ? [`${first},${second}`] : elements;
}

function invalidElement(text: string, key: string): Result<never> {
  const named = text === '' ? 'an empty element' : truncate(text);
  const proposal = proposeForm(text, 'range');
  const pool = proposal.includes('..') ? `, in the spec.ips of an IPPool, and name the IPPool` : '';
  return problem(`${named} in ${key} is not a valid address${proposal}${pool}`);
}

/** Parses the annotation `cidr`: "v4", "v6" or "v4,v6". */
export function parseCidrs(value: string, key: string): Result<CidrConstraint> {
  const invalid = problem(`invalid cidr ${truncate(value)}: ${key} takes at most one CIDR of each family`);
  const texts = value.split(',', maxParsedAddresses).map((text) => text.trim());
  if (texts.length === maxParsedAddresses || !texts.every(isCidr)) return invalid;
  const ranges = texts.map((text) => ipaddr.parseCIDR(text));
  const families = new Set(ranges.map(([network]) => network.kind()));
  return families.size === ranges.length ? ok({ text: value, ranges }) : invalid;
}

/** Parses the annotation `ip_family`, which must be in lower case. */
export function parseFamily(value: string, key: string): Result<AddressConstraints['family']> {
  return value === '' || value === 'ipv4' || value === 'ipv6'
    ? ok(value)
    : problem(`${truncate(value)} is not a valid ${key}: must be ipv4 or ipv6`);
}

/** Parses a NIC's MAC of six octets in Go's forms. Returns it in canonical form. */
export function parseMac(value: string, key: string): Result<string> {
  const mac = canonicalMac(value.trim());
  const form = 'write six octets of a unicast MAC, 02:00:00:53:6b:bb';
  return mac === undefined ? problem(`${truncate(value.trim())} is not a valid ${key}: ${form}`) : ok(mac);
}

/** Validates a bandwidth: a number, in Mbit/s. */
export function validateRate(value: string, key: string): Result<undefined> {
  return /^\d+(\.\d+)?$/.test(value)
    ? ok(undefined)
    : problem(`${truncate(value)} is not a valid ${key}: must be a number`);
}

export const parseBoolean = (value: string, key: string): Result<boolean> =>
  value === 'true' || value === 'false'
    ? ok(value === 'true')
    : problem(`${truncate(value)} is not a valid ${key}: must be true or false`);

const route = z.object({ dst: z.string().optional(), gw: z.string().optional() });
const routesShape = z.array(z.preprocess(goFields(Object.keys(route.shape)), route));

/** Parses `routes`: a JSON array of `{"dst": "<cidr>", "gw": "<address>"}`; default without dst. */
export function parseRoutes(value: string): Result<Route[]> {
  let raw: unknown;
  try {
    raw = JSON.parse(value);
  } catch (error) {
    return problem(errorMessage(error));
  }
  const many = Array.isArray(raw) ? tooMany('it', raw, { most: podLimits.routes, unit: 'routes' }) : undefined;
  if (many !== undefined) return problem(many);
  const parsed = checkShape(routesShape, raw);
  if (!parsed.success) return problem('must be a JSON array of {"dst": "<cidr>", "gw": "<address>"}');
  const routes: Route[] = [];
  for (const [index, { dst = '', gw = '' }] of parsed.data.entries()) {
    if (dst === '' && gw === '') return problem(`route ${index} has neither dst nor gw`);
    if (dst !== '' && !isCidr(dst))
      return problem(`dst ${truncate(JSON.stringify(dst))} of route ${index} is not a CIDR`);
    if (gw !== '' && canonicalAddress(gw) === undefined)
      return problem(`gw ${truncate(JSON.stringify(gw))} of route ${index} is not an address`);
    routes.push({ dst, gw });
  }
  return ok(routes);
}
