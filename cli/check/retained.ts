/** Addresses whose Pod is away and will be back: a StatefulSet's members and virtual machines keep theirs. */
import { machineKind } from '../../lib/pod-identity.ts';
import type { Allocation } from '../../proto/ipledger.ts';
import type { ClusterPicture, StatefulSet } from './picture.ts';

/** Whether who held it will have it again. */
export const isKept = (
  allocation: Allocation,
  { statefulSets, machines }: Pick<ClusterPicture, 'statefulSets' | 'machines'>,
): boolean => isKeptForMember(allocation, statefulSets) || isKeptForMachine(allocation, machines);

/** A machine that is stopped may be started at any time. */
const isKeptForMachine = ({ attachment, owner }: Allocation, machines: ReadonlySet<string>): boolean =>
  owner?.kind === machineKind && machines.has(`${attachment?.namespace}/${attachment?.pod}`);

/** Whether a StatefulSet will have the Pod of this name again: it is the same one, stays, and counts that far. */
function isKeptForMember({ attachment, owner }: Allocation, statefulSets: ReadonlyMap<string, StatefulSet>): boolean {
  if (owner?.kind !== 'StatefulSet' || !attachment) return false;
  const set = statefulSets.get(`${attachment.namespace}/${owner.name}`);
  if (!set || set.uid !== owner.uid) return false;
  const ordinal = attachment.pod.startsWith(`${owner.name}-`) ? attachment.pod.slice(owner.name.length + 1) : '';
  if (!/^\d{1,9}$/.test(ordinal)) return false;
  return hasMember(set, Number(ordinal));
}

/** Whether a StatefulSet will have its member of this number: it stays, and counts that far. */
export const hasMember = ({ deleting, firstOrdinal, replicas }: StatefulSet, member: number): boolean =>
  !deleting && member >= firstOrdinal && member < firstOrdinal + replicas;
