/**
 * Allocations by a text that follows from each of them, for example the name of its Pod. The index stores a hash of the text and
 * not the text: a text for each allocation would take more memory than the index. Texts with the same hash share an entry, and a
 * look-up compares the texts.
 */
import type { HeldAllocation } from './ledger-events.ts';
import { createTextHash, type TextHash } from '../../../lib/text-hash.ts';

const defaultHash = createTextHash();

export class AllocationIndex {
  readonly #textOf: (allocation: HeldAllocation) => string;
  readonly #hash: TextHash;
  /** Nearly all texts have one allocation, which is stored without a list. */
  readonly #byHash = new Map<number, HeldAllocation | readonly HeldAllocation[]>();

  /** @param textOf must return the same text each time */
  constructor(textOf: (allocation: HeldAllocation) => string, hash: TextHash = defaultHash) {
    this.#textOf = textOf;
    this.#hash = hash;
  }

  /** All texts with an allocation. */
  *keys(): Iterable<string> {
    for (const entry of this.#byHash.values())
      if (isList(entry)) yield* new Set(entry.map(this.#textOf));
      else yield this.#textOf(entry);
  }

  *values(): Iterable<HeldAllocation> {
    for (const entry of this.#byHash.values())
      if (isList(entry)) yield* entry;
      else yield entry;
  }

  /** The allocations of a text, in the order of `put`. */
  of(text: string): readonly HeldAllocation[] {
    return this.#at(this.#hash(text)).filter((each) => this.#textOf(each) === text);
  }

  /** Adds an allocation, or replaces the one with its seq. */
  put(allocation: HeldAllocation): void {
    const hash = this.#hash(this.#textOf(allocation));
    const known = this.#at(hash);
    const index = known.findIndex(({ seq }) => seq === allocation.seq);
    this.#set(hash, index < 0 ? [...known, allocation] : known.with(index, allocation));
  }

  /** Removes the allocation of a text that has this seq. Returns it; undefined if there is none. */
  remove(text: string, seq: number): HeldAllocation | undefined {
    const removed = this.of(text).find((each) => each.seq === seq);
    const hash = this.#hash(text);
    if (removed)
      this.#set(
        hash,
        this.#at(hash).filter((each) => each !== removed),
      );
    return removed;
  }

  clear(): void {
    this.#byHash.clear();
  }

  #at(hash: number): readonly HeldAllocation[] {
    const entry = this.#byHash.get(hash);
    if (entry === undefined) return [];
    return isList(entry) ? entry : [entry];
  }

  #set(hash: number, allocations: readonly HeldAllocation[]): void {
    const [first] = allocations;
    if (first === undefined) this.#byHash.delete(hash);
    else this.#byHash.set(hash, allocations.length === 1 ? first : allocations);
  }
}

const isList = (entry: HeldAllocation | readonly HeldAllocation[]): entry is readonly HeldAllocation[] =>
  Array.isArray(entry);
