/** Decides whether a Pod still needs its addresses. */
import { isMirror, type Pod } from '../../kubernetes/objects/pod.ts';

export type PodLifecycle =
  /** Uses the network of its node: it gets no address. */
  | { readonly state: 'host' }
  /** Needs addresses; `endsInMs` is set while it terminates. */
  | { readonly state: 'alive'; readonly endsInMs: number | undefined }
  /** Its containers have ended and are not restarted. */
  | { readonly state: 'completed' }
  /** Its kubelet has deleted it; or its deletion is overdue by a second grace period, and its node is lost. */
  | { readonly state: 'overdue' };

/**
 * Uses Kube-OVN's rule of which Pods are alive, so that addresses are allocated and released when its users expect it.
 * @param terminatingForMs how long this deletion of the Pod has been seen
 */
export function podLifecycle(pod: Pod, terminatingForMs: number): PodLifecycle {
  if (pod.hostNetwork) return { state: 'host' };
  const { phase, restartPolicy, reason } = pod;
  const succeeded = phase === 'Succeeded' && restartPolicy !== 'Always';
  const failed = phase === 'Failed' && (restartPolicy === 'Never' || reason === 'Evicted');
  if (succeeded || failed) return { state: 'completed' };
  // A static Pod runs on when its mirror is deleted.
  if (pod.deletionTimestamp === '' || isMirror(pod)) return { state: 'alive', endsInMs: undefined };
  // The kubelet's final DELETE has a grace period of 0.
  const endsInMs = 2 * pod.graceSeconds * 1_000 - terminatingForMs;
  return endsInMs > 0 ? { state: 'alive', endsInMs } : { state: 'overdue' };
}
