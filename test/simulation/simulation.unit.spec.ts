import { expect } from 'chai';
import { simulations } from './simulations.ts';

/** Fewer of them, for a change of the simulation itself. */
const { SEEDS } = process.env;
if (SEEDS !== undefined && !/^[1-9][0-9]*$/.test(SEEDS)) throw new Error(`SEEDS is "${SEEDS}": set a positive number`);

for (const simulation of simulations)
  describe(`The simulation of the ${simulation.name}`, () => {
    const seeds = Number(SEEDS ?? simulation.testedSeeds);

    it(`finds no violation of an invariant with the seeds 1 to ${seeds}`, async function () {
      this.timeout(600_000);
      for (let seed = 1; seed <= seeds; seed++) {
        const { violation } = await simulation.run(seed);
        expect(violation, `seed ${seed}: make sim SEED=${seed} HALF=${simulation.name}`).to.equal(undefined);
      }
    });

    it('has the same trace when a seed is run again, and another one for other seeds', async () => {
      const hashes = new Set<number>();
      for (let seed = 1; seed <= 5; seed++) {
        const [one, other] = [await simulation.run(seed), await simulation.run(seed, { keepsHistory: true })];
        expect(one.traceHash, `seed ${seed}`).to.equal(other.traceHash);
        expect(one.steps).to.equal(other.steps);
        hashes.add(one.traceHash);
      }
      expect(hashes.size).to.equal(5);
    });
  });
