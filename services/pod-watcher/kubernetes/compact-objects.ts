/**
 * Stores the objects of a kind, most of them as records that take less memory. It has the methods
 * of a Map that an informer uses. A look-up returns an equal object, but not always the same one.
 */
import { keyOf, type ObjectMeta } from '../../../lib/kubernetes/client/informer.ts';
import type { ObjectStore } from '../../../lib/kubernetes/client/object-store.ts';
import { nameOf, NamespacedMap } from '../namespaced-map.ts';

/** The format in which an object is stored, without its name, which the store has. */
export interface RecordFormat<T, Stored> {
  /** Returns the record of an object, or an unusual object itself. */
  store(object: T): Stored;
  /** Returns an object that equals the stored one. */
  restore(stored: Stored, name: string): T;
}

export class CompactObjects<T extends ObjectMeta, Stored> implements ObjectStore<T> {
  readonly #format: RecordFormat<T, Stored>;
  readonly #stored = new NamespacedMap<Stored>();

  constructor(format: RecordFormat<T, Stored>) {
    this.#format = format;
  }

  get size(): number {
    return this.#stored.size;
  }

  get(key: string): T | undefined {
    const stored = this.#stored.get(key);
    return stored === undefined ? undefined : this.#format.restore(stored, nameOf(key));
  }

  has(key: string): boolean {
    return this.#stored.has(key);
  }

  /** @param key the key of the object (`keyOf`) */
  set(_key: string, object: T): void {
    this.#stored.set(object, this.#format.store(object));
  }

  delete(key: string): boolean {
    return this.#stored.delete(key);
  }

  *keys(): Generator<string, undefined> {
    for (const [namespace, name] of this.#stored.entries()) yield keyOf({ namespace, name });
  }

  *values(): Generator<T, undefined> {
    for (const [, name, stored] of this.#stored.entries()) yield this.#format.restore(stored, name);
  }

  *entries(): Generator<[key: string, object: T], undefined> {
    for (const [namespace, name, stored] of this.#stored.entries())
      yield [keyOf({ namespace, name }), this.#format.restore(stored, name)];
  }

  [Symbol.iterator](): Generator<[key: string, object: T], undefined> {
    return this.entries();
  }

  forEach(visit: (object: T, key: string, objects: ReadonlyMap<string, T>) => void): void {
    for (const [key, object] of this.entries()) visit(object, key, this);
  }

  keysOf(namespace: string): Iterable<string> {
    return this.#stored.keysOf(namespace);
  }
}
