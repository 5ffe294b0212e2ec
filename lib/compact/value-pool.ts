/**
 * A number for each of the values that many records have: a namespace, a node, a network. A value keeps its number forever, so the pool is
 * bounded. Values beyond are stored in each record.
 */
export class ValuePool<Value> {
  readonly #numbers = new Map<string, number>();
  readonly #values: Value[] = [];
  readonly #maxValues: number;
  readonly #maxKeyLength: number;
  /** The characters that the keys of further values may have. */
  #freeLength: number;

  /** @param lengths the characters of one key, and of all keys together: set them where a value may be long. */
  constructor(maxValues: number, lengths: { readonly keyLength?: number; readonly length?: number } = {}) {
    this.#maxValues = maxValues;
    this.#maxKeyLength = lengths.keyLength ?? Infinity;
    this.#freeLength = lengths.length ?? Infinity;
  }

  /** The number of a value; undefined if the pool has no room for it. @param key equal for equal values only */
  numberOf(key: string, value: Value): number | undefined {
    if (key.length > this.#maxKeyLength) return undefined;
    const known = this.#numbers.get(key);
    if (known !== undefined || this.#values.length === this.#maxValues || key.length > this.#freeLength) return known;
    this.#freeLength -= key.length;
    this.#numbers.set(key, this.#values.length);
    return this.#values.push(value) - 1;
  }

  /** The value with a number that `numberOf` returned: the same object each time. */
  value(number: number): Value {
    return this.#values[number] as Value;
  }
}
