/** Counts the addresses that the Pods of each namespace hold in each subnet. */
import type { Claim, ClaimName } from './claim.ts';
import type { UndoLog } from './undo-log.ts';
import type { State } from './state.ts';

const countKey = (subnet: string, namespace: string): string => `${subnet}/${namespace}`;

export const countHeldByNamespace = ({ namespaceCounts }: State, subnet: string, namespace: string): number =>
  namespaceCounts.get(countKey(subnet, namespace)) ?? 0;

/** Updates the counts after a claim changed. The undo log records how to undo it. */
export function updateNamespaceCounts(
  state: State,
  { subnet }: ClaimName,
  { before, after }: { readonly before: Claim | undefined; readonly after: Claim | undefined },
  undoLog: UndoLog,
): void {
  const previous = before?.allocation?.attachment.namespace;
  const next = after?.allocation?.attachment.namespace;
  if (previous === next) return;
  if (previous !== undefined) add(state, countKey(subnet, previous), -1, undoLog);
  if (next !== undefined) add(state, countKey(subnet, next), 1, undoLog);
}

/** Deletes a count of 0, so that equal states have equal maps. */
function add({ namespaceCounts }: State, key: string, change: number, undoLog: UndoLog): void {
  const count = (namespaceCounts.get(key) ?? 0) + change;
  if (count > 0) undoLog.setKey(namespaceCounts, key, count);
  else undoLog.deleteKey(namespaceCounts, key);
}
