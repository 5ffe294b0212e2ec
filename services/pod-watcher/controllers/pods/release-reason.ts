/** Why an allocation is released, with the evidence that is recorded in the ledger. */
import type { ReleaseCause } from '../../../../proto/generated/ipledger.ts';

export interface ReleaseReason {
  readonly cause: ReleaseCause;
  /** For people: what was observed. */
  readonly evidence: string;
}

export const ownerDeleted = (evidence: string): ReleaseReason => ({ cause: 'RELEASE_CAUSE_OWNER_DELETED', evidence });

export const podDeleted = (evidence: string): ReleaseReason => ({ cause: 'RELEASE_CAUSE_POD_DELETED', evidence });
