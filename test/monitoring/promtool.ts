/** Rule tests of promtool, written from an alert case. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { rules, type AlertingRule } from '../../deploy/monitoring/prometheus.ts';
import { root } from '../harness/paths.ts';
import { runCommand } from '../harness/processes/command.ts';
import type { AlertCase, AlertSeries } from './alert-case.ts';

const ruleFile = join(root, 'deploy/chart/files/monitoring/alerts.yaml');
const timeoutMs = 60_000;

const intervalSeconds = 30;
const samplesBefore = 20;
/** The samples after the change: seven and a half hours, longer than each `for`. */
const samplesAfter = 900;
/** The first sample with the values of `after`. */
const changeSeconds = samplesBefore * intervalSeconds;

/** Finds the rule of an alert in the rule file. */
export function findRule(alert: string): AlertingRule {
  const rule = rules.find((each) => each.alert === alert);
  if (!rule) throw new Error(`no alert ${alert}`);
  return rule;
}

/**
 * Runs the rule test of a case.
 *
 * @returns the findings of promtool; '' if the alert fires exactly when the case requires it
 */
export const runRuleTest = (alertCase: AlertCase): Promise<string> => runPromtool(() => ruleTest(alertCase));

/** Runs a test of other rules. @returns the findings of promtool */
export const testRules = ({
  rules: tested,
  test,
}: {
  readonly rules: object;
  readonly test: object;
}): Promise<string> =>
  runPromtool((folder) => {
    const file = join(folder, 'rules.yaml');
    writeFileSync(file, stringify({ groups: [{ name: 'tested', rules: tested }] }));
    return { rule_files: [file], evaluation_interval: '1m', tests: [test] };
  });

async function runPromtool(testFile: (folder: string) => object): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'ipledger-rules-'));
  try {
    const file = join(folder, 'test.yaml');
    writeFileSync(file, stringify(testFile(folder)));
    const { code, stdout, stderr } = await runCommand('promtool', ['test', 'rules', file], { timeoutMs });
    return code === 0 ? '' : `${stdout}${stderr}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function ruleTest(alertCase: AlertCase): object {
  const { alert, series, labels, summary, delayMinutes = 0 } = alertCase;
  const rule = findRule(alert);
  const trueSeconds = changeSeconds + delayMinutes * 60;
  const firesSeconds = trueSeconds + secondsOf(rule.for ?? '0s');
  const firing = {
    exp_labels: { severity: rule.labels.severity, ...labels },
    exp_annotations: { summary, runbook_url: rule.annotations.runbook_url },
  };
  return {
    rule_files: [ruleFile],
    evaluation_interval: `${intervalSeconds}s`,
    tests: [
      {
        name: `${alert} when ${alertCase.when}`,
        interval: `${intervalSeconds}s`,
        input_series: series.map((each) => ({ series: each.series, values: valuesOf(each) })),
        alert_rule_test: [
          { eval_time: `${trueSeconds - intervalSeconds}s`, alertname: alert, exp_alerts: [] },
          { eval_time: `${firesSeconds - intervalSeconds}s`, alertname: alert, exp_alerts: [] },
          { eval_time: `${firesSeconds}s`, alertname: alert, exp_alerts: [firing] },
        ],
      },
    ],
  };
}

/** Formats values in promtool's notation: `1x19` is the value 1 and 19 repetitions. */
function valuesOf({ before, after }: AlertSeries): string {
  return `${before}x${samplesBefore - 1} ${typeof after === 'string' ? after : `${after}x${samplesAfter}`}`;
}

function secondsOf(duration: string): number {
  const [, count = '', unit] = /^(\d+)([sm])$/.exec(duration) ?? [];
  if (unit === undefined) throw new Error(`no duration in seconds or minutes: ${duration}`);
  return Number(count) * (unit === 'm' ? 60 : 1);
}
