/** Conditions of alerts that hold in the metrics of the programs now. */
import type { Facts, Program } from '../../../installation/facts.ts';
import type { Commands } from './commands.ts';
import { alertFinding, type Check, type Finding, type Series } from './finding.ts';

interface Rule {
  readonly alert: string;
  readonly metric: string;
  /** Further labels that the series must have. */
  readonly labels?: Readonly<Record<string, string>>;
  /** @param program that of the series */
  readonly holds: (value: number, program: Program) => boolean;
  readonly remedy: string | ((commands: Commands) => string);
  /** The object of a series that belongs to no program. */
  readonly where?: (labels: Series['labels']) => string;
  /** What the summary of the alert does not name. */
  readonly detail?: (labels: Series['labels'], program: Program) => string;
}

const log =
  (component: string, text: string) =>
  ({ readLog }: Commands): string =>
    `${readLog(component)}  # look for${text}`;
const isPositive = (value: number): boolean => value > 0;

/** The value of a metric without labels; undefined if the program has none. */
export const valueOf = ({ samples = [] }: Program, metric: string): number | undefined =>
  samples.find(({ name }) => name === metric)?.value;

/**
 * The alerts that one read of the metrics decides. Alerts that `check` or the status of the ledger
 * report in more detail are left out, as are alerts that need a history: rates, and times without a
 * change.
 */
export const rules: readonly Rule[] = [
  {
    alert: 'IpledgerAlarm',
    metric: 'ipledger_alarms',
    holds: isPositive,
    remedy: log('pod-watcher', ' ALARM'),
  },
  {
    alert: 'IpledgerSubnetSuspended',
    metric: 'ipledger_suspended_subnets',
    holds: isPositive,
    remedy: 'kubectl get subnets.ipam.ipledger.io  # their condition Ready names what to change',
  },
  {
    alert: 'IpledgerVerificationFailed',
    metric: 'ipledger_verification_failures',
    holds: isPositive,
    remedy: 'ipledger verify  # it names each event and key',
  },
  {
    alert: 'IpledgerArchiveDamaged',
    metric: 'ipledger_sealing_failed',
    labels: { reason: 'damaged' },
    holds: isPositive,
    remedy: 'ipledger verify  # delete nothing from the archive',
  },
  {
    alert: 'IpledgerSealingFailed',
    metric: 'ipledger_sealing_failed',
    labels: { reason: 'other' },
    holds: isPositive,
    remedy: log('allocator', ': sealing events failed'),
  },
  {
    alert: 'IpledgerSealingStopped',
    metric: 'ipledger_live_events',
    holds: (value, program) => value > (valueOf(program, 'ipledger_live_events_limit') ?? Infinity),
    remedy: log('allocator', ': sealing events failed'),
  },
  {
    alert: 'IpledgerSubnetNearlyFull',
    metric: 'subnet_available_ip_count',
    holds: (value) => value < 10,
    remedy: 'ipledger subnets  # then add a CIDR or a Subnet',
    where: (labels) => `Subnet ${labels['subnet_name'] ?? ''}`,
  },
  {
    alert: 'IpledgerClockDiffers',
    metric: 'ipledger_clock_difference_seconds',
    holds: (value) => Math.abs(value) > 30,
    remedy: 'chronyc tracking  # on the machines of this allocator and of that clock',
    detail: ({ clock = '' }, { node }) =>
      ` That is the clock of ${clock}.${node === '' ? '' : ` This program is on ${node}.`}`,
  },
  {
    alert: 'IpledgerLedgerTimeAhead',
    metric: 'ipledger_ledger_time_ahead_seconds',
    holds: (value) => value > 60,
    remedy: 'ipledger status  # it shows ledger time and its difference from the clock',
  },
  {
    alert: 'IpledgerEtcdMemberDown',
    metric: 'ipledger_etcd_member_answers',
    holds: (value) => value === 0,
    remedy: ({ etcdctl }) => `${etcdctl} endpoint health -w table`,
  },
  {
    alert: 'IpledgerEtcdNearQuota',
    metric: 'ipledger_etcd_bytes',
    labels: { kind: 'allocated' }, // the part in use is in the status of the ledger
    holds: (value, program) => value > 0.75 * (valueOf(program, 'ipledger_etcd_quota_bytes') ?? Infinity),
    remedy: ({ etcdctl }) => `${etcdctl} endpoint status -w table  # defragment one member after the other`,
  },
  {
    alert: 'IpledgerOvnNorthboundUnreachable',
    metric: 'ipledger_ovn_northbound_connected',
    holds: (value) => value === 0,
    remedy: log('ovn-projector', ': northbound database'),
  },
  {
    alert: 'IpledgerOvnPortsDown',
    metric: 'ipledger_ovn_ports',
    labels: { state: 'down' },
    holds: isPositive,
    remedy: 'ipledger check --ovn-nb ENDPOINTS  # it names each port',
  },
  {
    alert: 'IpledgerOvnConflict',
    metric: 'ipledger_ovn_conflicts',
    holds: isPositive,
    remedy: 'ipledger check --ovn-nb ENDPOINTS  # it names each row',
  },
  {
    alert: 'IpledgerProviderNetworkRefused',
    metric: 'ipledger_provider_networks',
    labels: { state: 'refused' },
    holds: isPositive,
    remedy: log('node-agent', ': is not available on this node'),
  },
];

export const checkMetrics: Check = ({ programs = [] }, commands) =>
  unique(programs.flatMap((program) => rules.flatMap((rule) => evaluate(rule, program, commands))));

function evaluate(rule: Rule, program: Program, commands: Commands): Finding[] {
  const { alert, metric, labels = {}, holds, ...texts } = rule;
  const remedy = typeof rule.remedy === 'string' ? rule.remedy : rule.remedy(commands);
  const matches = (program.samples ?? []).filter(
    (each) => each.name === metric && Object.entries(labels).every(([key, value]) => each.labels[key] === value),
  );
  return matches
    .filter(({ value }) => holds(value, program))
    .map((each) => {
      const where = texts.where?.(each.labels) ?? whereOf(program);
      const finding = alertFinding(alert, where, withTarget(each, program), remedy);
      return { ...finding, what: `${finding.what}${texts.detail?.(each.labels, program) ?? ''}` };
    });
}

/** The labels that Prometheus adds to a series. */
const withTarget = ({ labels, value }: Series, { component, name, node }: Program): Series => ({
  labels: { job: `ipledger-${component}`, instance: name, node, ...labels },
  value,
});

/** The Pod of an agent is known by its node. */
export const whereOf = ({ component, name, node }: Program): string =>
  `${component || 'program'} ${name}${component === 'node-agent' && node !== '' ? ` on node ${node}` : ''}`;

/** Replicas report some facts alike, as a member of etcd that is down. */
function unique(findings: readonly Finding[]): Finding[] {
  return [...new Map(findings.toReversed().map((each) => [each.what, each])).values()].toReversed();
}

/** Certificates in the last tenth of their validity, with the days that are left. */
export const checkCertificates: Check = ({ programs = [], namespace, gatheredAt }) =>
  programs.flatMap((program) =>
    (program.samples ?? []).flatMap(({ name, labels, value }) => {
      if (name !== 'ipledger_certificate_remaining_ratio' || value >= 0.1) return [];
      const { file = '' } = labels;
      const finding = alertFinding(
        'IpledgerCertificateNotRenewed',
        whereOf(program),
        withTarget({ labels, value }, program),
        `kubectl get certificates,certificaterequests -n ${namespace}  # without cert-manager, renew the files`,
      );
      const days = daysLeft(program, file, gatheredAt);
      const severity = value <= 0 ? ('critical' as const) : finding.severity;
      const end = value <= 0 ? 'has expired' : describeDays(days);
      return [{ ...finding, severity, what: `${finding.what} It ${end}.` }];
    }),
  );

function daysLeft({ samples = [] }: Program, file: string, gatheredAt: Facts['gatheredAt']): number | undefined {
  const expiry = samples.find(
    ({ name, labels }) => name === 'ipledger_certificate_expiry_timestamp_seconds' && labels['file'] === file,
  );
  return expiry && (expiry.value - Date.parse(gatheredAt) / 1_000) / 86_400;
}

function describeDays(days: number | undefined): string {
  if (days === undefined) return 'expires soon';
  if (days <= 0) return 'has expired';
  return days < 1 ? 'expires in less than a day' : `expires in ${Math.floor(days)} days`;
}
