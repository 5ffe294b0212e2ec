/** Chance that can be had again: everything random in these suites follows from one number, which is printed. */
import { say } from '../harness/say.ts';

export interface Dice {
  /** From 0 to just below `end`, a whole number. */
  below(end: number): number;
  /** Whether something happens that does so with this probability. */
  chance(probability: number): boolean;
  /** One of them. */
  pick<T>(items: readonly T[]): T;
  /** All of them, in another order. */
  shuffle<T>(items: readonly T[]): T[];
  /** Dice of their own for one of several that throw at the same time: what each throws does not depend on who is faster. */
  fork(): Dice;
}

const seedMost = 2 ** 32;

/**
 * Dice that throw as FAULT_SEED says, or as never before; says how to have the same again.
 * @param round counts from 1; each has other dice.
 */
export function openDice(what: string, round = 1): Dice {
  const asked = process.env['FAULT_SEED'] ?? '';
  if (asked !== '' && !/^\d{1,10}$/.test(asked)) throw new Error(`FAULT_SEED is "${asked}": want a number`);
  const seed = asked === '' ? Math.floor(Math.random() * seedMost) : (Number(asked) + round - 1) % seedMost;
  say(`${what}: FAULT_SEED=${seed} has the same again`);
  return diceOf(seed);
}

/** @param seed a whole number below 2^32 */
function diceOf(seed: number): Dice {
  const next = mulberry(seed);
  const below = (end: number): number => Math.floor(next() * end);
  return {
    below,
    chance: (probability) => next() < probability,
    pick<T>(items: readonly T[]): T {
      if (items.length === 0) throw new Error('nothing to pick from');
      return items[below(items.length)] as T;
    },
    shuffle: (items) =>
      items
        .map((item) => ({ item, at: next() }))
        .sort((a, b) => a.at - b.at)
        .map(({ item }) => item),
    fork: () => diceOf(below(seedMost)),
  };
}

/** Mulberry32, a generator of 32 bits of state: numbers from 0 to below 1. */
function mulberry(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / seedMost;
  };
}
