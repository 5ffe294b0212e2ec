/**
 * All that is decided against: the fold of the log. `evolve` changes it in place and leaves the undo in the journal. It
 * accepts everything that was ever written: rules belong to `decide`.
 */
import { AddressSpace } from './address-space.ts';
import type { Allocation, Binding, Claim, Reservation } from './claim.ts';
import type { Attachment, Event, Segment, Seq, Sequenced } from './event.ts';
import { addressesOf, familyOf } from './event.ts';
import { type ClaimName, deleteKey, Journal, setKey } from './journal.ts';
import { type ConfiguredPool, rangesOf } from './pool.ts';
import { type Subnet, subnetOf } from './subnet.ts';
import type { SourceObject } from './event.ts';

/** A subnet in force, with what it can give. */
export interface ConfiguredSubnet {
  readonly subnet: Subnet;
  readonly source?: SourceObject;
  /** One a family, in the subnet's order. */
  readonly spaces: readonly AddressSpace[];
}

export interface State {
  /** '' before the ledger's first event. */
  ledger: string;
  /** What was sealed, oldest first: each begins behind the one before, the first with event 1. */
  segments: readonly Segment[];
  /** In force, by name. */
  readonly subnets: Map<string, ConfiguredSubnet>;
  /** In force, by name; also of retired subnets, where they have no effect until the subnet is there again. */
  readonly pools: Map<string, ConfiguredPool>;
  /** By subnet, then by canonical address; also of retired subnets, whose cooldowns and history go on. */
  readonly claims: Map<string, Map<string, Claim>>;
  /** What Pods hold, by "namespace/pod", then by "provider/ordinal". */
  readonly pods: Map<string, Map<string, Allocation>>;
  /** Which claims a CNI DEL of "container/interface" ends. */
  readonly sandboxes: Map<string, readonly ClaimName[]>;
  /** Which attachment has a MAC, by "subnet/mac". */
  readonly macs: Map<string, Attachment>;
  /** Which claims are reserved, by what for. */
  readonly reservations: Map<string, readonly ClaimName[]>;
  /** The claims whose reservation a MAC goes with, by "subnet/mac". */
  readonly reservedMacs: Map<string, readonly ClaimName[]>;
  /** Claims ("subnet/address") whose key somebody else changed: nothing is decided about them. Not from the log, but from a failed append. */
  readonly fenced: Set<string>;
}

/** The state before the first event. */
export function initialState(): State {
  return {
    ledger: '',
    segments: [],
    subnets: new Map(),
    pools: new Map(),
    claims: new Map(),
    pods: new Map(),
    sandboxes: new Map(),
    macs: new Map(),
    reservations: new Map(),
    reservedMacs: new Map(),
    fenced: new Set(),
  };
}

/** The last event that was sealed; 0 for none. */
export const sealedTo = ({ segments }: Pick<State, 'segments'>): Seq => segments.at(-1)?.to ?? 0;

export const podKey = (namespace: string, pod: string): string => `${namespace}/${pod}`;
export const attachmentKey = ({ provider, ordinal }: { provider: string; ordinal: number }): string =>
  `${provider}/${ordinal}`;
export const sandboxKey = (containerId: string, interfaceName: string): string => `${containerId}/${interfaceName}`;

/** The claim of an address in a subnet, if it was ever used. */
export const claimOf = (state: State, subnet: string, address: string): Claim | undefined =>
  state.claims.get(subnet)?.get(address);

/** What an attachment of a Pod holds now, whichever uid has it. */
export const allocationOf = (state: State, { namespace, pod, provider, ordinal }: Attachment): Allocation | undefined =>
  state.pods.get(podKey(namespace, pod))?.get(attachmentKey({ provider, ordinal }));

/** What a Pod of that name holds, oldest first: an order that follows from the log, and not from how the state was made. */
export const heldBy = (state: State, namespace: string, pod: string): readonly Allocation[] =>
  [...(state.pods.get(podKey(namespace, pod))?.values() ?? [])].toSorted((a, b) => a.seq - b.seq);

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
      journal.record(() => {
        state.segments = previous;
      });
      return;
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
    case 'AllocationRefused':
    case 'LedgerRestored':
    case 'KeyRotated':
      return;
    default:
      return unknownEvent(event);
  }
}

/** Puts a subnet in force: its spaces are made anew from the pools and the claims that it has. */
export function configureSubnet(state: State, configured: Omit<ConfiguredSubnet, 'spaces'>, journal: Journal): void {
  const { name, families } = configured.subnet;
  const pools = [...state.pools.values()].filter(({ spec }) => spec.subnet === name);
  const spaces = families.map((subnetFamily) => {
    const ranges = pools.map(({ name: pool, spec }) => ({ pool, ranges: rangesOf(spec, subnetFamily.family) }));
    return new AddressSpace(subnetFamily, ranges);
  });
  // In the order of their last event, which is the order in which addresses were left, and so of their reuse.
  const claims = [...(state.claims.get(name) ?? [])].toSorted(
    ([one, a], [other, b]) => a.last - b.last || (one < other ? -1 : 1),
  );
  const whole = { ...configured, spaces };
  // What is made here is taken back as a whole.
  const own = new Journal();
  for (const [address, claim] of claims) spaceOf(whole, address)?.move(address, undefined, claim, own);
  journal.record(setKey(state.subnets, name, whole));
}

/** Divides a subnet anew, after a change of its pools. */
function divide(state: State, subnet: string, journal: Journal): void {
  const configured = state.subnets.get(subnet);
  if (!configured) return;
  const { spaces: _, ...rest } = configured;
  configureSubnet(state, rest, journal);
}

/** Puts a claim in place of the one before, in every index that follows from it. */
export function putClaim(state: State, name: ClaimName, claim: Claim, journal: Journal): void {
  let claims = state.claims.get(name.subnet);
  if (!claims) journal.record(setKey(state.claims, name.subnet, (claims = new Map())));
  const before = claims.get(name.address);
  journal.record(setKey(claims, name.address, claim));
  journal.touch(name);
  const configured = state.subnets.get(name.subnet);
  if (configured) spaceOf(configured, name.address)?.move(name.address, before, claim, journal);
  if (before?.bindings !== claim.bindings)
    indexSandboxes(state, name, { before: before?.bindings ?? [], after: claim.bindings }, journal);
  if (before?.reservation !== claim.reservation)
    indexReservation(state, name, { before: before?.reservation, after: claim.reservation }, journal);
}

/** Makes an allocation the one that its attachment holds. */
export function indexAllocation(state: State, allocation: Allocation, journal: Journal): void {
  const { namespace, pod } = allocation.attachment;
  let held = state.pods.get(podKey(namespace, pod));
  if (!held) journal.record(setKey(state.pods, podKey(namespace, pod), (held = new Map())));
  journal.record(setKey(held, attachmentKey(allocation.attachment), allocation));
  if (allocation.mac !== '')
    journal.record(setKey(state.macs, `${allocation.subnet}/${allocation.mac}`, allocation.attachment));
}

const spaceOf = (configured: ConfiguredSubnet, address: string): AddressSpace | undefined =>
  configured.spaces.find(({ subnetFamily }) => subnetFamily.family === familyOf(address));

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

function changeClaims(state: State, event: Sequenced, journal: Journal, change: (claim: Claim) => Claim): void {
  // In the order of their texts, in which they are made out again where one event put several behind the others.
  for (const address of [...addressesOf(event)].toSorted()) {
    const before: Claim = claimOf(state, event.subnet, address) ?? { last: 0, lastAt: 0, bindings: [] };
    const after = { ...change(before), last: event.seq, lastAt: event.at };
    putClaim(state, { subnet: event.subnet, address }, after, journal);
  }
}

function forgetAllocation(state: State, { attachment, subnet, mac }: Allocation, journal: Journal): void {
  const key = podKey(attachment.namespace, attachment.pod);
  const held = state.pods.get(key);
  if (held) journal.record(deleteKey(held, attachmentKey(attachment)));
  if (held?.size === 0) journal.record(deleteKey(state.pods, key));
  if (mac !== '') journal.record(deleteKey(state.macs, `${subnet}/${mac}`));
}

function indexSandboxes(
  state: State,
  name: ClaimName,
  { before, after }: { readonly before: readonly Binding[]; readonly after: readonly Binding[] },
  journal: Journal,
): void {
  const keyOf = (binding: Binding): string => sandboxKey(binding.containerId, binding.interface);
  for (const key of new Set(before.map(keyOf))) takeFrom(state.sandboxes, key, name, journal);
  for (const key of new Set(after.map(keyOf))) addTo(state.sandboxes, key, name, journal);
}

function indexReservation(
  state: State,
  name: ClaimName,
  { before, after }: { readonly before: Reservation | undefined; readonly after: Reservation | undefined },
  journal: Journal,
): void {
  if (before) takeFrom(state.reservations, before.reservedFor, name, journal);
  if (before?.mac) takeFrom(state.reservedMacs, `${name.subnet}/${before.mac}`, name, journal);
  if (after) addTo(state.reservations, after.reservedFor, name, journal);
  if (after?.mac) addTo(state.reservedMacs, `${name.subnet}/${after.mac}`, name, journal);
}

type ClaimIndex = Map<string, readonly ClaimName[]>;

const addTo = (index: ClaimIndex, key: string, name: ClaimName, journal: Journal): void =>
  journal.record(setKey(index, key, [...(index.get(key) ?? []), name]));

function takeFrom(index: ClaimIndex, key: string, { subnet, address }: ClaimName, journal: Journal): void {
  const rest = (index.get(key) ?? []).filter((other) => other.subnet !== subnet || other.address !== address);
  journal.record(rest.length > 0 ? setKey(index, key, rest) : deleteKey(index, key));
}

function unknownEvent(event: never): never {
  throw new Error(`unknown event ${JSON.stringify(event)}: written by a newer version? It is never skipped`);
}
