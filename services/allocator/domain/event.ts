/**
 * What happened: the vocabulary of the log, past tense. `data` is stored as it stands here, so a change of shape is a new
 * schema version with an upcaster, never an edit.
 */
import type { Family } from './address.ts';

/** Number of an event; the first is 1. Dense. 0 means "none". */
export type Seq = number;

/** One network attachment of a Pod; `ordinal` counts those of one provider, from 0. */
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

/** One address with the CIDR and gateway that a CNI answer puts beside it. */
export interface AssignedAddress {
  readonly address: string;
  readonly cidr: string;
  readonly gateway: string;
}

export type AllocationCause = 'dynamic' | 'static' | 'pool' | 'reservation' | 'import';

/** `detached`: the Pod lives, and does not ask for the attachment any more. */
export type ReleaseCause =
  'pod-deleted' | 'pod-completed' | 'scaled-down' | 'owner-deleted' | 'operator' | 'garbage-collected' | 'detached';

/** Why a container no longer has an address: a CNI DEL, CNI GC, another boot of its node, or the end of its node: it was deleted, or taken out of service. */
export type UnbindCause =
  'container-deleted' | 'garbage-collected' | 'node-rebooted' | 'node-deleted' | 'node-out-of-service';

/** A subnet's configuration as normalised text; `gateway` and `cidrBlock` are "v4", "v6" or "v4,v6". */
export interface SubnetSpec {
  readonly cidrBlock: string;
  readonly gateway: string;
  readonly excludeIps: readonly string[];
  readonly provider: string;
  readonly protocol: 'IPv4' | 'IPv6' | 'Dual';
  readonly cooldownMs: number;
  readonly bindingTimeoutMs: number;
  /** How many addresses the Pods of one namespace may hold; absent: no limit. Since version 5. */
  readonly maxAddressesPerNamespace?: number;
}

/** The Kubernetes object that a configuration came from. */
export interface SourceObject {
  readonly uid: string;
  readonly generation: number;
}

/** A pool's configuration as normalised text: `ips` are "address" or "first..last", merged and sorted, IPv4 first. */
export interface PoolSpec {
  readonly subnet: string;
  readonly ips: readonly string[];
  /** Whose Pods may have addresses of it, and draw from it by default; none: any Pod may that names it. */
  readonly namespaces: readonly string[];
}

/** What an attachment was given, and what CNI must answer for it. */
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

export type LedgerCreated = Typed<'LedgerCreated', { readonly ledger: string }>;
export type SubnetConfigured = Typed<'SubnetConfigured', { readonly spec: SubnetSpec; readonly source?: SourceObject }>;
export type SubnetRetired = Typed<'SubnetRetired', Record<never, never>>;
/** `supersedes`: the uid of the earlier Pod of the same name whose addresses the same command released; absent for none. */
export type AddressAllocated = Typed<'AddressAllocated', Grant & { readonly supersedes?: string }>;
export type AddressTransferred = Typed<'AddressTransferred', Grant & { readonly alloc: Seq; readonly fromUid: string }>;
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
  }
>;

export type PoolConfigured = Typed<
  'PoolConfigured',
  { readonly pool: string; readonly spec: PoolSpec; readonly source?: SourceObject }
>;
export type PoolRetired = Typed<'PoolRetired', { readonly pool: string }>;
/** At most one address of each family: equal places in the order of reuse would be no order. */
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

/**
 * The ledger keeps no claim of these addresses any more: they were idle and had rested for long. Their history stays in the
 * log; `before` of this event leads to it.
 */
export type ClaimsDropped = Typed<
  'ClaimsDropped',
  {
    readonly addresses: readonly string[];
    /** The events of this type before it in the same subnet, newest first; at most `mostDropsNamed`. */
    readonly previous: readonly Seq[];
  }
>;
/** Of the last drops so many are named, so that a reader gets them by one round of reads. */
export const mostDropsNamed = 64;

/** A stretch of the log stands in the archive: `hash` is its last event's, `manifest` the SHA-256 of what describes it. */
export type SegmentSealed = Typed<
  'SegmentSealed',
  {
    readonly from: Seq;
    readonly to: Seq;
    /** Their times, RFC 3339. */
    readonly since: string;
    readonly until: string;
    readonly hash: string;
    readonly manifest: string;
    /** Which archive, in words. */
    readonly archive: string;
  }
>;
/** A sealed stretch of the log: what was said of it, and by which event. */
export type Segment = SegmentSealed['data'] & { readonly seq: Seq };

/** etcd was restored from a backup, found to end at `seq`: what was acknowledged behind it, to `lostSeq` at least, is gone. */
export type LedgerRestored = Typed<
  'LedgerRestored',
  {
    /** The new one. */
    readonly epoch: number;
    readonly seq: Seq;
    readonly hash: string;
    /** The last event that somebody remembers of the epoch before; 0: nobody does. */
    readonly lostSeq: Seq;
    readonly reason: string;
  }
>;
/** Checkpoints are signed with another key from now on; the one before vouches for it. */
export type KeyRotated = Typed<
  'KeyRotated',
  {
    /** Ed25519, base64. */
    readonly publicKey: string;
    readonly keyId: string;
    /** '' for the first. */
    readonly previousKeyId: string;
    /** Of the new public key, by the key before; '' for the first. */
    readonly signature: string;
  }
>;

interface Typed<Type extends string, Data> {
  readonly type: Type;
  /** The subnet that it is about; '' for none. */
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

/** An event with its place in the log: what `evolve` needs to know of it. */
export type Sequenced<Kind extends Event = Event> = Kind & {
  readonly seq: Seq;
  /** Milliseconds since 1970; never less than the event before. */
  readonly at: number;
};

/** The addresses whose claims an event changes, canonical text. */
export function addressesOf(event: Event): readonly string[] {
  switch (event.type) {
    case 'AddressAllocated':
    case 'AddressTransferred':
      return event.data.addresses.map(({ address }) => address);
    case 'AddressBound':
    case 'AddressUnbound':
    case 'AddressReleased':
    case 'AddressReserved':
    case 'ReservationCancelled':
    case 'ClaimsDropped':
      return event.data.addresses;
    case 'AddressQuarantined':
    case 'QuarantineLifted':
      return [event.data.address];
    case 'LedgerCreated':
    case 'SubnetConfigured':
    case 'SubnetRetired':
    case 'PoolConfigured':
    case 'PoolRetired':
    case 'AllocationRefused':
    case 'SegmentSealed':
    case 'LedgerRestored':
    case 'KeyRotated':
      return [];
  }
}

/** The family of a canonical address, by its looks. */
export const familyOf = (address: string): Family => (address.includes(':') ? 6 : 4);
