/** Why a part of what Kubernetes objects or the ledger request is not in the northbound database. */
export type ProblemKind =
  | 'unsupported'
  | 'invalid'
  | 'vlan-missing'
  | 'provider-network-missing'
  /** Two rows of ipledger would have the same name. */
  | 'name-in-use'
  /** An allocation without MAC, or of a Subnet without switch. */
  | 'no-port';

export const problemKinds: readonly ProblemKind[] = [
  'unsupported',
  'invalid',
  'vlan-missing',
  'provider-network-missing',
  'name-in-use',
  'no-port',
];

export interface Problem {
  readonly kind: ProblemKind;
  /** The object, as "Subnet lan". */
  readonly subject: string;
  /** What failed, why, and what to do. */
  readonly message: string;
}
