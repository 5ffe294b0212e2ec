/** A difference between the ledger and what OVN or the switch of a node has. */

export interface OvnDrift {
  readonly kind: OvnDriftKind;
  /** "port web.default.net.default.ovn", "switch lan", … */
  readonly where: string;
  /** The values of both sides. */
  readonly what: string;
  /** A command that removes the difference; after a #, a comment. */
  readonly remedy: string;
}

export type OvnDriftKind =
  | 'OVN switch missing'
  | 'OVN port missing'
  | 'OVN port differs'
  | 'OVN port without allocation'
  | 'OVN name conflict'
  | 'OVS port missing'
  | 'OVS port without binding';
