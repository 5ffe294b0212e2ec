/** Tests each alert with promtool: it fires on its condition, and neither just below it nor before its time. */
import { expect } from 'chai';
import { runCommand } from '../harness/processes/command.ts';
import { alertCases } from './alert-cases.ts';
import { runRuleTest } from './promtool.ts';

describe('Each alert', function () {
  this.timeout(120_000);
  before(async function () {
    const isFound = await runCommand('promtool', ['--version'], { timeoutMs: 30_000 }).then(
      ({ code }) => code === 0,
      () => false,
    );
    if (isFound) return;
    console.log('      skipped, promtool is not on PATH: install the Debian package prometheus');
    this.skip();
  });

  for (const alertCase of alertCases)
    it(`fires on its condition and is quiet just below it: ${alertCase.alert} when ${alertCase.when}`, async () => {
      expect(await runRuleTest(alertCase)).to.equal('');
    });

  it('has a rule test that fails when the alert is quiet', async () => {
    const quiet = alertCases
      .filter(({ alert }) => alert === 'IpledgerAlarm')
      .map((each) => ({ ...each, series: each.series.map((series) => ({ ...series, after: series.before })) }));
    expect(await Promise.all(quiet.map(runRuleTest)))
      .to.have.lengthOf(1)
      .and.satisfy(([found]: string[]) => /FAILED/.test(found ?? ''));
  });
});
