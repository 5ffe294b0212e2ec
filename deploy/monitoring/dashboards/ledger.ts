/**
 * The dashboard of the ledger: appends, replicas, etcd, integrity, and the programs that follow it.
 */
import { type Dashboard, type Panel, stat, timeseries } from './dashboard.ts';
import { increaseOf, quantiles, rateBy } from './queries.ts';

const integrity: readonly Panel[] = [
  stat({
    title: 'Verification failures',
    description: 'Events and keys that failed the verification of a standby. It must be 0.',
    queries: [{ expression: 'max(ipledger_verification_failures)', legend: 'failures' }],
  }),
  stat({
    title: 'Fenced addresses',
    description: 'Addresses whose keys another program changed. It must be 0.',
    queries: [{ expression: 'max(ipledger_fenced_addresses)', legend: 'addresses' }],
  }),
  stat({
    title: 'Clock ahead of ledger time',
    description: 'How far the clock of a replica is ahead, after a forward jump.',
    unit: 's',
    queries: [{ expression: 'max(ipledger_clock_ahead_seconds)', legend: 'ahead' }],
  }),
  stat({
    title: 'Read models that have caught up',
    description: 'Read models that have applied all events that existed at their start.',
    queries: [{ expression: 'sum(ipledger_read_model_caught_up)', legend: 'read models' }],
  }),
];

const appends: readonly Panel[] = [
  timeseries({
    title: 'Appends',
    description: 'Appends to the ledger by outcome. docs/metrics.md explains the outcomes.',
    unit: 'ops',
    queries: [{ expression: rateBy('outcome', 'ipledger_appends_total'), legend: '{{outcome}}' }],
  }),
  timeseries({
    title: 'Duration of an append',
    description: 'In etcd. It is the time of a write to the disks of the etcd members.',
    unit: 's',
    queries: quantiles('ipledger_append_seconds'),
  }),
  timeseries({
    title: 'Events per append',
    description: 'About 1 when idle, up to 128 under load.',
    queries: quantiles('ipledger_batch_events'),
  }),
];

const replicas: readonly Panel[] = [
  timeseries({
    title: 'Position',
    description: 'The last event at each replica, at the pod-watcher and at the read model.',
    queries: [
      { expression: 'ipledger_head_seq', legend: 'allocator {{instance}}' },
      { expression: 'max(ipledger_projected_seq)', legend: 'pod-watcher' },
      { expression: 'ipledger_read_model_seq', legend: 'read model {{instance}}' },
    ],
  }),
  timeseries({
    title: 'Replication lag',
    description: 'Time since a standby last had all events of the ledger.',
    unit: 's',
    queries: [{ expression: 'ipledger_replication_lag_seconds', legend: '{{instance}}' }],
  }),
  timeseries({
    title: 'Queued commands',
    description: 'Commands that wait for the writer. It rejects more than 20,000.',
    queries: [{ expression: 'max(ipledger_queued_commands)', legend: 'commands' }],
  }),
];

const installation: readonly Panel[] = [
  stat({
    title: 'Versions',
    description: 'Programs by version. Several versions run during an upgrade only.',
    queries: [{ expression: 'count by (version) (ipledger_build_info)', legend: '{{version}}' }],
  }),
  stat({
    title: 'Next certificate that expires',
    description: 'The time until then. 0 without TLS.',
    unit: 's',
    queries: [
      {
        expression: 'min(ipledger_certificate_expiry_timestamp_seconds - time()) or vector(0)',
        legend: 'time left',
      },
    ],
  }),
  stat({
    title: 'Nodes with another plugin',
    description: 'Nodes whose CNI plugin is not the one of their agent. It must be 0.',
    queries: [{ expression: 'count(ipledger_plugin_current == 0) or vector(0)', legend: 'nodes' }],
  }),
];

const browsers: readonly Panel[] = [
  timeseries({
    title: 'People in the console',
    description: 'People who are signed in, and browsers that follow the events.',
    queries: [
      { expression: 'sum(ipledger_console_sessions)', legend: 'people' },
      { expression: 'sum(ipledger_console_streams)', legend: 'streams' },
    ],
  }),
  timeseries({
    title: 'Requests of browsers',
    description: 'Requests that the console answered, by the class of the HTTP status.',
    unit: 'ops',
    queries: [{ expression: rateBy('status', 'ipledger_console_requests_total'), legend: '{{status}}' }],
  }),
];

const storage: readonly Panel[] = [
  timeseries({
    title: 'Size of etcd',
    description: 'At its quota etcd rejects all writes.',
    unit: 'bytes',
    queries: [
      { expression: 'max by (kind) (ipledger_etcd_bytes)', legend: '{{kind}}' },
      { expression: 'min(ipledger_etcd_quota_bytes)', legend: 'quota' },
    ],
  }),
  timeseries({
    title: 'Events in etcd',
    description: 'Events that are not sealed into an archive. There is a limit only with an archive.',
    queries: [
      { expression: 'max(ipledger_live_events)', legend: 'events' },
      { expression: 'max(ipledger_live_events_limit)', legend: 'limit' },
    ],
  }),
];

const inputs: readonly Panel[] = [
  timeseries({
    title: 'Silence of the inputs of the pod-watcher',
    description: 'Time since the last message. An idle API server sends one about once per minute.',
    unit: 's',
    queries: [{ expression: 'max by (source) (ipledger_watch_silence_seconds)', legend: '{{source}}' }],
  }),
  timeseries({
    title: 'Clock jumps',
    description: 'Forward jumps of the clock of a replica. Ledger time does not follow them.',
    queries: [{ expression: increaseOf('ipledger_clock_jumps_total'), legend: '{{instance}}' }],
  }),
];

export const ledger: Dashboard = {
  name: 'ledger',
  title: 'ipledger / Ledger',
  description: 'Appends, replicas, etcd, integrity, and the programs that follow the ledger.',
  variables: [],
  rows: [integrity, appends, replicas, storage, inputs, installation, browsers],
};
