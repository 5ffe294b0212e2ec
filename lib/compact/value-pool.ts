/**
 * A number for each of the values that many records have: a namespace, a node, a network. A value keeps its number forever, so the pool is
 * bounded. Values beyond are stored in each record.
 */
export class ValuePool<Value> {
  readonly #numbers = new Map<string, number>();
  readonly #values: Value[] = [];
  readonly #maxValues: number;

  constructor(maxValues: number) {
    this.#maxValues = maxValues;
  }

  /** The number of a value; undefined if the pool has no room for it. @param key equal for equal values only */
  numberOf(key: string, value: Value): number | undefined {
    const known = this.#numbers.get(key);
    if (known !== undefined || this.#values.length === this.#maxValues) return known;
    this.#numbers.set(key, this.#values.length);
    return this.#values.push(value) - 1;
  }

  /** The value with a number that `numberOf` returned: the same object each time. */
  value(number: number): Value {
    return this.#values[number] as Value;
  }
}
