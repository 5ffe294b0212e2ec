/** Who waits for what: Pods that could not be served, by the topics whose change may help them, each topic a line by age. */
interface Place {
  readonly topics: ReadonlySet<string>;
  readonly age: string;
  /** When it asked last, of performance.now(). */
  askedAt: number;
}

export class Waiting {
  readonly #topics = new Map<string, Set<string>>();
  readonly #pods = new Map<string, Place>();

  /** How many wait. */
  get size(): number {
    return this.#pods.size;
  }

  /**
   * From now on `pod` waits for these topics, and no others.
   * @param age what is smaller goes first.
   */
  wait(pod: string, topics: ReadonlySet<string>, age: string): void {
    const askedAt = this.#pods.get(pod)?.askedAt ?? performance.now();
    this.end(pod);
    this.#pods.set(pod, { topics, age, askedAt });
    for (const topic of topics) {
      const waiting = this.#topics.get(topic);
      if (waiting) waiting.add(pod);
      else this.#topics.set(topic, new Set([pod]));
    }
  }

  /** `pod` is about to ask. */
  asks(pod: string): void {
    const place = this.#pods.get(pod);
    if (place) place.askedAt = performance.now();
  }

  /** `pod` waits no more. Whether it did. */
  end(pod: string): boolean {
    for (const topic of this.#pods.get(pod)?.topics ?? []) {
      const waiting = this.#topics.get(topic);
      waiting?.delete(pod);
      if (waiting?.size === 0) this.#topics.delete(topic);
    }
    return this.#pods.delete(pod);
  }

  /** Whether `pod` waits. */
  has(pod: string): boolean {
    return this.#pods.has(pod);
  }

  /** Who waits for a topic, in the order of their age. */
  on(topic: string): string[] {
    const line = [...(this.#topics.get(topic) ?? [])];
    return line.sort((one, other) => compare(this.#age(one), this.#age(other)) || compare(one, other));
  }

  /** Of those on a topic who go before somebody of this age, the first few; who asked a moment ago is passed over. */
  ahead(topic: string, age: string, { most, idleMs }: { readonly most: number; readonly idleMs: number }): string[] {
    if (!this.#topics.has(topic)) return [];
    const first = this.on(topic).slice(0, most);
    const since = performance.now() - idleMs;
    return first.filter((pod) => this.#age(pod) < age && (this.#pods.get(pod)?.askedAt ?? 0) < since);
  }

  #age(pod: string): string {
    return this.#pods.get(pod)?.age ?? '';
  }
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
