/**
 * Keys that wait their turn, each once, first come first served. (To ask a Set for its first entry again and again costs all
 * that left before it: a line of 100,000 would take seconds to work off.)
 */
export class Line {
  readonly #keys = new Set<string>();
  /** Everybody before this has been taken. It would be done for good at the end of the Set, so it is never led there. */
  readonly #rest = this.#keys.values();

  get size(): number {
    return this.#keys.size;
  }

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  /** Puts a key at the end; one that waits keeps its place. */
  add(key: string): void {
    this.#keys.add(key);
  }

  /** Takes the first; undefined when nobody waits. */
  take(): string | undefined {
    if (this.#keys.size === 0) return undefined;
    const first = this.#rest.next().value as string;
    this.#keys.delete(first);
    return first;
  }

  clear(): void {
    this.#keys.clear();
  }
}
