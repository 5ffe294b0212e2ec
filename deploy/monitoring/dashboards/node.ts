/** The dashboard of nodes: the requests of the CNI plugin, and the agent. */
import { type Dashboard, timeseries } from './dashboard.ts';
import { increaseOf, quantiles, rateBy } from './queries.ts';

const ofNode = '{node_name=~"$node"}';
const ofMethod = (method: string): string => `{node_name=~"$node",method="/api/v1/${method}"}`;

export const node: Dashboard = {
  name: 'node',
  title: 'ipledger / Node',
  description: 'Requests of the CNI plugin on a node, and its agent.',
  variables: [{ name: 'node', metric: 'cni_op_latency_seconds_count', label: 'node_name' }],
  rows: [
    [
      timeseries({
        title: 'Requests',
        description: 'Requests of the plugin. Status 200 and 204 are successes.',
        unit: 'ops',
        queries: [
          {
            expression: rateBy('method, status_code', `cni_op_latency_seconds_count${ofNode}`),
            legend: '{{method}} {{status_code}}',
          },
        ],
      }),
      timeseries({
        title: 'Failed requests',
        description: 'By error code. docs/error-codes.md explains each.',
        unit: 'ops',
        queries: [
          {
            expression: rateBy('verb, code', 'ipledger_cni_requests_total{node=~"$node",code!="OK"}'),
            legend: '{{verb}} {{code}}',
          },
        ],
      }),
    ],
    [
      timeseries({
        title: 'Duration of ADD',
        description: 'Until the plugin has its response. It includes the wait for an address.',
        unit: 's',
        queries: quantiles('cni_op_latency_seconds', ofMethod('add')),
      }),
      timeseries({
        title: 'Duration of DEL',
        description: 'Until the plugin has its response.',
        unit: 's',
        queries: quantiles('cni_op_latency_seconds', ofMethod('del')),
      }),
      timeseries({
        title: 'Slowest nodes',
        description: 'The ten nodes with the longest 99th percentile of ADD.',
        unit: 's',
        queries: [
          {
            expression: `topk(10, histogram_quantile(0.99, ${rateBy('node_name, le', 'cni_op_latency_seconds_bucket{method="/api/v1/add"}')}))`,
            legend: '{{node_name}}',
          },
        ],
      }),
    ],
    [
      timeseries({
        title: 'Rate-limited calls of all agents',
        description: 'Calls that an allocator rejected. Its log names the agent.',
        unit: 'ops',
        queries: [{ expression: rateBy('method', 'ipledger_calls_total{code="RATE_LIMITED"}'), legend: '{{method}}' }],
      }),
      timeseries({
        title: 'Memory of the agent',
        description: 'Resident memory.',
        unit: 'bytes',
        queries: [
          {
            expression: 'process_resident_memory_bytes{job="ipledger-node-agent",node=~"$node"}',
            legend: '{{node}}',
          },
        ],
      }),
    ],
    [
      timeseries({
        title: 'Tokens of agents',
        description: 'Reviews of tokens by all allocators, by outcome. Zero without --token-review.',
        unit: 'ops',
        queries: [{ expression: rateBy('outcome', 'ipledger_token_reviews_total'), legend: '{{outcome}}' }],
      }),
      timeseries({
        title: 'Bindings by sandbox',
        description:
          'deleted: the DEL was lost, and the agent ends the binding. unknown: the agent does not see the sandbox.',
        queries: [{ expression: 'sum by (sandbox) (ipledger_bindings{node=~"$node"})', legend: '{{sandbox}}' }],
      }),
      timeseries({
        title: 'Conflicts on the wire',
        description:
          'Probes that found another host on an address. refused: the allocator did not quarantine it, mostly at its limit.',
        queries: [
          {
            expression: `sum by (outcome) (${increaseOf('ipledger_address_conflicts_total{node=~"$node"}')})`,
            legend: '{{outcome}}',
          },
        ],
      }),
    ],
  ],
};
