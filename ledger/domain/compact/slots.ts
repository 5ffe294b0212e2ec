/** Slots: whole numbers from 0 on. A freed slot is used again. */
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

/** Arrays grow by a quarter: little memory stays unused, and few values are copied. */
const growth = 1.25;

export const grownCapacity = (capacity: number): number => Math.ceil(capacity * growth);

/** Copies the values into a longer array. The rest is 0. */
export function enlarged<Values extends Int32Array | Uint32Array | Float64Array>(
  values: Values,
  length: number,
): Values {
  const larger = new (values.constructor as new (length: number) => Values)(length);
  larger.set(values);
  return larger;
}
