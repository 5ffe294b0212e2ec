import { join } from 'node:path';
import { expect } from 'chai';
import { openRun, type Run } from '../harness/run.ts';
import { alterations } from './alter.fixture.ts';
import { areas } from './areas.ts';
import { type Case, readCases } from './case.ts';
import { wantedOf } from './deviations.ts';
import { lineOf, summaryOf, tableOf } from './report.ts';
import { outcomeOf, type Result, run } from './run.ts';
import { openStage, type Stage } from './stage.ts';

const cases = readCases(join(import.meta.dirname, 'cases.json'));

describe('the conformance runner', function () {
  this.timeout(120_000);

  it('understands every area of the cases', () => {
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

  it('gives each case a result, in the order of the cases', async () => {
    const results = await run([
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
    expect(summaryOf(results)).to.equal(summary);
    expect(results.map(lineOf).filter((line) => line !== undefined)).to.deep.equal([
      'FAILED  wrong  naming: expected result false; got result true',
      'skipped odd  naming: given "colour": not understood',
      'skipped elsewhere  astrology: area astrology: not understood',
      'skipped otherwise  naming: when "weigh": not understood',
    ]);
    expect(tableOf(results).map((line) => line.split(/ +/).join(' '))).to.deep.equal([
      'area passed failed skipped deviating',
      'astrology 0 0 1 0',
      'naming 1 1 2 0',
    ]);
  });

  it('takes a part that breaks for a failure, not for a reason to leave a case out', async () => {
    const [result] = await run([
      { ...plain, area: 'cni-result', given: {}, when: { render: true }, expect: { ips: [] } },
    ]);
    expect(result).to.have.property('outcome', 'failed');
  });

  describe('fails a case whose expectation is altered, in area', () => {
    let scope: Run;
    let stage: Stage;
    before(() => {
      scope = openRun();
      stage = openStage(scope, 3_000);
    });
    after(() => scope.end());

    for (const { name, lane } of areas)
      it(name, async function () {
        // Of those that take their time, one alteration each.
        const most = lane === 'cluster' ? 1 : 40;
        for (const the of cases.filter(({ area }) => area === name)) {
          const wanted = { ...the, expect: wantedOf(the).expect };
          if ((await outcomeOf(wanted, stage)).outcome !== 'passed') continue;
          const outcomes: Result['outcome'][] = [];
          for (const altered of alterations(wanted.expect).slice(0, most))
            outcomes.push((await outcomeOf({ ...the, expect: altered }, stage)).outcome);
          expect(outcomes, the.id).to.not.include('passed');
          // Words may be altered beyond understanding; then another case must show it.
          if (outcomes.includes('failed')) return;
        }
        this.skip(); // none passes, so none can pass wrongly
      });
  });
});
