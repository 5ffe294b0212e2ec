/**
 * Finds slots (whole numbers) by the hash of a text. Two texts can have the same hash, so the
 * caller compares what is in the slots. An entry takes 14 bytes; in a Map of texts it would take
 * 100.
 *
 * Entries with the same hash form a chain. So a text with many slots, such as the name of a Pod
 * that was created a thousand times, does not slow down look-ups of other texts. The hash has a
 * random key, so that a tenant who chooses names cannot choose their hashes.
 */
import { createTextHash } from '../../../lib/text-hash.ts';
import { enlarged, grownCapacity } from './slots.ts';

const initialCapacity = 16;
/** Average entries of a hash chain in a full table. More chains would cost more memory. */
const perChain = 2;
const none = -1;

const hashOf = createTextHash();
let last = { text: '', hash: hashOf('') };

/** Hashes a text for all indexes. Keeps the last hash: a text is looked up, then added. */
export function hashText(text: string): number {
  if (last.text !== text) last = { text, hash: hashOf(text) };
  return last.hash;
}

export class SlotIndex {
  /** The first entry of each chain. The remainder of a hash selects its chain. */
  #first = new Int32Array(initialCapacity / perChain).fill(none);
  #hashes = new Int32Array(initialCapacity);
  #slots = new Int32Array(initialCapacity);
  /** The next entry of a chain, or of the list of free entries. */
  #next = new Int32Array(initialCapacity);
  #free = none;
  /** Entries from here on were never used. */
  #end = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(hash: number, slot: number): void {
    if (this.#free === none && this.#end === this.#slots.length) this.#grow();
    const entry = this.#free === none ? this.#end++ : this.#free;
    if (entry === this.#free) this.#free = this.#next[entry] as number;
    this.#hashes[entry] = hash;
    this.#slots[entry] = slot;
    this.#chain(entry);
    this.#size++;
  }

  /** @throws Error for a slot that is not in the index: the loop would not end */
  remove(hash: number, slot: number): void {
    let before = none;
    let entry = this.#first[this.#placeOf(hash)] as number;
    while (this.#hashes[entry] !== hash || this.#slots[entry] !== slot) {
      if (entry === none) throw new Error(`slot ${slot} is not in the index`);
      before = entry;
      entry = this.#next[entry] as number;
    }
    const after = this.#next[entry] as number;
    if (before === none) this.#first[this.#placeOf(hash)] = after;
    else this.#next[before] = after;
    this.#next[entry] = this.#free;
    this.#free = entry;
    this.#size--;
  }

  /** Returns the first slot of a hash that matches, or -1. */
  find(hash: number, matches: (slot: number) => boolean): number {
    let entry = this.#first[this.#placeOf(hash)] as number;
    for (; entry !== none; entry = this.#next[entry] as number)
      if (this.#hashes[entry] === hash && matches(this.#slots[entry] as number)) return this.#slots[entry] as number;
    return none;
  }

  findAll(hash: number): number[] {
    const found: number[] = [];
    this.find(hash, (slot) => {
      found.push(slot);
      return false;
    });
    return found;
  }

  #placeOf(hash: number): number {
    return (hash >>> 0) % this.#first.length;
  }

  #chain(entry: number): void {
    const place = this.#placeOf(this.#hashes[entry] as number);
    this.#next[entry] = this.#first[place] as number;
    this.#first[place] = entry;
  }

  /** Enlarges the arrays when all entries are in use. */
  #grow(): void {
    const capacity = grownCapacity(this.#slots.length);
    this.#hashes = enlarged(this.#hashes, capacity);
    this.#slots = enlarged(this.#slots, capacity);
    this.#next = new Int32Array(capacity);
    this.#first = new Int32Array(Math.ceil(capacity / perChain)).fill(none);
    for (let entry = 0; entry < this.#end; entry++) this.#chain(entry);
  }
}

/** The key is random, so that a tenant who chooses addresses cannot choose their hashes. */
const [key] = crypto.getRandomValues(new Int32Array(1)) as unknown as readonly [number];

/**
 * Finds the slot of a whole number from 0 to 2^32 - 1. A number has at most one slot. The hash is
 * one-to-one: only equal numbers have equal hashes, so nothing has to be compared.
 */
export class NumberIndex {
  readonly #slots = new SlotIndex();

  /** Returns the slot of a number, or -1. */
  find(value: number): number {
    return this.#slots.find(hashNumber(value), matchesAll);
  }

  /** Sets the slot of a number that has none. */
  add(value: number, slot: number): void {
    this.#slots.add(hashNumber(value), slot);
  }

  /** Removes a number that has this slot. */
  remove(value: number, slot: number): void {
    this.#slots.remove(hashNumber(value), slot);
  }
}

const matchesAll = (): boolean => true;

function hashNumber(value: number): number {
  const keyed = value ^ key;
  const mixed = Math.imul(keyed ^ (keyed >>> 15), 0x2c1b3c6d);
  return mixed ^ (mixed >>> 12);
}
