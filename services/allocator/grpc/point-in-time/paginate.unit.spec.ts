import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { paginate } from './state-at.ts';

const now = performance.now.bind(performance);

describe('paginate', () => {
  afterEach(() => {
    performance.now = now;
  });

  for (const [what, every] of [
    ['many', 1],
    ['few', 1_000],
  ] as const)
    it(`paginate ends a turn of the event loop after 3 ms, of steps of which ${what} have an item`, async () => {
      let [steps, turns, mostInTurn, before] = [0, 0, 0, 0];
      performance.now = () => steps;
      const stopping = new AbortController();
      const watching = (async () => {
        for (; !stopping.signal.aborted; turns++) {
          await turn();
          mostInTurn = Math.max(mostInTurn, steps - before);
          before = steps;
        }
      })();
      function* items(): Generator<number | undefined> {
        while (steps < 5_000) yield ++steps % every === 0 ? steps : undefined;
      }
      const found: number[] = [];
      for await (const page of paginate(items(), 500)) found.push(...page);
      stopping.abort();
      await watching;
      expect(found).to.have.length(5_000 / every);
      expect(mostInTurn).to.be.at.most(5);
      expect(turns).to.be.at.least(1_000);
    });
});
