/** Begins and ends reservations. */
import { canonicalMac, parseAddress, familyOf } from '../addresses/address.ts';
import { type AddressSpace, spaceOfFamily } from '../state/address-pools/address-space.ts';
import type { Claim, ClaimName } from '../state/claim.ts';
import type { Reserve, Unreserve } from '../commands/command.ts';
import type { Event } from '../events/event.ts';
import { otherClaims } from '../state/claims-on-network.ts';
import { type RefusalCode, Refused } from '../commands/refusal.ts';
import { claimOf, type ConfiguredSubnet, allocationsOfPodName, holderOfMac, type State } from '../state/state.ts';
import { reservationKeyOf, reservedAddressesFor } from './rules/entitlement.ts';
import { matchesIpFamily, spacesFor } from './rules/ip-family.ts';
import { isFenced, refuseFenced } from './rules/fence.ts';
import { nextFreeAddress, refuseNonHost } from './rules/select-address.ts';
import { explainSubnetFull, formatInstant, subnetUnknown, addressOutOfRange } from './rules/refusal-messages.ts';

/**
 * Skips addresses that are reserved for the owner already. An address that a Pod holds can be
 * reserved for that Pod only.
 * @throws Refused SUBNET_UNKNOWN, INVALID_REQUEST, IP_FAMILY_INVALID, ADDRESS_OUT_OF_RANGE,
 * ADDRESS_IN_USE, ADDRESS_RESERVED, ADDRESS_QUARANTINED, ADDRESS_FENCED, SUBNET_FULL
 */
export function reserve(state: State, command: Reserve): Event[] {
  const { subnet, reservedFor, reason } = command;
  const configured = state.subnets.get(subnet);
  if (!configured) throw subnetUnknown(subnet);
  refuseMalformed(reservedFor);
  const mac = command.mac === '' ? '' : canonicalMac(command.mac);
  if (mac === undefined) throw new Refused('INVALID_REQUEST', `${command.mac} is not a valid unicast MAC address`);
  const addresses =
    command.addresses.length > 0
      ? requestedAddresses(state, configured, command)
      : freeAddresses(state, configured, command);
  if (addresses.length === 0) return [];
  if (mac !== '') refuseTakenMac(state, configured, mac, reservedFor);
  return [{ type: 'AddressReserved', subnet, data: { addresses, reservedFor, reason, mac } }];
}

/** Ends reservations, one event each. Pods keep the addresses that they hold. @throws Refused */
export function unreserve(state: State, { subnet, addresses, reservedFor, reason }: Unreserve): Event[] {
  if (addresses.length === 0 && reservedFor === '')
    throw new Refused(
      'INVALID_REQUEST',
      'no addresses and no owner: name the addresses whose reservation ends, or their owner',
    );
  const requested =
    addresses.length > 0 ? addresses : reservedAddressesFor(state, subnet, reservedFor).map(({ address }) => address);
  const ended = new Map<number, { reservedFor: string; addresses: string[] }>();
  for (const address of requested) {
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

/** Rejects an owner "pod/…" that names no attachment: the reservation would match no Pod. */
function refuseMalformed(reservedFor: string): void {
  const parts = reservedFor.split('/');
  if (reservedFor === '' || (parts[0] === 'pod' && (parts.length !== 4 || parts.includes(''))))
    throw new Refused(
      'INVALID_REQUEST',
      `reserved_for "${reservedFor}" names no owner: write pod/<namespace>/<pod>/<provider>, or another name, as vip/web`,
    );
}

/** The requested addresses that are not reserved for the owner yet. */
function requestedAddresses(
  state: State,
  configured: ConfiguredSubnet,
  { addresses, reservedFor, ipFamily }: Reserve,
): string[] {
  const { name } = configured.subnet;
  if (new Set(addresses.map(familyOf)).size < addresses.length)
    throw new Refused('INVALID_REQUEST', `${addresses.join(',')}: at most one address of each family`);
  return addresses.filter((address) => {
    const parsed = parseAddress(address);
    if (!parsed) throw new Refused('INVALID_REQUEST', `failed to parse IP ${address}: invalid IP address "${address}"`);
    const space = spaceOfFamily(configured.spaces, parsed.family);
    if (!space) throw addressOutOfRange(address, configured);
    if (!matchesIpFamily(parsed.family, ipFamily))
      throw new Refused('IP_FAMILY_INVALID', `InvalidIPFamily: ${address} does not match ip_family ${ipFamily}`);
    const claim = claimOf(state, name, address);
    if (claim?.reservation?.reservedFor === reservedFor) return false;
    refuseNonHost(configured, space, parsed.value);
    refuseFenced(state, name, address);
    refuseUsed(state, configured, { address, claim }, reservedFor);
    return true;
  });
}

/** @throws Refused if a Pod, a reservation or a quarantine has the address on the network */
function refuseUsed(
  state: State,
  { subnet: { name, network } }: ConfiguredSubnet,
  { address, claim }: { readonly address: string; readonly claim: Claim | undefined },
  reservedFor: string,
): void {
  const claims = [{ subnet: name, claim }, ...otherClaims(state, network, address, name)];
  for (const { subnet, claim: each } of claims) {
    const [code, conflict] = conflictWith(each, reservedFor) ?? [];
    const where = subnet === name ? '' : `, on the same network ${network},`;
    if (code !== undefined)
      throw new Refused(code, `AddressConflict: ${address} of subnet ${subnet}${where} ${conflict}`);
  }
}

/** Why a claim prevents the reservation, as code and predicate; undefined if it does not. */
function conflictWith(
  claim: Claim | undefined,
  reservedFor: string,
): readonly [code: RefusalCode, predicate: string] | undefined {
  const { reservation, quarantine, allocation } = claim ?? {};
  if (reservation)
    return ['ADDRESS_RESERVED', `is reserved for ${reservation.reservedFor} since ${formatInstant(reservation.at)}`];
  if (quarantine)
    return [
      'ADDRESS_QUARANTINED',
      `is quarantined since ${formatInstant(quarantine.at)}. Run ipledger unquarantine first`,
    ];
  const attachment = allocation?.attachment;
  if (attachment && reservationKeyOf(attachment) !== reservedFor)
    return ['ADDRESS_IN_USE', `is in use by Pod ${attachment.namespace}/${attachment.pod} (${attachment.provider})`];
  return undefined;
}

/** One address of each family: the address that the owner's Pod holds, or the next free one. */
function freeAddresses(state: State, configured: ConfiguredSubnet, command: Reserve): string[] {
  const { reservedFor, ipFamily, now } = command;
  const { name } = configured.subnet;
  const reserved = new Set(reservedAddressesFor(state, name, reservedFor).map(({ address }) => familyOf(address)));
  const networkIn = (): string => configured.subnet.network;
  const search = { pool: '', ipFamily, taken: new Set<string>(), networkIn, now };
  return spacesFor(configured, ipFamily)
    .filter(({ subnetFamily }) => !reserved.has(subnetFamily.family))
    .map((space) => {
      const address = heldAddress(state, name, space, reservedFor) ?? nextFreeAddress(state, configured, space, search);
      if (address === undefined) throw new Refused('SUBNET_FULL', explainSubnetFull(state, configured, search));
      return address;
    });
}

/** The address of one family that the Pod of a "pod/…" owner holds. */
function heldAddress(
  state: State,
  subnet: string,
  { subnetFamily }: AddressSpace,
  reservedFor: string,
): string | undefined {
  const [kind, namespace = '', pod = ''] = reservedFor.split('/');
  if (kind !== 'pod') return undefined;
  const held = allocationsOfPodName(state, namespace, pod)
    .filter(({ attachment, subnet: other }) => other === subnet && reservationKeyOf(attachment) === reservedFor)
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
  const holder = holderOfMac(state, `${network}/${mac}`);
  if (holder && reservationKeyOf(holder) !== reservedFor)
    throw new Refused(
      'MAC_IN_USE',
      `AddressConflict: MAC ${mac} is in use in subnet ${name} by Pod ${holder.namespace}/${holder.pod} (${holder.provider})`,
    );
  const forWhat = ({ subnet, address }: ClaimName): string | undefined =>
    claimOf(state, subnet, address)?.reservation?.reservedFor;
  const other = (state.reservedMacs.get(`${network}/${mac}`) ?? []).map(forWhat).find((text) => text !== reservedFor);
  if (other !== undefined)
    throw new Refused('MAC_RESERVED', `AddressConflict: MAC ${mac} is reserved for ${other} in subnet ${name}`);
}
