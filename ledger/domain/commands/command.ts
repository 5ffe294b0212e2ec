/** Commands: requests to change the ledger. Each has its time, because `decide` has no clock. */
import type { KeyRotation, Restoration, SealedSegment, Seq } from '../values/ledger.ts';
import type { SourceObject } from '../values/configuration.ts';
import type { Owner, ReleaseCause, Route, UnbindCause } from '../values/allocation.ts';

interface Timed {
  /** Ledger time in milliseconds since 1970. */
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
  readonly probeAddresses?: boolean;
}

/**
 * The value for "no binding timeout": 1,000 years. Earlier versions require a number here, and the
 * sum of this number and the present time must be a valid date.
 */
export const noBindingTimeoutMs = 31_536_000_000_000;

/** Reports whether a time stands for "never", because the Subnet has no binding timeout. */
export const isNever = (until: number): boolean => until >= noBindingTimeoutMs;

/** Default times of a subnet, and of a retired subnet, whose own times the state lacks. */
export const defaultCooldownTimes = { cooldownMs: 60_000, bindingTimeoutMs: noBindingTimeoutMs } as const;

/** A pool as the user wrote it. `ips` has addresses, ranges "first..last" or CIDRs. */
export interface RequestedPool {
  readonly subnet: string;
  readonly ips: readonly string[];
  readonly namespaces: readonly string[];
}

/** The family to allocate in a dual-stack subnet; '' for all families. */
export type IpFamily = '' | 'ipv4' | 'ipv6';

export interface AttachmentRequest {
  readonly provider: string;
  readonly ordinal: number;
  /** The interface name; '' if only CNI ADD knows it. */
  readonly interface: string;
  /** The subnets that may serve the request, in order of preference. */
  readonly subnets: readonly string[];
  /** Sets of one or two addresses. The first free set is allocated. None: any free address. */
  readonly candidates: readonly (readonly string[])[];
  /** The only pool to allocate from; '' for the addresses outside all pools. */
  readonly pool: string;
  readonly ipFamily: IpFamily;
  /** The owner whose reserved addresses the attachment may take; '' for none. */
  readonly reservation: string;
  readonly mac: string;
  /** Generates the MAC of a NIC that needs a MAC and requests none. A random number. */
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
  /** Records exactly the named addresses, which another IPAM system has allocated. */
  readonly import?: boolean;
  /** Milliseconds since 1970. Later requests are refused: the client has given up. */
  readonly deadline?: number;
  /** The newest event that the client has seen. The Pod takes over no allocation made after it. */
  readonly seenSeq?: Seq;
}

/** Releases all allocations of a Pod uid, or only the allocation `alloc`. */
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

/** `onlyNode` is the only node that the caller may act for. Absent: any node. */
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
  /** If true, the caller may only end bindings whose allocation was released. */
  readonly releasedOnly?: boolean;
}

/** Another host answers on an address that this container is about to use. */
export interface ReportConflict extends Timed, Sandbox, NodeScope {
  readonly type: 'ReportConflict';
  readonly node: string;
  readonly address: string;
  readonly seenMac: string;
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
  /** At most one address of each family. If empty, any free address of each family is reserved. */
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
  /** If empty, all addresses that are reserved for `reservedFor` are meant. */
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

/** Deletes claims that have been idle for long enough, and skips the others. */
export interface DropClaims extends Timed {
  readonly type: 'DropClaims';
  readonly subnet: string;
  /** Canonical addresses, at most `maxClaimsPerDrop`. */
  readonly addresses: readonly string[];
}

/** Records that the segment after the last sealed one is in the archive and was read back. */
export interface SealSegment extends Timed {
  readonly type: 'SealSegment';
  readonly segment: SealedSegment;
}

/** Gives up the history up to the end of a sealed segment. */
export interface DropHistory extends Timed {
  readonly type: 'DropHistory';
  /** The last event of that segment. */
  readonly to: Seq;
  readonly reason: string;
}

/** Continues the ledger in a new epoch, without the events that a backup lacks. */
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
  | ReportConflict
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
