/** Whether a Pod still needs its addresses. */
import type { Pod } from '../kubernetes/objects.ts';

export type Life =
  /** Not ours to serve: it uses the node's own network. */
  | { readonly state: 'host' }
  /** Needs addresses; `endsInMs` is set while it terminates. */
  | { readonly state: 'alive'; readonly endsInMs: number | undefined }
  /** Its containers have ended for good. */
  | { readonly state: 'completed' }
  /** Its kubelet has ended it; or it should be gone since a whole grace period, and its node is lost. */
  | { readonly state: 'overdue' };

/** What counts as alive is Kube-OVN's rule, so that addresses come and go when its users expect it. */
export function lifeOf(pod: Pod, nowMs: number): Life {
  if (pod.hostNetwork) return { state: 'host' };
  const { phase, restartPolicy, reason } = pod;
  const succeeded = phase === 'Succeeded' && restartPolicy !== 'Always';
  const failed = phase === 'Failed' && (restartPolicy === 'Never' || reason === 'Evicted');
  if (succeeded || failed) return { state: 'completed' };
  if (pod.deletionTimestamp === '') return { state: 'alive', endsInMs: undefined };
  // The timestamp holds the grace period already: this is the end of a second one. The last DELETE, by the kubelet, has none.
  const endsInMs = Date.parse(pod.deletionTimestamp) + pod.graceSeconds * 1_000 - nowMs;
  return endsInMs > 0 ? { state: 'alive', endsInMs } : { state: 'overdue' };
}
