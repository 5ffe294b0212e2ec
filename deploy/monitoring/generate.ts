/**
 * Writes the alerts, the PodMonitor and the dashboards into deploy/chart/files/monitoring, for the
 * chart or for `kubectl apply`. `node deploy/monitoring/generate.ts --check` writes nothing and
 * fails when a file is out of date.
 */
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { grafanaJson } from './dashboards/dashboard.ts';
import { dashboards } from './dashboards/dashboards.ts';
import { podMonitor, prometheusRule, ruleFile } from './prometheus.ts';

const folder = join(import.meta.dirname, '..', 'chart', 'files', 'monitoring');

const yaml = (content: object): string =>
  `# Written by deploy/monitoring/generate.ts\n${stringify(content, { lineWidth: 0, aliasDuplicateObjects: false })}`;

const files = new Map<string, string>([
  ['alerts.yaml', yaml(ruleFile)],
  ['prometheus-rule.yaml', yaml(prometheusRule)],
  ['pod-monitor.yaml', yaml(podMonitor)],
  ...dashboards.map((dashboard): [string, string] => [
    `dashboards/${dashboard.name}.json`,
    `${JSON.stringify(grafanaJson(dashboard), null, 2)}\n`,
  ]),
]);

const read = (name: string): string | undefined =>
  existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : undefined;
const changed = [...files].filter(([name, content]) => read(name) !== content).map(([name]) => name);
const surplus = globSync('**/*.{yaml,json}', { cwd: folder }).filter((name) => !files.has(name));

if (process.argv.includes('--check')) {
  const stale = [...changed, ...surplus];
  if (stale.length > 0) {
    console.error(`deploy/chart/files/monitoring: ${stale.join(', ')} out of date. Run make generate`);
    process.exitCode = 1;
  }
} else {
  mkdirSync(join(folder, 'dashboards'), { recursive: true });
  for (const name of changed) writeFileSync(join(folder, name), files.get(name) ?? '');
  for (const name of surplus) rmSync(join(folder, name));
}
