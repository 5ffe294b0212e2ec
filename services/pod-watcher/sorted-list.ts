/** Items in the order of a comparison: kept sorted, so that to find a place costs a logarithm of the length. */
export class SortedList<Item> {
  readonly #items: Item[] = [];
  readonly #compare: (one: Item, other: Item) => number;

  /** @param compare negative where `one` comes first; 0 only for the same item. */
  constructor(compare: (one: Item, other: Item) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#items.length;
  }

  /** Puts an item in its place; one that is there already stays. */
  add(item: Item): void {
    const index = this.#indexOf(item);
    const present = this.#items[index];
    if (present !== undefined && this.#compare(present, item) === 0) return;
    this.#items.splice(index, 0, item);
  }

  /** Takes an item out, if it is there. */
  remove(item: Item): void {
    const index = this.#indexOf(item);
    const present = this.#items[index];
    if (present !== undefined && this.#compare(present, item) === 0) this.#items.splice(index, 1);
  }

  /** The first few behind an item, which need not be in the list any more; from the beginning without one. */
  after(item: Item | undefined, most = Infinity): Item[] {
    if (item === undefined) return this.#items.slice(0, most);
    const index = this.#indexOf(item);
    const present = this.#items[index];
    const from = present !== undefined && this.#compare(present, item) === 0 ? index + 1 : index;
    return this.#items.slice(from, from + most);
  }

  /** Of the first item that does not come before this one; the size if there is none. */
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
