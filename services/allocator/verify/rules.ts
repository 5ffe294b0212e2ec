/**
 * What no command ever leads to. `evolve` accepts everything, so a log that somebody wrote anew, hashes and all, may say what
 * ipledger never does: these rules find that, although the chain holds.
 */
import type { Allocation } from '../domain/claim.ts';
import type { ClaimName } from '../domain/journal.ts';
import { networkOf } from '../domain/network.ts';
import { otherClaims } from '../domain/on-network.ts';
import type { Attachment, ClaimsDropped, Event, SegmentSealed, Sequenced } from '../domain/event.ts';
import { isRested, mostClaimsADrop } from '../domain/decide/drop.ts';
import { allocationOf, claimOf, sealedTo, type State } from '../domain/state.ts';
import type { EventVersion } from '../ledger/upcast.ts';

const named = ({ namespace, pod, provider, ordinal }: Attachment): string =>
  `attachment ${provider}/${ordinal} of Pod ${namespace}/${pod}`;

/** The first version of events whose writer knows networks: before, a subnet kept its quarantines and its MACs to itself. */
const networksSince: EventVersion = 5;

/**
 * Which rule an event breaks, given the state before it, as the rest of a sentence; undefined for none.
 * @param version of the event: what was legal when it was written is not broken.
 */
export function brokenRule(state: State, event: Sequenced, version: EventVersion): string | undefined {
  switch (event.type) {
    case 'AddressAllocated':
      return brokenGrant(state, event, version);
    case 'AddressTransferred': {
      const { attachment, alloc, fromUid } = event.data;
      return notHolding(allocationOf(state, attachment), { attachment, alloc, uid: fromUid }, 'passes on');
    }
    case 'AddressReleased':
      return notHolding(allocationOf(state, event.data.attachment), event.data, 'takes back');
    case 'AddressBound':
      return notHolding(allocationOf(state, event.data.attachment), event.data, 'binds');
    case 'AddressUnbound':
      return brokenUnbind(state, event);
    case 'AddressReserved':
    case 'ReservationCancelled':
      return brokenReservation(state, event);
    case 'AddressQuarantined':
    case 'QuarantineLifted': {
      const { address } = event.data;
      const isQuarantined = claimOf(state, event.subnet, address)?.quarantine !== undefined;
      const wanted = event.type === 'QuarantineLifted';
      return isQuarantined === wanted ? undefined : `finds ${address} ${wanted ? 'not' : 'already'} quarantined`;
    }
    case 'ClaimsDropped':
      return brokenDrop(state, event);
    case 'SubnetRetired':
      return state.subnets.has(event.subnet) ? undefined : `retires subnet ${event.subnet}, which is not in force`;
    case 'PoolRetired':
      return state.pools.has(event.data.pool) ? undefined : `retires pool ${event.data.pool}, which is not in force`;
    case 'SegmentSealed':
      return brokenSealing(state, event);
    default:
      return undefined;
  }
}

function brokenDrop(state: State, { subnet, at, data }: Sequenced<ClaimsDropped>): string | undefined {
  const { addresses, previous } = data;
  const known = state.dropped.get(subnet) ?? [];
  if (JSON.stringify(previous) !== JSON.stringify(known))
    return `names events ${previous.join(', ') || 'none'} as the last that dropped claims of subnet ${subnet}, and these are ${known.join(', ') || 'none'}`;
  if (addresses.length === 0 || addresses.length > mostClaimsADrop || new Set(addresses).size < addresses.length)
    return `drops ${addresses.length} claims: 1 to ${mostClaimsADrop} are allowed, each once`;
  for (const address of addresses) {
    const claim = claimOf(state, subnet, address);
    if (!claim) return `drops the claim of ${address} of subnet ${subnet}, and there is none`;
    if (!isRested(state, subnet, claim, at))
      return `drops the claim of ${address} of subnet ${subnet}, which is not idle, or has not rested long enough`;
  }
  return undefined;
}

function brokenSealing(state: State, { seq, data: { from, to } }: Sequenced<SegmentSealed>): string | undefined {
  const sealed = sealedTo(state);
  if (from !== sealed + 1) return `seals events from ${from} on, and event ${sealed} is the last that is sealed`;
  return to >= from && to < seq ? undefined : `seals events ${from} to ${to}, which are not all before it`;
}

function brokenGrant(
  state: State,
  event: Sequenced<Extract<Event, { type: 'AddressAllocated' }>>,
  version: EventVersion,
): string | undefined {
  const { subnet } = event;
  const { attachment, addresses, mac } = event.data;
  if (!state.subnets.has(subnet)) return `gives an address of subnet ${subnet}, which is not in force`;
  const held = allocationOf(state, attachment);
  if (held) return `gives addresses to ${named(attachment)}, which has those of event ${held.seq}`;
  for (const { address } of addresses) {
    const claim = claimOf(state, subnet, address);
    const holder = claim?.allocation;
    if (holder)
      return `gives ${address} of subnet ${subnet}, which ${named(holder.attachment)} has since event ${holder.seq}`;
    if (claim?.quarantine) return `gives ${address} of subnet ${subnet}, which is quarantined`;
    const elsewhere = brokenOnNetwork(state, { subnet, address }, attachment.provider, version);
    if (elsewhere !== undefined) return elsewhere;
  }
  const sameMac = mac === '' ? undefined : state.macs.get(`${networkOf(attachment.provider, subnet)}/${mac}`);
  if (!sameMac || (version < networksSince && allocationOf(state, sameMac)?.subnet !== subnet)) return undefined;
  return `gives MAC ${mac} in subnet ${subnet}, which ${named(sameMac)} has`;
}

/** On the network of the NIC, and on the subnet's own, no other subnet's claim has a holder or a quarantine at the address. */
function brokenOnNetwork(
  state: State,
  { subnet, address }: ClaimName,
  provider: string,
  version: EventVersion,
): string | undefined {
  const own = state.subnets.get(subnet)?.subnet.network;
  for (const network of new Set([networkOf(provider, subnet), ...(own === undefined ? [] : [own])]))
    for (const { subnet: other, claim } of otherClaims(state, network, address, subnet)) {
      const gives = `gives ${address} of subnet ${subnet} on network ${network}`;
      const holder = claim.allocation;
      if (holder)
        return `${gives}, where ${named(holder.attachment)} has it from subnet ${other} since event ${holder.seq}`;
      if (claim.quarantine && version >= networksSince) return `${gives}, where it is quarantined in subnet ${other}`;
    }
  return undefined;
}

interface Named {
  readonly attachment: Attachment;
  readonly alloc: number;
  readonly uid: string;
}

function notHolding(held: Allocation | undefined, { attachment, alloc, uid }: Named, does: string): string | undefined {
  if (held?.seq === alloc && held.uid === uid) return undefined;
  const has = held ? `uid ${held.uid} has what event ${held.seq} gave` : 'nobody has anything';
  return `${does} what event ${alloc} gave uid ${uid} for ${named(attachment)}: there ${has}`;
}

function brokenUnbind(state: State, event: Sequenced<Extract<Event, { type: 'AddressUnbound' }>>): string | undefined {
  const { addresses, containerId } = event.data;
  const isBound = (address: string): boolean =>
    claimOf(state, event.subnet, address)?.bindings.some(
      (binding) => binding.containerId === containerId && binding.interface === event.data.interface,
    ) ?? false;
  const other = addresses.find((address) => !isBound(address));
  return other === undefined ? undefined : `ends container ${containerId}'s use of ${other}, which did not use it`;
}

function brokenReservation(
  state: State,
  event: Sequenced<Extract<Event, { type: 'AddressReserved' | 'ReservationCancelled' }>>,
): string | undefined {
  for (const address of event.data.addresses) {
    const present = claimOf(state, event.subnet, address)?.reservation?.reservedFor;
    if (event.type === 'AddressReserved' && present !== undefined)
      return `reserves ${address}, which is reserved for ${present}`;
    if (event.type === 'ReservationCancelled' && present !== event.data.reservedFor)
      return `ends the reservation of ${address} for ${event.data.reservedFor}, and it is ${present === undefined ? 'not reserved' : `for ${present}`}`;
  }
  return undefined;
}
