/** Plans a NIC of type kube-ovn from request, allocation and settings. Pure. */
import { isIPv6 } from 'node:net';
import { isAddress, isCidr, networkAddressOf } from '../../../lib/net/ip.ts';
import { localnetPatchName, logicalPortName } from '../../../lib/ovn/names.ts';
import type { Allocation } from '../../../proto/generated/ipledger.ts';
import type { CniRequest } from '../daemon/plugin-request.ts';
import { defaultRouteFamily, mergeRoutes } from '../daemon/cni-response.ts';
import { DataPathError } from './data-path-error.ts';
import { hostLinkName } from './host-link.ts';
import type { NicSettings, RateLimit } from './nic-settings.ts';

/** A route with a destination in canonical form. Without `gw` the destination is on the link. */
export interface NicRoute {
  readonly dst: string;
  readonly gw: string;
}

export interface NicPlan {
  readonly containerId: string;
  readonly interface: string;
  readonly netns: string;
  /** The name of the link on the node. */
  readonly hostLink: string;
  readonly mac: string;
  readonly mtu: number;
  /** Addresses as `address/length`. */
  readonly addresses: readonly string[];
  readonly routes: readonly NicRoute[];
  /** Families whose default routes in the sandbox the NIC replaces. */
  readonly replacedDefaults: readonly (4 | 6)[];
  readonly gateways: readonly string[];
  /** Whether ADD fails if a gateway does not answer. */
  readonly requiresGateway: boolean;
  readonly logicalPort: string;
  /** The OVS port that connects the Subnet's physical network; undefined if it has none. */
  readonly localnetPatch: string | undefined;
  readonly ingress: RateLimit | undefined;
  readonly egress: RateLimit | undefined;
  readonly pod: { readonly namespace: string; readonly name: string };
  readonly provider: string;
}

const minMtu = 68;
const minIpv6Mtu = 1_280;
const macPattern = /^([0-9a-f]{2}:){5}[0-9a-f]{2}$/;
/** Rejects characters that split or end a line of an `ip` batch. */
const netnsPattern = /^\/[^\s'"\\#]+$/;

/**
 * @param mtu the MTU of the NIC
 * @throws DataPathError settings
 */
export function planNic(request: CniRequest, allocation: Allocation, { mtu, ...settings }: NicSettings): NicPlan {
  const { netns, podNamespace, podName, containerId, interface: name } = request;
  const addresses = allocation.addresses.map(({ address, cidr }) => `${address}/${cidr.split('/')[1] ?? ''}`);
  const mac = allocation.mac.toLowerCase();
  if (!allocation.attachment || !macPattern.test(mac) || !addresses.every(isCidr))
    throw new DataPathError(
      'settings',
      `the ledger has no complete NIC for interface ${name}: MAC, addresses and Subnet`,
    );
  if (!netnsPattern.test(netns))
    throw new DataPathError('settings', `the path of the network namespace, ${JSON.stringify(netns)}, cannot be used`);
  const needed = addresses.some(isIpv6Cidr) ? minIpv6Mtu : minMtu;
  if (mtu < needed)
    throw new DataPathError(
      'settings',
      `MTU ${mtu} is below the minimum of ${needed}: correct spec.mtu of Subnet ${allocation.subnet}`,
    );
  const routes = routesOf(request, allocation);
  return {
    containerId,
    interface: name,
    netns,
    hostLink: hostLinkName(request),
    mac,
    mtu,
    addresses,
    routes,
    replacedDefaults: [...new Set(routes.flatMap((route) => defaultRouteFamily(route) ?? []))],
    gateways: allocation.addresses.map(({ gateway }) => gateway).filter(isAddress),
    requiresGateway: !settings.isGatewayCheckDisabled,
    logicalPort: logicalPortName(allocation.attachment),
    localnetPatch: settings.isUnderlay ? localnetPatchName(allocation.subnet) : undefined,
    ingress: settings.ingress,
    egress: settings.egress,
    pod: { namespace: podNamespace, name: podName },
    provider: request.provider,
  };
}

export const isIpv6Cidr = (cidr: string): boolean => isIPv6(cidr.split('/')[0] ?? '');

/** Returns the routes of request and Pod, and gateways of families without a default route. */
function routesOf(request: CniRequest, allocation: Allocation): NicRoute[] {
  const routes = mergeRoutes(request, allocation).map(({ dst, gw }) => ({ dst: destinationOf(dst, gw), gw }));
  if (!(allocation.defaultRoute ?? request.interface === 'eth0')) return routes;
  const families = new Set(routes.flatMap((route) => defaultRouteFamily(route) ?? []));
  const defaults = allocation.addresses
    .filter(({ gateway }) => isAddress(gateway) && !families.has(isIPv6(gateway) ? 6 : 4))
    .map(({ gateway }) => ({ dst: destinationOf('', gateway), gw: gateway }));
  return [...routes, ...defaults];
}

function destinationOf(dst: string, gw: string): string {
  if (dst === '') return gw === '' || isIPv6(gw) ? '::/0' : '0.0.0.0/0';
  if (isCidr(dst)) return networkAddressOf(dst);
  throw new DataPathError('settings', `route destination ${JSON.stringify(dst)} is no CIDR`);
}
