/**
 * The event types of the log. `data` is stored exactly as declared here, so a change of its shape is a new schema version. What
 * each type means and does is in its definition: see registry.ts.
 */
import type { Family } from '../addresses/address.ts';

/** The number of an event: 1, 2, 3 and so on. 0 means "none". */
export type Seq = number;

/** One NIC of a Pod. `ordinal` counts the NICs of one provider, from 0. */
export interface Attachment {
  readonly namespace: string;
  readonly pod: string;
  readonly provider: string;
  readonly ordinal: number;
}

/** A Pod's controlling owner. */
export interface Owner {
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** A route of the CNI result; an empty `dst` is the default route of the gateway's family. */
export interface Route {
  readonly dst: string;
  readonly gw: string;
}

/** An address with the CIDR and gateway of the CNI result. */
export interface AssignedAddress {
  readonly address: string;
  readonly cidr: string;
  readonly gateway: string;
}

export type AllocationCause = 'dynamic' | 'static' | 'pool' | 'reservation' | 'import';

/** `detached`: the Pod exists, and no longer requests the attachment. */
export type ReleaseCause =
  'pod-deleted' | 'pod-completed' | 'scaled-down' | 'owner-deleted' | 'operator' | 'garbage-collected' | 'detached';

/** Why a binding ended: CNI DEL, CNI GC, or a reboot, deletion or out-of-service taint of its node. */
export type UnbindCause =
  'container-deleted' | 'garbage-collected' | 'node-rebooted' | 'node-deleted' | 'node-out-of-service';

/** A normalised Subnet configuration; `gateway` and `cidrBlock` are "v4", "v6" or "v4,v6". */
export interface SubnetSpec {
  readonly cidrBlock: string;
  readonly gateway: string;
  readonly excludeIps: readonly string[];
  readonly provider: string;
  readonly protocol: 'IPv4' | 'IPv6' | 'Dual';
  readonly cooldownMs: number;
  readonly bindingTimeoutMs: number;
  /** The maximum of addresses that the Pods of one namespace may hold; absent: no limit. Since version 5. */
  readonly maxAddressesPerNamespace?: number;
}

/** The Kubernetes object of a configuration. */
export interface SourceObject {
  readonly uid: string;
  readonly generation: number;
}

/** A normalised pool configuration: `ips` are "address" or "first..last", merged and sorted, IPv4 first. */
export interface PoolSpec {
  readonly subnet: string;
  readonly ips: readonly string[];
  /** The namespaces whose Pods may use the pool, and use it by default; none: all Pods that name the pool. */
  readonly namespaces: readonly string[];
}

/** What an attachment is given: addresses, MAC, and the rest of the CNI result. */
export interface Grant {
  readonly attachment: Attachment;
  readonly uid: string;
  readonly owner?: Owner;
  readonly node: string;
  readonly addresses: readonly AssignedAddress[];
  readonly mac: string;
  readonly interface: string;
  readonly cause: AllocationCause;
  readonly routes: readonly Route[];
  readonly defaultRoute?: boolean;
}

/** Of an event that takes addresses from a Pod. */
interface EndOfPod {
  /** The Pod has ended: its uid gets no address again. Since version 6. */
  readonly ended?: true;
}

export type LedgerCreated = Typed<'LedgerCreated', { readonly ledger: string }>;
export type SubnetConfigured = Typed<'SubnetConfigured', { readonly spec: SubnetSpec; readonly source?: SourceObject }>;
export type SubnetRetired = Typed<'SubnetRetired', Record<never, never>>;
/** `supersedes`: the uid of the earlier Pod of the same name whose addresses the same command released. */
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
    /** Since version 6, for garbage collection: how it is known that the container does not exist. */
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

/** The history of these addresses stays in the log; `before` of this event leads to it. */
export type ClaimsDropped = Typed<
  'ClaimsDropped',
  {
    readonly addresses: readonly string[];
    /** The previous events of this type in the subnet, newest first; at most `maxPreviousDrops`. */
    readonly previous: readonly Seq[];
  }
>;
/** The number of previous drops in an event: a reader fetches them in one round of reads. */
export const maxPreviousDrops = 64;

/** `hash` is that of the last event; `manifest` is the SHA-256 of the segment's manifest. */
export type SegmentSealed = Typed<
  'SegmentSealed',
  {
    readonly from: Seq;
    readonly to: Seq;
    /** The times of the first and the last event, RFC 3339. */
    readonly since: string;
    readonly until: string;
    readonly hash: string;
    readonly manifest: string;
    /** The archive, as text for people. */
    readonly archive: string;
  }
>;
/** A sealed range of the log, and the event that records it. */
export type Segment = SegmentSealed['data'] & { readonly seq: Seq };

/** etcd was restored from a backup that ends at `seq`: acknowledged events after it, at least up to `lostSeq`, are lost. */
export type LedgerRestored = Typed<
  'LedgerRestored',
  {
    /** The new epoch. */
    readonly epoch: number;
    readonly seq: Seq;
    readonly hash: string;
    /** The last event of the previous epoch that a client or checkpoint has recorded; 0 for none. */
    readonly lostSeq: Seq;
    readonly reason: string;
  }
>;
export type KeyRotated = Typed<
  'KeyRotated',
  {
    /** Ed25519, base64. */
    readonly publicKey: string;
    readonly keyId: string;
    /** '' for the first key. */
    readonly previousKeyId: string;
    /** The previous key's signature of the new public key; '' for the first key. */
    readonly signature: string;
  }
>;

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
  | LedgerRestored
  | KeyRotated;

export type EventType = Event['type'];
export type EventOf<Type extends EventType> = Extract<Event, { readonly type: Type }>;
export type EventData<Type extends EventType> = EventOf<Type>['data'];

/** An event with its number and time: what `evolve` needs. */
export type Sequenced<Kind extends Event = Event> = Kind & {
  readonly seq: Seq;
  /** Milliseconds since 1970; never before the previous event. */
  readonly at: number;
};

/** The family of a canonical address. */
export const familyOf = (address: string): Family => (address.includes(':') ? 6 : 4);
