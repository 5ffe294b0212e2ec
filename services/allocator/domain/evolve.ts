/**
 * What an event does to the state, which is changed in place; the journal gets the undo. It accepts everything that was ever
 * written: rules belong to `decide`.
 */
import type { Allocation, Binding, Claim } from './claim.ts';
import { addressesOf, type ClaimsDropped, type Event, mostDropsNamed, type Sequenced } from './event.ts';
import { configureSubnet, dropClaim, forgetAllocation, indexAllocation, putClaim, retireSubnet } from './indexes.ts';
import { deleteKey, type Journal, setKey } from './journal.ts';
import { networkOf } from './network.ts';
import { allocationOf, claimOf, podKey, type State } from './state.ts';
import { subnetOf } from './subnet.ts';

/** Applies one event. The journal can take it back. */
export function evolve(state: State, event: Sequenced, journal: Journal): void {
  switch (event.type) {
    case 'LedgerCreated': {
      const previous = state.ledger;
      state.ledger = event.data.ledger;
      journal.record(() => {
        state.ledger = previous;
      });
      return;
    }
    case 'SegmentSealed': {
      const previous = state.segments;
      state.segments = [...previous, { seq: event.seq, ...event.data }];
      return journal.record(() => {
        state.segments = previous;
      });
    }
    case 'SubnetConfigured': {
      const { spec, source } = event.data;
      return configureSubnet(state, { subnet: subnetOf(event.subnet, spec), ...(source && { source }) }, journal);
    }
    case 'SubnetRetired':
      return retireSubnet(state, event.subnet, journal);
    case 'PoolConfigured': {
      const { pool: name, spec, source } = event.data;
      journal.record(setKey(state.pools, name, { name, spec, ...(source && { source }) }));
      return divide(state, event.subnet, journal);
    }
    case 'PoolRetired':
      journal.record(deleteKey(state.pools, event.data.pool));
      return divide(state, event.subnet, journal);
    case 'AddressAllocated':
    case 'AddressTransferred':
      return grant(state, event, journal);
    case 'AddressReleased':
      return release(state, event, journal);
    case 'AddressBound':
      return bind(state, event, journal);
    case 'AddressUnbound': {
      const ends = ({ containerId, interface: name }: Binding): boolean =>
        containerId === event.data.containerId && name === event.data.interface;
      return changeClaims(state, event, journal, (claim) => ({
        ...claim,
        bindings: claim.bindings.filter((b) => !ends(b)),
      }));
    }
    case 'AddressReserved': {
      const { reservedFor, reason, mac } = event.data;
      const reservation = { reservedFor, reason, mac, seq: event.seq, at: event.at };
      return changeClaims(state, event, journal, (claim) => ({ ...claim, reservation }));
    }
    case 'ReservationCancelled':
      return changeClaims(state, event, journal, ({ reservation: _, ...claim }) => claim);
    case 'AddressQuarantined': {
      const { seenMac, seenAt, reason } = event.data;
      const quarantine = { seenMac, seenAt, reason, seq: event.seq, at: event.at };
      return changeClaims(state, event, journal, (claim) => ({ ...claim, quarantine }));
    }
    case 'QuarantineLifted':
      return changeClaims(state, event, journal, ({ quarantine: _, ...claim }) => claim);
    case 'ClaimsDropped':
      return drop(state, event, journal);
    case 'AllocationRefused':
    case 'LedgerRestored':
    case 'KeyRotated':
      return;
    default:
      return unknownEvent(event);
  }
}

/** Divides a subnet anew, after a change of its pools. */
function divide(state: State, subnet: string, journal: Journal): void {
  const configured = state.subnets.get(subnet);
  if (!configured) return;
  const { spaces: _, ...rest } = configured;
  configureSubnet(state, rest, journal);
}

function grant(
  state: State,
  event: Sequenced<Extract<Event, { type: 'AddressAllocated' | 'AddressTransferred' }>>,
  journal: Journal,
): void {
  const { attachment, uid, owner, node, addresses, mac, cause, routes, defaultRoute } = event.data;
  const superseded = supersededBy(state, event);
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
    ...(superseded.length > 0 && { superseded }),
  };
  const previous = allocationOf(state, attachment);
  if (previous) forgetAllocation(state, previous, journal);
  indexAllocation(state, allocation, journal);
  // The containers of an earlier Pod of the same name may still answer. Of another Pod's, `decide` knows that none does.
  const passesOn = event.type === 'AddressTransferred' || event.data.supersedes !== undefined;
  const isOfPod = ({ attachment: its }: Binding): boolean =>
    its.namespace === attachment.namespace && its.pod === attachment.pod;
  changeClaims(state, event, journal, (claim) => ({
    ...claim,
    allocation,
    bindings: passesOn ? claim.bindings.filter(isOfPod) : [],
  }));
}

const mostSuperseded = 8;

/** The uids from which the event's uid took something over, the latest last; what others released, `state.released` has. */
function supersededBy(
  state: State,
  { data }: Extract<Event, { type: 'AddressAllocated' | 'AddressTransferred' }>,
): readonly string[] {
  const { attachment } = data;
  const earlier =
    'fromUid' in data
      ? [...(allocationOf(state, attachment)?.superseded ?? []), data.fromUid]
      : [data.supersedes ?? data.uid];
  return [...new Set(earlier)].filter((uid) => uid !== data.uid).slice(-mostSuperseded);
}

function release(state: State, event: Sequenced<Extract<Event, { type: 'AddressReleased' }>>, journal: Journal): void {
  const allocation = allocationOf(state, event.data.attachment);
  if (allocation?.seq === event.data.alloc) forgetAllocation(state, allocation, journal);
  const { uid, attachment } = event.data;
  const released = { seq: event.seq, at: event.at, uid, pod: podKey(attachment.namespace, attachment.pod) };
  changeClaims(state, event, journal, ({ allocation: _, ...claim }) => ({ ...claim, released }));
}

function bind(state: State, event: Sequenced<Extract<Event, { type: 'AddressBound' }>>, journal: Journal): void {
  const { alloc, attachment, containerId, node, bootId } = event.data;
  const binding: Binding = {
    alloc,
    attachment,
    containerId,
    interface: event.data.interface,
    node,
    bootId,
    at: event.at,
  };
  // A node that booted again runs none of the containers of the boot before.
  const goesOn = (other: Binding): boolean =>
    !(other.containerId === containerId && other.interface === binding.interface) &&
    !(other.node === node && other.bootId !== bootId);
  const known = allocationOf(state, attachment);
  const allocation = known?.seq === alloc ? { ...known, interface: binding.interface, node } : undefined;
  if (allocation) indexAllocation(state, allocation, journal);
  changeClaims(state, event, journal, (claim) => ({
    ...claim,
    ...(allocation && claim.allocation && { allocation }),
    bindings: [...claim.bindings.filter(goesOn), binding],
  }));
}

function drop(state: State, { seq, subnet, data }: Sequenced<ClaimsDropped>, journal: Journal): void {
  for (const address of data.addresses) dropClaim(state, { subnet, address }, journal);
  journal.record(setKey(state.dropped, subnet, [seq, ...data.previous].slice(0, mostDropsNamed)));
}

function changeClaims(state: State, event: Sequenced, journal: Journal, change: (claim: Claim) => Claim): void {
  // In the order of their texts, in which they are made out again where one event put several behind the others.
  for (const address of [...addressesOf(event)].toSorted()) {
    const before = claimOf(state, event.subnet, address) ?? { last: 0, lastAt: 0, networks: [], bindings: [] };
    const networks = networksAfter(state, event, before.networks);
    const after = { ...change(before), last: event.seq, lastAt: event.at, networks };
    putClaim(state, { subnet: event.subnet, address }, after, journal);
  }
}

/** Who is given an address decides on which networks it is used; whatever else happens to it adds to them only. */
function networksAfter(state: State, event: Sequenced, before: readonly string[]): readonly string[] {
  const subnet = state.subnets.get(event.subnet)?.subnet;
  const home = subnet?.network;
  const provider = 'attachment' in event.data ? event.data.attachment.provider : undefined;
  // Almost always the address is used on the subnet's own network alone.
  const isAtHome = provider === undefined || networkOf(provider, event.subnet) === home;
  if (subnet && isAtHome && (before.length === 0 || (before.length === 1 && before[0] === home)))
    return before.length === 1 ? before : subnet.networks;
  const networks = new Set<string>(home === undefined ? [] : [home]);
  if (event.type !== 'AddressAllocated') for (const network of before) networks.add(network);
  if (provider !== undefined) networks.add(networkOf(provider, event.subnet));
  const isSame = networks.size === before.length && [...networks].every((network, at) => before[at] === network);
  return isSame ? before : [...networks];
}

function unknownEvent(event: never): never {
  throw new Error(`unknown event ${JSON.stringify(event)}: written by a newer version? It is never skipped`);
}
