/** Needed addresses: those of living Pods, and those kept for an owner's next Pod. Pure. */
import { hasCompleted } from '../../lib/kubernetes/pod-lifecycle.ts';
import { virtualMachineKind } from '../../lib/kubernetes/pod-identity.ts';
import { includesMember, statefulSetOrdinal, type StatefulSetMembers } from '../../lib/kubernetes/stateful-set.ts';
import type { Allocation } from '../../proto/generated/ipledger.ts';
import type { ClusterState, Pod } from './cluster-state.ts';

/**
 * A Pod needs its addresses until its containers have ended for good. A terminating Pod may or may
 * not have addresses. It has ended with the kubelet's last DELETE, whose grace period is 0. Its
 * deletion time is of another clock than this machine's, so it does not show whether the deletion
 * is overdue.
 */
export function podLifecycleStage(pod: Pod): 'living' | 'terminating' | 'ended' {
  if (hasEnded(pod)) return 'ended';
  if (!pod.isTerminating) return 'living';
  return pod.graceSeconds === 0 ? 'ended' : 'terminating';
}

/** Whether the containers have ended for good, or never had an address. */
export const hasEnded = (pod: Pod): boolean => pod.hostNetwork || hasCompleted(pod);

/** Whether the next Pod of a StatefulSet's member or of a virtual machine gets the allocation. */
export function isRetained(
  { attachment, owner }: Allocation,
  { statefulSets, machines }: Pick<ClusterState, 'statefulSets' | 'machines'>,
): boolean {
  if (!owner || !attachment) return false;
  const { namespace, pod: name } = attachment;
  if (owner.kind === virtualMachineKind) return machines.has(`${namespace}/${name}`);
  const [set, member] = [statefulSets.get(`${namespace}/${owner.name}`), statefulSetOrdinal({ name }, owner)];
  return set?.uid === owner.uid && member !== undefined && hasMember(set, member);
}

/** Whether a StatefulSet has a member with this ordinal, and is not terminating. */
export const hasMember = (set: StatefulSetMembers, member: number): boolean =>
  !set.deleting && includesMember(set, member);
