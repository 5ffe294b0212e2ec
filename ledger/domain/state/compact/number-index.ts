/** Finds the slot of a whole number. Its hash is one-to-one: only equal numbers have equal hashes, so nothing has to be compared. */
import { SlotIndex } from '../../compact/slot-index.ts';

/** Tenants choose addresses, and must not choose their places in an index. */
const [key] = crypto.getRandomValues(new Int32Array(1)) as unknown as readonly [number];

/** Numbers are 0 to 2^32 - 1, and each has one slot at most. */
export class NumberIndex {
  readonly #slots = new SlotIndex();

  /** The slot of a number; -1 for none. */
  find(value: number): number {
    return this.#slots.find(hashNumber(value), matchesAll);
  }

  /** Gives a slot to a number that has none. */
  add(value: number, slot: number): void {
    this.#slots.add(hashNumber(value), slot);
  }

  /** Takes the slot of a number that has it. */
  remove(value: number, slot: number): void {
    this.#slots.remove(hashNumber(value), slot);
  }
}

const matchesAll = (): boolean => true;

function hashNumber(value: number): number {
  const keyed = value ^ key;
  const mixed = Math.imul(keyed ^ (keyed >>> 15), 0x2c1b3c6d);
  return mixed ^ (mixed >>> 12);
}
