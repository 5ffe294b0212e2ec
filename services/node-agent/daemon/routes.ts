/** Routes of a NIC: their order, their validation, and which of them are default routes. Pure. */
import { isIPv4 } from 'node:net';
import { isAddress, isCidr } from '../../../lib/net/ip.ts';
import type { Allocation, Route } from '../../../proto/generated/ipledger.ts';
import type { CniRequest } from './cni-request.ts';

/** Returns the routes of the network configuration, then those of the Pod's annotation. */
export const mergeRoutes = (request: CniRequest, allocation: Allocation): Route[] => [
  ...request.routes,
  ...allocation.routes,
];

/** Returns what is invalid in a route, or undefined. Host bits in `dst` are valid: the plugin masks them. */
export function findRouteFault({ dst, gw }: Route): string | undefined {
  if (dst !== '' && !isCidr(dst)) return `dst ${JSON.stringify(dst)} is not a CIDR`;
  if (gw !== '' && !isAddress(gw)) return `gw ${JSON.stringify(gw)} is not an IP address`;
  return undefined;
}

/** Returns the IP family of a default route, undefined for another route. Without `dst` the gateway has the family. */
export function defaultRouteFamily({ dst, gw }: Route): 4 | 6 | undefined {
  if (dst !== '' && !dst.endsWith('/0')) return undefined;
  return isIPv4(gw === '' ? dst.slice(0, -'/0'.length) : gw) ? 4 : 6;
}
