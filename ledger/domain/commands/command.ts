/** The commands: requests to change the ledger. Each has its time: `decide` has no clock. */
import type { KeyRotation, Restoration, SealedSegment, Seq } from '../values/ledger.ts';
import type { SourceObject } from '../values/configuration.ts';
import type { Owner, ReleaseCause, Route, UnbindCause } from '../values/allocation.ts';

interface Timed {
  /** The ledger's time, milliseconds since 1970. */
  readonly now: number;
}

/** A Subnet configuration as the user wrote it. */
export interface RequestedSubnet {
  readonly cidrBlock: string;
  readonly gateway: string;
  readonly excludeIps: readonly string[];
  readonly provider: string;
  readonly protocol: string;
  readonly cooldownMs?: number;
  readonly bindingTimeoutMs?: number;
  readonly maxAddressesPerNamespace?: number;
}

/**
 * The binding timeout of a Subnet without one: 1,000 years. A number, because every earlier version
 * reads one, and such that the time after it is a valid date.
 */
export const noBindingTimeoutMs = 31_536_000_000_000;

/** Whether the end of a binding timeout never comes: the Subnet has none. */
export const isNever = (until: number): boolean => until >= noBindingTimeoutMs;

/** The default times of a subnet, and of a retired subnet, whose own times the state lacks. */
export const defaultCooldownTimes = { cooldownMs: 60_000, bindingTimeoutMs: noBindingTimeoutMs } as const;

/** A pool configuration of the user; `ips` are addresses, ranges "first..last" or CIDRs. */
export interface RequestedPool {
  readonly subnet: string;
  readonly ips: readonly string[];
  readonly namespaces: readonly string[];
}

/** One family of a dual-stack subnet, or '' for all families of the subnet. */
export type IpFamily = '' | 'ipv4' | 'ipv6';

/** The request of one attachment. */
export interface AttachmentRequest {
  readonly provider: string;
  readonly ordinal: number;
  /** '' if it is unknown before CNI ADD. */
  readonly interface: string;
  /** The subnets that may serve the request, in order of preference. */
  readonly subnets: readonly string[];
  /** Sets of one or two addresses: the first free set is allocated. None: any free address. */
  readonly candidates: readonly (readonly string[])[];
  /** The only pool that may serve the request; '' for the addresses outside all pools. */
  readonly pool: string;
  readonly ipFamily: IpFamily;
  /** The owner whose reserved addresses the attachment may take; '' for none. */
  readonly reservation: string;
  readonly mac: string;
  /** A random number to make a MAC from, for a NIC that needs a MAC and requests none. */
  readonly macSeed?: number;
  readonly routes: readonly Route[];
  readonly defaultRoute?: boolean;
}

export interface Allocate extends Timed {
  readonly type: 'Allocate';
  readonly pod: {
    readonly namespace: string;
    readonly name: string;
    readonly uid: string;
    readonly node: string;
    readonly owner?: Owner;
  };
  readonly attachments: readonly AttachmentRequest[];
  /** Records addresses that another system allocated: exactly the named ones. */
  readonly import?: boolean;
  /** The time (milliseconds since 1970) after which the request leaks no address: it is refused. */
  readonly deadline?: number;
  /** The newest event that the client had seen: the Pod takes over from no later allocation. */
  readonly seenSeq?: Seq;
}

/** Ends all allocations of a Pod uid, or one of them. */
export interface Release extends Timed {
  readonly type: 'Release';
  readonly namespace: string;
  readonly pod: string;
  readonly uid: string;
  readonly cause: ReleaseCause;
  readonly evidence: string;
  readonly alloc?: Seq;
}

/** The container interface of a CNI call. */
export interface Sandbox {
  readonly namespace: string;
  readonly pod: string;
  readonly uid: string;
  readonly provider: string;
  readonly containerId: string;
  readonly interface: string;
}

/** The only node that the caller may act for; absent: any node. */
interface NodeScope {
  readonly onlyNode?: string;
}

export interface Bind extends Timed, Sandbox, NodeScope {
  readonly type: 'Bind';
  readonly node: string;
  readonly bootId: string;
}

export interface Unbind extends Timed, NodeScope {
  readonly type: 'Unbind';
  readonly containerId: string;
  readonly interface: string;
  readonly cause: UnbindCause;
  readonly evidence?: string;
  /** The caller may end bindings only whose allocation has ended. */
  readonly releasedOnly?: boolean;
}

export interface ApplySubnet extends Timed {
  readonly type: 'ApplySubnet';
  readonly name: string;
  readonly spec: RequestedSubnet;
  readonly source?: SourceObject;
}

export interface RetireSubnet extends Timed {
  readonly type: 'RetireSubnet';
  readonly name: string;
}

export interface ApplyPool extends Timed {
  readonly type: 'ApplyPool';
  readonly name: string;
  readonly spec: RequestedPool;
  readonly source?: SourceObject;
}

export interface RetirePool extends Timed {
  readonly type: 'RetirePool';
  readonly name: string;
}

export interface Reserve extends Timed {
  readonly type: 'Reserve';
  readonly subnet: string;
  /** One address of each family at most; none: any free address of each family. */
  readonly addresses: readonly string[];
  readonly reservedFor: string;
  readonly reason: string;
  readonly mac: string;
  /** The family to reserve if `addresses` is empty. */
  readonly ipFamily: IpFamily;
}

export interface Unreserve extends Timed {
  readonly type: 'Unreserve';
  readonly subnet: string;
  /** None: all addresses that are reserved for `reservedFor`. */
  readonly addresses: readonly string[];
  /** '' for any owner. */
  readonly reservedFor: string;
  readonly reason: string;
}

export interface QuarantineAddress extends Timed {
  readonly type: 'Quarantine';
  readonly subnet: string;
  readonly address: string;
  readonly seenMac: string;
  readonly seenAt: string;
  readonly reason: string;
}

export interface UnquarantineAddress extends Timed {
  readonly type: 'Unquarantine';
  readonly subnet: string;
  readonly address: string;
  readonly reason: string;
}

/** Deletes claims that are idle for long enough, and leaves the others. */
export interface DropClaims extends Timed {
  readonly type: 'DropClaims';
  readonly subnet: string;
  /** Canonical text; at most `maxClaimsPerDrop`. */
  readonly addresses: readonly string[];
}

/** The segment after the last sealed one is in the archive, and was read back from it. */
export interface SealSegment extends Timed {
  readonly type: 'SealSegment';
  readonly segment: SealedSegment;
}

/** The history up to the end of a sealed segment is given up. */
export interface DropHistory extends Timed {
  readonly type: 'DropHistory';
  /** The last event of that segment. */
  readonly to: Seq;
  readonly reason: string;
}

/** An operator accepts what a backup lacks: the ledger continues without it, in a new epoch. */
export interface RestoreLedger extends Timed {
  readonly type: 'RestoreLedger';
  readonly restored: Restoration;
}

export interface CreateLedger extends Timed {
  readonly type: 'CreateLedger';
  /** The ULID of the new ledger. */
  readonly ledger: string;
}

/** Signs checkpoints with another key. Verification checks the signature by the previous key. */
export type RotateKey = Timed & { readonly type: 'RotateKey' } & KeyRotation;

export type Command =
  | Allocate
  | Release
  | Bind
  | Unbind
  | ApplySubnet
  | RetireSubnet
  | ApplyPool
  | RetirePool
  | Reserve
  | Unreserve
  | QuarantineAddress
  | UnquarantineAddress
  | DropClaims
  | SealSegment
  | DropHistory
  | RestoreLedger
  | RotateKey
  | CreateLedger;
