/**
 * Released addresses in the order of their release, as a doubly linked list. Append, remove and read of the first take
 * constant time, and each undo restores the exact order. A Map keeps the order too, but skips every deleted entry to find
 * its first one.
 *
 * Each address has a slot. The list is two arrays of slots, 8 bytes for an address, because a Subnet can have 65,536 released addresses.
 */
import { emptyList, SlotOrder } from '../compact/slot-order.ts';
import type { Undo } from '../state/undo-log.ts';
import type { Family } from './address.ts';
import { type AddressSlots, addressSlots } from './address-slots.ts';

export class IdleList implements Iterable<bigint> {
  readonly #slots: AddressSlots;
  readonly #order = new SlotOrder();
  readonly #list = emptyList();

  constructor(family: Family) {
    this.#slots = addressSlots(family);
  }

  get size(): number {
    return this.#list.size;
  }

  /** Adds an address at the end. */
  append(value: bigint): Undo {
    this.#link(value, -1);
    return () => this.#unlink(value);
  }

  /** Adds an address before the later ones at the end. Takes time with their number. */
  insert(value: bigint, isLater: (other: bigint) => boolean): Undo {
    let next = -1;
    for (let slot = this.#list.last; slot >= 0 && isLater(this.#slots.value(slot)); slot = this.#order.before(slot))
      next = slot;
    this.#link(value, next);
    return () => this.#unlink(value);
  }

  /** Removes an address; undefined if it is not in the list. */
  remove(value: bigint): Undo | undefined {
    const slot = this.#slots.slotOf(value);
    if (slot < 0) return undefined;
    const next = this.#order.after(slot);
    const following = next < 0 ? undefined : this.#slots.value(next);
    this.#unlink(value);
    // Later changes are undone first, so the following address is the same as now.
    return () => this.#link(value, following === undefined ? -1 : this.#slots.slotOf(following));
  }

  /** From the first released to the last. */
  *[Symbol.iterator](): IterableIterator<bigint> {
    for (let slot = this.#list.first; slot >= 0; slot = this.#order.after(slot)) yield this.#slots.value(slot);
  }

  /** The addresses from the last released to the first. */
  *newestFirst(): IterableIterator<bigint> {
    for (let slot = this.#list.last; slot >= 0; slot = this.#order.before(slot)) yield this.#slots.value(slot);
  }

  #link(value: bigint, next: number): void {
    this.#order.insert(this.#list, this.#slots.add(value), next);
  }

  #unlink(value: bigint): void {
    this.#order.remove(this.#list, this.#slots.remove(value));
  }
}
