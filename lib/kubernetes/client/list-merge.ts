/**
 * Merges a list with the events of a watch that runs beside it, from a version before the list.
 *
 * An object with a new name is applied at once, so that a long list does not delay it. All changes
 * of known names wait for the end of the list: if the API server has lost data, objects are
 * missing, replaced or older, and these must be judged together. A watch event about a name
 * outweighs the list, because the watch reports every change since its version.
 */
import { keyOf, type ObjectMeta, type ObjectStore } from './object-store.ts';

export interface ApplyChange<T> {
  /** Records that an object exists. */
  put(object: T): void;
  /** Records that an object was deleted. */
  drop(object: T): void;
}

export class ListMerge<T extends ObjectMeta> {
  readonly #objects: ObjectStore<T>;
  readonly #apply: ApplyChange<T>;
  /**
   * The names that were known at the beginning. True if the list or the watch has had the name
   * since.
   */
  readonly #known = new Map<string, boolean>();
  /** The names in watch events. */
  readonly #watched = new Set<string>();
  /** The waiting changes: the last state of each known name, and a deletion that precedes it. */
  readonly #held: ObjectStore<T>;
  readonly #deleted = new Map<string, T>();

  /** @param held an empty store for the objects that wait */
  constructor(objects: ObjectStore<T>, held: ObjectStore<T>, apply: ApplyChange<T>) {
    this.#objects = objects;
    this.#held = held;
    this.#apply = apply;
    for (const key of objects.keys()) this.#known.set(key, false);
  }

  /** Records an object of the list. A repeated list may record it again. */
  onListed(object: T): void {
    const key = keyOf(object);
    if (this.#watched.has(key)) return;
    if (!this.#known.has(key)) return this.#apply.put(object);
    this.#known.set(key, true);
    const present = this.#objects.get(key);
    const isSame = present?.uid === object.uid && present.resourceVersion === object.resourceVersion;
    if (!isSame) this.#held.set(key, object);
  }

  /** Records a change that the watch reports. */
  onWatched(kind: keyof ApplyChange<T>, object: T): void {
    const key = keyOf(object);
    this.#watched.add(key);
    if (!this.#known.has(key)) return this.#apply[kind](object);
    this.#known.set(key, true);
    if (kind === 'put') this.#held.set(key, object);
    else {
      this.#deleted.set(key, object);
      this.#held.delete(key);
    }
  }

  /** The known objects that the complete list lacks. */
  missing(): T[] {
    const missing: T[] = [];
    for (const [key, isPresent] of this.#known) {
      const object = isPresent ? undefined : this.#objects.get(key);
      if (object) missing.push(object);
    }
    return missing;
  }

  /** Applies the waiting changes. */
  applyHeld(): void {
    for (const object of this.#deleted.values()) this.#apply.drop(object);
    for (const object of this.#held.values()) this.#apply.put(object);
  }
}
