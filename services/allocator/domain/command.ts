/** What is asked for, imperative. Time comes in with the command: `decide` has no clock. */
import type {
  LedgerRestored,
  KeyRotated,
  Owner,
  ReleaseCause,
  Route,
  SegmentSealed,
  Seq,
  SourceObject,
  UnbindCause,
} from './event.ts';

interface Timed {
  /** The ledger's time, milliseconds since 1970. */
  readonly now: number;
}

/** A subnet's configuration as somebody wrote it. */
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

/** A pool's configuration as somebody wrote it; `ips` are addresses, ranges "first..last" or CIDRs. */
export interface RequestedPool {
  readonly subnet: string;
  readonly ips: readonly string[];
  readonly namespaces: readonly string[];
}

/** One family of a dual-stack subnet, or ('') all that the subnet has. */
export type IpFamily = '' | 'ipv4' | 'ipv6';

/** What one attachment wants. */
export interface AttachmentRequest {
  readonly provider: string;
  readonly ordinal: number;
  /** '' when it is not known before CNI runs. */
  readonly interface: string;
  /** The subnets that may serve it, best first. */
  readonly subnets: readonly string[];
  /** None: any free address. Else the first set that is free; a set is one or two addresses taken together. */
  readonly candidates: readonly (readonly string[])[];
  /** The pool from which alone it may be served; '' for the rest that belongs to no pool. */
  readonly pool: string;
  readonly ipFamily: IpFamily;
  /** Entitles to what is reserved for just this; '' for nothing. */
  readonly reservation: string;
  readonly mac: string;
  /** For a NIC that must have a MAC and asks for none: a random number from which one is made. */
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
  /** Takes over what another system gave: just the addresses that are named. */
  readonly import?: boolean;
  /** Refused after this instant (milliseconds since 1970), so that a late arrival cannot leak. */
  readonly deadline?: number;
}

/** Ends what a Pod uid holds: all of it, or the one allocation. */
export interface Release extends Timed {
  readonly type: 'Release';
  readonly namespace: string;
  readonly pod: string;
  readonly uid: string;
  readonly cause: ReleaseCause;
  readonly evidence: string;
  readonly alloc?: Seq;
}

/** Which of a Pod's attachments a CNI call is about. */
export interface Sandbox {
  readonly namespace: string;
  readonly pod: string;
  readonly uid: string;
  readonly provider: string;
  readonly containerId: string;
  readonly interface: string;
}

/** Whoever asks may speak of this node only; absent: of any. */
interface OfNode {
  readonly onlyNode?: string;
}

export interface Bind extends Timed, Sandbox, OfNode {
  readonly type: 'Bind';
  readonly node: string;
  readonly bootId: string;
}

export interface Unbind extends Timed, OfNode {
  readonly type: 'Unbind';
  readonly containerId: string;
  readonly interface: string;
  readonly cause: UnbindCause;
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
  /** These, at most one of each family; none: any free one of each. */
  readonly addresses: readonly string[];
  readonly reservedFor: string;
  readonly reason: string;
  readonly mac: string;
  /** Only this family where none is named. */
  readonly ipFamily: IpFamily;
}

export interface Unreserve extends Timed {
  readonly type: 'Unreserve';
  readonly subnet: string;
  /** None: all that is reserved for it. */
  readonly addresses: readonly string[];
  /** '' for whatever the addresses are reserved for. */
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

export interface LiftQuarantine extends Timed {
  readonly type: 'Lift';
  readonly subnet: string;
  readonly address: string;
  readonly reason: string;
}

/** The ledger need not keep these claims any more. Those of them that do not rest are left as they are. */
export interface DropClaims extends Timed {
  readonly type: 'DropClaims';
  readonly subnet: string;
  /** Canonical text; at most `mostClaimsADrop`. */
  readonly addresses: readonly string[];
}

/** The events right behind those that were sealed last stand in the archive, and were read back from there. */
export interface SealSegment extends Timed {
  readonly type: 'SealSegment';
  readonly segment: SegmentSealed['data'];
}

/** An operator has looked at what a restored backup lacks: the ledger goes on without it, in a new epoch. */
export interface RestoreLedger extends Timed {
  readonly type: 'RestoreLedger';
  readonly restored: LedgerRestored['data'];
}

export interface CreateLedger extends Timed {
  readonly type: 'CreateLedger';
  /** ULID that will name it. */
  readonly ledger: string;
}

/** Checkpoints are signed with another key. Whether the old key vouches for it is judged by those who verify. */
export type RotateKey = Timed & { readonly type: 'RotateKey' } & KeyRotated['data'];

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
  | LiftQuarantine
  | DropClaims
  | SealSegment
  | RestoreLedger
  | RotateKey
  | CreateLedger;
