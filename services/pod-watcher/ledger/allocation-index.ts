/**
 * Allocations by a text that follows from each of them, for example the name of its Pod. The index stores each allocation as bytes,
 * and a hash of the text: objects and texts would take several times as much memory. A look-up decodes the allocations of the hash,
 * and compares their texts.
 */
import { hashText, SlotIndex } from '../../../lib/compact/slot-index.ts';
import { Slots } from '../../../lib/compact/slots.ts';
import type { TextHash } from '../../../lib/text-hash.ts';
import { decodeAllocation, decodeOnce, encodeAllocation } from './allocation-bytes.ts';
import type { HeldAllocation } from './held-allocation.ts';

export class AllocationIndex {
  readonly #textOf: (allocation: HeldAllocation) => string;
  readonly #hash: TextHash;
  #slots = new Slots();
  #byText = new SlotIndex();
  /** "" for a free slot. */
  #stored: string[] = [];

  /** @param textOf must return the same text each time */
  constructor(textOf: (allocation: HeldAllocation) => string, hash: TextHash = hashText) {
    this.#textOf = textOf;
    this.#hash = hash;
  }

  /** All texts with an allocation. */
  *keys(): Iterable<string> {
    for (const [slot, bytes] of this.#stored.entries()) {
      if (bytes === '') continue;
      const text = this.#textOf(decodeOnce(bytes));
      const isOnly = this.#byText.findAll(this.#hash(text)).length === 1;
      if (isOnly || this.#entriesOf(text)[0]?.slot === slot) yield text;
    }
  }

  *values(): Iterable<HeldAllocation> {
    for (const bytes of this.#stored) if (bytes !== '') yield decodeOnce(bytes);
  }

  /** The allocations of a text, the oldest first. */
  of(text: string): readonly HeldAllocation[] {
    return this.#entriesOf(text).map(({ allocation }) => allocation);
  }

  /** Adds an allocation, or replaces the one with its seq. */
  put(allocation: HeldAllocation): void {
    const bytes = encodeAllocation(allocation);
    const text = this.#textOf(allocation);
    const known = this.#entriesOf(text).find((each) => each.allocation.seq === allocation.seq);
    const slot = known?.slot ?? this.#slots.take();
    if (!known) this.#byText.add(this.#hash(text), slot);
    this.#stored[slot] = bytes;
  }

  /** Removes the allocation of a text that has this seq. Returns it; undefined if there is none. */
  remove(text: string, seq: number): HeldAllocation | undefined {
    const removed = this.#entriesOf(text).find(({ allocation }) => allocation.seq === seq);
    if (!removed) return undefined;
    this.#byText.remove(this.#hash(text), removed.slot);
    this.#stored[removed.slot] = '';
    this.#slots.give(removed.slot);
    return removed.allocation;
  }

  clear(): void {
    this.#slots = new Slots();
    this.#byText = new SlotIndex();
    this.#stored = [];
  }

  #entriesOf(text: string): { readonly slot: number; readonly allocation: HeldAllocation }[] {
    const entries = this.#byText
      .findAll(this.#hash(text))
      .map((slot) => ({ slot, allocation: decodeAllocation(this.#stored[slot] as string) }))
      .filter(({ allocation }) => this.#textOf(allocation) === text);
    return entries.length > 1 ? entries.sort((one, other) => one.allocation.seq - other.allocation.seq) : entries;
  }
}
