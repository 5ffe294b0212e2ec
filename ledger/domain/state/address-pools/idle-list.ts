/**
 * Released addresses in the order of their release, as a doubly linked list. Appending, removing
 * and reading the first take constant time, and each undo restores the exact order. A Map also
 * keeps the order, but has to skip all deleted entries to find its first.
 *
 * Each address has a slot. The list is arrays by slot, with 16 bytes for an address and its time,
 * because a Subnet can have 65,536 released addresses. The times never decrease along the list, so
 * counting up to a time reads no claim.
 */
import { emptyList, SlotOrder } from '../../compact/slot-order.ts';
import { enlarged, grownCapacity } from '../../compact/slots.ts';
import type { Undo } from '../undo-log.ts';
import type { Family } from '../../addresses/address.ts';
import { type AddressSlots, addressSlots } from './address-slots.ts';

export class IdleList implements Iterable<bigint> {
  readonly #slots: AddressSlots;
  readonly #order = new SlotOrder();
  readonly #list = emptyList();
  /** When the claim of each slot was last changed. */
  #times = new Float64Array(16);

  constructor(family: Family) {
    this.#slots = addressSlots(family);
  }

  get size(): number {
    return this.#list.size;
  }

  /** Adds an address at the end. @param at when its claim was last changed */
  append(value: bigint, at: number): Undo {
    this.#link(value, at, -1);
    return () => this.#unlink(value);
  }

  /** Inserts an address before the later addresses at the end. Takes time with their number. */
  insert(value: bigint, at: number, isLater: (other: bigint) => boolean): Undo {
    let next = -1;
    for (let slot = this.#list.last; slot >= 0 && isLater(this.#slots.value(slot)); slot = this.#order.before(slot))
      next = slot;
    this.#link(value, at, next);
    return () => this.#unlink(value);
  }

  /** Removes an address. Returns undefined if it is not in the list. */
  remove(value: bigint): Undo | undefined {
    const slot = this.#slots.slotOf(value);
    if (slot < 0) return undefined;
    const [at, next] = [this.#times[slot] as number, this.#order.after(slot)];
    const following = next < 0 ? undefined : this.#slots.value(next);
    this.#unlink(value);
    // Later changes are undone first, so the address that followed is in its place again.
    return () => this.#link(value, at, following === undefined ? -1 : this.#slots.slotOf(following));
  }

  /** Yields the addresses from the first released to the last. */
  *[Symbol.iterator](): IterableIterator<bigint> {
    for (let slot = this.#list.first; slot >= 0; slot = this.#order.after(slot)) yield this.#slots.value(slot);
  }

  /** Yields the addresses whose claim was last changed at `limit` or earlier, in the same order. */
  *until(limit: number): IterableIterator<bigint> {
    for (let slot = this.#list.first; slot >= 0 && this.#isPast(slot, limit); slot = this.#order.after(slot))
      yield this.#slots.value(slot);
  }

  /** Counts the addresses that `until` yields. Walks the list from both ends. */
  countUntil(limit: number): number {
    let [oldest, newest] = [this.#list.first, this.#list.last];
    for (let steps = 0; steps < this.size; steps++) {
      if (!this.#isPast(oldest, limit)) return steps;
      if (this.#isPast(newest, limit)) return this.size - steps;
      [oldest, newest] = [this.#order.after(oldest), this.#order.before(newest)];
    }
    return 0;
  }

  #isPast(slot: number, limit: number): boolean {
    return (this.#times[slot] as number) <= limit;
  }

  #link(value: bigint, at: number, next: number): void {
    const slot = this.#slots.add(value);
    if (slot >= this.#times.length) this.#times = enlarged(this.#times, grownCapacity(slot));
    this.#times[slot] = at;
    this.#order.insert(this.#list, slot, next);
  }

  #unlink(value: bigint): void {
    this.#order.remove(this.#list, this.#slots.remove(value));
  }
}
