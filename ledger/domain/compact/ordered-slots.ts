/**
 * Groups of slots, each sorted by numbers that the caller computes from the content of a slot. An
 * entry takes 4 to 6 bytes, because only the slot is stored. Adding, removing and reading the next
 * page take the same time in small and large groups.
 *
 * A group is a list of buckets. Each bucket holds the slots for a range of numbers, unsorted. A
 * reader sorts one bucket at a time.
 */
import { enlarged } from './slots.ts';

const bucketSize = 128;
const initialSize = 8;
/** Adjacent buckets are merged if they have at most this many slots together. */
const mergedSize = 96;

interface Bucket {
  /** The lowest number of the bucket. The first bucket also takes all lower numbers. */
  from: number;
  /** An upper bound of the numbers in the bucket. */
  highest: number;
  slots: Int32Array;
  size: number;
}

/** A slot with one of its numbers. */
export interface NumberedSlot {
  readonly number: number;
  readonly slot: number;
}

export class OrderedSlots {
  readonly #numbersOf: (slot: number, group: string) => readonly number[];
  readonly #groups = new Map<string, Bucket[]>();
  #sortedNames: readonly string[] | undefined = [];

  /** @param numbersOf returns a slot's numbers in a group; constant between `add` and `remove` */
  constructor(numbersOf: (slot: number, group: string) => readonly number[]) {
    this.#numbersOf = numbersOf;
  }

  /** Adds a slot to a group with all its numbers, at least one. */
  add(group: string, slot: number, numbers: readonly number[]): void {
    let buckets = this.#groups.get(group);
    if (!buckets) {
      this.#groups.set(group, (buckets = []));
      this.#sortedNames = undefined;
    }
    for (const number of numbers) {
      const bucket = this.#roomFor(number, buckets, group);
      bucket.highest = Math.max(bucket.highest, number);
      if (numbers.length === 1 || placeOf(slot, bucket) < 0) push(bucket, slot);
    }
  }

  /** Removes a slot from a group. @param numbers the same numbers as in `add` */
  remove(group: string, slot: number, numbers: readonly number[]): void {
    const buckets = this.#groups.get(group) ?? [];
    for (const number of numbers) {
      const index = indexOf(number, buckets);
      const bucket = buckets[index];
      const place = bucket ? placeOf(slot, bucket) : -1;
      if (!bucket || place < 0) continue;
      bucket.slots[place] = bucket.slots[--bucket.size] as number;
      mergeAt(index, buckets);
    }
    if (buckets.length > 0 || !this.#groups.delete(group)) return;
    this.#sortedNames = undefined;
  }

  /** An upper bound of the number of slots in a group, in steps of a bucket. */
  estimatedSize(group: string): number {
    const buckets = this.#groups.get(group) ?? [];
    return buckets.length > 1 ? buckets.length * bucketSize : (buckets[0]?.size ?? 0);
  }

  /** Yields the names of the non-empty groups from `name` on, sorted. */
  *groupsFrom(name: string): Generator<string> {
    const names = (this.#sortedNames ??= [...this.#groups.keys()].sort());
    let [low, high] = [0, names.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((names[middle] as string) < name) low = middle + 1;
      else high = middle;
    }
    for (; low < names.length; low++) yield names[low] as string;
  }

  /**
   * Yields the numbers above `number` with their slots, in order. The group must stay unchanged.
   */
  *after(group: string, number: number): Generator<NumberedSlot> {
    const buckets = this.#groups.get(group) ?? [];
    for (let index = Math.max(0, indexOf(number, buckets)); index < buckets.length; index++)
      for (const entry of this.#entriesOf(index, buckets, group)) if (entry.number > number) yield entry;
  }

  /** Returns the bucket for a number, after a split if the bucket is full. */
  #roomFor(number: number, buckets: Bucket[], group: string): Bucket {
    const index = indexOf(number, buckets);
    const bucket = buckets[index];
    if (bucket && bucket.size < bucketSize) return bucket;
    const isLast = index === buckets.length - 1;
    if (bucket && !(isLast && number > bucket.highest))
      return this.#split(index, buckets, group) ? this.#roomFor(number, buckets, group) : bucket;
    const added = { from: number, highest: number, slots: new Int32Array(initialSize), size: 0 };
    buckets.push(added);
    return added;
  }

  /** Splits a bucket in two. Returns false if all its slots have the same number. */
  #split(index: number, buckets: Bucket[], group: string): boolean {
    const entries = this.#entriesOf(index, buckets, group);
    const lowest = entries[0]?.number ?? 0;
    const middle = entries[entries.length >> 1]?.number ?? 0;
    const from = middle > lowest ? middle : entries.find(({ number }) => number > lowest)?.number;
    const bucket = buckets[index] as Bucket;
    if (from === undefined) return false;
    const [low, high] = [new Set<number>(), new Set<number>()];
    for (const { number, slot } of entries) (number < from ? low : high).add(slot);
    const halves = [
      { from: bucket.from, highest: from - 1, slots: Int32Array.from(low), size: low.size },
      { from, highest: bucket.highest, slots: Int32Array.from(high), size: high.size },
    ];
    buckets.splice(index, 1, ...halves);
    return true;
  }

  #entriesOf(index: number, buckets: readonly Bucket[], group: string): NumberedSlot[] {
    const { from, slots, size } = buckets[index] as Bucket;
    const end = buckets[index + 1]?.from ?? Infinity;
    const entries: NumberedSlot[] = [];
    for (const slot of slots.subarray(0, size))
      for (const number of this.#numbersOf(slot, group))
        if ((number >= from || index === 0) && number < end) entries.push({ number, slot });
    return entries.sort((a, b) => a.number - b.number);
  }
}

/** The last bucket whose `from` is at most `number`; 0 for lower numbers; -1 for no buckets. */
function indexOf(number: number, buckets: readonly Bucket[]): number {
  let [low, high] = [0, buckets.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((buckets[middle] as Bucket).from <= number) low = middle + 1;
    else high = middle;
  }
  return buckets.length === 0 ? -1 : Math.max(0, low - 1);
}

function placeOf(slot: number, { slots, size }: Bucket): number {
  const place = slots.indexOf(slot);
  return place < size ? place : -1;
}

function push(bucket: Bucket, slot: number): void {
  if (bucket.size === bucket.slots.length) bucket.slots = enlarged(bucket.slots, 2 * bucket.size);
  bucket.slots[bucket.size++] = slot;
}

/** Removes a bucket if it is empty, or merges it with its neighbour if both have few slots. */
function mergeAt(index: number, buckets: Bucket[]): void {
  const bucket = buckets[index] as Bucket;
  if (bucket.size === 0) return void buckets.splice(index, 1);
  const [left, right] = index === 0 ? [bucket, buckets[1]] : [buckets[index - 1] as Bucket, bucket];
  if (!right || left.size + right.size > mergedSize) return;
  for (const slot of right.slots.subarray(0, right.size)) if (placeOf(slot, left) < 0) push(left, slot);
  left.highest = right.highest;
  buckets.splice(buckets.indexOf(right), 1);
}
