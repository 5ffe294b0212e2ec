/** The order of slots in several lists, as doubly linked lists in two arrays. Each slot is in one list at most. */
const none = -1;
const initialCapacity = 16;
const growth = 1.5;

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
    while (slot >= this.#next.length) this.#grow();
    this.#next[slot] = none;
    this.#previous[slot] = list.last;
    if (list.last === none) list.first = slot;
    else this.#next[list.last] = slot;
    list.last = slot;
    list.size++;
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
    const [next, previous] = [this.#next, this.#previous];
    this.#next = new Int32Array(Math.ceil(next.length * growth));
    this.#previous = new Int32Array(this.#next.length);
    this.#next.set(next);
    this.#previous.set(previous);
  }
}
