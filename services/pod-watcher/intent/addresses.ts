/** Addresses, MACs, routes and pools as people write them into annotations. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { isCidr } from '../../../lib/ip.ts';
import type { AddressSet, Route } from '../../../proto/ipledger.ts';
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

/** One address, or one of each family: what one request may ask for. IPv4 comes first. */
export function addressSet(addresses: readonly string[]): Result<AddressSet> {
  const found: string[] = [];
  for (const each of addresses) {
    const address = canonical(each.trim());
    if (address === undefined) return problem(`failed to parse IP ${each.trim()}`);
    found.push(address);
  }
  const [first = '', second = ''] = found;
  if (found.length === 1) return ok({ addresses: found });
  if (found.length !== 2 || isIP(first) === isIP(second))
    return problem(`${found.join(',')} are not one address, or one of each family`);
  return ok({ addresses: found.sort((a, b) => isIP(a) - isIP(b)) });
}

export type PoolRequest =
  | { readonly kind: 'list'; readonly sets: readonly AddressSet[] }
  /** The name of an IPPool object. */
  | { readonly kind: 'named'; readonly pool: string };

/**
 * The annotation `ip_pool`. With a `;` it is a list of single addresses and `v4,v6` pairs; else a comma list of addresses,
 * of which exactly two of different families are one pair. A single word that is no address names an IPPool.
 */
export function parsePool(value: string, key: string): Result<PoolRequest> {
  const trimmed = value.trim();
  if (trimmed === '') return problem(`annotation ${key} is empty: name addresses, or remove it`);
  if (!/[,;]/.test(trimmed) && canonical(trimmed) === undefined) {
    const looksLikeAddress = /^[0-9.]+$|:|\//.test(trimmed);
    return looksLikeAddress ? notValid(trimmed, key) : ok({ kind: 'named', pool: trimmed });
  }
  const sets: AddressSet[] = [];
  for (const element of poolElements(trimmed)) {
    const set = addressSet(element.split(','));
    if (!set.ok) return notValid(element, key);
    sets.push(set.value);
  }
  return ok({ kind: 'list', sets });
}

function poolElements(value: string): string[] {
  if (value.includes(';')) return value.split(';').map((element) => element.trim());
  const elements = value.split(',').map((element) => element.trim());
  const [first = '', second = ''] = elements;
  const pair = elements.length === 2 && isIP(first) !== 0 && isIP(second) !== 0 && isIP(first) !== isIP(second);
  return pair ? [`${first},${second}`] : elements;
}

function notValid(element: string, key: string): Result<never> {
  return problem(`${element === '' ? 'an empty element' : element} in ${key} is not a valid address`);
}

const macAddress = /^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/i;

/** A MAC of six octets with colons, as written. */
export function parseMac(value: string, key: string): Result<string> {
  const mac = value.trim();
  return macAddress.test(mac) ? ok(mac) : problem(`${mac} is not a valid ${key}`);
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
  const parsed = routesShape.safeParse(raw);
  if (!parsed.success) return problem('want a JSON array of {"dst": "<cidr>", "gw": "<address>"}');
  const routes: Route[] = [];
  for (const [index, { dst = '', gw = '' }] of parsed.data.entries()) {
    if (dst === '' && gw === '') return problem(`route ${index} has neither dst nor gw`);
    if (dst !== '' && !isCidr(dst)) return problem(`dst ${JSON.stringify(dst)} of route ${index} is not a CIDR`);
    if (gw !== '' && canonical(gw) === undefined)
      return problem(`gw ${JSON.stringify(gw)} of route ${index} is not an address`);
    routes.push({ dst, gw });
  }
  return ok(routes);
}
