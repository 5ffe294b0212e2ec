/** The overview: whether Pods get addresses, and which program needs attention. */
import { type Dashboard, stat, timeseries } from './dashboard.ts';
import { quantiles, rateBy } from './queries.ts';

const ours = '{job=~"ipledger-.*"}';

export const overview: Dashboard = {
  name: 'overview',
  title: 'ipledger / Overview',
  description: 'Whether Pods get addresses, and the state of all programs.',
  variables: [],
  rows: [
    [
      stat({
        title: 'Writers',
        description: 'Allocators that write to the ledger. It must be 1.',
        queries: [{ expression: 'sum(ipledger_is_leader)', legend: 'writers' }],
      }),
      stat({
        title: 'Active pod-watchers',
        description: 'It must be 1.',
        queries: [{ expression: 'sum(ipledger_watcher_active)', legend: 'active' }],
      }),
      stat({
        title: 'Pods waiting for addresses',
        description: 'Each has an Event with the reason.',
        queries: [{ expression: 'sum(ipledger_waiting_pods)', legend: 'Pods' }],
      }),
      stat({
        title: 'Alarms',
        description: 'Problems that need a decision of the operator. /readyz of the pod-watcher names them.',
        queries: [{ expression: 'sum(ipledger_alarms)', legend: 'alarms' }],
      }),
      stat({
        title: 'Missing objects that halt releases',
        description: 'Pods or Nodes that are missing from the Kubernetes API at the same time.',
        queries: [{ expression: 'sum by (kind) (ipledger_releases_halted)', legend: '{{kind}}' }],
      }),
      stat({
        title: 'Replicas scraped',
        description: 'Targets of Prometheus that answer, by program.',
        queries: [{ expression: `sum by (job) (up${ours})`, legend: '{{job}}' }],
      }),
    ],
    [
      timeseries({
        title: 'Alerts',
        description: 'Pending and firing alerts; no data means none. docs/runbooks.md has a runbook for each.',
        queries: [
          {
            expression: 'sum by (alertname, alertstate) (ALERTS{alertname=~"Ipledger.*"})',
            legend: '{{alertname}} {{alertstate}}',
          },
        ],
      }),
      timeseries({
        title: 'Fewest available addresses',
        description: 'The ten Subnets with the fewest available addresses.',
        queries: [{ expression: 'bottomk(10, subnet_available_ip_count)', legend: '{{subnet_name}}' }],
      }),
    ],
    [
      timeseries({
        title: 'CNI requests',
        description: 'Requests of the CNI plugin on all nodes, by result.',
        unit: 'ops',
        queries: [{ expression: rateBy('verb, code', 'ipledger_cni_requests_total'), legend: '{{verb}} {{code}}' }],
      }),
      timeseries({
        title: 'Duration of CNI ADD',
        description: 'Until the plugin has its response. It includes the wait for an address.',
        unit: 's',
        queries: quantiles('cni_op_latency_seconds', '{method="/api/v1/add"}'),
      }),
    ],
    [
      timeseries({
        title: 'Refused calls',
        description: 'Calls that the allocators did not answer with OK, by error code.',
        unit: 'ops',
        queries: [
          { expression: rateBy('method, code', 'ipledger_calls_total{code!="OK"}'), legend: '{{method}} {{code}}' },
        ],
      }),
      timeseries({
        title: 'Events not yet in Kubernetes',
        description: 'Events of the ledger that the pod-watcher has not processed.',
        queries: [
          {
            expression: 'clamp_min(max(ipledger_head_seq) - max(ipledger_projected_seq), 0)',
            legend: 'pod-watcher',
          },
        ],
      }),
    ],
    [
      timeseries({
        title: 'Memory',
        description: 'Resident memory of each process.',
        unit: 'bytes',
        queries: [{ expression: `process_resident_memory_bytes${ours}`, legend: '{{job}} {{instance}}' }],
      }),
      timeseries({
        title: 'CPU',
        description: 'Cores that each process uses.',
        queries: [
          { expression: rateBy('job, instance', `process_cpu_seconds_total${ours}`), legend: '{{job}} {{instance}}' },
        ],
      }),
      timeseries({
        title: 'Event loop delay',
        description: '99th percentile of the delay of the event loop. High values mean a process without enough CPU.',
        unit: 's',
        queries: [{ expression: `nodejs_eventloop_lag_p99_seconds${ours}`, legend: '{{job}} {{instance}}' }],
      }),
    ],
    [
      timeseries({
        title: 'Waiting TLS handshakes',
        description: 'Connections that wait for their handshake. Many for long are a flood, or a client that retries.',
        queries: [{ expression: `ipledger_tls_handshakes_waiting${ours}`, legend: '{{job}} {{instance}}' }],
      }),
      timeseries({
        title: 'Dropped spans of traces',
        description: 'Spans that the collector did not accept in time. Zero without tracing.',
        unit: 'ops',
        queries: [{ expression: rateBy('job', 'ipledger_trace_spans_dropped_total'), legend: '{{job}}' }],
      }),
    ],
  ],
};
