/** Allocations by a text, for example by the name of their Pod. Nearly all texts have one allocation, which is stored without a list. */
export class SeqIndex {
  readonly #seqs = new Map<string, number | number[]>();

  /** All texts with an allocation. */
  keys(): Iterable<string> {
    return this.#seqs.keys();
  }

  /** The allocations of a text, in the order of `add`. */
  of(key: string): readonly number[] {
    const known = this.#seqs.get(key);
    if (known === undefined) return [];
    return typeof known === 'number' ? [known] : known;
  }

  add(key: string, seq: number): void {
    const known = this.#seqs.get(key);
    if (known === undefined) this.#seqs.set(key, seq);
    else if (typeof known === 'number') {
      if (known !== seq) this.#seqs.set(key, [known, seq]);
    } else if (!known.includes(seq)) known.push(seq);
  }

  remove(key: string, seq: number): void {
    const others = this.of(key).filter((each) => each !== seq);
    if (others.length > 1) this.#seqs.set(key, others);
    else if (others[0] !== undefined) this.#seqs.set(key, others[0]);
    else this.#seqs.delete(key);
  }

  clear(): void {
    this.#seqs.clear();
  }
}
