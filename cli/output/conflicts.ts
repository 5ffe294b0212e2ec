/** Formats the conflicts of an import or a recovery, and what is quarantined until a person has decided. */
import type { Conflict, PlannedQuarantine } from '../kube-ovn-import/conflict.ts';
import { type Listing, textColumns } from './table.ts';

export const createConflictListing = (conflicts: readonly Conflict[]): Listing => ({
  columns: textColumns('CONFLICT', 'WHERE', 'WHAT', 'REMEDY'),
  rows: conflicts.map(({ kind, where, what, remedy }) => [kind, where, what, remedy]),
});

export const toConflictMessage = ({ kind, where, what, remedy }: Conflict) => ({ kind, where, what, remedy });

/** "" for none. */
export const formatQuarantines = (quarantines: readonly PlannedQuarantine[]): string =>
  quarantines.length === 0
    ? ''
    : `quarantined: ${quarantines.map(({ address, subnet }) => `${address} of Subnet ${subnet}`).join(', ')}
No Pod gets these addresses. After a decision: ipledger unquarantine ADDRESS --subnet SUBNET --reason WHY\n`;
