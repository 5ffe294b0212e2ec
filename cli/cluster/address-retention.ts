/** Address retention: the address of a StatefulSet member or a virtual machine stays allocated without a Pod. */
import { virtualMachineKind } from '../../lib/kubernetes/pod-identity.ts';
import type { Allocation } from '../../proto/generated/ipledger.ts';
import type { ClusterState, StatefulSet } from './cluster-state.ts';

/** Whether an allocation is retained for its next Pod. */
export const isRetained = (
  allocation: Allocation,
  { statefulSets, machines }: Pick<ClusterState, 'statefulSets' | 'machines'>,
): boolean => isRetainedForMember(allocation, statefulSets) || isRetainedForMachine(allocation, machines);

/** A stopped virtual machine may start at any time. */
const isRetainedForMachine = ({ attachment, owner }: Allocation, machines: ReadonlySet<string>): boolean =>
  owner?.kind === virtualMachineKind && machines.has(`${attachment?.namespace}/${attachment?.pod}`);

/** Whether the StatefulSet will create the Pod again: it has the owner's uid, and includes the ordinal. */
function isRetainedForMember(
  { attachment, owner }: Allocation,
  statefulSets: ReadonlyMap<string, StatefulSet>,
): boolean {
  if (owner?.kind !== 'StatefulSet' || !attachment) return false;
  const set = statefulSets.get(`${attachment.namespace}/${owner.name}`);
  if (!set || set.uid !== owner.uid) return false;
  const ordinal = attachment.pod.startsWith(`${owner.name}-`) ? attachment.pod.slice(owner.name.length + 1) : '';
  if (!/^\d{1,9}$/.test(ordinal)) return false;
  return hasMember(set, Number(ordinal));
}

/** Whether a StatefulSet has a member with this ordinal, and is not terminating. */
export const hasMember = ({ deleting, firstOrdinal, replicas }: StatefulSet, member: number): boolean =>
  !deleting && member >= firstOrdinal && member < firstOrdinal + replicas;
