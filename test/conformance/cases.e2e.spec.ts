/** Runs all cases in one run: an area with a failed case fails. */
import { join } from 'node:path';
import { expect } from 'chai';
import { readCases } from './case.ts';
import { formatFailure } from './report.ts';
import { type Result, runCases } from './run-cases.ts';

const cases = readCases(join(import.meta.dirname, 'cases.json'));
const maxSkipped = 10;

describe('Conformance with Kube-OVN', function () {
  this.timeout(1_200_000);
  let results: Result[];

  before(async () => {
    results = await runCases(cases);
  });

  const lines = (outcome: Result['outcome'], area?: string): (string | undefined)[] =>
    results.filter((each) => each.outcome === outcome && (area ?? each.area) === each.area).map(formatFailure);

  for (const area of new Set(cases.map((each) => each.area)))
    it(`area ${area} has no failed case`, () => {
      expect(lines('failed', area)).to.deep.equal([]);
    });

  it('Conformance with Kube-OVN has at most ten skipped cases', () => {
    expect(lines('skipped').length, lines('skipped').join('\n')).to.be.at.most(maxSkipped);
  });
});
