/**
 * The event types of the log. `data` is stored exactly as declared here and in ../values, so a
 * change of its shape is a new schema version. The definitions in registry.ts state what each type
 * means and does.
 */
import type { Attachment, Grant, ReleaseCause, UnbindCause } from '../values/allocation.ts';
import type { PoolSpec, SourceObject, SubnetSpec } from '../values/configuration.ts';
import type { DroppedHistory, KeyRotation, Restoration, SealedSegment, Seq } from '../values/ledger.ts';

/** The field that events share which take addresses from a Pod. */
interface EndOfPod {
  /** The Pod has ended: its uid gets no address again. Since version 6. */
  readonly ended?: true;
}

export type LedgerCreated = Typed<'LedgerCreated', { readonly ledger: string }>;
export type SubnetConfigured = Typed<'SubnetConfigured', { readonly spec: SubnetSpec; readonly source?: SourceObject }>;
export type SubnetRetired = Typed<'SubnetRetired', Record<never, never>>;
/** `supersedes` is the uid of the earlier Pod of the same name, which the same command released. */
export type AddressAllocated = Typed<'AddressAllocated', Grant & { readonly supersedes?: string }>;
export type AddressTransferred = Typed<
  'AddressTransferred',
  Grant & { readonly alloc: Seq; readonly fromUid: string } & EndOfPod
>;
export type AllocationRefused = Typed<
  'AllocationRefused',
  { readonly attachment: Attachment; readonly uid: string; readonly reason: string; readonly message: string }
>;
export type AddressBound = Typed<
  'AddressBound',
  {
    readonly alloc: Seq;
    readonly attachment: Attachment;
    readonly uid: string;
    readonly addresses: readonly string[];
    readonly containerId: string;
    readonly interface: string;
    readonly node: string;
    readonly bootId: string;
  }
>;
export type AddressUnbound = Typed<
  'AddressUnbound',
  {
    readonly attachment: Attachment;
    readonly addresses: readonly string[];
    readonly containerId: string;
    readonly interface: string;
    readonly cause: UnbindCause;
    /** The evidence of garbage collection that the container has ended. Since version 6. */
    readonly evidence?: string;
  }
>;
export type AddressReleased = Typed<
  'AddressReleased',
  {
    readonly alloc: Seq;
    readonly attachment: Attachment;
    readonly uid: string;
    readonly addresses: readonly string[];
    readonly cause: ReleaseCause;
    readonly evidence: string;
  } & EndOfPod
>;

export type PoolConfigured = Typed<
  'PoolConfigured',
  { readonly pool: string; readonly spec: PoolSpec; readonly source?: SourceObject }
>;
export type PoolRetired = Typed<'PoolRetired', { readonly pool: string }>;
/** At most one address of each family, so that the order of reuse is unique. */
export type AddressReserved = Typed<
  'AddressReserved',
  {
    readonly addresses: readonly string[];
    readonly reservedFor: string;
    readonly reason: string;
    readonly mac: string;
  }
>;
export type ReservationCancelled = Typed<
  'ReservationCancelled',
  { readonly addresses: readonly string[]; readonly reservedFor: string; readonly reason: string }
>;
export type AddressQuarantined = Typed<
  'AddressQuarantined',
  { readonly address: string; readonly seenMac: string; readonly seenAt: string; readonly reason: string }
>;
export type QuarantineLifted = Typed<'QuarantineLifted', { readonly address: string; readonly reason: string }>;

/** The log keeps the history of these addresses. `before` of this event leads to it. */
export type ClaimsDropped = Typed<
  'ClaimsDropped',
  {
    readonly addresses: readonly string[];
    /** The previous events of this type in the subnet, newest first; at most `maxPreviousDrops`. */
    readonly previous: readonly Seq[];
  }
>;
/** The most entries of `previous`, so that a reader fetches all in one round of reads. */
export const maxPreviousDrops = 64;

export type SegmentSealed = Typed<'SegmentSealed', SealedSegment>;
export type HistoryDropped = Typed<'HistoryDropped', DroppedHistory>;
export type LedgerRestored = Typed<'LedgerRestored', Restoration>;
export type KeyRotated = Typed<'KeyRotated', KeyRotation>;

interface Typed<Type extends string, Data> {
  readonly type: Type;
  /** The subnet that the event is about; '' for none. */
  readonly subnet: string;
  readonly data: Data;
}

export type Event =
  | LedgerCreated
  | SubnetConfigured
  | SubnetRetired
  | AddressAllocated
  | AddressTransferred
  | AllocationRefused
  | AddressBound
  | AddressUnbound
  | AddressReleased
  | PoolConfigured
  | PoolRetired
  | AddressReserved
  | ReservationCancelled
  | AddressQuarantined
  | QuarantineLifted
  | ClaimsDropped
  | SegmentSealed
  | HistoryDropped
  | LedgerRestored
  | KeyRotated;

export type EventType = Event['type'];
export type EventOf<Type extends EventType> = Extract<Event, { readonly type: Type }>;
export type EventData<Type extends EventType> = EventOf<Type>['data'];

/** An event with its number and time, as `evolve` needs it. */
export type Sequenced<Kind extends Event = Event> = Kind & {
  readonly seq: Seq;
  /** Milliseconds since 1970; never before the previous event. */
  readonly at: number;
};
