/** The rule for AddressAllocated: addresses and MAC are free in the Subnet and on its networks, and the attachment holds nothing. */
import { otherClaims } from '../state/claims-on-network.ts';
import { networkOf } from '../state/network.ts';
import { allocationOf, claimOf, holderOfMac, type State } from '../state/state.ts';
import type { ClaimName } from '../state/claim.ts';
import type { AddressAllocated, Sequenced } from './event.ts';
import { formatAttachment } from './holding-rule.ts';
import type { EventVersion } from './schema-version.ts';

/** In earlier versions a quarantine, and a MAC, applied to one Subnet only, not to its network. */
const networksSince: EventVersion = 5;

/** How the event breaks the rule; undefined if it does not. */
export function brokenGrant(
  state: State,
  { subnet, data: { attachment, addresses, mac, cause } }: Sequenced<AddressAllocated>,
  version: EventVersion,
): string | undefined {
  if (!state.subnets.has(subnet)) return `allocates an address of subnet ${subnet}, which is not in force`;
  const held = allocationOf(state, attachment);
  if (held) return `allocates addresses to ${formatAttachment(attachment)}, which holds those of event ${held.seq}`;
  for (const { address } of addresses) {
    const claim = claimOf(state, subnet, address);
    const holder = claim?.allocation;
    if (holder)
      return `allocates ${address} of subnet ${subnet}, which ${formatAttachment(holder.attachment)} holds since event ${holder.seq}`;
    if (claim?.quarantine) return `allocates ${address} of subnet ${subnet}, which is quarantined`;
    // So an allocation with another cause proves that the address was not reserved.
    if (claim?.reservation && cause !== 'reservation' && cause !== 'import')
      return `allocates ${address} of subnet ${subnet} with cause ${cause}, which is reserved for ${claim.reservation.reservedFor}`;
    const elsewhere = brokenOnNetworks(state, { subnet, address }, attachment.provider, version);
    if (elsewhere !== undefined) return elsewhere;
  }
  const sameMac = mac === '' ? undefined : holderOfMac(state, `${networkOf(attachment.provider, subnet)}/${mac}`);
  if (!sameMac || (version < networksSince && allocationOf(state, sameMac)?.subnet !== subnet)) return undefined;
  return `allocates MAC ${mac} in subnet ${subnet}, which ${formatAttachment(sameMac)} has`;
}

/** On the NIC's network, and on the subnet's own, no other subnet's claim at the address has a holder or a quarantine. */
function brokenOnNetworks(
  state: State,
  { subnet, address }: ClaimName,
  provider: string,
  version: EventVersion,
): string | undefined {
  const own = state.subnets.get(subnet)?.subnet.network;
  for (const network of new Set([networkOf(provider, subnet), ...(own === undefined ? [] : [own])]))
    for (const { subnet: other, claim } of otherClaims(state, network, address, subnet)) {
      const allocates = `allocates ${address} of subnet ${subnet} on network ${network}`;
      const holder = claim.allocation;
      if (holder)
        return `${allocates}, where ${formatAttachment(holder.attachment)} holds it from subnet ${other} since event ${holder.seq}`;
      if (claim.quarantine && version >= networksSince)
        return `${allocates}, where it is quarantined in subnet ${other}`;
    }
  return undefined;
}
