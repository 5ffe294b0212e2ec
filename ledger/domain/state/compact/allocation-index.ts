/** Allocations as bytes, by a key that follows from each of them: the Pod, or the MAC. */
import type { Seq } from '../../events/event.ts';
import type { Allocation } from '../claim.ts';
import type { AllocationMap } from '../claims.ts';
import type { AllocationBytes } from './allocation-bytes.ts';
import { hashText, SlotIndex } from '../../../../lib/compact/slot-index.ts';
import { Slots } from '../../../../lib/compact/slots.ts';

export class AllocationIndex implements AllocationMap {
  readonly #codec: AllocationBytes;
  readonly #keyOf: (allocation: Allocation) => string;
  readonly #slots = new Slots();
  /** '' for a free slot. */
  readonly #allocations: string[] = [];
  readonly #byKey = new SlotIndex();

  constructor(codec: AllocationBytes, keyOf: (allocation: Allocation) => string) {
    this.#codec = codec;
    this.#keyOf = keyOf;
  }

  /** The number of allocations. */
  get size(): number {
    return this.#byKey.size;
  }

  /** The allocations with a key, oldest first; undefined for none. */
  get(key: string): readonly Allocation[] | undefined {
    const found: Allocation[] = [];
    this.#byKey.find(hashText(key), (slot) => {
      const allocation = this.#allocation(slot);
      if (this.#keyOf(allocation) === key) found.push(allocation);
      return false;
    });
    if (found.length > 1) found.sort((a, b) => a.seq - b.seq);
    return found.length === 0 ? undefined : found;
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  /** Replaces the allocations with a key. Each has this key. */
  set(key: string, allocations: readonly Allocation[]): this {
    const slots = this.#slotsOf(key);
    for (const slot of slots.slice(allocations.length)) this.#remove(key, slot);
    allocations.forEach((allocation, index) => {
      const slot = slots[index] ?? this.#add(key);
      this.#allocations[slot] = this.#codec.encode(allocation);
    });
    return this;
  }

  delete(key: string): boolean {
    const slots = this.#slotsOf(key);
    for (const slot of slots) this.#remove(key, slot);
    return slots.length > 0;
  }

  *after(after: Seq): Generator<Allocation> {
    const later: { readonly seq: Seq; readonly bytes: string }[] = [];
    for (const bytes of this.#allocations) {
      const seq = bytes === '' ? 0 : this.#codec.seqOf(bytes);
      if (seq > after) later.push({ seq, bytes });
    }
    for (const { bytes } of later.sort((a, b) => a.seq - b.seq)) yield this.#codec.decodeOnce(bytes);
  }

  #slotsOf(key: string): number[] {
    return this.#byKey.findAll(hashText(key)).filter((slot) => this.#keyOf(this.#allocation(slot)) === key);
  }

  #allocation(slot: number): Allocation {
    return this.#codec.decode(this.#allocations[slot] as string);
  }

  #add(key: string): number {
    const slot = this.#slots.take();
    this.#byKey.add(hashText(key), slot);
    return slot;
  }

  #remove(key: string, slot: number): void {
    this.#byKey.remove(hashText(key), slot);
    this.#allocations[slot] = '';
    this.#slots.give(slot);
  }
}
