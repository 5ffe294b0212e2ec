/** OVN: the logical ports, and the projector that writes them. */
import { type Dashboard, stat, timeseries } from './dashboard.ts';
import { quantiles, rateBy } from './queries.ts';

export const ovn: Dashboard = {
  name: 'ovn',
  title: 'ipledger / OVN',
  description: 'Logical ports of Pods, and the OVN projector that writes them into the northbound database.',
  variables: [],
  rows: [
    [
      stat({
        title: 'Active projectors',
        description: 'Exactly one is active. The others are standbys.',
        queries: [{ expression: 'sum(ipledger_ovn_projector_active)', legend: 'active' }],
      }),
      stat({
        title: 'Northbound database',
        description: 'Whether the active projector is connected to it.',
        unit: 'bool_yes_no',
        queries: [{ expression: 'max(ipledger_ovn_northbound_connected)', legend: 'connected' }],
      }),
      stat({
        title: 'Conflicts',
        description:
          'Rows of other programs that have the name of a row of ipledger. The log of the projector names them.',
        queries: [{ expression: 'sum(ipledger_ovn_conflicts)', legend: 'conflicts' }],
      }),
      stat({
        title: 'Events behind',
        description: 'Events of the ledger that the projection does not contain yet.',
        queries: [{ expression: 'max(ipledger_head_seq) - max(ipledger_ovn_applied_seq)', legend: 'events' }],
      }),
    ],
    [
      timeseries({
        title: 'Ports',
        description:
          'Ports that should exist (desired), that exist (present), and that are not up although a container has them (down).',
        queries: [{ expression: 'sum by (state) (ipledger_ovn_ports)', legend: '{{state}}' }],
      }),
      timeseries({
        title: 'Unserved requests',
        description:
          'Settings and ports that are not in the northbound database, by reason. The log of the projector names each.',
        queries: [{ expression: 'sum by (kind) (ipledger_ovn_unserved)', legend: '{{kind}}' }],
      }),
    ],
    [
      timeseries({
        title: 'Transactions',
        description: 'Writes to the northbound database by outcome. A projector that is fenced is not active any more.',
        unit: 'ops',
        queries: [{ expression: rateBy('outcome', 'ipledger_ovn_transactions_total'), legend: '{{outcome}}' }],
      }),
      timeseries({
        title: 'Duration of a transaction',
        description: 'Until the northbound database has committed it.',
        unit: 's',
        queries: quantiles('ipledger_ovn_transaction_seconds'),
      }),
    ],
    [
      timeseries({
        title: 'NICs on nodes',
        description: 'Ports of Pods in the switch of each node.',
        queries: [{ expression: 'sum by (node) (ipledger_ovs_ports)', legend: '{{node}}' }],
      }),
      timeseries({
        title: 'Failed NICs',
        description: 'ADDs without a NIC, by the part that failed. The CNI error has the cause.',
        unit: 'ops',
        queries: [{ expression: rateBy('reason', 'ipledger_data_path_failures_total'), legend: '{{reason}}' }],
      }),
      timeseries({
        title: 'Mean duration of a step of ADD',
        description: 'The step installed is the wait for ovn-controller.',
        unit: 's',
        queries: [
          {
            // Avoids a division by zero: without an ADD the mean is 0
            expression: `${rateBy('step', 'ipledger_data_path_seconds_sum')} / clamp_min(${rateBy('step', 'ipledger_data_path_seconds_count')}, 0.001)`,
            legend: '{{step}}',
          },
        ],
      }),
    ],
  ],
};
