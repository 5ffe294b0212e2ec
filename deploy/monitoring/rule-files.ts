/** The alerts as rules: for a rule file of Prometheus, and as a PrometheusRule of the Prometheus Operator. */
import { type Alert, alerts, runbookUrl } from './alerts.ts';

/** Start of the runbook URLs: the path in the repository. The chart replaces it by `monitoring.runbookUrl`. */
export const runbooksPath = 'docs/runbooks.md';

export interface AlertingRule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}

function ruleOf(alert: Alert): AlertingRule {
  return {
    alert: alert.name,
    expr: alert.expression,
    ...(alert.for !== undefined && { for: alert.for }),
    labels: { severity: alert.severity },
    annotations: { summary: alert.summary, runbook_url: runbookUrl(alert, runbooksPath) },
  };
}

export const rules: readonly AlertingRule[] = alerts.map(ruleOf);

/** A rule file of Prometheus. */
export const ruleFile = { groups: [{ name: 'ipledger', rules }] };

export const prometheusRule = {
  apiVersion: 'monitoring.coreos.com/v1',
  kind: 'PrometheusRule',
  metadata: { name: 'ipledger', labels: { 'app.kubernetes.io/name': 'ipledger' } },
  spec: ruleFile,
};
