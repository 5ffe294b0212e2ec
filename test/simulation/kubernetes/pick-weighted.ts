/** Makers of plan items, each as often as its weight. */
import type { SeededRandom } from '../../faults/seeded-random.ts';

export type Weighted<Action> = readonly (readonly [weight: number, make: (random: SeededRandom) => Action])[];

export function pickWeighted<Action>(random: SeededRandom, items: Weighted<Action>): (random: SeededRandom) => Action {
  return random.pick(items.flatMap(([weight, make]) => Array.from({ length: weight }, () => make)));
}
