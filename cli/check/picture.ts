/** What `check` compares, as plain values: the ledger's word, and what the Kubernetes API shows. */
import type { Allocation, Position, SandboxBinding, Subnet } from '../../proto/ipledger.ts';

export interface LedgerPicture {
  readonly position: Position | undefined;
  readonly allocations: readonly Allocation[];
  /** Those in force. */
  readonly subnets: readonly Subnet[];
  /** Who may answer on what; also on addresses that were released meanwhile. */
  readonly bindings: readonly SandboxBinding[];
}

export interface Pod {
  readonly namespace: string;
  readonly name: string;
  /** Who it is in the ledger: its uid; of a static Pod the hash that its mirror carries. */
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

export interface SubnetObject {
  readonly name: string;
  readonly status: Readonly<Record<string, unknown>>;
}

export interface ClusterPicture {
  readonly pods: readonly Pod[];
  readonly ips: readonly IpObject[];
  readonly subnets: readonly SubnetObject[];
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
  readonly remedy: string;
}

export type Kind =
  | 'held twice'
  | 'holder gone'
  | 'no address'
  | 'annotation'
  | 'IP object missing'
  | 'IP object superfluous'
  | 'IP object differs'
  | 'address in two IP objects'
  | 'Subnet status'
  | 'count'
  | 'held back'
  | 'fenced';
