/** Whether a Pod still needs its addresses. */
import type { Pod } from './cluster-state.ts';

/** For the skew between this machine's clock and the pod-watcher's, and the pod-watcher's delay. */
const overdueSlackMs = 30_000;

/**
 * Kube-OVN's rule: a Pod needs its addresses until its containers have ended for good, or it is overdue by a second grace period
 * (its deletion time includes the first). A terminating Pod may or may not have addresses.
 */
export function podLifecycleStage(pod: Pod, at: number): 'living' | 'terminating' | 'ended' {
  const { hostNetwork, phase, restartPolicy, reason, deletionAt, graceSeconds } = pod;
  const succeeded = phase === 'Succeeded' && restartPolicy !== 'Always';
  const failed = phase === 'Failed' && (restartPolicy === 'Never' || reason === 'Evicted');
  if (hostNetwork || succeeded || failed) return 'ended';
  if (deletionAt === undefined) return 'living';
  return at > deletionAt + graceSeconds * 1_000 + overdueSlackMs ? 'ended' : 'terminating';
}
