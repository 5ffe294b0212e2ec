/** Why an address can't be had, for a person. Where Kube-OVN has a name for it, that stands first. */
import type { AddressSpace } from '../address-space.ts';
import type { Claim } from '../claim.ts';
import type { IpFamily } from '../command.ts';
import { Refused } from '../refusal.ts';
import { claimInForce } from '../on-network.ts';
import type { ConfiguredSubnet, State } from '../state.ts';
import { isOf } from './family.ts';

export const instant = (at: number): string => new Date(at).toISOString();

/** `what` was released, but not let go of. */
export function answering(what: string, claim: Claim, bindingTimeoutMs: number): string {
  const [binding] = claim.bindings;
  return `${what} was released, but container ${binding?.containerId} on node ${binding?.node} may still answer on it: it is free after that container's CNI DEL, once that Node is deleted, or at ${instant(claim.lastAt + bindingTimeoutMs)}`;
}

/** That a subnet, or a pool of it, has no free address; and what becomes of those that nobody has. */
export function explainFull(
  state: State,
  configured: ConfiguredSubnet,
  { pool, ipFamily, now }: { readonly pool: string; readonly ipFamily: IpFamily; readonly now: number },
): string {
  const { subnet, spaces } = configured;
  const parts = spaces
    .filter(({ subnetFamily }) => isOf(subnetFamily.family, ipFamily))
    .map((space) => `IPv${space.subnetFamily.family}: ${explainPart(state, configured, space, { pool, now })}`);
  const what =
    pool === '' ? `subnet ${subnet.name} (${subnet.spec.cidrBlock})` : `ippool ${pool} of subnet ${subnet.name}`;
  return `NoAvailableAddress: ${what} has no free address: ${parts.join('; ')}. Delete Pods that are not needed, or widen the ${pool === '' ? 'subnet' : 'ippool'}`;
}

function explainPart(
  state: State,
  { subnet }: ConfiguredSubnet,
  space: AddressSpace,
  { pool, now }: { readonly pool: string; readonly now: number },
): string {
  const part = space.part(pool);
  if (!part || part.total === 0n)
    return pool === '' ? 'it has none to give' : 'none of its addresses can be given here';
  const resting = part.released.count;
  const at = part.nextAvailableAt(subnet.spec, (address) => claimInForce(state, subnet, address));
  const pooled = space.total - part.total;
  return [
    `${part.inUse} of ${part.total} addresses in use`,
    resting > 0
      ? `${resting} released but resting${at !== undefined && at > now ? ` (the next is free at ${instant(at)})` : ''}`
      : '',
    part.reserved > 0 ? `${part.reserved} reserved` : '',
    part.quarantined > 0 ? `${part.quarantined} quarantined` : '',
    pool === '' && pooled > 0n ? `${pooled} more belong to ippools` : '',
  ]
    .filter((text) => text !== '')
    .join(', ');
}

export const outOfRange = (address: string, { subnet }: ConfiguredSubnet): Refused =>
  new Refused(
    'ADDRESS_OUT_OF_RANGE',
    `AddressOutOfRange: ${address} is not a host address of subnet ${subnet.name} (${subnet.spec.cidrBlock})`,
  );

export const outOfPool = (address: string, { subnet }: ConfiguredSubnet, pool: string): Refused =>
  new Refused(
    'ADDRESS_OUT_OF_RANGE',
    `AddressOutOfRange: ${address} is not in ippool ${pool} of subnet ${subnet.name}`,
  );

export const noSubnet = (subnet: string): Refused =>
  new Refused('SUBNET_UNKNOWN', `NoSubnet: no subnet ${subnet} is configured`);
