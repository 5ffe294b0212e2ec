/** Whether a Pod still needs its addresses. */
import type { Pod } from './cluster-state.ts';

/**
 * Kube-OVN's rule: a Pod needs its addresses until its containers have ended for good. A terminating Pod may or may not have
 * addresses. It has ended with the kubelet's last DELETE, whose grace period is 0. Its deletion time is of another clock than this
 * machine's, so it does not show whether the deletion is overdue.
 */
export function podLifecycleStage(pod: Pod): 'living' | 'terminating' | 'ended' {
  if (hasEnded(pod)) return 'ended';
  if (!pod.isTerminating) return 'living';
  return pod.graceSeconds === 0 ? 'ended' : 'terminating';
}

/** Whether the containers have ended for good, or never had an address, by what the kubelet reports. No clock decides it. */
export function hasEnded({ hostNetwork, phase, restartPolicy, reason }: Pod): boolean {
  const succeeded = phase === 'Succeeded' && restartPolicy !== 'Always';
  const failed = phase === 'Failed' && (restartPolicy === 'Never' || reason === 'Evicted');
  return hostNetwork || succeeded || failed;
}
