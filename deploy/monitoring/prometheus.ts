/**
 * The configuration of Prometheus: the alerts as a rule file, and for the Prometheus Operator a
 * PrometheusRule and a PodMonitor.
 */
import { type Alert, alerts, runbookUrl } from './alerts.ts';

/**
 * The start of the runbook URLs: the path in the repository, which the chart replaces with
 * `monitoring.runbookUrl`.
 */
const runbooksPath = 'docs/runbooks.md';

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

/** The alerts as a rule file of Prometheus. */
export const ruleFile = { groups: [{ name: 'ipledger', rules }] };

export const prometheusRule = {
  apiVersion: 'monitoring.coreos.com/v1',
  kind: 'PrometheusRule',
  metadata: { name: 'ipledger', labels: { 'app.kubernetes.io/name': 'ipledger' } },
  spec: ruleFile,
};

/**
 * The label `job` of a program: `ipledger-allocator`, `ipledger-pod-watcher`,
 * `ipledger-node-agent`, `ipledger-ovn-projector`, `ipledger-read-model`.
 */
export const jobOf = (program: string): string => `ipledger-${program}`;

/**
 * Scrapes the port `metrics` of all Pods of ipledger. A ServiceMonitor beside it would scrape the
 * allocators twice, and the agents have no Service.
 */
export const podMonitor = {
  apiVersion: 'monitoring.coreos.com/v1',
  kind: 'PodMonitor',
  metadata: { name: 'ipledger', labels: { 'app.kubernetes.io/name': 'ipledger' } },
  spec: {
    selector: { matchLabels: { 'app.kubernetes.io/name': 'ipledger' } },
    podMetricsEndpoints: [
      {
        port: 'metrics',
        path: '/metrics',
        interval: '30s',
        // Sets the labels by which the dashboards select
        relabelings: [
          {
            sourceLabels: ['__meta_kubernetes_pod_label_app_kubernetes_io_component'],
            targetLabel: 'job',
            replacement: jobOf('$1'),
          },
          { sourceLabels: ['__meta_kubernetes_pod_node_name'], targetLabel: 'node' },
        ],
      },
    ],
  },
};
