/** A sorted list with binary search. */
export class SortedList<Item> {
  readonly #items: Item[] = [];
  readonly #compare: (one: Item, other: Item) => number;

  /** @param compare negative if `one` comes first; 0 only for the same item */
  constructor(compare: (one: Item, other: Item) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#items.length;
  }

  /** Adds an item, unless the list has it. */
  add(item: Item): void {
    const index = this.#indexOf(item);
    const present = this.#items[index];
    if (present !== undefined && this.#compare(present, item) === 0) return;
    this.#items.splice(index, 0, item);
  }

  /** Removes an item, if the list has it. */
  remove(item: Item): void {
    const index = this.#indexOf(item);
    const present = this.#items[index];
    if (present !== undefined && this.#compare(present, item) === 0) this.#items.splice(index, 1);
  }

  /** Returns the items after `item`, which need not be in the list; all if undefined. */
  after(item: Item | undefined, max = Infinity): Item[] {
    if (item === undefined) return this.#items.slice(0, max);
    const index = this.#indexOf(item);
    const present = this.#items[index];
    const from = present !== undefined && this.#compare(present, item) === 0 ? index + 1 : index;
    return this.#items.slice(from, from + max);
  }

  /** Returns the index of the first item not before `item`; the size if there is none. */
  #indexOf(item: Item): number {
    let [low, high] = [0, this.#items.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compare(this.#items[middle] as Item, item) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
