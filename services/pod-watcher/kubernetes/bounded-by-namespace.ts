/**
 * A map of limited size with keys "namespace/…". At the limit it drops the oldest entry of the
 * namespace with most entries, so that a large namespace displaces no entries of smaller ones.
 */
import { namespaceOf } from '../namespaced-map.ts';

export class BoundedByNamespace<V> {
  readonly #most: number;
  readonly #namespaces = new Map<string, Map<string, V>>();
  #size = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get(key: string): V | undefined {
    return this.#namespaces.get(namespaceOf(key))?.get(key);
  }

  /** Adds or replaces an entry, which becomes the newest of its namespace. */
  put(key: string, value: V): void {
    this.delete(key);
    const namespace = namespaceOf(key);
    const entries = this.#namespaces.get(namespace) ?? new Map<string, V>();
    this.#namespaces.set(namespace, entries.set(key, value));
    this.#size += 1;
    if (this.#size > this.#most) this.#dropOne();
  }

  delete(key: string): void {
    const namespace = namespaceOf(key);
    const entries = this.#namespaces.get(namespace);
    if (!entries?.delete(key)) return;
    this.#size -= 1;
    if (entries.size === 0) this.#namespaces.delete(namespace);
  }

  #dropOne(): void {
    let largest = new Map<string, V>();
    for (const entries of this.#namespaces.values()) if (entries.size > largest.size) largest = entries;
    for (const oldest of largest.keys()) return this.delete(oldest);
  }
}
