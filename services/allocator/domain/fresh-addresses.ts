/**
 * The addresses of one family that were never used, lowest first, in flat time whatever the fill.
 *
 *   page 0               page 1                           a page covers 32,768 addresses (value >> 15) and is
 *   ┌──────────────────┐ ┌──────────────────┐             made when it is first looked into, so a /64 costs
 *   │ top    32 bits   │ │                  │   …         what is used of it, not what it spans
 *   │ middle 32 words  │ │                  │
 *   │ leaves 1,024 w.  │ │                  │             bit set = free; a bit of `top` or `middle` is set
 *   └──────────────────┘ └──────────────────┘             while any bit below it is
 */
import { bitsFrom, lowestBit } from './bits.ts';
import { indexAtOrAfter, type Interval } from './interval.ts';
import type { Undo } from './journal.ts';

const pageBits = 15n;
const pageSize = 1 << 15;

interface Page {
  top: number;
  readonly middle: Uint32Array;
  readonly leaves: Uint32Array;
}

export class FreshAddresses {
  readonly #usable: readonly Interval[];
  readonly #pages = new Map<bigint, Page>();
  /** No page below this one has a free address. */
  #lowestPage: bigint;

  /** All addresses of `usable` (sorted, disjoint) are fresh. */
  constructor(usable: readonly Interval[]) {
    this.#usable = usable;
    this.#lowestPage = (usable[0]?.first ?? 0n) >> pageBits;
  }

  /** The lowest fresh address that is at least `from`, or undefined. */
  lowest(from = 0n): bigint | undefined {
    let page = this.#lowestPage;
    let slot = 0;
    if (from >> pageBits >= page) {
      page = from >> pageBits;
      slot = Number(from & BigInt(pageSize - 1));
    }
    for (let next: bigint | undefined = page; next !== undefined; next = this.#pageAfter(next), slot = 0) {
      const found = lowestSlot(this.#page(next), slot);
      if (found !== undefined) return (next << pageBits) + BigInt(found);
      if (next === this.#lowestPage && slot === 0) this.#lowestPage = this.#pageAfter(next) ?? next;
    }
    return undefined;
  }

  /** Whether the address is fresh. */
  has(value: bigint): boolean {
    const slot = Number(value & BigInt(pageSize - 1));
    return (((this.#page(value >> pageBits).leaves[slot >> 5] as number) >>> (slot & 31)) & 1) === 1;
  }

  /** The address is fresh no more; undefined when it was not. */
  take(value: bigint): Undo | undefined {
    if (!this.has(value)) return undefined;
    const page = this.#page(value >> pageBits);
    const slot = Number(value & BigInt(pageSize - 1));
    const leaf = slot >> 5;
    page.leaves[leaf] = (page.leaves[leaf] as number) & ~(1 << (slot & 31));
    if (page.leaves[leaf] === 0) {
      const middle = leaf >> 5;
      page.middle[middle] = (page.middle[middle] as number) & ~(1 << (leaf & 31));
      if (page.middle[middle] === 0) page.top = (page.top & ~(1 << middle)) >>> 0;
    }
    return () => this.#give(value);
  }

  #give(value: bigint): void {
    const number = value >> pageBits;
    const page = this.#page(number);
    setBit(page, Number(value & BigInt(pageSize - 1)));
    if (number < this.#lowestPage) this.#lowestPage = number;
  }

  /** The next page above `page` that has usable addresses at all: what is excluded is stepped over, not walked. */
  #pageAfter(page: bigint): bigint | undefined {
    const from = (page + 1n) << pageBits;
    const interval = this.#usable[indexAtOrAfter(this.#usable, from)];
    if (!interval) return undefined;
    return (interval.first > from ? interval.first : from) >> pageBits;
  }

  #page(number: bigint): Page {
    const known = this.#pages.get(number);
    if (known) return known;
    const page: Page = { top: 0, middle: new Uint32Array(32), leaves: new Uint32Array(1024) };
    const first = number << pageBits;
    const last = first + BigInt(pageSize - 1);
    for (let index = indexAtOrAfter(this.#usable, first); index < this.#usable.length; index++) {
      const interval = this.#usable[index] as Interval;
      if (interval.first > last) break;
      const from = interval.first > first ? Number(interval.first - first) : 0;
      const to = interval.last < last ? Number(interval.last - first) : pageSize - 1;
      for (let slot = from; slot <= to; slot++) setBit(page, slot);
    }
    this.#pages.set(number, page);
    return page;
  }
}

function setBit(page: Page, slot: number): void {
  const leaf = slot >> 5;
  const middle = slot >> 10;
  page.leaves[leaf] = (page.leaves[leaf] as number) | (1 << (slot & 31));
  page.middle[middle] = (page.middle[middle] as number) | (1 << (leaf & 31));
  page.top = (page.top | (1 << middle)) >>> 0;
}

/** The lowest set slot that is at least `from`: at most two looks a level. */
function lowestSlot(page: Page, from: number): number | undefined {
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

const lowestInLeaf = (page: Page, leaf: number): number => (leaf << 5) + lowestBit(page.leaves[leaf] as number);
