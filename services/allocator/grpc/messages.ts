/** What the domain says, as messages of the API. Both directions, and nothing but shapes. */
import type { Input } from '../../../proto/codec.ts';
import type * as api from '../../../proto/ipledger.ts';
import type { Binding } from '../domain/claim.ts';
import type { AllocationCause, Event, PoolSpec, ReleaseCause, UnbindCause } from '../domain/event.ts';
import { networkOf } from '../domain/network.ts';
import type { ConfiguredPool } from '../domain/pool.ts';
import type { AddressRecord, BoundAllocation, Usage } from '../domain/questions.ts';
import type { BoundSandbox } from '../domain/sandboxes.ts';
import type { ConfiguredSubnet } from '../domain/state.ts';
import type { Head, StoredEvent } from '../ledger/chain.ts';

/** Milliseconds since 1970 as text; '' for none. */
export const instant = (at: number | undefined): string => (at === undefined ? '' : new Date(at).toISOString());

/** "pod-deleted" ⇄ "RELEASE_CAUSE_POD_DELETED". */
const enumName = (prefix: string, word: string): string => `${prefix}_${word.toUpperCase().replaceAll('-', '_')}`;
const allocationCause = (cause: AllocationCause) => enumName('ALLOCATION_CAUSE', cause) as api.AllocationCause;
const releaseCause = (cause: ReleaseCause) => enumName('RELEASE_CAUSE', cause) as api.ReleaseCause;
const unbindCause = (cause: UnbindCause) => enumName('UNBIND_CAUSE', cause) as api.UnbindCause;

/** undefined for RELEASE_CAUSE_UNSPECIFIED, or a cause that this version does not know. */
export function readReleaseCause(cause: api.ReleaseCause): ReleaseCause | undefined {
  const causes: readonly ReleaseCause[] = [
    'pod-deleted',
    'pod-completed',
    'scaled-down',
    'owner-deleted',
    'operator',
    'garbage-collected',
    'detached',
  ];
  return causes.find((known) => releaseCause(known) === cause);
}

/** A container's end is what goes without saying; undefined for a cause that this version does not know. */
export function readUnbindCause(cause: api.UnbindCause): UnbindCause | undefined {
  if (cause === 'UNBIND_CAUSE_UNSPECIFIED') return 'container-deleted';
  const causes: readonly UnbindCause[] = [
    'container-deleted',
    'garbage-collected',
    'node-rebooted',
    'node-deleted',
    'node-out-of-service',
  ];
  return causes.find((known) => unbindCause(known) === cause);
}

/** A place in the ledger. */
export const positionOf = ({ epoch, seq, hash }: Pick<Head, 'epoch' | 'seq' | 'hash'>): Input<api.Position> => ({
  epoch,
  seq,
  hash,
});

/** When the last event before it happened; '' before the first. */
export const timeOf = ({ seq, at }: Head): string => (seq === 0 ? '' : instant(at));

const bindingMessage = ({ containerId, interface: name, node, bootId, at }: Binding): Input<api.Binding> => ({
  containerId,
  interface: name,
  node,
  bootId,
  at: instant(at),
});

/** An allocation in force. */
export function allocationMessage(allocation: BoundAllocation): Input<api.Allocation> {
  const { seq, attachment, uid, owner, node, subnet, addresses, mac, cause, routes, defaultRoute, at, bindings } =
    allocation;
  return {
    seq,
    attachment,
    podUid: uid,
    owner,
    node,
    subnet,
    addresses,
    mac,
    interface: allocation.interface,
    cause: allocationCause(cause),
    routes,
    defaultRoute,
    at: instant(at),
    bindings: bindings.map(bindingMessage),
    network: networkOf(attachment.provider, subnet),
  };
}

/** A container's binding. */
export const sandboxMessage = ({ subnet, addresses, binding }: BoundSandbox): Input<api.SandboxBinding> => ({
  attachment: binding.attachment,
  subnet,
  addresses: [...addresses],
  binding: bindingMessage(binding),
  allocationSeq: binding.alloc,
});

/** All that is known of one address. */
export function recordMessage({
  subnet,
  address,
  state,
  claim,
  availableAt,
  pool,
}: AddressRecord): Input<api.AddressRecord> {
  const bindings = claim?.bindings ?? [];
  return {
    subnet,
    address,
    state,
    allocation: claim?.allocation && allocationMessage({ ...claim.allocation, bindings }),
    bindings: bindings.map(bindingMessage),
    releasedAt: instant(claim?.released?.at),
    releasedFromUid: claim?.released?.uid,
    lastSeq: claim?.last,
    availableAt: instant(availableAt),
    reservation: claim?.reservation && { ...claim.reservation, at: instant(claim.reservation.at) },
    quarantine: claim?.quarantine && { ...claim.quarantine, at: instant(claim.quarantine.at) },
    pool,
  };
}

/** A subnet in force, with its counts. */
export function subnetMessage({ subnet, source }: ConfiguredSubnet, usage: readonly Usage[]): Input<api.Subnet> {
  return { name: subnet.name, spec: subnet.spec, source, usage: usage.map(usageMessage) };
}

/** A pool in force, with its counts. */
export const poolMessage = ({ name, spec, source }: ConfiguredPool, usage: readonly Usage[]): Input<api.Pool> => ({
  name,
  spec: poolSpecMessage(spec),
  source,
  usage: usage.map(usageMessage),
});

/** A pool's spec. */
export const poolSpecMessage = ({ subnet, ips, namespaces }: PoolSpec): Input<api.PoolSpec> => ({
  subnet,
  ips: [...ips],
  namespaces: [...namespaces],
});

const usageMessage = ({ total, inUse, available, resting, reserved, ...rest }: Usage): Input<api.Usage> => ({
  ...rest,
  total: String(total),
  inUse: String(inUse),
  available: String(available),
  resting: String(resting),
  reserved: String(reserved),
});

/** About how many bytes it takes in a reply, which holds it twice. */
export const weightOfEvent = ({ text }: Pick<StoredEvent, 'text'>): number => 2 * Buffer.byteLength(text);

/** An event, parsed and as it is stored. */
export function eventMessage({ envelope, hash, text, sequenced }: StoredEvent): Input<api.Event> {
  const { seq, id, cmd, part, type, subnet, at, actor, prev } = envelope;
  const before = Object.entries(envelope.before).map(([address, last]) => ({ address, seq: last }));
  const common = {
    seq,
    id,
    command: cmd,
    part: part[0],
    parts: part[1],
    type,
    subnet,
    at,
    actor,
    before,
    prev,
    hash,
    stored: text,
  };
  return { ...common, ...dataMessage(sequenced) };
}

function dataMessage(event: Event): Input<api.Event> {
  switch (event.type) {
    case 'LedgerCreated':
      return { ledgerCreated: event.data };
    case 'SubnetConfigured':
      return { subnetConfigured: event.data };
    case 'SubnetRetired':
      return { subnetRetired: {} };
    case 'AddressAllocated':
      return { addressAllocated: { ...event.data, cause: allocationCause(event.data.cause) } };
    case 'AddressTransferred':
      return { addressTransferred: { ...event.data, cause: allocationCause(event.data.cause) } };
    case 'AllocationRefused':
      return { allocationRefused: event.data };
    case 'AddressBound':
      return { addressBound: event.data };
    case 'AddressUnbound':
      return { addressUnbound: { ...event.data, cause: unbindCause(event.data.cause) } };
    case 'AddressReleased':
      return { addressReleased: { ...event.data, cause: releaseCause(event.data.cause) } };
    case 'PoolConfigured':
      return { poolConfigured: { ...event.data, spec: poolSpecMessage(event.data.spec) } };
    case 'PoolRetired':
      return { poolRetired: event.data };
    case 'AddressReserved':
      return { addressReserved: event.data };
    case 'ReservationCancelled':
      return { reservationCancelled: event.data };
    case 'AddressQuarantined':
      return { addressQuarantined: event.data };
    case 'QuarantineLifted':
      return { quarantineLifted: event.data };
    case 'ClaimsDropped':
      return { claimsDropped: { addresses: [...event.data.addresses], previous: [...event.data.previous] } };
    case 'SegmentSealed':
      return { segmentSealed: event.data };
    case 'LedgerRestored':
      return { ledgerRestored: event.data };
    case 'KeyRotated':
      return { keyRotated: event.data };
  }
}
