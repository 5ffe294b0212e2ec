/**
 * Tests each alert with promtool: it fires on its condition, and neither just below it nor before
 * its time.
 */
import { expect } from 'chai';
import { parse } from 'yaml';
import { runCommand } from '../harness/processes/command.ts';
import { documentedCommands } from '../docs/documented-commands.ts';
import { alertCases } from './alert-cases.ts';
import { runRuleTest, testRules } from './promtool.ts';

const formatLabels = (labels: Readonly<Record<string, string>>): string =>
  `{${Object.entries(labels)
    .map(([name, value]) => `${name}="${value}"`)
    .join(',')}}`;

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
    it(`Each alert fires on its condition and is quiet just below it: ${alertCase.alert} when ${alertCase.when}`, async () => {
      expect(await runRuleTest(alertCase)).to.equal('');
    });

  it('Each alert of docs/security.md for certificates fires 20 days before the expiry', async () => {
    const rules = parse(documentedCommands('docs/security.md', 'certificate-alert')) as [{ alert: string }];
    const labelsOf = (days: number) => ({ name: `of-${days}-days`, namespace: 'ipledger-system' });
    const test = {
      interval: '1m',
      input_series: [19, 22].map((days) => ({
        series: `certmanager_certificate_expiration_timestamp_seconds${formatLabels(labelsOf(days))}`,
        values: `${days * 86_400}x100`,
      })),
      alert_rule_test: [
        { eval_time: '59m', alertname: rules[0].alert, exp_alerts: [] },
        { eval_time: '60m', alertname: rules[0].alert, exp_alerts: [{ exp_labels: labelsOf(19) }] },
      ],
    };
    expect(await testRules({ rules, test })).to.equal('');
  });

  it('Each alert has a rule test, which fails when the alert is quiet', async () => {
    const quiet = alertCases
      .filter(({ alert }) => alert === 'IpledgerAlarm')
      .map((each) => ({ ...each, series: each.series.map((series) => ({ ...series, after: series.before })) }));
    expect(await Promise.all(quiet.map(runRuleTest)))
      .to.have.lengthOf(1)
      .and.satisfy(([found]: string[]) => /FAILED/.test(found ?? ''));
  });
});
