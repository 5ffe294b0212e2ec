/** How many addresses of a subnet the Pods of each namespace hold, counted as claims change: reading it takes flat time. */
import type { Claim } from './claim.ts';
import { type ClaimName, deleteKey, type Journal, setKey } from './journal.ts';
import type { State } from './state.ts';

const countKey = (subnet: string, namespace: string): string => `${subnet}/${namespace}`;

/** The number of addresses of a subnet that Pods of a namespace hold; each family counts. */
export const heldByNamespace = ({ namespaceCounts }: State, subnet: string, namespace: string): number =>
  namespaceCounts.get(countKey(subnet, namespace)) ?? 0;

/** Counts a claim that takes the place of another. The journal can take it back. */
export function countNamespaces(
  state: State,
  { subnet }: ClaimName,
  { before, after }: { readonly before: Claim | undefined; readonly after: Claim | undefined },
  journal: Journal,
): void {
  const left = before?.allocation?.attachment.namespace;
  const joined = after?.allocation?.attachment.namespace;
  if (left === joined) return;
  if (left !== undefined) add(state, countKey(subnet, left), -1, journal);
  if (joined !== undefined) add(state, countKey(subnet, joined), 1, journal);
}

/** A count of 0 has no entry, so that equal states have equal maps. */
function add({ namespaceCounts }: State, key: string, change: number, journal: Journal): void {
  const count = (namespaceCounts.get(key) ?? 0) + change;
  journal.record(count > 0 ? setKey(namespaceCounts, key, count) : deleteKey(namespaceCounts, key));
}
