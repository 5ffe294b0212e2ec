/**
 * The objects of a kind, most of them as bytes, so that a large cluster fits in memory. It has the methods of a Map that an informer
 * uses. A look-up decodes the object: it returns an equal object, and not always the same one.
 */
import { hashText, SlotIndex } from '../../../lib/compact/slot-index.ts';
import { emptyList, type SlotList, SlotOrder } from '../../../lib/compact/slot-order.ts';
import { Slots } from '../../../lib/compact/slots.ts';
import { keyOf, type ObjectMeta } from '../../../lib/kubernetes/client/informer.ts';
import type { ObjectStore } from '../../../lib/kubernetes/client/object-store.ts';

const maxLatest = 64;

/** Encodes the usual objects of a kind. */
export interface ObjectCodec<T> {
  /** Returns undefined for an unusual object, which is then stored as it is. */
  encode(object: T): string | undefined;
  /** Returns an object that is equal to the encoded one. */
  decode(bytes: string): T;
  /** The key of the encoded object (`keyOf`). */
  keyOf(bytes: string): string;
}

export class CompactObjects<T extends ObjectMeta> implements ObjectStore<T> {
  readonly #codec: ObjectCodec<T>;
  readonly #slots = new Slots();
  readonly #byKey = new SlotIndex();
  /** undefined for a free slot. */
  readonly #stored: (string | T | undefined)[] = [];
  /** The latest objects that were looked up, by slot: a reconciliation looks up the same one several times. */
  readonly #latest = new Map<number, T>();
  /** The slots of each namespace, in the order of their addition. Objects that are not namespaced are in none. */
  readonly #namespaces = new Map<string, SlotList>();
  readonly #order = new SlotOrder();

  constructor(codec: ObjectCodec<T>) {
    this.#codec = codec;
  }

  get size(): number {
    return this.#byKey.size;
  }

  get(key: string): T | undefined {
    const slot = this.#slotOf(key);
    if (slot < 0) return undefined;
    const known = this.#latest.get(slot);
    if (known) return known;
    const object = this.#decoded(this.#stored[slot] as string | T);
    if (this.#latest.size === maxLatest) this.#latest.clear();
    this.#latest.set(slot, object);
    return object;
  }

  has(key: string): boolean {
    return this.#slotOf(key) >= 0;
  }

  /** @param key the key of the object (`keyOf`). */
  set(key: string, object: T): this {
    const stored = this.#codec.encode(object) ?? object;
    const known = this.#slotOf(key);
    const slot = known < 0 ? this.#add(key) : known;
    this.#stored[slot] = stored;
    this.#latest.delete(slot);
    return this;
  }

  delete(key: string): boolean {
    const slot = this.#slotOf(key);
    if (slot < 0) return false;
    this.#byKey.remove(hashText(key), slot);
    this.#stored[slot] = undefined;
    this.#latest.delete(slot);
    this.#slots.give(slot);
    const namespace = namespaceOf(key);
    const list = this.#namespaces.get(namespace);
    if (list) this.#order.remove(list, slot);
    if (list?.size === 0) this.#namespaces.delete(namespace);
    return true;
  }

  *keys(): Generator<string, undefined> {
    for (const stored of this.#stored) if (stored !== undefined) yield this.#keyOf(stored);
  }

  *values(): Generator<T, undefined> {
    for (const stored of this.#stored) if (stored !== undefined) yield this.#decoded(stored);
  }

  *entries(): Generator<[key: string, object: T], undefined> {
    for (const stored of this.#stored) if (stored !== undefined) yield [this.#keyOf(stored), this.#decoded(stored)];
  }

  [Symbol.iterator](): Generator<[key: string, object: T], undefined> {
    return this.entries();
  }

  forEach(visit: (object: T, key: string, objects: ReadonlyMap<string, T>) => void): void {
    for (const [key, object] of this.entries()) visit(object, key, this);
  }

  /** The keys of one namespace. */
  keysOf(namespace: string): string[] {
    const slots = this.#order.slotsOf(this.#namespaces.get(namespace) ?? emptyList());
    return Array.from(slots, (slot) => this.#keyOf(this.#stored[slot] as string | T));
  }

  #slotOf(key: string): number {
    return this.#byKey.find(hashText(key), (slot) => this.#keyOf(this.#stored[slot] as string | T) === key);
  }

  #add(key: string): number {
    const slot = this.#slots.take();
    this.#byKey.add(hashText(key), slot);
    const namespace = namespaceOf(key);
    if (namespace === '') return slot;
    const list = this.#namespaces.get(namespace) ?? emptyList();
    this.#namespaces.set(namespace, list);
    this.#order.append(list, slot);
    return slot;
  }

  #keyOf(stored: string | T): string {
    return typeof stored === 'string' ? this.#codec.keyOf(stored) : keyOf(stored);
  }

  #decoded(stored: string | T): T {
    return typeof stored === 'string' ? this.#codec.decode(stored) : stored;
  }
}

const namespaceOf = (key: string): string => key.slice(0, Math.max(0, key.indexOf('/')));
