/** Orders slots in lists, as doubly linked lists in two arrays. A slot is in one list at most. */
import { enlarged, grownCapacity } from './slots.ts';

const none = -1;
const initialCapacity = 16;

/** The ends of a list. */
export interface SlotList {
  first: number;
  last: number;
  size: number;
}

export const emptyList = (): SlotList => ({ first: none, last: none, size: 0 });

export class SlotOrder {
  #next = new Int32Array(initialCapacity);
  #previous = new Int32Array(initialCapacity);

  /** Adds a slot at the end of a list. */
  append(list: SlotList, slot: number): void {
    this.insert(list, slot, none);
  }

  /** Adds a slot before another one of the list; at the end for -1. */
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

  /** The slot after one of a list; -1 after the last. */
  after(slot: number): number {
    return this.#next[slot] as number;
  }

  /** The slot before one of a list; -1 before the first. */
  before(slot: number): number {
    return this.#previous[slot] as number;
  }

  /** Removes a slot from its list. */
  remove(list: SlotList, slot: number): void {
    const [previous, next] = [this.#previous[slot] as number, this.#next[slot] as number];
    if (previous === none) list.first = next;
    else this.#next[previous] = next;
    if (next === none) list.last = previous;
    else this.#previous[next] = previous;
    list.size--;
  }

  /** The slots of a list. */
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
