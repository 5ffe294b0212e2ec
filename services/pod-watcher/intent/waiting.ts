/** Who waits for what: Pods that could not be served, by the topics whose change may help them. */
export class Waiting {
  readonly #topics = new Map<string, Set<string>>();
  readonly #pods = new Map<string, ReadonlySet<string>>();

  /** From now on `pod` waits for these topics, and no others. */
  wait(pod: string, topics: ReadonlySet<string>): void {
    this.end(pod);
    this.#pods.set(pod, topics);
    for (const topic of topics) {
      const waiting = this.#topics.get(topic);
      if (waiting) waiting.add(pod);
      else this.#topics.set(topic, new Set([pod]));
    }
  }

  /** `pod` waits no more. Whether it did. */
  end(pod: string): boolean {
    for (const topic of this.#pods.get(pod) ?? []) {
      const waiting = this.#topics.get(topic);
      waiting?.delete(pod);
      if (waiting?.size === 0) this.#topics.delete(topic);
    }
    return this.#pods.delete(pod);
  }

  /** Who waits for a topic; who has begun, or tried again, longest ago comes first. */
  on(topic: string): string[] {
    return [...(this.#topics.get(topic) ?? [])];
  }
}
