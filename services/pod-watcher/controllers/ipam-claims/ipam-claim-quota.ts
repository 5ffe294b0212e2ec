/** The limit `maxAddressesPerNamespace` of a Subnet for IPAMClaims, whose addresses count also while no Pod holds them. */
import type { AllocationCache } from '../pods/allocation-cache.ts';
import type { SubnetCache } from '../subnets/subnet-cache.ts';
import type { IpamClaimAddressCache } from './ipam-claim-address-cache.ts';

export interface QuotaView {
  readonly subnets: Pick<SubnetCache, 'get'>;
  readonly allocations: Pick<AllocationCache, 'addressCount'>;
  readonly claims: Pick<IpamClaimAddressCache, 'idleAddresses'>;
}

/** Why a namespace gets no further addresses of a Subnet for its IPAMClaims, as a sentence; undefined if it does. */
export function quotaRefusal(
  { subnets, allocations, claims }: QuotaView,
  { namespace, subnet, requested }: { readonly namespace: string; readonly subnet: string; readonly requested: number },
): string | undefined {
  const limit = subnets.get(subnet)?.spec.maxAddressesPerNamespace;
  if (limit === undefined) return undefined;
  const has = allocations.addressCount(namespace, subnet) + claims.idleAddresses(namespace, subnet).length;
  if (has + requested <= limit) return undefined;
  return `NamespaceQuotaExceeded: Pods and IPAMClaims of namespace ${namespace} have ${has} addresses of subnet ${subnet}, the limit is ${limit} (maxAddressesPerNamespace), and ${requested} more ${requested === 1 ? 'is' : 'are'} requested. Delete Pods or IPAMClaims of namespace ${namespace} that are not needed, or raise the limit in the Subnet`;
}
