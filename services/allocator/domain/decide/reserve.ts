/** Holds addresses without a Pod, and lets go of them. */
import { canonicalMac, parseAddress } from '../address.ts';
import type { AddressSpace } from '../address-space.ts';
import type { Claim } from '../claim.ts';
import type { Reserve, Unreserve } from '../command.ts';
import { type Event, familyOf } from '../event.ts';
import type { ClaimName } from '../journal.ts';
import { otherClaims } from '../on-network.ts';
import { Refused } from '../refusal.ts';
import { claimOf, type ConfiguredSubnet, heldBy, type State } from '../state.ts';
import { reservedForAttachment, reservedIn } from './entitlement.ts';
import { isOf, spacesFor } from './family.ts';
import { isFenced, refuseFenced } from './fence.ts';
import { bestFree, refuseNoHost } from './pick.ts';
import { explainFull, instant, noSubnet, outOfRange } from './reasons.ts';

/**
 * What is reserved for it already stays as it is. An address that is held is reserved for its holder only.
 * @throws Refused SUBNET_UNKNOWN, INVALID_REQUEST, IP_FAMILY_INVALID, ADDRESS_OUT_OF_RANGE, ADDRESS_IN_USE, ADDRESS_FENCED, SUBNET_FULL
 */
export function reserve(state: State, command: Reserve): Event[] {
  const { subnet, reservedFor, reason } = command;
  const configured = state.subnets.get(subnet);
  if (!configured) throw noSubnet(subnet);
  refuseMalformed(reservedFor);
  const mac = command.mac === '' ? '' : canonicalMac(command.mac);
  if (mac === undefined) throw new Refused('INVALID_REQUEST', `${command.mac} is not a valid unicast MAC address`);
  const addresses = command.addresses.length > 0 ? named(state, configured, command) : any(state, configured, command);
  if (addresses.length === 0) return [];
  if (mac !== '') refuseTakenMac(state, configured, mac, reservedFor);
  return [{ type: 'AddressReserved', subnet, data: { addresses, reservedFor, reason, mac } }];
}

/** Ends reservations, each by an event of its own; who holds the address keeps it. @throws Refused INVALID_REQUEST, ADDRESS_FENCED */
export function unreserve(state: State, { subnet, addresses, reservedFor, reason }: Unreserve): Event[] {
  if (addresses.length === 0 && reservedFor === '')
    throw new Refused('INVALID_REQUEST', 'name the addresses whose reservation ends, or what they are reserved for');
  const all = addresses.length > 0 ? addresses : reservedIn(state, subnet, reservedFor).map(({ address }) => address);
  const ended = new Map<number, { reservedFor: string; addresses: string[] }>();
  for (const address of all) {
    const reservation = claimOf(state, subnet, address)?.reservation;
    if (!reservation || (reservedFor !== '' && reservation.reservedFor !== reservedFor)) continue;
    if (addresses.length > 0) refuseFenced(state, subnet, address);
    else if (isFenced(state, subnet, address)) continue;
    const known = ended.get(reservation.seq) ?? { reservedFor: reservation.reservedFor, addresses: [] };
    if (!known.addresses.includes(address)) known.addresses.push(address);
    ended.set(reservation.seq, known);
  }
  return [...ended]
    .toSorted(([a], [b]) => a - b)
    .map(([, data]) => ({ type: 'ReservationCancelled', subnet, data: { ...data, reason } }));
}

/** "pod/…" entitles an attachment by itself: one that names none would be held for nobody. */
function refuseMalformed(reservedFor: string): void {
  const parts = reservedFor.split('/');
  if (reservedFor === '' || (parts[0] === 'pod' && (parts.length !== 4 || parts.includes(''))))
    throw new Refused(
      'INVALID_REQUEST',
      `reserved_for "${reservedFor}" names nobody: write pod/<namespace>/<pod>/<provider>, or what it is held for, as vip/web`,
    );
}

/** The named addresses that are not reserved for it yet. */
function named(state: State, configured: ConfiguredSubnet, { addresses, reservedFor, ipFamily }: Reserve): string[] {
  const { name } = configured.subnet;
  if (new Set(addresses.map(familyOf)).size < addresses.length)
    throw new Refused('INVALID_REQUEST', `${addresses.join(',')}: at most one address of each family`);
  return addresses.filter((address) => {
    const parsed = parseAddress(address);
    if (!parsed) throw new Refused('INVALID_REQUEST', `failed to parse IP ${address}: invalid IP address "${address}"`);
    const space = configured.spaces.find(({ subnetFamily }) => subnetFamily.family === parsed.family);
    if (!space) throw outOfRange(address, configured);
    if (!isOf(parsed.family, ipFamily))
      throw new Refused('IP_FAMILY_INVALID', `InvalidIPFamily: ${address} does not match ip_family ${ipFamily}`);
    const claim = claimOf(state, name, address);
    if (claim?.reservation?.reservedFor === reservedFor) return false;
    refuseNoHost(configured, space, parsed.value);
    refuseFenced(state, name, address);
    refuseUsed(state, configured, { address, claim }, reservedFor);
    return true;
  });
}

/** @throws Refused ADDRESS_IN_USE for an address that another Pod, or another reservation, has on the subnet's network. */
function refuseUsed(
  state: State,
  { subnet: { name, network } }: ConfiguredSubnet,
  { address, claim }: { readonly address: string; readonly claim: Claim | undefined },
  reservedFor: string,
): void {
  const claims = [{ subnet: name, claim }, ...otherClaims(state, network, address, name)];
  for (const { subnet, claim: each } of claims) {
    const objection = objectionTo(each, reservedFor);
    const where = subnet === name ? '' : `, on the same network ${network},`;
    if (objection !== undefined)
      throw new Refused('ADDRESS_IN_USE', `AddressConflict: ${address} of subnet ${subnet}${where} ${objection}`);
  }
}

/** Why an address can't be reserved; undefined when it can. */
function objectionTo(claim: Claim | undefined, reservedFor: string): string | undefined {
  if (claim?.reservation)
    return `is reserved for ${claim.reservation.reservedFor} since ${instant(claim.reservation.at)}`;
  if (claim?.quarantine) return `is quarantined since ${instant(claim.quarantine.at)}: lift that first`;
  const attachment = claim?.allocation?.attachment;
  if (attachment && reservedForAttachment(attachment) !== reservedFor)
    return `is in use by Pod ${attachment.namespace}/${attachment.pod} (${attachment.provider})`;
  return undefined;
}

/** One of each family of which none is reserved for it yet: what its Pod has already, or the one that would be given next. */
function any(state: State, configured: ConfiguredSubnet, command: Reserve): string[] {
  const { reservedFor, ipFamily, now } = command;
  const { name } = configured.subnet;
  const known = new Set(reservedIn(state, name, reservedFor).map(({ address }) => familyOf(address)));
  const networkIn = (): string => configured.subnet.network;
  const search = { pool: '', ipFamily, taken: new Set<string>(), networkIn, now };
  return spacesFor(configured, ipFamily)
    .filter(({ subnetFamily }) => !known.has(subnetFamily.family))
    .map((space) => {
      const address = heldFor(state, name, space, reservedFor) ?? bestFree(state, configured, space, search);
      if (address === undefined) throw new Refused('SUBNET_FULL', explainFull(state, configured, search));
      return address;
    });
}

function heldFor(
  state: State,
  subnet: string,
  { subnetFamily }: AddressSpace,
  reservedFor: string,
): string | undefined {
  const [kind, namespace = '', pod = ''] = reservedFor.split('/');
  if (kind !== 'pod') return undefined;
  const held = heldBy(state, namespace, pod)
    .filter(({ attachment, subnet: its }) => its === subnet && reservedForAttachment(attachment) === reservedFor)
    .flatMap(({ addresses }) => addresses.map(({ address }) => address));
  return held.find((address) => {
    const claim = claimOf(state, subnet, address);
    const isFree = !claim?.reservation && !claim?.quarantine && !isFenced(state, subnet, address);
    return familyOf(address) === subnetFamily.family && isFree;
  });
}

function refuseTakenMac(
  state: State,
  { subnet: { name, network } }: ConfiguredSubnet,
  mac: string,
  reservedFor: string,
): void {
  const holder = state.macs.get(`${network}/${mac}`);
  if (holder && reservedForAttachment(holder) !== reservedFor)
    throw new Refused(
      'MAC_IN_USE',
      `AddressConflict: MAC ${mac} is in use in subnet ${name} by Pod ${holder.namespace}/${holder.pod} (${holder.provider})`,
    );
  const forWhat = ({ subnet, address }: ClaimName): string | undefined =>
    claimOf(state, subnet, address)?.reservation?.reservedFor;
  const other = (state.reservedMacs.get(`${network}/${mac}`) ?? []).map(forWhat).find((text) => text !== reservedFor);
  if (other !== undefined)
    throw new Refused('MAC_IN_USE', `AddressConflict: MAC ${mac} is reserved for ${other} in subnet ${name}`);
}
