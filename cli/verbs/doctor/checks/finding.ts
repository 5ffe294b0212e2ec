/** A finding of `doctor`: what is wrong with an installation, and what to do. */
import { alerts, type Alert } from '../../../../deploy/monitoring/alerts.ts';
import type { Facts } from '../../../installation/facts.ts';
import type { Commands } from './commands.ts';

/** `note`: a part that is not set up by choice, or out of use. It changes no exit status. */
export type Severity = 'critical' | 'warning' | 'note';

export interface Finding {
  readonly severity: Severity;
  /** The object or program: "Deployment ipledger-allocator", "Node node-1". */
  readonly where: string;
  /** The cause. */
  readonly what: string;
  /** What to do: a command, or a step. */
  readonly remedy: string;
  /** The section of the documents that continues, as "docs/runbooks.md#ipledgernowriter". */
  readonly document: string;
}

/** Finds what is wrong with some of the facts. Pure. Facts that are absent are no finding. */
export type Check = (facts: Facts, commands: Commands) => Finding[];

/** The labels of a series, and its value. */
export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The condition of an alert holds now: its severity, its text and its runbook. */
export function alertFinding(name: string, where: string, series: Series, remedy: string): Finding {
  const alert = alerts.find((each) => each.name === name);
  if (!alert) throw new Error(`there is no alert ${name}`);
  const document = `docs/runbooks.md#${name.toLowerCase()}`;
  return { severity: alert.severity, where, what: formatSummary(alert, series), remedy, document };
}

/** Replaces the templates of Prometheus in a summary. */
function formatSummary({ summary }: Alert, { labels, value }: Series): string {
  return summary.replaceAll(/{{ \$(value|labels\.(\w+))(?: \| (\w+))? }}/g, (_match, _of, label, format) =>
    typeof label === 'string' ? (labels[label] ?? '') : formatValue(value, String(format ?? '')),
  );
}

const day = 86_400;

function formatValue(value: number, format: string): string {
  const rounded = String(Math.round(value * 10) / 10);
  if (format === 'humanize1024') return `${Math.round(value / 2 ** 20)} Mi`;
  if (format !== 'humanizeDuration') return rounded;
  return Math.abs(value) > 2 * day ? `${Math.round(value / day)} days` : `${rounded} s`;
}
