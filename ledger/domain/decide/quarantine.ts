/** Quarantines addresses on which a foreign host answers. A Pod that holds one keeps it. */
import { parseAddress } from '../addresses/address.ts';
import type { UnquarantineAddress, QuarantineAddress } from '../commands/command.ts';
import type { Event } from '../events/event.ts';
import { Refused } from '../commands/refusal.ts';
import { spaceOfFamily } from '../state/address-pools/address-space.ts';
import { claimOf, type State } from '../state/state.ts';
import { refuseFenced } from './rules/fence.ts';
import { refuseNonHost } from './rules/select-address.ts';
import { subnetUnknown, addressOutOfRange } from './rules/refusal-messages.ts';

/** Does nothing for an already quarantined address. @throws Refused, also for the gateway */
export function quarantine(state: State, { subnet, address, seenMac, seenAt, reason }: QuarantineAddress): Event[] {
  const configured = state.subnets.get(subnet);
  if (!configured) throw subnetUnknown(subnet);
  if (claimOf(state, subnet, address)?.quarantine) return [];
  const parsed = parseAddress(address);
  if (!parsed) throw new Refused('INVALID_REQUEST', `failed to parse IP ${address}: invalid IP address "${address}"`);
  const space = spaceOfFamily(configured.spaces, parsed.family);
  if (!space) throw addressOutOfRange(address, configured);
  refuseNonHost(configured, space, parsed.value);
  refuseFenced(state, subnet, address);
  return [{ type: 'AddressQuarantined', subnet, data: { address, seenMac, seenAt, reason } }];
}

/** Does nothing for an address that is not quarantined. @throws Refused ADDRESS_FENCED */
export function unquarantine(state: State, { subnet, address, reason }: UnquarantineAddress): Event[] {
  if (!claimOf(state, subnet, address)?.quarantine) return [];
  refuseFenced(state, subnet, address);
  return [{ type: 'QuarantineLifted', subnet, data: { address, reason } }];
}
