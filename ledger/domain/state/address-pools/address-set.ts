/**
 * A set of addresses of one family. Adding and removing takes constant time at any size. Listing
 * the ranges, which the status of a Subnet needs after each change, takes time with the number of
 * ranges, not of addresses.
 *
 * A page covers 32,768 addresses (value >> 15) and exists while it has a member. A page is a sorted
 * array while it has few members, and a bitmap when it has more. So scattered addresses take little
 * memory.
 */
import type { Interval } from '../../addresses/interval.ts';
import type { Undo } from '../undo-log.ts';
import { flipSlot, hasSlot, maxSparseSlots } from './page-slots.ts';

const pageBits = 15n;
const pageSize = 1 << 15;
const pageMask = BigInt(pageSize - 1);

interface Bitmap {
  count: number;
  readonly words: Uint32Array;
}

export class AddressSet {
  readonly #few = new Map<bigint, number[]>();
  readonly #bitmaps = new Map<bigint, Bitmap>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds an address. Returns undefined if it is already a member. */
  add(value: bigint): Undo | undefined {
    return this.#flip(value, true) ? () => void this.#flip(value, false) : undefined;
  }

  /** Removes an address. Returns undefined if it is no member. */
  remove(value: bigint): Undo | undefined {
    return this.#flip(value, false) ? () => void this.#flip(value, true) : undefined;
  }

  /** The members as intervals: sorted, disjoint, not adjacent. */
  ranges(): Interval[] {
    const ranges: Interval[] = [];
    for (const number of [...this.#few.keys(), ...this.#bitmaps.keys()].toSorted((a, b) => (a < b ? -1 : 1))) {
      const base = number << pageBits;
      const bitmap = this.#bitmaps.get(number);
      for (const [from, end] of bitmap ? runsOfBits(bitmap.words) : runsOfSlots(this.#few.get(number) ?? [])) {
        const [first, last] = [base + BigInt(from), base + BigInt(end - 1)];
        const previous = ranges.at(-1);
        // Joins a run that continues across the boundary of two pages.
        if (previous?.last === first - 1n) ranges[ranges.length - 1] = { first: previous.first, last };
        else ranges.push({ first, last });
      }
    }
    return ranges;
  }

  /** Adds or removes a member. Returns whether that changed the set. */
  #flip(value: bigint, to: boolean): boolean {
    const number = value >> pageBits;
    const slot = Number(value & pageMask);
    const bitmap = this.#bitmaps.get(number);
    if (!(bitmap ? this.#flipBit(number, bitmap, slot, to) : this.#flipFew(number, slot, to))) return false;
    this.#size += to ? 1 : -1;
    return true;
  }

  #flipFew(number: bigint, slot: number, to: boolean): boolean {
    const slots = this.#few.get(number) ?? [];
    if (hasSlot(slots, slot) === to) return false;
    flipSlot(slots, slot);
    if (slots.length === 1) this.#few.set(number, slots);
    if (slots.length === 0 || slots.length > maxSparseSlots) this.#few.delete(number);
    if (slots.length > maxSparseSlots) this.#bitmaps.set(number, bitmapOf(slots));
    return true;
  }

  #flipBit(number: bigint, page: Bitmap, slot: number, to: boolean): boolean {
    const word = page.words[slot >> 5] as number;
    if (((word >>> (slot & 31)) & 1) === Number(to)) return false;
    page.words[slot >> 5] = word ^ (1 << (slot & 31));
    page.count += to ? 1 : -1;
    // The page stays a bitmap until it is empty, so that an address that is added and removed
    // repeatedly does not convert the page each time.
    if (page.count === 0) this.#bitmaps.delete(number);
    return true;
  }
}

function bitmapOf(slots: readonly number[]): Bitmap {
  const words = new Uint32Array(pageSize >> 5);
  for (const slot of slots) words[slot >> 5] = (words[slot >> 5] as number) | (1 << (slot & 31));
  return { count: slots.length, words };
}

/** A run of consecutive slots: the first, and the one after the last. */
type Run = readonly [number, number];

function* runsOfSlots(slots: readonly number[]): Generator<Run> {
  for (let index = 0; index < slots.length;) {
    const from = slots[index] as number;
    let end = from;
    while (slots[index] === end) {
      index++;
      end++;
    }
    yield [from, end];
  }
}

function* runsOfBits(words: Uint32Array): Generator<Run> {
  for (let from = nextSlot(words, 0, true); from < pageSize;) {
    const end = nextSlot(words, from, false);
    yield [from, end];
    from = nextSlot(words, end, true);
  }
}

/** The first slot from `from` on that is set, or not set; `pageSize` if there is none. */
function nextSlot(words: Uint32Array, from: number, set: boolean): number {
  const flip = set ? 0 : -1;
  let mask = bitsFrom(from & 31);
  for (let index = from >> 5; index < words.length; index++, mask = -1) {
    const found = ((words[index] as number) ^ flip) & mask;
    if (found !== 0) return (index << 5) + lowestBit(found);
  }
  return pageSize;
}

/** The index of the lowest set bit. The word must not be 0. */
export const lowestBit = (word: number): number => 31 - Math.clz32(word & -word);

/** A mask of the bits from `bit` (0 to 32) upwards. */
export const bitsFrom = (bit: number): number => (bit >= 32 ? 0 : (-1 << bit) >>> 0);
