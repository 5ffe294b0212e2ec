/** Doubly linked lists of slots in two arrays. A slot is in at most one list. */
import { enlarged, grownCapacity } from './slots.ts';

const none = -1;
const initialCapacity = 16;

export interface SlotList {
  first: number;
  last: number;
  size: number;
}

export const emptyList = (): SlotList => ({ first: none, last: none, size: 0 });

export class SlotOrder {
  #next = new Int32Array(initialCapacity);
  #previous = new Int32Array(initialCapacity);

  append(list: SlotList, slot: number): void {
    this.insert(list, slot, none);
  }

  /** Inserts a slot before `next`, or at the end if `next` is -1. */
  insert(list: SlotList, slot: number, next: number): void {
    while (slot >= this.#next.length) this.#grow();
    const previous = next === none ? list.last : (this.#previous[next] as number);
    this.#next[slot] = next;
    this.#previous[slot] = previous;
    if (previous === none) list.first = slot;
    else this.#next[previous] = slot;
    if (next === none) list.last = slot;
    else this.#previous[next] = slot;
    list.size++;
  }

  /** Returns the slot that follows `slot` in its list, or -1 at the end. */
  after(slot: number): number {
    return this.#next[slot] as number;
  }

  /** Returns the slot that precedes `slot` in its list, or -1 at the beginning. */
  before(slot: number): number {
    return this.#previous[slot] as number;
  }

  remove(list: SlotList, slot: number): void {
    const [previous, next] = [this.#previous[slot] as number, this.#next[slot] as number];
    if (previous === none) list.first = next;
    else this.#next[previous] = next;
    if (next === none) list.last = previous;
    else this.#previous[next] = previous;
    list.size--;
  }

  slotsOf(list: SlotList): Int32Array {
    const slots = new Int32Array(list.size);
    for (let slot = list.first, at = 0; slot !== none; slot = this.#next[slot] as number) slots[at++] = slot;
    return slots;
  }

  #grow(): void {
    const capacity = grownCapacity(this.#next.length);
    this.#next = enlarged(this.#next, capacity);
    this.#previous = enlarged(this.#previous, capacity);
  }
}
