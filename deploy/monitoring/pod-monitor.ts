/**
 * The PodMonitor of the Prometheus Operator. It scrapes the port `metrics` of all Pods of ipledger. A ServiceMonitor beside it
 * would scrape the allocators twice, and the agents have no Service.
 */

/** The label `job` of a program: `ipledger-allocator`, `ipledger-pod-watcher`, `ipledger-node-agent`, `ipledger-ovn-projector`, `ipledger-read-model`. */
export const jobOf = (program: string): string => `ipledger-${program}`;

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
        // The dashboards select by these labels
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
