/**
 * Tracks which Pods have ended. A Pod that has ended never lives again under its uid, even if its object shows another state
 * later: its addresses may belong to another Pod by then.
 *
 * Bounded by the number of Pods that the Kubernetes API has.
 */
import type { Pod } from '../../kubernetes/objects/pod.ts';
import { type PodLifecycle, podLifecycle } from './pod-lifecycle.ts';

export class LifecycleTracker {
  /** By the uid of the Pod's object: a static Pod that is started again gets a new one. */
  readonly #ended = new Map<string, PodLifecycle>();

  lifecycleOf(pod: Pod): PodLifecycle {
    const ended = this.#ended.get(pod.uid);
    if (ended) return ended;
    const lifecycle = podLifecycle(pod, Date.now());
    if (lifecycle.state === 'completed' || lifecycle.state === 'overdue') this.#ended.set(pod.uid, lifecycle);
    return lifecycle;
  }

  /** The Kubernetes API does not have this Pod any more. */
  forget({ uid }: Pick<Pod, 'uid'>): void {
    this.#ended.delete(uid);
  }
}
