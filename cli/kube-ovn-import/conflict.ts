/** A conflict of an import or a recovery: what it leaves out, and how a person decides it. */
import type { KubeOvnIp } from '../cluster/cluster-snapshot.ts';
import type { ObservedAttachment } from './observed-attachments.ts';

export interface Conflict {
  readonly kind:
    | 'allocated twice'
    | 'allocated and reserved'
    | 'IP object and annotation'
    | 'binding file'
    | 'invalid annotation'
    | 'no evidence'
    | 'no Subnet'
    | 'out of range'
    | 'overlap'
    | 'in the ledger'
    | 'stopped virtual machine'
    // Of the importers for whereabouts and host-local
    | 'no Pod'
    | 'invalid entry'
    | 'entry and reservation'
    | 'entry and Pod'
    | 'persistent address'
    | 'network in use';
  /** "Pod default/web", "Subnet lan", … */
  readonly where: string;
  readonly what: string;
  readonly remedy: string;
  /** Absent for a conflict that stops everything. Only objects that tenants cannot write may cause such a conflict. */
  readonly leavesOut?: LeftOut;
}

export interface SubnetAddress {
  readonly subnet: string;
  readonly address: string;
}

/** An address that no Pod gets until a person has decided. */
export interface PlannedQuarantine extends SubnetAddress {
  readonly reason: string;
}

/** What is not imported. The rest is. */
export interface LeftOut {
  readonly attachments?: readonly ObservedAttachment[];
  readonly ips?: readonly KubeOvnIp[];
  /** A container may use these. They are quarantined, unless they have a holder. */
  readonly addresses?: readonly SubnetAddress[];
}

/** The addresses of attachments, to be quarantined. */
export const addressesOf = (attachments: readonly ObservedAttachment[]): SubnetAddress[] =>
  attachments.flatMap(({ subnet, addresses }) => addresses.map((address) => ({ subnet, address })));
