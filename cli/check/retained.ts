/** Addresses whose Pod is away and will be back: a StatefulSet's members keep theirs. */
import type { Allocation } from '../../proto/ipledger.ts';
import type { StatefulSet } from './picture.ts';

/** Whether a StatefulSet will have the Pod of this name again: it is the same one, stays, and counts that far. */
export function isKeptForMember(
  { attachment, owner }: Allocation,
  statefulSets: ReadonlyMap<string, StatefulSet>,
): boolean {
  if (owner?.kind !== 'StatefulSet' || !attachment) return false;
  const set = statefulSets.get(`${attachment.namespace}/${owner.name}`);
  if (!set || set.uid !== owner.uid || set.deleting) return false;
  const ordinal = attachment.pod.startsWith(`${owner.name}-`) ? attachment.pod.slice(owner.name.length + 1) : '';
  if (!/^\d{1,9}$/.test(ordinal)) return false;
  const member = Number(ordinal);
  return member >= set.firstOrdinal && member < set.firstOrdinal + set.replicas;
}
