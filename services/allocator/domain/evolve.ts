/**
 * What an event does to the state, which is changed in place; the journal gets the undo. It accepts everything that was ever
 * written: rules belong to `decide`.
 */
import type { Allocation, Binding, Claim } from './claim.ts';
import { addressesOf, type ClaimsDropped, type Event, mostDropsNamed, type Sequenced } from './event.ts';
import { configureSubnet, dropClaim, forgetAllocation, indexAllocation, putClaim } from './indexes.ts';
import { deleteKey, type Journal, setKey } from './journal.ts';
import { allocationOf, claimOf, type State } from './state.ts';
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
      return journal.record(deleteKey(state.subnets, event.subnet));
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
  if (previous) forgetAllocation(state, previous, journal);
  indexAllocation(state, allocation, journal);
  // A transfer is to the same Pod by name: what its containers were told stays true. Anybody else starts without bindings.
  const keepsBindings = event.type === 'AddressTransferred';
  changeClaims(state, event, journal, (claim) => ({
    ...claim,
    allocation,
    bindings: keepsBindings ? claim.bindings : [],
  }));
}

function release(state: State, event: Sequenced<Extract<Event, { type: 'AddressReleased' }>>, journal: Journal): void {
  const allocation = allocationOf(state, event.data.attachment);
  if (allocation?.seq === event.data.alloc) forgetAllocation(state, allocation, journal);
  const released = { seq: event.seq, at: event.at, uid: event.data.uid };
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
    const before: Claim = claimOf(state, event.subnet, address) ?? { last: 0, lastAt: 0, bindings: [] };
    const after = { ...change(before), last: event.seq, lastAt: event.at };
    putClaim(state, { subnet: event.subnet, address }, after, journal);
  }
}

function unknownEvent(event: never): never {
  throw new Error(`unknown event ${JSON.stringify(event)}: written by a newer version? It is never skipped`);
}
