/**
 * Responses on the daemon socket. Field names, their order and the omitted empty fields are
 * Kube-OVN's. A response has both of Kube-OVN's forms: `ips` (v1.16 and later) and the flat,
 * comma-joined fields of earlier releases.
 */
import { isIPv4 } from 'node:net';
import type { ErrorCode, IpledgerError } from '../../../lib/errors.ts';
import type { Allocation, Route } from '../../../proto/generated/ipledger.ts';
import { cutMiddle } from '../../../lib/cut-middle.ts';
import { maxErrorBytes } from './cni-error.ts';
import type { CniRequest } from './plugin-request.ts';
import { isAddress, isCidr } from '../../../lib/net/ip.ts';

interface WireRoute {
  dst?: string;
  gw?: string;
}

/** The body of a response to ADD. Its fields are in the order of the JSON. */
interface CniResponse {
  /** The addition `node_gateway` is the gateway of a NIC without the default route. */
  readonly ips:
    readonly { protocol: string; ip: string; cidr: string; gateway?: string; node_gateway?: string }[] | null;
  readonly protocol: string;
  readonly address: string;
  readonly mac_address: string;
  readonly cidr: string;
  readonly gateway: string;
  readonly routes: readonly WireRoute[] | null;
  readonly mtu: number;
  readonly nicname: string;
  readonly dns: object;
  readonly error: string;
  /** An addition of ipledger: the link of the NIC on the node. */
  readonly host_nicname?: string;
  /** An addition of ipledger: the CNI error code, where "try again later" (11) would be wrong. */
  readonly cni_code?: number;
}

const emptyResponse: CniResponse = {
  ips: null,
  protocol: '',
  address: '',
  mac_address: '',
  cidr: '',
  gateway: '',
  routes: null,
  mtu: 0,
  nicname: '',
  dns: {},
  error: '',
};

/** A NIC that the agent made. */
export interface ResponseNic {
  readonly mac: string;
  readonly mtu: number;
  /** The name of the link on the node. */
  readonly hostLink: string;
}

/**
 * Formats the response to a successful ADD. Only the interface with the default route gets the
 * gateway: the one that the Pod's annotation names, else eth0.
 * @param nic absent if another plugin makes the NIC: MAC, MTU and NIC name stay empty
 */
export function formatAddResponse(request: CniRequest, allocation: Allocation, nic?: ResponseNic): string {
  const isDefaultRoute = allocation.defaultRoute ?? request.interface === 'eth0';
  const ips = allocation.addresses.map(({ address, cidr, gateway }) => ({
    protocol: isIPv4(address) ? 'IPv4' : 'IPv6',
    ip: address,
    cidr,
    ...(isDefaultRoute && gateway !== '' && { gateway }),
    ...(!isDefaultRoute && request.takesGateway && { node_gateway: gateway }),
  }));
  const routes = mergeRoutes(request, allocation);
  const response: CniResponse = {
    ...emptyResponse,
    ips,
    protocol: ips.length > 1 ? 'Dual' : (ips[0]?.protocol ?? ''),
    address: ips.map(({ ip }) => ip).join(','),
    cidr: ips.map(({ cidr }) => cidr).join(','),
    gateway: ips.flatMap(({ gateway }) => gateway ?? []).join(','),
    routes: routes.length > 0 ? routes.map(wireRoute) : null,
    ...(nic && { mac_address: nic.mac, mtu: nic.mtu, nicname: request.interface, host_nicname: nic.hostLink }),
  };
  return JSON.stringify(response);
}

const wireRoute = ({ dst, gw }: Route): WireRoute => ({ ...(dst !== '' && { dst }), ...(gw !== '' && { gw }) });

/** CNI error codes, from 100, for errors that no retry resolves. */
const permanentCniCodes: Partial<Record<ErrorCode, number>> = { NOT_IMPLEMENTED: 100, CHECK_FAILED: 101 };

/** Formats the response of a failed request; a long message loses its middle. */
export function formatErrorResponse(error: IpledgerError): string {
  const cni_code = permanentCniCodes[error.code];
  return JSON.stringify({
    ...emptyResponse,
    error: cutMiddle(error.message, maxErrorBytes),
    ...(cni_code && { cni_code }),
  } satisfies CniResponse);
}

/** Returns the routes of the network configuration, then those of the Pod's annotation. */
export const mergeRoutes = (request: CniRequest, allocation: Allocation): Route[] => [
  ...request.routes,
  ...allocation.routes,
];

/** Returns what is invalid in a route, or undefined. Host bits in `dst` are valid. */
export function findRouteFault({ dst, gw }: Route): string | undefined {
  if (dst !== '' && !isCidr(dst)) return `dst ${JSON.stringify(dst)} is not a CIDR`;
  if (gw !== '' && !isAddress(gw)) return `gw ${JSON.stringify(gw)} is not an IP address`;
  return undefined;
}

/** Returns the IP family of a default route, taken from the gateway if `dst` is empty. */
export function defaultRouteFamily({ dst, gw }: Route): 4 | 6 | undefined {
  if (dst !== '' && !dst.endsWith('/0')) return undefined;
  return isIPv4(gw === '' ? dst.slice(0, -'/0'.length) : gw) ? 4 : 6;
}
