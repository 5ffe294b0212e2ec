/**
 * Which Pods have ended. A Pod that was taken for ended once never lives again under its uid, whatever its object reports later:
 * its addresses may belong to another Pod by then.
 *
 * Bounded: it keeps at most the Pods that the Kubernetes API has.
 */
import type { Pod } from '../kubernetes/objects.ts';
import { type Life, lifeOf } from './life.ts';

export class Lives {
  /** By the uid of the Pod's object: a static Pod that is started again has a new one. */
  readonly #ended = new Map<string, Life>();

  /** The life of a Pod now. */
  of(pod: Pod): Life {
    const ended = this.#ended.get(pod.uid);
    if (ended) return ended;
    const life = lifeOf(pod, Date.now());
    if (life.state === 'completed' || life.state === 'overdue') this.#ended.set(pod.uid, life);
    return life;
  }

  /** The Kubernetes API does not have this Pod any more. */
  forget({ uid }: Pick<Pod, 'uid'>): void {
    this.#ended.delete(uid);
  }
}
