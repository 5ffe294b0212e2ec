/**
 * A queue of distinct keys that is fair to namespaces: they take turns, and each has its keys in
 * order of arrival. So the keys of one namespace, in any number, delay those of another by one turn
 * of each waiting namespace.
 */

export class FairFifo {
  readonly #namespaceOf: (key: string) => string;
  /** The keys of the waiting namespaces. */
  readonly #keys = new Map<string, UniqueFifo>();
  /** The waiting namespaces in the order of their turns. */
  readonly #turns = new UniqueFifo();
  #size = 0;

  /** @param namespaceOf a key's namespace; "", with one turn, for cluster-scoped objects */
  constructor(namespaceOf: (key: string) => string) {
    this.#namespaceOf = namespaceOf;
  }

  get size(): number {
    return this.#size;
  }

  has(key: string): boolean {
    return this.#keys.get(this.#namespaceOf(key))?.has(key) === true;
  }

  /** Appends a key, unless it is queued. @param namespace the namespace whose turn the key uses */
  add(key: string, namespace = this.#namespaceOf(key)): void {
    const keys = this.#keys.get(namespace) ?? new UniqueFifo();
    if (keys.has(key)) return;
    keys.add(key);
    this.#size += 1;
    this.#keys.set(namespace, keys);
    this.#turns.add(namespace);
  }

  /** Removes and returns the next key; undefined when the queue is empty. */
  take(): string | undefined {
    const namespace = this.#turns.take();
    const keys = namespace === undefined ? undefined : this.#keys.get(namespace);
    if (namespace === undefined || !keys) return undefined;
    const key = keys.take();
    this.#size -= 1;
    if (keys.size > 0) this.#turns.add(namespace);
    else this.#keys.delete(namespace);
    return key;
  }

  /** Removes a key that waits for a turn of its own namespace. */
  delete(key: string): void {
    const namespace = this.#namespaceOf(key);
    const keys = this.#keys.get(namespace);
    if (!keys?.delete(key)) return;
    this.#size -= 1;
    if (keys.size > 0) return;
    this.#keys.delete(namespace);
    this.#turns.delete(namespace);
  }

  clear(): void {
    this.#keys.clear();
    this.#turns.clear();
    this.#size = 0;
  }
}

/**
 * A FIFO queue of distinct keys. It keeps one iterator: a new iterator of a Set first skips all
 * deleted entries, which for 100,000 keys takes seconds.
 */
export class UniqueFifo {
  readonly #keys = new Set<string>();
  /** An iterator after all taken keys. `take` never moves it to the Set's end. */
  readonly #remaining = this.#keys.values();

  get size(): number {
    return this.#keys.size;
  }

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  /** Appends a key; a key in the queue keeps its place. */
  add(key: string): void {
    this.#keys.add(key);
  }

  /** Removes a key. Returns whether it was in the queue. */
  delete(key: string): boolean {
    return this.#keys.delete(key);
  }

  /** Removes and returns the first key; undefined when the queue is empty. */
  take(): string | undefined {
    if (this.#keys.size === 0) return undefined;
    const first = this.#remaining.next().value as string;
    this.#keys.delete(first);
    return first;
  }

  clear(): void {
    this.#keys.clear();
  }
}
