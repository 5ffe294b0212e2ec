/** Random choices that can be repeated: all follow from the seed, a number that is printed. */
import { printProgress } from '../harness/progress.ts';

export interface SeededRandom {
  /** Returns an integer from 0 to `end` - 1. */
  nextInt(end: number): number;
  /** Returns true with this probability. */
  nextBoolean(probability: number): boolean;
  /** Returns one of the items. */
  pick<T>(items: readonly T[]): T;
  /** Returns all items, in random order. */
  shuffle<T>(items: readonly T[]): T[];
  /**
   * Returns an independent source for a concurrent task: its choices do not depend on the order of
   * tasks.
   */
  fork(): SeededRandom;
}

const seedEnd = 2 ** 32;

/**
 * Creates a source with the seed in FAULT_SEED, or with a random one, and prints the seed.
 * @param round from 1; each round has another seed
 * @throws Error when FAULT_SEED is not a number
 */
export function createSeededRandom(what: string, round = 1): SeededRandom {
  const value = process.env['FAULT_SEED'] ?? '';
  if (value !== '' && !/^\d{1,10}$/.test(value)) throw new Error(`FAULT_SEED is "${value}": set a number`);
  const seed = value === '' ? Math.floor(Math.random() * seedEnd) : (Number(value) + round - 1) % seedEnd;
  printProgress(`${what}: FAULT_SEED=${seed} repeats these choices`);
  return createSource(seed);
}

/** @param seed an integer below 2^32 */
export function createSource(seed: number): SeededRandom {
  const next = mulberry(seed);
  const below = (end: number): number => Math.floor(next() * end);
  return {
    nextInt: below,
    nextBoolean: (probability) => next() < probability,
    pick<T>(items: readonly T[]): T {
      if (items.length === 0) throw new Error('nothing to pick from');
      return items[below(items.length)] as T;
    },
    shuffle: (items) =>
      items
        .map((item) => ({ item, at: next() }))
        .sort((a, b) => a.at - b.at)
        .map(({ item }) => item),
    fork: () => createSource(below(seedEnd)),
  };
}

/** Returns one of the items, each as often as its weight. */
export const pickWeighted = <Item>(
  random: SeededRandom,
  items: readonly (readonly [weight: number, item: Item])[],
): Item => random.pick(items.flatMap(([weight, item]) => Array.from({ length: weight }, () => item)));

/** Mulberry32, a generator of 32 bits of state: numbers from 0 to below 1. */
function mulberry(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / seedEnd;
  };
}
