/**
 * Compares the alerts with their documents: runbooks, the table in docs/metrics.md, and the names
 * of all metrics.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { alerts } from '../../deploy/monitoring/alerts.ts';
import { dashboards } from '../../deploy/monitoring/dashboards/dashboards.ts';
import { rules } from '../../deploy/monitoring/prometheus.ts';
import { root } from '../harness/paths.ts';
import { alertCases } from './alert-cases.ts';

const read = (document: string): string => readFileSync(join(root, document), 'utf8');
const names = alerts.map(({ name }) => name);
const runbooks = read('docs/runbooks.md');
const metrics = read('docs/metrics.md');

/** The parts that each runbook has, in this order. */
const parts = ['Meaning', 'Impact', 'First command', 'Remedy'];

describe('The alerts', () => {
  it('The alerts have a runbook each, and each runbook has an alert', () => {
    const headings = [...runbooks.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    expect(headings).to.have.members(names).and.lengthOf(names.length);
  });

  it('The alerts have a URL that leads to the heading of their runbook', () => {
    for (const { alert, annotations } of rules)
      expect(annotations.runbook_url).to.equal(`docs/runbooks.md#${alert.toLowerCase()}`);
  });

  it('The alerts have a runbook with meaning, impact, first command and remedy', () => {
    const sections = runbooks.split(/^## /m).slice(1);
    for (const section of sections)
      expect([...section.matchAll(/^\*\*(.+?)\.\*\*/gm)].map(([, part]) => part)).to.deep.equal(parts);
  });

  it('The alerts have a rule test each', () => {
    expect(new Set(alertCases.map(({ alert }) => alert))).to.deep.equal(new Set(names));
  });

  it('The alerts are exactly those that docs/metrics.md lists, with the same severity, expression and duration', () => {
    const [, section = ''] = metrics.split('\n## Alerts\n');
    const rows = [...section.matchAll(/^\| \[(\w+)\]\((.+?)\) \| (\w+) \| `(.+?)` \| (.+?) \|$/gm)].map(
      ([, ...cells]) => cells,
    );
    expect(rows).to.deep.equal(
      alerts.map((alert) => [
        alert.name,
        `runbooks.md#${alert.name.toLowerCase()}`,
        alert.severity,
        alert.expression,
        alert.for ?? '–',
      ]),
    );
  });
});

describe('The metrics in docs/metrics.md', () => {
  const listed = [...metrics.matchAll(/^\| `(\w+)` \| [\w-]+ \|/gm)].map(([, name = '']) => name);
  const queries = dashboards.flatMap(({ rows }) =>
    rows.flat().flatMap(({ queries: own }) => own.map(({ expression }) => expression)),
  );
  const expressions = [...alerts.map(({ expression }) => expression), ...queries];
  const used = new Set(
    expressions.flatMap((expression) =>
      [...expression.matchAll(/\b((?:ipledger|subnet|cni)_\w+?)(?:_bucket|_count|_sum)?(?=[{[)\s]|$)/g)].map(
        ([, name = '']) => (listed.includes(`${name}_count`) ? `${name}_count` : name),
      ),
    ),
  );

  it('The metrics in docs/metrics.md are all in an alert or a dashboard', () => {
    expect(listed.filter((name) => !used.has(name))).to.deep.equal([]);
  });

  it('The metrics in docs/metrics.md include every metric of the alerts and dashboards', () => {
    const labels = ['subnet_name'];
    expect([...used].filter((name) => !listed.includes(name) && !labels.includes(name))).to.deep.equal([]);
  });
});
