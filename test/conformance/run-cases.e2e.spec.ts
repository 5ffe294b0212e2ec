import { join } from 'node:path';
import { expect } from 'chai';
import { openRun, type Run } from '../harness/run.ts';
import { mutateExpectation } from './mutations.fixture.ts';
import { areas } from './areas.ts';
import { type Case, readCases } from './case.ts';
import { expectationOf } from './deviations.ts';
import { formatFailure, formatSummary, formatTable } from './report.ts';
import { runCase, type Result, runCases } from './run-cases.ts';
import { openRunContext, type RunContext } from './run-context.ts';

const cases = readCases(join(import.meta.dirname, 'cases.json'));

describe('Conformance runner', function () {
  this.timeout(120_000);

  it('Conformance runner supports every area of the cases', () => {
    const known = new Set(areas.map(({ name }) => name));
    expect([...new Set(cases.map(({ area }) => area))].filter((area) => !known.has(area))).to.deep.equal([]);
  });

  const plain: Case = {
    id: 'plain',
    area: 'naming',
    given: { provider: 'ovn' },
    when: { evaluate: 'is OVN provider' },
    expect: { result: true },
    source: '',
    compat: 'must',
  };

  it('Conformance runner returns the results in the order of the cases', async () => {
    const results = await runCases([
      plain,
      { ...plain, id: 'wrong', expect: { result: false } },
      { ...plain, id: 'odd', given: { provider: 'ovn', colour: 'red' } },
      { ...plain, id: 'elsewhere', area: 'astrology' },
      { ...plain, id: 'otherwise', when: { weigh: true } },
    ]);
    expect(results.map(({ id, outcome }) => `${id} ${outcome}`)).to.deep.equal([
      'plain passed',
      'wrong failed',
      'odd skipped',
      'elsewhere skipped',
      'otherwise skipped',
    ]);
    const summary = '1 passed, 1 failed, 3 skipped';
    expect(formatSummary(results)).to.equal(summary);
    expect(results.map(formatFailure).filter((line) => line !== undefined)).to.deep.equal([
      'FAILED  wrong  naming: expected result false; got result true',
      'skipped odd  naming: given "colour": unsupported',
      'skipped elsewhere  astrology: area astrology: unsupported',
      'skipped otherwise  naming: when "weigh": unsupported',
    ]);
    expect(formatTable(results).map((line) => line.split(/ +/).join(' '))).to.deep.equal([
      'area passed failed skipped deviating',
      'astrology 0 0 1 0',
      'naming 1 1 2 0',
    ]);
  });

  it('Conformance runner fails a case whose execution throws', async () => {
    const [result] = await runCases([
      { ...plain, area: 'cni-result', given: {}, when: { render: true }, expect: { ips: [] } },
    ]);
    expect(result).to.have.property('outcome', 'failed');
  });

  describe('fails a case with a mutated expectation in area', () => {
    let run: Run;
    let context: RunContext;
    before(() => {
      run = openRun();
      context = openRunContext(run, 3_000);
    });
    after(() => run.end());

    for (const { name, lane } of areas)
      it(name, async function () {
        // Cluster cases are slow: one mutation each.
        const maxMutations = lane === 'cluster' ? 1 : 40;
        for (const testCase of cases.filter(({ area }) => area === name)) {
          const expected = { ...testCase, expect: expectationOf(testCase).expect };
          if ((await runCase(expected, context)).outcome !== 'passed') continue;
          const outcomes: Result['outcome'][] = [];
          for (const mutated of mutateExpectation(expected.expect).slice(0, maxMutations))
            outcomes.push((await runCase({ ...testCase, expect: mutated }, context)).outcome);
          expect(outcomes, testCase.id).to.not.include('passed');
          // A mutated sentence may be unsupported; then another case must fail.
          if (outcomes.includes('failed')) return;
        }
        this.skip(); // no case passes, so none passes wrongly
      });
  });
});
