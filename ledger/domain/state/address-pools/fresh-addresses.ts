/**
 * The addresses of one family without a claim: never used, or dropped. Finds the lowest in constant
 * time, however many are taken.
 *
 *   page 0               page 1          page 2           A page covers 32,768 addresses (value >> 15). It is a
 *   ┌──────────────────┐ ┌─────────────┐                  sorted array for a few taken addresses, a bitmap for
 *   │ top    32 bits   │ │ taken: 3, 9 │    absent    …   more, and absent for none. So the memory of a /64
 *   │ middle 32 words  │ └─────────────┘                  depends on its use, not on its size.
 *   │ leaves 1,024 w.  │
 *   └──────────────────┘                                  A set bit is a free address. A bit of `top` or `middle`
 *                                                         is set while any bit below it is.
 */
import { bitsFrom, lowestBit } from './address-set.ts';
import { contains, indexAtOrAfter, type Interval } from '../../addresses/interval.ts';
import type { Undo } from '../undo-log.ts';
import { flipSlot, hasSlot, maxSparseSlots, slotIndex } from './page-slots.ts';

const pageBits = 15n;
const pageSize = 1 << 15;
const pageMask = BigInt(pageSize - 1);

interface Bitmap {
  /** The number of usable addresses of the page that are not fresh. */
  taken: number;
  top: number;
  readonly middle: Uint32Array;
  readonly leaves: Uint32Array;
}

export class FreshAddresses {
  readonly #usable: readonly Interval[];
  /** The slots that are not free, by page; sorted. */
  readonly #few = new Map<bigint, number[]>();
  readonly #bitmaps = new Map<bigint, Bitmap>();
  /** Pages below this one have no free address. */
  #lowestPage: bigint;

  /** Starts with all addresses of `usable` (sorted, disjoint) as fresh. */
  constructor(usable: readonly Interval[]) {
    this.#usable = usable;
    this.#lowestPage = (usable[0]?.first ?? 0n) >> pageBits;
  }

  /** The lowest fresh address that is at least `from`; undefined if there is none. */
  lowest(from = 0n): bigint | undefined {
    let page = this.#lowestPage;
    let slot = 0;
    if (from >> pageBits >= page) {
      page = from >> pageBits;
      slot = Number(from & pageMask);
    }
    for (let next: bigint | undefined = page; next !== undefined; next = this.#pageAfter(next), slot = 0) {
      const found = this.#lowestIn(next, slot);
      if (found !== undefined) return found;
      if (next === this.#lowestPage && slot === 0) this.#lowestPage = this.#pageAfter(next) ?? next;
    }
    return undefined;
  }

  has(value: bigint): boolean {
    const slot = Number(value & pageMask);
    const bitmap = this.#bitmaps.get(value >> pageBits);
    if (bitmap) return (((bitmap.leaves[slot >> 5] as number) >>> (slot & 31)) & 1) === 1;
    return contains(this.#usable, value) && !hasSlot(this.#few.get(value >> pageBits) ?? [], slot);
  }

  /** Removes an address. Returns undefined if it is not fresh. */
  take(value: bigint): Undo | undefined {
    if (!this.has(value)) return undefined;
    this.#take(value);
    return () => this.#give(value);
  }

  /** Adds a usable address again. Returns undefined if it is already fresh. */
  give(value: bigint): Undo | undefined {
    if (this.has(value)) return undefined;
    this.#give(value);
    return () => this.#take(value);
  }

  #take(value: bigint): void {
    const number = value >> pageBits;
    const slot = Number(value & pageMask);
    const bitmap = this.#bitmaps.get(number);
    if (bitmap) return clearBit(bitmap, slot);
    const slots = this.#few.get(number) ?? [];
    flipSlot(slots, slot);
    if (slots.length === 1) this.#few.set(number, slots);
    if (slots.length <= maxSparseSlots) return;
    this.#few.delete(number);
    this.#bitmaps.set(number, this.#bitmapOf(number, slots));
  }

  #give(value: bigint): void {
    const number = value >> pageBits;
    const slot = Number(value & pageMask);
    const bitmap = this.#bitmaps.get(number);
    if (bitmap) {
      setBit(bitmap, slot);
      // The page stays a bitmap until no address is taken, so that an address that is taken and
      // returned repeatedly does not convert the page.
      if (--bitmap.taken === 0) this.#bitmaps.delete(number);
    } else {
      const slots = this.#few.get(number) ?? [];
      flipSlot(slots, slot);
      if (slots.length === 0) this.#few.delete(number);
    }
    if (number < this.#lowestPage) this.#lowestPage = number;
  }

  #lowestIn(number: bigint, from: number): bigint | undefined {
    const bitmap = this.#bitmaps.get(number);
    const base = number << pageBits;
    if (!bitmap) return this.#lowestAmongFew(base + BigInt(from), base + pageMask);
    const slot = lowestSlot(bitmap, from);
    return slot === undefined ? undefined : base + BigInt(slot);
  }

  /** The lowest fresh address of a page without a bitmap. Skips at most its few taken addresses. */
  #lowestAmongFew(from: bigint, last: bigint): bigint | undefined {
    const taken = this.#few.get(from >> pageBits) ?? [];
    let next = slotIndex(taken, Number(from & pageMask));
    let value = from;
    for (let index = indexAtOrAfter(this.#usable, from); index < this.#usable.length; index++) {
      const interval = this.#usable[index] as Interval;
      if (interval.first > value) value = interval.first;
      if (value > last) return undefined;
      while (next < taken.length && (taken[next] as number) < Number(value & pageMask)) next++;
      for (; value <= interval.last && taken[next] === Number(value & pageMask); next++) value++;
      if (value > last) return undefined;
      if (value <= interval.last) return value;
    }
    return undefined;
  }

  /** The next page above `page` that has usable addresses. Skips excluded ranges in one step. */
  #pageAfter(page: bigint): bigint | undefined {
    const from = (page + 1n) << pageBits;
    const interval = this.#usable[indexAtOrAfter(this.#usable, from)];
    if (!interval) return undefined;
    return (interval.first > from ? interval.first : from) >> pageBits;
  }

  #bitmapOf(number: bigint, taken: readonly number[]): Bitmap {
    const page: Bitmap = { taken: 0, top: 0, middle: new Uint32Array(32), leaves: new Uint32Array(1024) };
    const first = number << pageBits;
    const last = first + pageMask;
    for (let index = indexAtOrAfter(this.#usable, first); index < this.#usable.length; index++) {
      const interval = this.#usable[index] as Interval;
      if (interval.first > last) break;
      const from = interval.first > first ? Number(interval.first - first) : 0;
      const to = interval.last < last ? Number(interval.last - first) : pageSize - 1;
      for (let slot = from; slot <= to; slot++) setBit(page, slot);
    }
    for (const slot of taken) clearBit(page, slot);
    return page;
  }
}

function clearBit(page: Bitmap, slot: number): void {
  page.taken++;
  const leaf = slot >> 5;
  page.leaves[leaf] = (page.leaves[leaf] as number) & ~(1 << (slot & 31));
  if (page.leaves[leaf] !== 0) return;
  const middle = leaf >> 5;
  page.middle[middle] = (page.middle[middle] as number) & ~(1 << (leaf & 31));
  if (page.middle[middle] === 0) page.top = (page.top & ~(1 << middle)) >>> 0;
}

function setBit(page: Bitmap, slot: number): void {
  const leaf = slot >> 5;
  const middle = slot >> 10;
  page.leaves[leaf] = (page.leaves[leaf] as number) | (1 << (slot & 31));
  page.middle[middle] = (page.middle[middle] as number) | (1 << (leaf & 31));
  page.top = (page.top | (1 << middle)) >>> 0;
}

/** The lowest set slot that is at least `from`. Reads at most two words of each level. */
function lowestSlot(page: Bitmap, from: number): number | undefined {
  const leaf = from >> 5;
  const here = (page.leaves[leaf] as number) & bitsFrom(from & 31);
  if (here !== 0) return (leaf << 5) + lowestBit(here);
  const middle = leaf >> 5;
  const beside = (page.middle[middle] as number) & bitsFrom((leaf & 31) + 1);
  if (beside !== 0) return lowestInLeaf(page, (middle << 5) + lowestBit(beside));
  const above = page.top & bitsFrom(middle + 1);
  if (above === 0) return undefined;
  const next = lowestBit(above);
  return lowestInLeaf(page, (next << 5) + lowestBit(page.middle[next] as number));
}

const lowestInLeaf = (page: Bitmap, leaf: number): number => (leaf << 5) + lowestBit(page.leaves[leaf] as number);
