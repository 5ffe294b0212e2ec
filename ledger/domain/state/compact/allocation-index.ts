/** Allocations as bytes, found by a key that is computed from each: the Pod, or the MAC. */
import type { Seq } from '../../values/ledger.ts';
import type { Allocation } from '../claim.ts';
import { type AllocationMap, type AllocationPages, groupOf, groupsOf } from '../claims.ts';
import type { AllocationBytes } from './allocation-bytes.ts';
import { OrderedSlots } from '../../compact/ordered-slots.ts';
import { hashText, SlotIndex } from '../../compact/slot-index.ts';
import { Slots } from '../../compact/slots.ts';

export class AllocationIndex implements AllocationMap {
  protected readonly codec: AllocationBytes;
  readonly #keyOf: (allocation: Allocation) => string;
  readonly #slots = new Slots();
  /** The bytes of each slot; '' for a free slot. */
  readonly #allocations: string[] = [];
  readonly #byKey = new SlotIndex();

  constructor(codec: AllocationBytes, keyOf: (allocation: Allocation) => string) {
    this.codec = codec;
    this.#keyOf = keyOf;
  }

  get size(): number {
    return this.#byKey.size;
  }

  /** The allocations with a key, oldest first; undefined for none. */
  get(key: string): readonly Allocation[] | undefined {
    const found: Allocation[] = [];
    this.#byKey.find(hashText(key), (slot) => {
      const allocation = this.allocation(slot);
      if (this.#keyOf(allocation) === key) found.push(allocation);
      return false;
    });
    if (found.length > 1) found.sort((a, b) => a.seq - b.seq);
    return found.length === 0 ? undefined : found;
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  /** Replaces the allocations of a key. */
  set(key: string, allocations: readonly Allocation[]): this {
    const missing = new Map(allocations.map((allocation) => [this.codec.encode(allocation), allocation]));
    for (const slot of this.#slotsOf(key)) if (!missing.delete(this.bytes(slot))) this.remove(key, slot);
    for (const [bytes, allocation] of missing) this.add(key, bytes, allocation);
    return this;
  }

  delete(key: string): boolean {
    const slots = this.#slotsOf(key);
    for (const slot of slots) this.remove(key, slot);
    return slots.length > 0;
  }

  protected bytes(slot: number): string {
    return this.#allocations[slot] as string;
  }

  protected add(key: string, bytes: string, _allocation: Allocation): number {
    const slot = this.#slots.take();
    this.#byKey.add(hashText(key), slot);
    this.#allocations[slot] = bytes;
    return slot;
  }

  protected remove(key: string, slot: number): void {
    this.#byKey.remove(hashText(key), slot);
    this.#allocations[slot] = '';
    this.#slots.give(slot);
  }

  protected allocation(slot: number): Allocation {
    return this.codec.decode(this.bytes(slot));
  }

  #slotsOf(key: string): number[] {
    return this.#byKey.findAll(hashText(key)).filter((slot) => this.#keyOf(this.allocation(slot)) === key);
  }
}

/** An allocation index that can also be read page by page. */
export class AllocationPageIndex extends AllocationIndex implements AllocationPages {
  readonly #inOrder = new OrderedSlots((slot) => [this.codec.seqOf(this.bytes(slot))]);

  *after(after: Seq, group: string = groupOf.all): Generator<Allocation> {
    for (const { slot } of this.#inOrder.after(group, after)) yield this.codec.decodeOnce(this.bytes(slot));
  }

  estimatedSize(group: string): number {
    return this.#inOrder.estimatedSize(group);
  }

  protected override add(key: string, bytes: string, allocation: Allocation): number {
    const slot = super.add(key, bytes, allocation);
    for (const group of groupsOf(allocation)) this.#inOrder.add(group, slot, [allocation.seq]);
    return slot;
  }

  protected override remove(key: string, slot: number): void {
    const allocation = this.allocation(slot);
    for (const group of groupsOf(allocation)) this.#inOrder.remove(group, slot, [allocation.seq]);
    super.remove(key, slot);
  }
}
