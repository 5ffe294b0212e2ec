/** Slots: whole numbers from 0 on, which are used again once they are free. */
export class Slots {
  readonly #free: number[] = [];
  #end = 0;

  take(): number {
    return this.#free.pop() ?? this.#end++;
  }

  give(slot: number): void {
    this.#free.push(slot);
  }
}

/** The arrays of a table grow by a quarter: that spares memory, with few copies of each value. */
const growth = 1.25;

/** The next capacity of a table that is full. */
export const grownCapacity = (capacity: number): number => Math.ceil(capacity * growth);

/** A longer array that begins with the same values; the rest is 0. */
export function enlarged<Values extends Int32Array | Uint32Array | Float64Array>(
  values: Values,
  length: number,
): Values {
  const larger = new (values.constructor as new (length: number) => Values)(length);
  larger.set(values);
  return larger;
}
