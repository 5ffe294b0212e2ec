/** Converts between domain types and messages of the API. */
import type { MessageInput } from '../../../proto/codec.ts';
import type * as api from '../../../proto/generated/ipledger.ts';
import type { Binding } from '../../../ledger/domain/state/claim.ts';
import type { Event, EventData, EventType } from '../../../ledger/domain/events/event.ts';
import type { PoolSpec } from '../../../ledger/domain/values/configuration.ts';
import type { AllocationCause, ReleaseCause, UnbindCause } from '../../../ledger/domain/values/allocation.ts';
import { networkOf } from '../../../ledger/domain/state/network.ts';
import type { ConfiguredPool } from '../../../ledger/domain/state/pool.ts';
import type { AddressRecord, BoundAllocation, Usage } from '../../../ledger/domain/queries/queries.ts';
import type { BoundSandbox } from '../../../ledger/domain/queries/list-bindings.ts';
import type { ConfiguredSubnet } from '../../../ledger/domain/state/state.ts';
import type { Head, StoredEvent } from '../../../ledger/log/chain/chain.ts';
import { formatTime } from '../../../ledger/log/chain/instant.ts';

/** Formats milliseconds since 1970; '' for none. */
export const formatInstant = (at: number | undefined): string => (at === undefined ? '' : formatTime(at));

/** Converts "pod-deleted" to "RELEASE_CAUSE_POD_DELETED". */
const enumName = (prefix: string, word: string): string => `${prefix}_${word.toUpperCase().replaceAll('-', '_')}`;
const allocationCauses = new Map<AllocationCause, api.AllocationCause>();

function allocationCause(cause: AllocationCause): api.AllocationCause {
  const known = allocationCauses.get(cause);
  if (known) return known;
  const name = enumName('ALLOCATION_CAUSE', cause) as api.AllocationCause;
  allocationCauses.set(cause, name);
  return name;
}

const releaseCause = (cause: ReleaseCause) => enumName('RELEASE_CAUSE', cause) as api.ReleaseCause;
const unbindCause = (cause: UnbindCause) => enumName('UNBIND_CAUSE', cause) as api.UnbindCause;

/** Returns undefined for RELEASE_CAUSE_UNSPECIFIED and for an unknown cause. */
export function readReleaseCause(cause: api.ReleaseCause): ReleaseCause | undefined {
  const causes: readonly ReleaseCause[] = [
    'pod-deleted',
    'pod-completed',
    'scaled-down',
    'owner-deleted',
    'operator',
    'garbage-collected',
    'detached',
    'address-conflict',
  ];
  return causes.find((known) => releaseCause(known) === cause);
}

/** Returns the end of the container if unspecified; undefined for an unknown cause. */
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

export const positionMessage = ({
  epoch,
  seq,
  hash,
  ledger,
}: Pick<Head, 'epoch' | 'seq' | 'hash'> & Partial<Pick<Head, 'ledger'>>): MessageInput<api.Position> => ({
  epoch,
  seq,
  hash,
  ...(ledger && { ledger }),
});

/** The time of the last event; '' for an empty ledger. */
export const headTime = ({ seq, at }: Head): string => (seq === 0 ? '' : formatInstant(at));

const bindingMessage = ({ containerId, interface: name, node, bootId, at }: Binding): MessageInput<api.Binding> => ({
  containerId,
  interface: name,
  node,
  bootId,
  at: formatInstant(at),
});

export function allocationMessage(allocation: BoundAllocation): MessageInput<api.Allocation> {
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
    at: formatInstant(at),
    bindings: bindings.map(bindingMessage),
    network: networkOf(attachment.provider, subnet),
  };
}

export const sandboxBindingMessage = ({
  subnet,
  addresses,
  binding,
}: BoundSandbox): MessageInput<api.SandboxBinding> => ({
  attachment: binding.attachment,
  subnet,
  addresses: [...addresses],
  binding: bindingMessage(binding),
  allocationSeq: binding.alloc,
});

/** The state of an address, with its claim. */
export function addressRecordMessage({
  subnet,
  address,
  state,
  claim,
  availableAt,
  pool,
}: AddressRecord): MessageInput<api.AddressRecord> {
  const bindings = claim?.bindings ?? [];
  return {
    subnet,
    address,
    state,
    allocation: claim?.allocation && allocationMessage({ ...claim.allocation, bindings }),
    bindings: bindings.map(bindingMessage),
    releasedAt: formatInstant(claim?.released?.at),
    releasedFromUid: claim?.released?.uid,
    lastSeq: claim?.last,
    availableAt: formatInstant(availableAt),
    reservation: claim?.reservation && { ...claim.reservation, at: formatInstant(claim.reservation.at) },
    quarantine: claim?.quarantine && { ...claim.quarantine, at: formatInstant(claim.quarantine.at) },
    pool,
  };
}

/** A Subnet with its counts. @param free for each family; absent for a past state */
export function subnetMessage(
  { subnet, source }: ConfiguredSubnet,
  usage: readonly Usage[],
  free: readonly bigint[] = [],
): MessageInput<api.Subnet> {
  return { name: subnet.name, spec: subnet.spec, source, usage: usage.map(withFree(free)) };
}

export const poolMessage = (
  { name, spec, source }: ConfiguredPool,
  usage: readonly Usage[],
  free: readonly bigint[] = [],
): MessageInput<api.Pool> => ({
  name,
  spec: poolSpecMessage(spec),
  source,
  usage: usage.map(withFree(free)),
});

export const poolSpecMessage = ({ subnet, ips, namespaces }: PoolSpec): MessageInput<api.PoolSpec> => ({
  subnet,
  ips: [...ips],
  namespaces: [...namespaces],
});

const usageMessage = ({
  total,
  inUse,
  available,
  coolingDown,
  reserved,
  quarantined,
  ...rest
}: Usage): MessageInput<api.Usage> => ({
  ...rest,
  total: String(total),
  inUse: String(inUse),
  available: String(available),
  cooldown: String(coolingDown),
  reserved: String(reserved),
  quarantined: String(quarantined),
});

const withFree =
  (free: readonly bigint[]) =>
  (usage: Usage, index: number): MessageInput<api.Usage> => ({
    ...usageMessage(usage),
    free: free[index]?.toString() ?? '',
  });

/** Estimates the size of an event in a reply, which contains the event parsed and as stored. */
export const estimateEventBytes = ({ text }: Pick<StoredEvent, 'text'>): number => 2 * Buffer.byteLength(text);

/** An event, both parsed and as stored. */
export function eventMessage({ envelope, hash, text, sequenced }: StoredEvent): MessageInput<api.Event> {
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

type DataMessage<Type extends EventType> = (
  data: EventData<Type>,
) => Required<Pick<MessageInput<api.Event>, Uncapitalize<Type>>>;

/** The field of the message for the data of each event type. */
const dataMessages: { readonly [Type in EventType]: DataMessage<Type> } = {
  LedgerCreated: (ledgerCreated) => ({ ledgerCreated }),
  SubnetConfigured: (subnetConfigured) => ({ subnetConfigured }),
  SubnetRetired: () => ({ subnetRetired: {} }),
  AddressAllocated: (data) => ({ addressAllocated: { ...data, cause: allocationCause(data.cause) } }),
  AddressTransferred: (data) => ({ addressTransferred: { ...data, cause: allocationCause(data.cause) } }),
  AllocationRefused: (allocationRefused) => ({ allocationRefused }),
  AddressBound: (addressBound) => ({ addressBound }),
  AddressUnbound: (data) => ({ addressUnbound: { ...data, cause: unbindCause(data.cause) } }),
  AddressReleased: (data) => ({ addressReleased: { ...data, cause: releaseCause(data.cause) } }),
  PoolConfigured: (data) => ({ poolConfigured: { ...data, spec: poolSpecMessage(data.spec) } }),
  PoolRetired: (poolRetired) => ({ poolRetired }),
  AddressReserved: (addressReserved) => ({ addressReserved }),
  ReservationCancelled: (reservationCancelled) => ({ reservationCancelled }),
  AddressQuarantined: (addressQuarantined) => ({ addressQuarantined }),
  QuarantineLifted: (quarantineLifted) => ({ quarantineLifted }),
  ClaimsDropped: (claimsDropped) => ({ claimsDropped }),
  SegmentSealed: (segmentSealed) => ({ segmentSealed }),
  HistoryDropped: (historyDropped) => ({ historyDropped }),
  LedgerRestored: (ledgerRestored) => ({ ledgerRestored }),
  KeyRotated: (keyRotated) => ({ keyRotated }),
};

/** The cast is safe, because the table pairs each type with its own data. */
const dataMessage = ({ type, data }: Event): MessageInput<api.Event> =>
  (dataMessages[type] as (data: Event['data']) => MessageInput<api.Event>)(data);
