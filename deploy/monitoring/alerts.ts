/**
 * The alerts: the source of alerts.yaml and prometheus-rule.yaml in deploy/chart/files/monitoring,
 * and of the table in docs/metrics.md. Each alert has a runbook in docs/runbooks.md by its name.
 */

/**
 * `critical`: Pods get no address, or the record is damaged. `warning`: an operator has hours to
 * act.
 */
export type Severity = 'critical' | 'warning';

export interface Alert {
  readonly name: string;
  readonly severity: Severity;
  /** PromQL. It contains no `|`, because docs/metrics.md shows it in a table. */
  readonly expression: string;
  /**
   * The time for which the expression holds before the alert fires; absent: it fires at the first
   * evaluation.
   */
  readonly for?: string;
  /** A sentence with the labels of the series. */
  readonly summary: string;
}

export const alerts: readonly Alert[] = [
  {
    name: 'IpledgerNoWriter',
    severity: 'critical',
    expression: '(sum(ipledger_is_leader) or vector(0)) != 1',
    for: '1m',
    summary: '{{ $value }} allocators are the writer, instead of one.',
  },
  {
    name: 'IpledgerNoWrites',
    severity: 'critical',
    // A request that waits for etcd is tried again about once a second. Without requests there are
    // no attempts, and no alert
    expression:
      '(sum(increase(ipledger_appends_total{outcome!="appended"}[1m])) > 0) unless (sum(increase(ipledger_appends_total{outcome="appended"}[1m])) > 0)',
    for: '30s',
    summary: 'Every append to the ledger fails, although there may be a writer.',
  },
  {
    name: 'IpledgerWriterChanges',
    severity: 'warning',
    // A takeover changes the gauges of two replicas
    expression: 'sum(changes(ipledger_is_leader[10m])) > 4',
    summary: 'The writer changed more than twice in ten minutes.',
  },
  {
    name: 'IpledgerLeaseChanges',
    severity: 'warning',
    // A takeover changes the gauges of two replicas, as in IpledgerWriterChanges
    expression:
      'sum by (job) (changes(ipledger_watcher_active[10m])) > 4 or sum by (job) (changes(ipledger_ovn_projector_active[10m])) > 4',
    summary: 'The Lease of {{ $labels.job }} changed its holder more than twice in ten minutes.',
  },
  {
    name: 'IpledgerEventLoopDelayed',
    severity: 'warning',
    // Averages the longest pause of each scrape: 20 s once count as much as 1 s 20 times
    expression: 'avg_over_time(nodejs_eventloop_lag_max_seconds{job=~"ipledger-.*"}[10m]) > 0.5',
    summary: 'The event loop of {{ $labels.job }} {{ $labels.instance }} pauses for {{ $value | humanizeDuration }}.',
  },
  {
    name: 'IpledgerCertificateNotRenewed',
    severity: 'warning',
    expression: 'ipledger_certificate_remaining_ratio < 0.1',
    for: '5m',
    summary:
      'The certificate {{ $labels.file }} of {{ $labels.job }} {{ $labels.instance }} is in the last tenth of its validity.',
  },
  {
    name: 'IpledgerAgentDown',
    severity: 'warning',
    // Includes an agent whose Pod was deleted, for six hours
    expression:
      'count by (node) (last_over_time(up{job="ipledger-node-agent"}[6h])) unless count by (node) (up{job="ipledger-node-agent"} == 1)',
    for: '5m',
    summary: 'Node {{ $labels.node }} has no node agent that answers.',
  },
  {
    name: 'IpledgerNoActivePodWatcher',
    severity: 'critical',
    expression: '(sum(ipledger_watcher_active) or vector(0)) != 1',
    for: '1m',
    summary: '{{ $value }} pod-watchers are active, instead of one.',
  },
  {
    name: 'IpledgerAlarm',
    severity: 'critical',
    expression: 'ipledger_alarms > 0',
    summary: 'The pod-watcher has {{ $value }} problems that need a decision of the operator.',
  },
  {
    name: 'IpledgerSubnetSuspended',
    severity: 'critical',
    expression: 'ipledger_suspended_subnets > 0',
    for: '1m',
    summary: '{{ $value }} Subnets give no new address, because Kube-OVN may give the same.',
  },
  {
    name: 'IpledgerFencedAddresses',
    severity: 'critical',
    expression: 'ipledger_fenced_addresses > 0',
    summary: 'Another program changed the keys of {{ $value }} addresses in etcd.',
  },
  {
    name: 'IpledgerVerificationFailed',
    severity: 'critical',
    expression: 'ipledger_verification_failures > 0',
    summary: '{{ $value }} events or keys of the ledger failed verification.',
  },
  {
    name: 'IpledgerNotVerified',
    severity: 'warning',
    // Fires only with standbys, which verify: a single allocator has none
    expression:
      '(count(ipledger_is_leader == 0) > 0) unless (max(ipledger_verified_timestamp_seconds) > time() - 86400)',
    for: '360m',
    summary: 'None of {{ $value }} standbys has verified the complete ledger for a day.',
  },
  {
    name: 'IpledgerArchiveDamaged',
    severity: 'critical',
    expression: 'ipledger_sealing_failed{reason="damaged"} > 0',
    summary: 'The archive or the log differs from what was sealed, and no events are sealed.',
  },
  {
    name: 'IpledgerBug',
    severity: 'critical',
    expression: 'increase(ipledger_calls_total{code="BUG"}[5m]) > 0',
    summary: 'Calls of {{ $labels.method }} failed with the code BUG.',
  },
  {
    name: 'IpledgerSubnetFull',
    severity: 'warning',
    expression: 'increase(ipledger_calls_total{code="SUBNET_FULL"}[5m]) > 0',
    summary: 'A Pod got no address, because its Subnet is full.',
  },
  {
    name: 'IpledgerSubnetNearlyFull',
    severity: 'warning',
    expression: 'subnet_available_ip_count < 10',
    for: '5m',
    summary: 'Subnet {{ $labels.subnet_name }} has {{ $value }} available addresses.',
  },
  {
    name: 'IpledgerAddressesHeld',
    severity: 'warning',
    // A Pod that is deleted with its node holds its address for good; an ended Pod, for a minute
    expression: 'ipledger_addresses{state="held"} > 0',
    for: '60m',
    summary: '{{ $value }} released addresses of Subnet {{ $labels.subnet }} are held by containers without a CNI DEL.',
  },
  {
    name: 'IpledgerAddressConflict',
    severity: 'warning',
    expression: 'sum by (node, outcome) (increase(ipledger_address_conflicts_total[10m])) > 0',
    summary:
      'Node {{ $labels.node }} found another host on an address of a Pod before the Pod used it ({{ $labels.outcome }}).',
  },
  {
    name: 'IpledgerPodsWaiting',
    severity: 'warning',
    expression: 'ipledger_waiting_pods > 0',
    for: '5m',
    summary: '{{ $value }} Pods wait for addresses.',
  },
  {
    name: 'IpledgerProjectionBehind',
    severity: 'warning',
    // Compares with the head of a minute ago: under load the pod-watcher is always some events
    // behind the present head
    expression: '(max(ipledger_head_seq offset 1m) - max(ipledger_projected_seq)) > 0',
    for: '5m',
    summary: 'The pod-watcher has not processed the last {{ $value }} events of the ledger.',
  },
  {
    name: 'IpledgerClockJumped',
    severity: 'warning',
    expression: 'increase(ipledger_clock_jumps_total[5m]) > 0',
    summary: 'The clock of the machine of allocator {{ $labels.instance }} jumped forward.',
  },
  {
    name: 'IpledgerClockDiffers',
    severity: 'warning',
    expression: 'max by (instance) (abs(ipledger_clock_difference_seconds)) > 30',
    for: '2m',
    summary: 'The clock of allocator {{ $labels.instance }} is {{ $value | humanizeDuration }} from another clock.',
  },
  {
    name: 'IpledgerLedgerTimeAhead',
    severity: 'warning',
    expression: 'ipledger_ledger_time_ahead_seconds > 60',
    for: '2m',
    summary: 'Ledger time is {{ $value | humanizeDuration }} ahead of the clock of allocator {{ $labels.instance }}.',
  },
  {
    name: 'IpledgerEtcdMemberDown',
    severity: 'warning',
    // Takes the minimum, to fire also when a single allocator does not reach the member
    expression: 'min by (endpoint) (ipledger_etcd_member_answers) == 0',
    for: '2m',
    summary: 'Member {{ $labels.endpoint }} of etcd does not answer.',
  },
  {
    name: 'IpledgerEtcdNearQuota',
    severity: 'warning',
    expression: 'ipledger_etcd_bytes > ignoring(kind) group_left() (0.75 * ipledger_etcd_quota_bytes)',
    for: '5m',
    summary:
      'The database of etcd ({{ $labels.kind }}) has {{ $value | humanize1024 }}B, more than three quarters of its quota.',
  },
  {
    name: 'IpledgerEtcdHalfFull',
    severity: 'warning',
    // Ignores short peaks: a compaction frees space every few minutes
    expression: 'ipledger_etcd_bytes{kind="in_use"} > ignoring(kind) group_left() (0.5 * ipledger_etcd_quota_bytes)',
    for: '30m',
    summary: 'The database of etcd uses {{ $value | humanize1024 }}B, more than half of its quota.',
  },
  {
    name: 'IpledgerEtcdFillsUp',
    severity: 'warning',
    expression: 'ipledger_etcd_days_left < 14',
    for: '60m',
    summary: 'The quota of etcd is used up in {{ $value | humanize }} days at the growth of the last day.',
  },
  {
    name: 'IpledgerBackupFailed',
    severity: 'warning',
    // Reads kube-state-metrics. The chart schedules a backup each hour, and the next may succeed
    expression:
      'max by (namespace) (kube_cronjob_status_last_schedule_time{cronjob="ipledger-etcd-backup"} unless kube_cronjob_status_last_successful_time >= kube_cronjob_status_last_schedule_time)',
    for: '90m',
    summary: 'The last scheduled backup of etcd in namespace {{ $labels.namespace }} has not succeeded.',
  },
  {
    name: 'IpledgerSealingStopped',
    severity: 'warning',
    expression: 'ipledger_live_events > ipledger_live_events_limit',
    for: '10m',
    summary: '{{ $value }} events in etcd are not sealed into the archive.',
  },
  {
    name: 'IpledgerSealingFailed',
    severity: 'warning',
    expression: 'ipledger_sealing_failed{reason="other"} > 0',
    for: '10m',
    summary: 'The writer cannot seal events into the archive.',
  },
  {
    name: 'IpledgerThreadCrashed',
    severity: 'warning',
    expression: 'increase(ipledger_thread_crashes_total[5m]) > 0',
    summary: 'A thread of an allocator ended before its task {{ $labels.task }}.',
  },
  {
    name: 'IpledgerAgentRateLimited',
    severity: 'warning',
    expression: 'rate(ipledger_calls_total{code="RATE_LIMITED"}[5m]) > 0',
    summary: 'An agent sends more {{ $labels.method }} calls than its rate allows.',
  },
  {
    name: 'IpledgerOvnNoActiveProjector',
    severity: 'critical',
    // OVN's series exist only with OVN, and so does the alert. A missing projector that was scraped
    // within a day counts as 0
    expression:
      '(sum(ipledger_ovn_projector_active) or 0 * count(last_over_time(ipledger_ovn_projector_active[1d]))) != 1',
    for: '1m',
    summary: '{{ $value }} OVN projectors are active, instead of one.',
  },
  {
    name: 'IpledgerOvnNorthboundUnreachable',
    severity: 'critical',
    expression: 'ipledger_ovn_northbound_connected == 0',
    for: '1m',
    summary: 'The OVN projector has no connection to the northbound database.',
  },
  {
    name: 'IpledgerOvnPortsDown',
    severity: 'warning',
    expression: 'ipledger_ovn_ports{state="down"} > 0',
    for: '5m',
    summary: '{{ $value }} logical ports are not up, although containers have them.',
  },
  {
    name: 'IpledgerOvnProjectionBehind',
    severity: 'warning',
    // Compares with the head of a minute ago, as IpledgerProjectionBehind does
    expression: '(max(ipledger_head_seq offset 1m) - max(ipledger_ovn_applied_seq)) > 0',
    for: '5m',
    summary: 'The OVN projector has not processed the last {{ $value }} events of the ledger.',
  },
  {
    name: 'IpledgerOvnConflict',
    severity: 'warning',
    expression: 'ipledger_ovn_conflicts > 0',
    for: '5m',
    summary: '{{ $value }} rows of other programs in OVN have names of ipledger.',
  },
  {
    name: 'IpledgerProviderNetworkRefused',
    severity: 'warning',
    expression: 'ipledger_provider_networks{state="refused"} > 0',
    for: '5m',
    summary: 'Node {{ $labels.node }} cannot serve {{ $value }} ProviderNetworks.',
  },
];

/** Returns the address of an alert's runbook: its heading in docs/runbooks.md. */
export function runbookUrl({ name }: Alert, runbooks: string): string {
  return `${runbooks}#${name.toLowerCase()}`;
}
