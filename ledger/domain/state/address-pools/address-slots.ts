/**
 * Gives a slot (a whole number) to each address of a set of one family. An IPv4 address takes 20
 * bytes; in a Map of bigints it would take 90.
 */
import { NumberIndex } from '../../compact/slot-index.ts';
import { enlarged, grownCapacity, Slots } from '../../compact/slots.ts';
import type { Family } from '../../addresses/address.ts';

export interface AddressSlots {
  /** Returns the slot of an address, or -1. */
  slotOf(value: bigint): number;
  /** Returns the address in a slot that is in use. */
  value(slot: number): bigint;
  /** Gives a slot to an address that has none. */
  add(value: bigint): number;
  /** Removes an address, and returns its slot. */
  remove(value: bigint): number;
}

export const addressSlots = (family: Family): AddressSlots => (family === 4 ? new Ipv4Slots() : new Ipv6Slots());

const initialCapacity = 16;

class Ipv4Slots implements AddressSlots {
  readonly #slots = new Slots();
  readonly #index = new NumberIndex();
  #values = new Uint32Array(initialCapacity);

  slotOf(value: bigint): number {
    return this.#index.find(Number(value));
  }

  value(slot: number): bigint {
    return BigInt(this.#values[slot] as number);
  }

  add(value: bigint): number {
    const slot = this.#slots.take();
    if (slot === this.#values.length) this.#values = enlarged(this.#values, grownCapacity(slot));
    this.#values[slot] = Number(value);
    this.#index.add(Number(value), slot);
    return slot;
  }

  remove(value: bigint): number {
    const slot = this.slotOf(value);
    this.#index.remove(Number(value), slot);
    this.#slots.give(slot);
    return slot;
  }
}

class Ipv6Slots implements AddressSlots {
  readonly #slots = new Slots();
  readonly #index = new Map<bigint, number>();
  readonly #values: bigint[] = [];

  slotOf(value: bigint): number {
    return this.#index.get(value) ?? -1;
  }

  value(slot: number): bigint {
    return this.#values[slot] as bigint;
  }

  add(value: bigint): number {
    const slot = this.#slots.take();
    this.#values[slot] = value;
    this.#index.set(value, slot);
    return slot;
  }

  remove(value: bigint): number {
    const slot = this.slotOf(value);
    this.#index.delete(value);
    this.#values[slot] = 0n;
    this.#slots.give(slot);
    return slot;
  }
}
