/** Takes addresses out of use on which somebody outside answers. Who holds one keeps it. */
import { parseAddress } from '../address.ts';
import type { LiftQuarantine, QuarantineAddress } from '../command.ts';
import type { Event } from '../event.ts';
import { Refused } from '../refusal.ts';
import { claimOf, type State } from '../state.ts';
import { refuseFenced } from './fence.ts';
import { refuseNoHost } from './pick.ts';
import { noSubnet, outOfRange } from './reasons.ts';

/** One that is quarantined stays so, with what was said first. @throws Refused SUBNET_UNKNOWN, INVALID_REQUEST, ADDRESS_OUT_OF_RANGE, ADDRESS_IN_USE (the gateway), ADDRESS_FENCED */
export function quarantine(state: State, { subnet, address, seenMac, seenAt, reason }: QuarantineAddress): Event[] {
  const configured = state.subnets.get(subnet);
  if (!configured) throw noSubnet(subnet);
  if (claimOf(state, subnet, address)?.quarantine) return [];
  const parsed = parseAddress(address);
  if (!parsed) throw new Refused('INVALID_REQUEST', `failed to parse IP ${address}: invalid IP address "${address}"`);
  const space = configured.spaces.find(({ subnetFamily }) => subnetFamily.family === parsed.family);
  if (!space) throw outOfRange(address, configured);
  refuseNoHost(configured, space, parsed.value);
  refuseFenced(state, subnet, address);
  return [{ type: 'AddressQuarantined', subnet, data: { address, seenMac, seenAt, reason } }];
}

/** One that is not quarantined is lifted already. @throws Refused ADDRESS_FENCED */
export function lift(state: State, { subnet, address, reason }: LiftQuarantine): Event[] {
  if (!claimOf(state, subnet, address)?.quarantine) return [];
  refuseFenced(state, subnet, address);
  return [{ type: 'QuarantineLifted', subnet, data: { address, reason } }];
}
