/**
 * The addresses of one family that Pods hold. Adding and taking out is flat whatever the fill, and the ranges, which a
 * Subnet's status tells after each change, cost as much as there are ranges, and not as there are addresses.
 *
 * A page is a bitmap of 32,768 addresses (value >> 15), and is there while a Pod holds one of them.
 */
import { bitsFrom, lowestBit } from './bits.ts';
import type { Interval } from './interval.ts';
import type { Undo } from './journal.ts';

const pageBits = 15n;
const pageSize = 1 << 15;
const pageMask = BigInt(pageSize - 1);

interface Page {
  count: number;
  readonly words: Uint32Array;
}

export class InUse {
  readonly #pages = new Map<bigint, Page>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds an address; undefined when it is there already. */
  add(value: bigint): Undo | undefined {
    return this.#flip(value, true) ? () => void this.#flip(value, false) : undefined;
  }

  /** Takes an address out; undefined when it is not there. */
  remove(value: bigint): Undo | undefined {
    return this.#flip(value, false) ? () => void this.#flip(value, true) : undefined;
  }

  /** Sorted, disjoint, apart. */
  ranges(): Interval[] {
    const ranges: Interval[] = [];
    for (const [number, { words }] of [...this.#pages].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      const base = number << pageBits;
      for (let from = next(words, 0, true); from < pageSize;) {
        const end = next(words, from, false);
        const [first, last] = [base + BigInt(from), base + BigInt(end - 1)];
        const previous = ranges.at(-1);
        // Of two pages side by side.
        if (previous?.last === first - 1n) ranges[ranges.length - 1] = { first: previous.first, last };
        else ranges.push({ first, last });
        from = next(words, end, true);
      }
    }
    return ranges;
  }

  /** Whether that changed anything. */
  #flip(value: bigint, to: boolean): boolean {
    const number = value >> pageBits;
    const slot = Number(value & pageMask);
    const page = this.#pages.get(number) ?? { count: 0, words: new Uint32Array(pageSize >> 5) };
    const word = page.words[slot >> 5] as number;
    if (((word >>> (slot & 31)) & 1) === Number(to)) return false;
    page.words[slot >> 5] = word ^ (1 << (slot & 31));
    page.count += to ? 1 : -1;
    this.#size += to ? 1 : -1;
    if (page.count === 0) this.#pages.delete(number);
    else this.#pages.set(number, page);
    return true;
  }
}

/** The first slot from `from` on that is set, or not set; `pageSize` when there is none. */
function next(words: Uint32Array, from: number, set: boolean): number {
  const flip = set ? 0 : -1;
  let mask = bitsFrom(from & 31);
  for (let index = from >> 5; index < words.length; index++, mask = -1) {
    const found = ((words[index] as number) ^ flip) & mask;
    if (found !== 0) return (index << 5) + lowestBit(found);
  }
  return pageSize;
}
