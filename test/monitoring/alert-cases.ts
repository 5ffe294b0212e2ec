/**
 * The cases of each alert. The series have the values of `before` for ten minutes, just below the
 * condition, and then those of `after`. The alert must fire after its `for`, and not earlier.
 */

import { type AlertCase, steady } from './alert-case.ts';
import { ovnAlertCases } from './ovn-alert-cases.ts';

export const alertCases: readonly AlertCase[] = [
  {
    alert: 'IpledgerNoWriter',
    when: 'the writer stops',
    series: [
      { series: 'ipledger_is_leader{instance="a"}', before: 1, after: 0 },
      steady('ipledger_is_leader{instance="b"}', 0),
    ],
    labels: {},
    summary: '0 allocators are the writer, instead of one.',
  },
  {
    alert: 'IpledgerNoWriter',
    when: 'no allocator is scraped',
    series: [{ series: 'ipledger_is_leader{instance="a"}', before: 1, after: 'stale' }],
    labels: {},
    summary: '0 allocators are the writer, instead of one.',
  },
  {
    alert: 'IpledgerNoWriter',
    when: 'two allocators report that they are the writer',
    series: [
      steady('ipledger_is_leader{instance="a"}', 1),
      { series: 'ipledger_is_leader{instance="b"}', before: 0, after: 1 },
    ],
    labels: {},
    summary: '2 allocators are the writer, instead of one.',
  },
  {
    alert: 'IpledgerNoWrites',
    when: 'there is a writer, and each of its appends fails',
    series: [
      steady('ipledger_is_leader{instance="a"}', 1),
      steady('ipledger_appends_total{instance="a",outcome="appended"}', 9),
      { series: 'ipledger_appends_total{instance="a",outcome="unknown"}', before: 0, after: '1+1x900' },
    ],
    labels: {},
    summary: 'Every append to the ledger fails, although there may be a writer.',
  },
  {
    alert: 'IpledgerWriterChanges',
    when: 'a third takeover follows two',
    series: [
      { series: 'ipledger_is_leader{instance="a"}', before: 0, after: '1 0 1x900' },
      { series: 'ipledger_is_leader{instance="b"}', before: 1, after: '0 1 0x900' },
    ],
    labels: {},
    summary: 'The writer changed more than twice in ten minutes.',
    delayMinutes: 1,
  },
  {
    alert: 'IpledgerLeaseChanges',
    when: 'a third pod-watcher takes over after two',
    series: [
      { series: 'ipledger_watcher_active{job="ipledger-pod-watcher",instance="a"}', before: 0, after: '1 0 1x900' },
      { series: 'ipledger_watcher_active{job="ipledger-pod-watcher",instance="b"}', before: 1, after: '0 1 0x900' },
    ],
    labels: { job: 'ipledger-pod-watcher' },
    summary: 'The Lease of ipledger-pod-watcher changed its holder more than twice in ten minutes.',
    delayMinutes: 1,
  },
  {
    alert: 'IpledgerLeaseChanges',
    when: 'a third OVN projector takes over after two',
    series: [
      {
        series: 'ipledger_ovn_projector_active{job="ipledger-ovn-projector",instance="a"}',
        before: 0,
        after: '1 0 1x900',
      },
      {
        series: 'ipledger_ovn_projector_active{job="ipledger-ovn-projector",instance="b"}',
        before: 1,
        after: '0 1 0x900',
      },
    ],
    labels: { job: 'ipledger-ovn-projector' },
    summary: 'The Lease of ipledger-ovn-projector changed its holder more than twice in ten minutes.',
    delayMinutes: 1,
  },
  {
    alert: 'IpledgerEventLoopDelayed',
    when: 'the event loop of an allocator stops for 21 seconds',
    series: [
      {
        series: 'nodejs_eventloop_lag_max_seconds{job="ipledger-allocator",instance="a"}',
        before: 0,
        after: '21 0x900',
      },
      steady('nodejs_eventloop_lag_max_seconds{job="other",instance="b"}', 30),
    ],
    labels: { job: 'ipledger-allocator', instance: 'a' },
    summary: 'The event loop of ipledger-allocator a pauses for 1s.',
  },
  {
    alert: 'IpledgerCertificateNotRenewed',
    when: 'less than a tenth of its validity is left',
    series: [
      {
        series: 'ipledger_certificate_remaining_ratio{job="ipledger-allocator",instance="a",file="/tls/tls.crt"}',
        before: 0.1,
        after: 0.09,
      },
      steady('ipledger_certificate_remaining_ratio{job="ipledger-allocator",instance="a",file="/tls/ca.crt"}', 0.9),
    ],
    labels: { job: 'ipledger-allocator', instance: 'a', file: '/tls/tls.crt' },
    summary: 'The certificate /tls/tls.crt of ipledger-allocator a is in the last tenth of its validity.',
  },
  {
    alert: 'IpledgerAgentDown',
    when: 'the agent of a node cannot be scraped',
    series: [
      { series: 'up{job="ipledger-node-agent",node="node-1"}', before: 1, after: 0 },
      steady('up{job="ipledger-node-agent",node="node-2"}', 1),
    ],
    labels: { node: 'node-1' },
    summary: 'Node node-1 has no node agent that answers.',
  },
  {
    alert: 'IpledgerAgentDown',
    when: 'the Pod of the agent is gone',
    series: [
      { series: 'up{job="ipledger-node-agent",node="node-1"}', before: 1, after: 'stale' },
      steady('up{job="ipledger-node-agent",node="node-2"}', 1),
    ],
    labels: { node: 'node-1' },
    summary: 'Node node-1 has no node agent that answers.',
  },
  {
    alert: 'IpledgerNoActivePodWatcher',
    when: 'all pod-watchers are standbys',
    series: [{ series: 'ipledger_watcher_active{instance="a"}', before: 1, after: 0 }],
    labels: {},
    summary: '0 pod-watchers are active, instead of one.',
  },
  {
    alert: 'IpledgerNoActivePodWatcher',
    when: 'no pod-watcher is scraped',
    series: [{ series: 'ipledger_watcher_active{instance="a"}', before: 1, after: 'stale' }],
    labels: {},
    summary: '0 pod-watchers are active, instead of one.',
  },
  {
    alert: 'IpledgerAlarm',
    when: 'there is an alarm',
    series: [{ series: 'ipledger_alarms{instance="a"}', before: 0, after: 1 }],
    labels: { instance: 'a' },
    summary: 'The pod-watcher has 1 problems that need a decision of the operator.',
  },
  {
    alert: 'IpledgerSubnetSuspended',
    when: 'Kube-OVN may give the addresses of a Subnet in force',
    series: [{ series: 'ipledger_suspended_subnets{instance="a"}', before: 0, after: 1 }],
    labels: { instance: 'a' },
    summary: '1 Subnets give no new address, because Kube-OVN may give the same.',
  },
  {
    alert: 'IpledgerFencedAddresses',
    when: 'an address is fenced',
    series: [{ series: 'ipledger_fenced_addresses{instance="a"}', before: 0, after: 1 }],
    labels: { instance: 'a' },
    summary: 'Another program changed the keys of 1 addresses in etcd.',
  },
  {
    alert: 'IpledgerVerificationFailed',
    when: 'a key fails verification',
    series: [{ series: 'ipledger_verification_failures{instance="a"}', before: 0, after: 1 }],
    labels: { instance: 'a' },
    summary: '1 events or keys of the ledger failed verification.',
  },
  {
    alert: 'IpledgerNotVerified',
    when: 'the standby that verified is gone, and another one cannot verify',
    series: [
      steady('ipledger_is_leader{instance="a"}', 1),
      steady('ipledger_is_leader{instance="b"}', 0),
      { series: 'ipledger_verified_timestamp_seconds{instance="b"}', before: 1, after: 'stale' },
    ],
    labels: {},
    summary: 'None of 1 standbys has verified the complete ledger for a day.',
  },
  {
    alert: 'IpledgerArchiveDamaged',
    when: 'a file of the archive is replaced',
    series: [
      { series: 'ipledger_sealing_failed{instance="a",reason="damaged"}', before: 0, after: 1 },
      steady('ipledger_sealing_failed{instance="a",reason="other"}', 0),
    ],
    labels: { instance: 'a', reason: 'damaged' },
    summary: 'The archive or the log differs from what was sealed, and no events are sealed.',
  },
  {
    alert: 'IpledgerBug',
    when: 'a call fails with BUG',
    series: [
      { series: 'ipledger_calls_total{instance="a",method="Bind",code="BUG"}', before: 0, after: 1 },
      steady('ipledger_calls_total{instance="a",method="Wait",code="BUG"}', 0),
      { series: 'ipledger_calls_total{instance="a",method="Bind",code="OK"}', before: 0, after: 7 },
    ],
    labels: { instance: 'a', method: 'Bind', code: 'BUG' },
    summary: 'Calls of Bind failed with the code BUG.',
  },
  {
    alert: 'IpledgerSubnetFull',
    when: 'an allocation is refused',
    series: [
      { series: 'ipledger_calls_total{instance="a",method="Allocate",code="SUBNET_FULL"}', before: 0, after: 1 },
      { series: 'ipledger_calls_total{instance="a",method="Allocate",code="ADDRESS_IN_USE"}', before: 0, after: 7 },
    ],
    labels: { instance: 'a', method: 'Allocate', code: 'SUBNET_FULL' },
    summary: 'A Pod got no address, because its Subnet is full.',
  },
  {
    alert: 'IpledgerSubnetNearlyFull',
    when: 'a Subnet has 9 available addresses',
    series: [
      { series: 'subnet_available_ip_count{subnet_name="lan"}', before: 10, after: 9 },
      steady('subnet_available_ip_count{subnet_name="wan"}', 10),
    ],
    labels: { subnet_name: 'lan' },
    summary: 'Subnet lan has 9 available addresses.',
  },
  {
    alert: 'IpledgerAddressesHeld',
    when: 'an address stays held',
    series: [
      { series: 'ipledger_addresses{instance="a",subnet="lan",family="IPv4",state="held"}', before: 0, after: 2 },
      steady('ipledger_addresses{instance="a",subnet="lan",family="IPv4",state="cooldown"}', 2),
    ],
    labels: { instance: 'a', subnet: 'lan', family: 'IPv4', state: 'held' },
    summary: '2 released addresses of Subnet lan are held by containers without a CNI DEL.',
  },
  {
    alert: 'IpledgerAddressConflict',
    when: 'a probe finds another host on an address',
    series: [
      { series: 'ipledger_address_conflicts_total{node="node-1",outcome="quarantined"}', before: 0, after: 1 },
      steady('ipledger_address_conflicts_total{node="node-2",outcome="quarantined"}', 3),
    ],
    labels: { node: 'node-1', outcome: 'quarantined' },
    summary: 'Node node-1 found another host on an address of a Pod before the Pod used it (quarantined).',
  },
  {
    alert: 'IpledgerPodsWaiting',
    when: 'a Pod waits',
    series: [{ series: 'ipledger_waiting_pods{instance="a"}', before: 0, after: 1 }],
    labels: { instance: 'a' },
    summary: '1 Pods wait for addresses.',
  },
  {
    alert: 'IpledgerProjectionBehind',
    when: 'the pod-watcher does not process an event',
    series: [
      { series: 'ipledger_head_seq{instance="a"}', before: 100, after: 101 },
      steady('ipledger_projected_seq{instance="b"}', 100),
    ],
    labels: {},
    summary: 'The pod-watcher has not processed the last 1 events of the ledger.',
    delayMinutes: 1,
  },
  {
    alert: 'IpledgerClockJumped',
    when: 'a clock jumps',
    series: [
      { series: 'ipledger_clock_jumps_total{instance="a"}', before: 0, after: 1 },
      steady('ipledger_clock_jumps_total{instance="b"}', 0),
    ],
    labels: { instance: 'a' },
    summary: 'The clock of the machine of allocator a jumped forward.',
  },
  {
    alert: 'IpledgerClockDiffers',
    when: 'the clock of an allocator is two hours behind that of etcd',
    series: [
      { series: 'ipledger_clock_difference_seconds{instance="a",clock="etcd:2379"}', before: -30, after: -7200 },
      steady('ipledger_clock_difference_seconds{instance="a",clock="kubernetes"}', 1),
      steady('ipledger_clock_difference_seconds{instance="b",clock="etcd:2379"}', 30),
    ],
    labels: { instance: 'a' },
    summary: 'The clock of allocator a is 2h 0m 0s from another clock.',
  },
  {
    alert: 'IpledgerLedgerTimeAhead',
    when: 'an allocator with a fast clock wrote events',
    series: [
      { series: 'ipledger_ledger_time_ahead_seconds{instance="a"}', before: 60, after: 7200 },
      steady('ipledger_ledger_time_ahead_seconds{instance="b"}', -300),
    ],
    labels: { instance: 'a' },
    summary: 'Ledger time is 2h 0m 0s ahead of the clock of allocator a.',
  },
  {
    alert: 'IpledgerEtcdMemberDown',
    when: 'one allocator does not reach a member of etcd',
    series: [
      { series: 'ipledger_etcd_member_answers{instance="a",endpoint="etcd-2:2379"}', before: 1, after: 0 },
      steady('ipledger_etcd_member_answers{instance="b",endpoint="etcd-2:2379"}', 1),
      steady('ipledger_etcd_member_answers{instance="a",endpoint="etcd-1:2379"}', 1),
    ],
    labels: { endpoint: 'etcd-2:2379' },
    summary: 'Member etcd-2:2379 of etcd does not answer.',
  },
  {
    alert: 'IpledgerEtcdNearQuota',
    when: 'the file of etcd passes three quarters of its quota',
    series: [
      { series: 'ipledger_etcd_bytes{instance="a",kind="allocated"}', before: 3_072, after: 3_584 },
      steady('ipledger_etcd_bytes{instance="a",kind="in_use"}', 3_072),
      steady('ipledger_etcd_quota_bytes{instance="a"}', 4_096),
    ],
    labels: { instance: 'a', kind: 'allocated' },
    summary: 'The database of etcd (allocated) has 3.5kiB, more than three quarters of its quota.',
  },
  {
    alert: 'IpledgerEtcdHalfFull',
    when: 'more than half of the quota of etcd is in use',
    series: [
      steady('ipledger_etcd_bytes{instance="a",kind="allocated"}', 3_072),
      { series: 'ipledger_etcd_bytes{instance="a",kind="in_use"}', before: 2_048, after: 2_560 },
      steady('ipledger_etcd_quota_bytes{instance="a"}', 4_096),
    ],
    labels: { instance: 'a', kind: 'in_use' },
    summary: 'The database of etcd uses 2.5kiB, more than half of its quota.',
  },
  {
    alert: 'IpledgerEtcdFillsUp',
    when: 'the quota of etcd lasts less than two weeks',
    series: [{ series: 'ipledger_etcd_days_left{instance="a"}', before: 14, after: 13 }],
    labels: { instance: 'a' },
    summary: 'The quota of etcd is used up in 13 days at the growth of the last day.',
  },
  {
    alert: 'IpledgerBackupFailed',
    when: 'a scheduled backup of etcd has not succeeded since the one before it',
    series: [
      {
        series: 'kube_cronjob_status_last_schedule_time{namespace="ipledger-system",cronjob="ipledger-etcd-backup"}',
        before: 3_600,
        after: 7_200,
      },
      steady(
        'kube_cronjob_status_last_successful_time{namespace="ipledger-system",cronjob="ipledger-etcd-backup"}',
        3_620,
      ),
      steady('kube_cronjob_status_last_schedule_time{namespace="default",cronjob="another"}', 7_200),
    ],
    labels: { namespace: 'ipledger-system' },
    summary: 'The last scheduled backup of etcd in namespace ipledger-system has not succeeded.',
  },
  {
    alert: 'IpledgerSealingStopped',
    when: 'there are more unsealed events than the limit',
    series: [
      { series: 'ipledger_live_events{instance="a"}', before: 120_000, after: 120_001 },
      steady('ipledger_live_events_limit{instance="a"}', 120_000),
      { series: 'ipledger_live_events{instance="without-archive"}', before: 120_000, after: 9_000_000 },
    ],
    labels: { instance: 'a' },
    summary: '120001 events in etcd are not sealed into the archive.',
  },
  {
    alert: 'IpledgerSealingFailed',
    when: 'the object store does not answer',
    series: [
      { series: 'ipledger_sealing_failed{instance="a",reason="other"}', before: 0, after: 1 },
      steady('ipledger_sealing_failed{instance="a",reason="damaged"}', 0),
    ],
    labels: { instance: 'a', reason: 'other' },
    summary: 'The writer cannot seal events into the archive.',
  },
  {
    alert: 'IpledgerThreadCrashed',
    when: 'a thread that folds the log has no memory left',
    series: [
      { series: 'ipledger_thread_crashes_total{instance="a",task="state-at"}', before: 0, after: 1 },
      steady('ipledger_thread_crashes_total{instance="a",task="verify"}', 0),
    ],
    labels: { instance: 'a', task: 'state-at' },
    summary: 'A thread of an allocator ended before its task state-at.',
  },
  {
    alert: 'IpledgerAgentRateLimited',
    when: 'a call is rejected',
    series: [
      { series: 'ipledger_calls_total{instance="a",method="Bind",code="RATE_LIMITED"}', before: 0, after: 1 },
      { series: 'ipledger_calls_total{instance="a",method="Bind",code="OK"}', before: 0, after: 7 },
    ],
    labels: { instance: 'a', method: 'Bind', code: 'RATE_LIMITED' },
    summary: 'An agent sends more Bind calls than its rate allows.',
  },
  ...ovnAlertCases,
];
