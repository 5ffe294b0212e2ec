/** Definitions of events that allocate, transfer or release addresses, or record a refusal. */
import { changeClaims } from './change-claims.ts';
import type { Allocation, Binding, Claim, ClaimName } from '../state/claim.ts';
import { endedPodId } from '../state/ended-pods.ts';
import { indexAllocation, unindexAllocation } from '../state/indexes.ts';
import { allocationOf, podKey, type State, claimOf, holderOfMac } from '../state/state.ts';
import type { UndoLog } from '../state/undo-log.ts';
import type { AddressAllocated, AddressTransferred, Sequenced } from './event.ts';
import type { Attachment, Grant } from '../values/allocation.ts';
import { type EventDefinition, noOtherKey, recordedOnly } from './event-definition.ts';
import { brokenHolding, formatAttachment } from './holding-rule.ts';
import { otherClaims } from '../state/claims-on-network.ts';
import { networkOf } from '../state/network.ts';
import type { EventVersion } from './schema-version.ts';

export const addressAllocated: EventDefinition<'AddressAllocated'> = {
  since: 1,
  changes: [{ version: 5, adds: 'supersedes', downcast: ({ supersedes: _, ...data }) => data }],
  addressesOf: grantedAddresses,
  otherKeyOf: noOtherKey,
  evolve: grant,
  brokenRule: brokenGrant,
};

export const addressTransferred: EventDefinition<'AddressTransferred'> = {
  since: 1,
  changes: [{ version: 6, adds: 'ended', downcast: ({ ended: _, ...data }) => data }],
  addressesOf: grantedAddresses,
  otherKeyOf: noOtherKey,
  evolve: (state, event, undoLog) => {
    grant(state, event, undoLog);
    const { attachment, fromUid, ended } = event.data;
    if (ended) recordEnded(state, attachment, fromUid, undoLog);
  },
  brokenRule: (state, { data: { attachment, alloc, fromUid } }) =>
    brokenHolding(state, { attachment, alloc, uid: fromUid }, 'transfers'),
};

export const allocationRefused: EventDefinition<'AllocationRefused'> = recordedOnly(1);

/** Before version 4, the cause "detached" was recorded as an operator's release. */
const detachedBefore4 = 'operator';

/** Before version 9, the nearest cause: the Pod lives and may get another address. */
const conflictBefore9 = 'detached';

export const addressReleased: EventDefinition<'AddressReleased'> = {
  since: 1,
  changes: [
    {
      version: 4,
      adds: 'cause detached',
      downcast: (data) => (data.cause === 'detached' ? { ...data, cause: detachedBefore4 } : data),
    },
    { version: 6, adds: 'ended', downcast: ({ ended: _, ...data }) => data },
    {
      version: 9,
      adds: 'cause address-conflict',
      downcast: (data) => (data.cause === 'address-conflict' ? { ...data, cause: conflictBefore9 } : data),
    },
  ],
  addressesOf: ({ addresses }) => addresses,
  otherKeyOf: noOtherKey,
  evolve: (state, event, undoLog) => {
    const { alloc, attachment, uid, addresses, ended, cause } = event.data;
    if (ended) recordEnded(state, attachment, uid, undoLog);
    const allocation = allocationOf(state, attachment);
    // After a conflict the Pod takes its MAC to its next address: it has not used the address with
    // the conflict.
    const mac = allocation?.seq === alloc && cause !== 'address-conflict' && allocation.mac;
    if (allocation?.seq === alloc) unindexAllocation(state, allocation, undoLog);
    const pod = podKey(attachment.namespace, attachment.pod);
    const released = { seq: event.seq, at: event.at, uid, pod, ...(mac && { mac }) };
    const change = ({ allocation: _, ...claim }: Claim): Claim => ({ ...claim, released });
    changeClaims(state, event, { addresses, change }, undoLog);
  },
  brokenRule: (state, { data }) => brokenHolding(state, data, 'releases'),
};

const recordEnded = (state: State, { namespace, pod }: Attachment, uid: string, undoLog: UndoLog): void =>
  undoLog.record(state.ended.add(endedPodId(namespace, pod, uid)));

function grantedAddresses({ addresses }: Grant): readonly string[] {
  return addresses.map(({ address }) => address);
}

function grant(state: State, event: Sequenced<AddressAllocated | AddressTransferred>, undoLog: UndoLog): void {
  const { attachment, uid, owner, node, addresses, mac, cause, routes, defaultRoute } = event.data;
  const allocation: Allocation = {
    seq: event.seq,
    at: event.at,
    subnet: event.subnet,
    attachment,
    uid,
    ...(owner && { owner }),
    node,
    addresses,
    mac,
    interface: event.data.interface,
    cause,
    routes,
    ...(defaultRoute !== undefined && { defaultRoute }),
  };
  const previous = allocationOf(state, attachment);
  if (previous) unindexAllocation(state, previous, undoLog);
  indexAllocation(state, allocation, undoLog);
  // Containers of an earlier Pod of the same name may still answer. `decide` has rejected the
  // command if containers of other Pods may.
  const keepsBindings = event.type === 'AddressTransferred' || event.data.supersedes !== undefined;
  const isOfPod = ({ attachment: { namespace, pod } }: Binding): boolean =>
    namespace === attachment.namespace && pod === attachment.pod;
  const change = (claim: Claim): Claim => ({
    ...claim,
    allocation,
    bindings: keepsBindings ? claim.bindings.filter(isOfPod) : [],
  });
  changeClaims(state, event, { addresses: grantedAddresses(event.data), change }, undoLog);
}

/** The version since which quarantines and MACs apply to a network instead of one Subnet. */
const networksSince: EventVersion = 5;

/** Describes how the event breaks the rule; undefined if it does not. */
function brokenGrant(
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
    // A reserved address is allocated with these causes only.
    if (claim?.reservation && cause !== 'reservation' && cause !== 'import')
      return `allocates ${address} of subnet ${subnet} with cause ${cause}, which is reserved for ${claim.reservation.reservedFor}`;
    const elsewhere = brokenOnNetworks(state, { subnet, address }, attachment.provider, version);
    if (elsewhere !== undefined) return elsewhere;
  }
  const sameMac = mac === '' ? undefined : holderOfMac(state, `${networkOf(attachment.provider, subnet)}/${mac}`);
  if (!sameMac || (version < networksSince && allocationOf(state, sameMac)?.subnet !== subnet)) return undefined;
  return `allocates MAC ${mac} in subnet ${subnet}, which ${formatAttachment(sameMac)} has`;
}

/** Describes another subnet's claim on the networks that has a holder or a quarantine. */
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
