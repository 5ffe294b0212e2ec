import { expect } from 'chai';
import type { Outcome } from './plan.ts';
import { simulations } from './simulations.ts';

/** Fewer of them, for a change of the simulation itself. */
const { SEEDS } = process.env;
if (SEEDS !== undefined && !/^[1-9][0-9]*$/.test(SEEDS)) throw new Error(`SEEDS is "${SEEDS}": set a positive number`);

for (const simulation of simulations)
  describe(`The simulation of the ${simulation.name}`, () => {
    const seeds = Number(SEEDS ?? simulation.testedSeeds);
    const first = new Map<number, Outcome>();

    it(`A simulation finds no violation of an invariant with the seeds 1 to ${seeds}`, async function () {
      this.timeout(600_000);
      for (let seed = 1; seed <= seeds; seed++) {
        const outcome = await simulation.run(seed);
        first.set(seed, outcome);
        expect(outcome.violation, `seed ${seed}: make sim SEED=${seed} HALF=${simulation.name}`).to.equal(undefined);
      }
    });

    it('A simulation has the same trace when a seed is run again after all others, and another one for other seeds', async () => {
      const hashes = new Set<number>();
      for (let seed = Math.min(5, seeds); seed >= 1; seed--) {
        const one = first.get(seed) ?? (await simulation.run(seed));
        const other = await simulation.run(seed, { keepsHistory: true });
        expect(one.traceHash, `seed ${seed}`).to.equal(other.traceHash);
        expect(one.steps).to.equal(other.steps);
        hashes.add(one.traceHash);
      }
      expect(hashes.size).to.equal(Math.min(5, seeds));
    });
  });
