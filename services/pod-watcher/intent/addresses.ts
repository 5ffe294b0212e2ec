/** Addresses, MACs, routes and pools as people write them into annotations. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { isCidr } from '../../../lib/ip.ts';
import type { AddressSet, Route } from '../../../proto/ipledger.ts';
import { overLimit, podLimits, shown, textLimits, tooLong, tooMany } from '../limits.ts';
import { ok, problem, type Result } from './result.ts';

/** Canonical text of an address; undefined when it is none. A prefix length or a zone makes it none. */
export function canonical(address: string): string | undefined {
  switch (isIP(address)) {
    case 4:
      return address;
    case 6:
      return address.includes('%') ? undefined : ipaddr.IPv6.parse(address).toRFC5952String();
    default:
      return undefined;
  }
}

/** What else the annotations say of an attachment's addresses: each address that is asked for must agree. */
export interface Limits {
  /** Of the annotation `cidr`: one of each family at most. */
  readonly cidrs: Cidrs;
  /** "" for either. */
  readonly family: '' | 'ipv4' | 'ipv6';
  /** The annotation that says so. */
  readonly familyKey: string;
}

/** CIDRs, read once for all addresses that must be in them. */
export interface Cidrs {
  /** As they are written; "" for none. */
  readonly text: string;
  readonly ranges: readonly (readonly [network: ipaddr.IPv4 | ipaddr.IPv6, length: number])[];
}

/** Where addresses stand that somebody asks for. */
export interface Place {
  /** The annotation's key, or words that say where. */
  readonly key: string;
  /** What the list is called to a person: "ip_address annotation". */
  readonly what: string;
  /** Whether a prefix length is taken, and left out: the subnet says what it is. */
  readonly masks: boolean;
}

/** One address, or one of each family: what one request may ask for. IPv4 comes first. */
export function readAddresses(texts: readonly string[], place: Place, limits: Limits): Result<AddressSet> {
  const many = tooMany(place.key, texts, { most: podLimits.addresses, unit: 'addresses' });
  if (many !== undefined) return problem(many);
  const asked = texts.map((text) => text.trim());
  const long = asked.map((text) => tooLong(`an address of ${place.key}`, text, textLimits.addressLength));
  const [first] = long.filter((each) => each !== undefined);
  if (first !== undefined) return problem(first);
  const addresses: string[] = [];
  for (const text of asked) {
    const address = canonical(isCidr(text) ? text.slice(0, text.indexOf('/')) : text);
    if (address === undefined) return problem(`${text} is not a valid ${place.key}: failed to parse IP ${text}`);
    const outside = outsideOf(limits, address, text);
    if (outside !== '') return problem(outside);
    addresses.push(address);
  }
  const masked = asked.find((text) => text.includes('/'));
  if (masked !== undefined && !place.masks)
    return problem(`failed to parse IP ${masked}: ${place.key} takes addresses without a prefix length`);
  return oneOfEach(addresses, `${place.what} "${texts.join(',')}"`, place.key);
}

/** Why an address does not agree with the limits; "" when it does. `text` is how it was written. */
export function outsideOf({ cidrs, family, familyKey }: Limits, address: string, text: string): string {
  if (cidrs.text !== '' && !contains(cidrs, address)) return `${text} not in cidr ${cidrs.text}`;
  if (family !== '' && `ipv${isIP(address)}` !== family) return `${text} does not match ${familyKey} ${family}`;
  return '';
}

function contains({ ranges }: Cidrs, address: string): boolean {
  const parsed = ipaddr.parse(address);
  return ranges.some(([network, length]) => network.kind() === parsed.kind() && parsed.match(network, length));
}

function oneOfEach(addresses: readonly string[], where: string, key: string): Result<AddressSet> {
  for (const family of [4, 6])
    if (addresses.filter((address) => isIP(address) === family).length > 1)
      return problem(`multiple IPv${family} addresses in ${where}: ${key} takes one of each family`);
  return ok({ addresses: [...addresses].sort((a, b) => isIP(a) - isIP(b)) });
}

export type PoolRequest =
  | { readonly kind: 'list'; readonly sets: readonly AddressSet[] }
  /** The name of an IPPool object. */
  | { readonly kind: 'named'; readonly pool: string };

/**
 * The annotation `ip_pool`. With a `;` it is a list of single addresses and `v4,v6` pairs; else a comma list of addresses,
 * of which exactly two of different families are one pair. A single word that is no address names an IPPool.
 */
export function parsePool(value: string, key: string, limits: Limits = noLimits): Result<PoolRequest> {
  const trimmed = value.trim();
  if (trimmed === '') return problem(`annotation ${key} is empty: name addresses, or remove it`);
  if (isPoolName(trimmed)) return ok({ kind: 'named', pool: trimmed });
  const elements = poolElements(trimmed);
  const has = elements.length;
  const remedy = 'remove some, or name an IPPool';
  if (has > podLimits.candidates)
    return problem(overLimit(`annotation ${key}`, { has, most: podLimits.candidates, unit: 'entries', remedy }));
  const sets: AddressSet[] = [];
  for (const element of elements) {
    const set = poolEntry(element, key, limits);
    if (!set.ok) return set;
    sets.push(set.value);
  }
  return ok({ kind: 'list', sets });
}

/** Of three addresses two are of one family: no more are looked at. */
const decisive = 3;

function poolEntry(element: string, key: string, limits: Limits): Result<AddressSet> {
  const addresses: string[] = [];
  for (const each of element.split(',', decisive)) {
    const text = each.trim();
    const address = canonical(text);
    if (address === undefined) return notValid(text, key);
    const outside = outsideOf(limits, address, text);
    if (outside !== '') return problem(outside);
    addresses.push(address);
  }
  return oneOfEach(addresses, `"${shown(element)}"`, `an entry of ${key}`);
}

/** Agrees with every address. */
export const noLimits: Limits = { cidrs: { text: '', ranges: [] }, family: '', familyKey: '' };

/** Whether the annotation `ip_pool` names an IPPool: one word that neither is an address nor was meant to be one. */
export function isPoolName(value: string): boolean {
  const word = value.trim();
  return word !== '' && !/[,;:/]|^[0-9.]+$/.test(word);
}

function poolElements(value: string): string[] {
  if (value.includes(';')) return value.split(';').map((element) => element.trim());
  const elements = value.split(',').map((element) => element.trim());
  const [first = '', second = ''] = elements;
  const pair = elements.length === 2 && isIP(first) !== 0 && isIP(second) !== 0 && isIP(first) !== isIP(second);
  return pair ? [`${first},${second}`] : elements;
}

function notValid(text: string, key: string): Result<never> {
  return problem(`${text === '' ? 'an empty element' : shown(text)} in ${key} is not a valid address`);
}

/** The annotation `cidr`: "v4", "v6" or "v4,v6". */
export function parseCidrs(value: string, key: string): Result<Cidrs> {
  const invalid = problem(`invalid cidr ${shown(value)}: ${key} wants one of each family at most`);
  const texts = value.split(',', decisive).map((text) => text.trim());
  if (texts.length === decisive || !texts.every(isCidr)) return invalid;
  const ranges = texts.map((text) => ipaddr.parseCIDR(text));
  const families = new Set(ranges.map(([network]) => network.kind()));
  return families.size === ranges.length ? ok({ text: value, ranges }) : invalid;
}

/** The annotation `ip_family`, in lower case only. */
export function parseFamily(value: string, key: string): Result<Limits['family']> {
  return value === '' || value === 'ipv4' || value === 'ipv6'
    ? ok(value)
    : problem(`${shown(value)} is not a valid ${key}: want ipv4 or ipv6`);
}

const macAddress = /^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/i;

/** A MAC of six octets with colons, as written. */
export function parseMac(value: string, key: string): Result<string> {
  const mac = value.trim();
  return macAddress.test(mac) ? ok(mac) : problem(`${shown(mac)} is not a valid ${key}`);
}

/** A bandwidth: a number, in megabits. */
export function parseRate(value: string, key: string): Result<undefined> {
  return /^\d+(\.\d+)?$/.test(value) ? ok(undefined) : problem(`${shown(value)} is not a valid ${key}: want a number`);
}

const routesShape = z.array(z.object({ dst: z.string().optional(), gw: z.string().optional() }));

/** The annotation `routes`: a JSON array of `{"dst": "<cidr>", "gw": "<address>"}`; without `dst` it is the default route. */
export function parseRoutes(value: string): Result<Route[]> {
  let raw: unknown;
  try {
    raw = JSON.parse(value);
  } catch (error) {
    return problem(error instanceof Error ? error.message : String(error));
  }
  const many = Array.isArray(raw) ? tooMany('it', raw, { most: podLimits.routes, unit: 'routes' }) : undefined;
  if (many !== undefined) return problem(many);
  const parsed = routesShape.safeParse(raw);
  if (!parsed.success) return problem('want a JSON array of {"dst": "<cidr>", "gw": "<address>"}');
  const routes: Route[] = [];
  for (const [index, { dst = '', gw = '' }] of parsed.data.entries()) {
    if (dst === '' && gw === '') return problem(`route ${index} has neither dst nor gw`);
    if (dst !== '' && !isCidr(dst)) return problem(`dst ${shown(JSON.stringify(dst))} of route ${index} is not a CIDR`);
    if (gw !== '' && canonical(gw) === undefined)
      return problem(`gw ${shown(JSON.stringify(gw))} of route ${index} is not an address`);
    routes.push({ dst, gw });
  }
  return ok(routes);
}
