/** A difference between the ledger and the Kubernetes API, OVN or the switch of a node. */
import type { OvnDriftKind } from '../ovn/northbound.ts';

export interface Disagreement {
  readonly kind: DisagreementKind;
  /** The object: "Pod default/web", "10.0.0.2 of subnet lan", … */
  readonly where: string;
  /** The values of both sides. */
  readonly what: string;
  /** A command that removes the difference, or shows the cause; after a #, a comment. */
  readonly remedy: string;
}

export type DisagreementKind =
  | 'frozen'
  | 'not writable'
  | 'allocated twice'
  | 'Pod ended'
  | 'no address'
  | 'annotation'
  | 'other address in use'
  | 'IP object missing'
  | 'IP object without allocation'
  | 'IP object differs'
  | 'address in two IP objects'
  | 'reservation'
  | 'Vip'
  | 'Subnet refused'
  | 'Subnet status'
  | 'IPPool status'
  | 'count'
  | 'Node deleted'
  | 'no agent'
  | 'bound on two nodes'
  | 'key'
  | 'fenced'
  | OvnDriftKind;
