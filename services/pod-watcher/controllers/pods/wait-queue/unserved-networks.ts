/** The starting Pods that name networks of other plugins: they wait for nothing, and are planned again when such a network changes. */
import { addTo, removeFrom } from '../../../../../lib/maps.ts';
import type { Pod } from '../../../kubernetes/objects/pod.ts';
import type { PodPlan } from '../planning/request-addresses.ts';

export class UnservedNetworks {
  readonly #podsByTopic = new Map<string, Set<string>>();
  readonly #topicsByPod = new Map<string, readonly string[]>();

  /** Replaces what is known of the Pod. */
  put(key: string, { phase }: Pick<Pod, 'phase'>, { unserved, topics }: Pick<PodPlan, 'unserved' | 'topics'>): void {
    this.forget(key);
    if (phase !== 'Pending' || unserved.length === 0) return;
    const networks = [...topics].filter((topic) => topic.startsWith('network:'));
    this.#topicsByPod.set(key, networks);
    for (const topic of networks) addTo(this.#podsByTopic, topic, key);
  }

  forget(key: string): void {
    for (const topic of this.#topicsByPod.get(key) ?? []) removeFrom(this.#podsByTopic, topic, key);
    this.#topicsByPod.delete(key);
  }

  /** The Pods "namespace/name" of a topic "network:<namespace>/<name>". */
  podsOf(topic: string): readonly string[] {
    return [...(this.#podsByTopic.get(topic) ?? [])];
  }
}
