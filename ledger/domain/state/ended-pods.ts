/**
 * The Pods that have ended, so that a late request of such a Pod gets no address. The set holds the
 * last 262,144 ended Pods, each as 64 bits of the SHA-256 of its name and uid. Equal bits of two
 * Pods wrongly refuse about one request in 10^13.
 *
 * The set is stored in chunks, in the order in which the Pods ended. Each chunk is one key in etcd,
 * and only the last chunk changes. When there are too many chunks, a new chunk replaces the oldest.
 */
import { enlarged, grownCapacity } from '../compact/slots.ts';
import { SlotIndex } from '../compact/slot-index.ts';
import { stableHash } from '../../../lib/text-hash.ts';
import type { Undo } from './undo-log.ts';

/** The Pods in a chunk. A transaction changes at most two chunks, and removes at most one. */
export const endedPerChunk = 64;
export const maxEndedChunks = 4_096;
const initialCapacity = 64;

export interface EndedChunk {
  /** Counts the chunks of the ledger, from 0. */
  readonly index: number;
  /** The ids that `endedPodId` returns: `endedPerChunk`, or fewer in the last chunk. */
  readonly pods: readonly string[];
}

/** Identifies a Pod uid in the set: 16 hexadecimal digits. */
export const endedPodId = (namespace: string, pod: string, uid: string): string =>
  stableHash(`${namespace}/${pod} ${uid}`).slice(0, 16);

export class EndedPods {
  readonly #maxChunks: number;
  /** The ids of the kept chunks, two numbers each. The id with number n is at n % maxSize. */
  #ids = new Int32Array(2 * initialCapacity);
  readonly #byId = new SlotIndex();
  #end = 0;

  /** @param maxChunks the number of chunks that are kept */
  constructor(maxChunks = maxEndedChunks) {
    this.#maxChunks = maxChunks;
  }

  /** The number of Pods that were ever added, including forgotten Pods. */
  get end(): number {
    return this.#end;
  }

  has(id: string): boolean {
    const [high, low] = numbersOf(id);
    return this.#byId.find(low, (slot) => this.#ids[2 * slot] === high && this.#ids[2 * slot + 1] === low) >= 0;
  }

  /** Adds a Pod. Returns a function that undoes it; undefined if the Pod is in the set. */
  add(id: string): Undo | undefined {
    if (this.has(id)) return undefined;
    const isNewChunk = this.#end % endedPerChunk === 0;
    const forgotten = isNewChunk && this.#end >= this.#maxSize ? this.#forgetOldest() : [];
    const slot = this.#put(this.#end, id);
    this.#end += 1;
    return () => {
      this.#byId.remove(this.#ids[2 * slot + 1] as number, slot);
      this.#end -= 1;
      forgotten.forEach((each, index) => this.#put(this.#end - this.#maxSize + index, each));
    };
  }

  /** Yields the kept chunks, oldest first. */
  *chunks(): Generator<EndedChunk> {
    const count = Math.ceil(this.#end / endedPerChunk);
    for (let index = Math.max(0, count - this.#maxChunks); index < count; index++)
      yield { index, pods: this.chunk(index) ?? [] };
  }

  /** The Pods of a chunk; undefined if it is forgotten or does not exist. */
  chunk(index: number): readonly string[] | undefined {
    const first = index * endedPerChunk;
    const count = Math.ceil(this.#end / endedPerChunk);
    if (index < Math.max(0, count - this.#maxChunks) || index >= count) return undefined;
    const last = Math.min(first + endedPerChunk, this.#end);
    return Array.from({ length: last - first }, (_, at) => this.#idIn((first + at) % this.#maxSize));
  }

  /** The indexes of the chunks that changed or were forgotten since the set had this `end`. */
  changedSince(end: number): number[] {
    if (end === this.#end) return [];
    const [first, last] = [Math.floor(end / endedPerChunk), Math.ceil(this.#end / endedPerChunk)];
    const changed = Array.from({ length: Math.max(0, last - first) }, (_, at) => first + at);
    const forgotten = changed
      .filter((index) => index * endedPerChunk >= end)
      .map((index) => index - this.#maxChunks)
      .filter((index) => index >= 0);
    return [...changed, ...forgotten];
  }

  /** Fills an empty set with the chunks of a snapshot. */
  restore(chunks: readonly EndedChunk[]): void {
    this.#end = (chunks[0]?.index ?? 0) * endedPerChunk;
    for (const { pods } of chunks)
      for (const id of pods) {
        this.#put(this.#end, id);
        this.#end += 1;
      }
  }

  get #maxSize(): number {
    return this.#maxChunks * endedPerChunk;
  }

  /** Forgets the chunk whose place the next chunk takes. Returns its Pods. */
  #forgetOldest(): readonly string[] {
    return Array.from({ length: endedPerChunk }, (_, at) => {
      const slot = (this.#end + at) % this.#maxSize;
      const id = this.#idIn(slot);
      this.#byId.remove(this.#ids[2 * slot + 1] as number, slot);
      return id;
    });
  }

  #put(number: number, id: string): number {
    const slot = number % this.#maxSize;
    if (this.#ids.length <= 2 * slot) {
      const capacity = Math.max(slot + 1, Math.min(this.#maxSize, grownCapacity(this.#ids.length / 2)));
      this.#ids = enlarged(this.#ids, 2 * capacity);
    }
    const [high, low] = numbersOf(id);
    this.#ids[2 * slot] = high;
    this.#ids[2 * slot + 1] = low;
    this.#byId.add(low, slot);
    return slot;
  }

  #idIn(slot: number): string {
    return hexOf(this.#ids[2 * slot] as number) + hexOf(this.#ids[2 * slot + 1] as number);
  }
}

const hexOf = (half: number): string => (half >>> 0).toString(16).padStart(8, '0');

/** Splits an id into two signed 32-bit numbers. */
const numbersOf = (id: string): [high: number, low: number] => [
  Number.parseInt(id.slice(0, 8), 16) | 0,
  Number.parseInt(id.slice(8), 16) | 0,
];
