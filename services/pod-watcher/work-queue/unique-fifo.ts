/**
 * A FIFO queue of distinct keys. It keeps one iterator: a new iterator of a Set skips all deleted entries first, which for 100,000
 * keys takes seconds.
 */
export class UniqueFifo {
  readonly #keys = new Set<string>();
  /** All keys before it have been taken. At the end of the Set it would be exhausted, so `take` never moves it there. */
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
