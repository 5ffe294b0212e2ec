/**
 * A smoke test of the bench: each row runs with its smallest input, and reports a figure. It checks
 * no speed.
 */
import { expect } from 'chai';
import { probeBrowser } from '../harness/browser.ts';
import { openRun } from '../harness/run.ts';
import { benchGroups } from './bench-groups.ts';
import type { Measurement } from './measurement.ts';
import { consoleRows } from './rows/console.ts';

describe('The bench', function () {
  this.timeout(300_000);
  for (const group of benchGroups)
    it(`The bench measures ${group.rows.join(', ')}`, async function () {
      const ability = group === consoleRows ? probeBrowser() : undefined;
      if (ability?.isAvailable === false) {
        console.log(`      skipped: ${ability.reason}`);
        this.skip();
      }
      const run = openRun();
      const measured: Measurement[] = [];
      const record = (measurement: Measurement): void => void measured.push(measurement);
      try {
        await group.measure({ run, rounds: 1, rows: new Set(group.rows), size: 'smoke', record });
      } finally {
        await run.end();
      }
      const names = new Set(measured.map(({ name }) => name.split(' ')[0]));
      expect([...names]).to.have.members(group.rows);
      for (const { name, ours, floor = 1, figure } of measured) {
        expect(ours, name).to.be.above(0);
        expect(floor, name).to.be.above(0);
        expect(figure, name).to.be.finite;
      }
    });
});
