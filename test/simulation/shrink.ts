/**
 * Shortens a failing run: it leaves out items of the plan while the same invariant is violated. The
 * rest runs alone, with the same seed.
 */
import type { Outcome, Simulation } from './plan.ts';

export interface Shortened {
  /** The items that are needed. */
  readonly only: ReadonlySet<string>;
  readonly outcome: Outcome;
}

/** Runs at most so often. */
const maxRuns = 400;

/** @returns undefined if the seed does not fail */
export async function shrink(simulation: Simulation, seed: number): Promise<Shortened | undefined> {
  const first = await simulation.run(seed);
  if (first.violation === undefined) return undefined;
  let items = simulation.plan(seed).map(({ id }) => id);
  let runs = 0;
  const fails = async (kept: readonly string[]): Promise<boolean> => {
    if (++runs > maxRuns) return false;
    return (await simulation.run(seed, { only: new Set(kept) })).invariant === first.invariant;
  };
  for (let size = Math.ceil(items.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let from = 0; from < items.length;) {
      const kept = [...items.slice(0, from), ...items.slice(from + size)];
      if (await fails(kept)) items = kept;
      else from += size;
    }
  const only = new Set(items);
  return { only, outcome: await simulation.run(seed, { only, keepsHistory: true }) };
}
