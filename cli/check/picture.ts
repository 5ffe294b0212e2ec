/** What `check` compares, as plain values: the ledger's word, and what the Kubernetes API shows. */
import type {
  AddressRecord,
  Allocation,
  Freeze,
  Pool,
  Position,
  SandboxBinding,
  Subnet,
} from '../../proto/ipledger.ts';

export interface LedgerPicture {
  readonly position: Position | undefined;
  /** Present while it is frozen. */
  readonly freeze?: Freeze | undefined;
  readonly allocations: readonly Allocation[];
  /** Those in force. */
  readonly subnets: readonly Subnet[];
  /** Who may answer on what; also on addresses that were released meanwhile. */
  readonly bindings: readonly SandboxBinding[];
  /** Those in force. */
  readonly pools: readonly Pool[];
  /** What is known of each address that is reserved. */
  readonly reservations: readonly AddressRecord[];
}

export interface Pod {
  readonly namespace: string;
  readonly name: string;
  /** As whom the ledger knows a virtual machine's launcher; absent: by its own name. */
  readonly ledgerName?: string;
  /** Who it is in the ledger: its uid, but for static Pods and virtual machines. */
  readonly identity: string;
  readonly hostNetwork: boolean;
  readonly restartPolicy: string;
  readonly phase: string;
  readonly reason: string;
  /** Milliseconds since 1970; undefined unless it is terminating. */
  readonly deletionAt: number | undefined;
  readonly graceSeconds: number;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface IpObject {
  readonly name: string;
  /** The event that gave the address, as the object says; "" on one that ipledger did not make. */
  readonly allocation: string;
  readonly spec: Readonly<Record<string, unknown>>;
}

/** A Subnet or an IPPool. */
export interface StatusObject {
  readonly name: string;
  readonly status: Readonly<Record<string, unknown>>;
}

export interface Vip {
  readonly name: string;
  readonly subnet: string;
  /** Those that it shows. */
  readonly addresses: readonly string[];
}

export interface StatefulSet {
  readonly uid: string;
  readonly deleting: boolean;
  readonly replicas: number;
  readonly firstOrdinal: number;
}

export interface ClusterPicture {
  readonly pods: readonly Pod[];
  readonly ips: readonly IpObject[];
  readonly subnets: readonly StatusObject[];
  readonly pools: readonly StatusObject[];
  readonly vips: readonly Vip[];
  /** Names. */
  readonly nodes: ReadonlySet<string>;
  /** By "namespace/name". */
  readonly statefulSets: ReadonlyMap<string, StatefulSet>;
  /** KubeVirt's VirtualMachines that are not being deleted, by "namespace/name". */
  readonly machines: ReadonlySet<string>;
  /** CNI configurations of the NetworkAttachmentDefinitions, by "namespace/name". */
  readonly networks: ReadonlyMap<string, string>;
}

export interface Picture {
  readonly ledger: LedgerPicture;
  readonly cluster: ClusterPicture;
  /** When it was taken, milliseconds since 1970. */
  readonly at: number;
}

/** One thing that two sides do not say alike. */
export interface Disagreement {
  readonly kind: Kind;
  /** "Pod default/web", "10.0.0.2 of subnet lan", … */
  readonly where: string;
  /** What is there, and what the other side says. */
  readonly what: string;
  /** A command that mends it or, where none can, shows what will; behind a #, what to know about it. */
  readonly remedy: string;
}

export type Kind =
  | 'frozen'
  | 'held twice'
  | 'holder gone'
  | 'no address'
  | 'annotation'
  | 'other address in use'
  | 'IP object missing'
  | 'IP object superfluous'
  | 'IP object differs'
  | 'address in two IP objects'
  | 'reservation'
  | 'Vip'
  | 'Subnet status'
  | 'IPPool status'
  | 'count'
  | 'node gone'
  | 'bound on two nodes'
  | 'key'
  | 'fenced';
