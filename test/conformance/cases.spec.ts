/** The cases are part of `make test`: an area with a case that fails, fails. One run for all, on one cluster. */
import { join } from 'node:path';
import { expect } from 'chai';
import { readCases } from './case.ts';
import { lineOf } from './report.ts';
import { type Result, run } from './run.ts';

const cases = readCases(join(import.meta.dirname, 'cases.json'));
const mostSkipped = 10;

describe('Kube-OVN’s behaviour, case by case', function () {
  this.timeout(1_200_000);
  let results: Result[];

  before(async () => {
    results = await run(cases);
  });

  const lines = (outcome: Result['outcome'], area?: string): (string | undefined)[] =>
    results.filter((each) => each.outcome === outcome && (area ?? each.area) === each.area).map(lineOf);

  for (const area of new Set(cases.map((each) => each.area)))
    it(`is ours, or what we decided instead: ${area}`, () => {
      expect(lines('failed', area)).to.deep.equal([]);
    });

  it('is shown, but for the few cases that cannot be executed', () => {
    expect(lines('skipped').length, lines('skipped').join('\n')).to.be.at.most(mostSkipped);
  });
});
