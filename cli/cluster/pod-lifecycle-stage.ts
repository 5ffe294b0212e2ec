/** Whether a Pod still needs its addresses. */
import type { Pod } from './cluster-state.ts';

/**
 * Kube-OVN's rule: a Pod needs its addresses until its containers have ended for good. A terminating Pod may or may not have
 * addresses. It has ended with the kubelet's last DELETE, whose grace period is 0. Its deletion time is of another clock than this
 * machine's, so it does not show whether the deletion is overdue.
 */
export function podLifecycleStage(pod: Pod): 'living' | 'terminating' | 'ended' {
  const { hostNetwork, phase, restartPolicy, reason, isTerminating, graceSeconds } = pod;
  const succeeded = phase === 'Succeeded' && restartPolicy !== 'Always';
  const failed = phase === 'Failed' && (restartPolicy === 'Never' || reason === 'Evicted');
  if (hostNetwork || succeeded || failed) return 'ended';
  if (!isTerminating) return 'living';
  return graceSeconds === 0 ? 'ended' : 'terminating';
}
