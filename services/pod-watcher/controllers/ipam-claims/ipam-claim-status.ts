/** The status of an IPAMClaim: its addresses and the Pod that uses them. Pure. */
import { cidrContains } from '../../../../lib/net/ip.ts';
import type { UntypedJson } from '../../../../lib/kubernetes/untyped-json.ts';
import { type IpamClaimObject, ownerPodOf } from '../../kubernetes/objects/ipam-claim.ts';
import type { ConditionReasons } from '../object-controller/conditions.ts';
import type { Differences } from '../object-controller/object-controller.ts';
import type { IpamClaimAddresses } from './ipam-claim-address-cache.ts';

/** The conditions and reasons that OVN-Kubernetes uses. */
export const ipamClaimReasons: ConditionReasons = {
  onlyType: 'IPsAllocated',
  validated: 'SuccessfulAllocation',
  ready: 'SuccessfulAllocation',
  refused: 'AllocationFailed',
  refusedBy: {
    ADDRESS_IN_USE: 'IPAddressConflict',
    ADDRESS_QUARANTINED: 'IPAddressConflict',
    ADDRESS_RESERVED: 'IPAddressConflict',
    MAC_IN_USE: 'MACAddressConflict',
    MAC_RESERVED: 'MACAddressConflict',
    SUBNET_FULL: 'SubnetExhausted',
  },
  inUse: 'IPAMClaimInUse',
};

/** Adds prefix lengths to addresses. @param cidrBlock a CIDR of each family, joined with a comma */
export function prefixedAddresses({ addresses }: IpamClaimAddresses, cidrBlock: string): string[] {
  const cidrs = cidrBlock.split(',').map((each) => each.trim());
  return addresses.map((address) => {
    const cidr = cidrs.find((each) => cidrContains(each, address));
    const length = cidr?.slice(cidr.indexOf('/') + 1) ?? (address.includes(':') ? '128' : '32');
    return `${address}/${length}`;
  });
}

/** @param ownerPod the name of the Pod; "" if there is none */
export const ipamClaimStatus = (ips: readonly string[], ownerPod: string): UntypedJson => ({ ips, ownerPod });

/** Returns the changes that make the status current. They replace edits of other clients. */
export function ipamClaimDifferences({ status }: Pick<IpamClaimObject, 'status'>, desired: UntypedJson): Differences {
  const { ips, ownerPod } = desired;
  if (JSON.stringify(status['ips']) === JSON.stringify(ips) && ownerPodOf(status) === ownerPod) return {};
  return { status: { ips, ownerPod: ownerPod === '' ? null : { name: ownerPod } } };
}
