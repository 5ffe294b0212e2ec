/** What is asked for, imperative. Time comes in with the command: `decide` has no clock. */
import type { Owner, ReleaseCause, Route, Seq, SourceObject, UnbindCause } from './event.ts';

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
}

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
  readonly mac: string;
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

export interface CreateLedger extends Timed {
  readonly type: 'CreateLedger';
  /** ULID that will name it. */
  readonly ledger: string;
}

export type Command = Allocate | Release | Bind | Unbind | ApplySubnet | RetireSubnet | CreateLedger;
