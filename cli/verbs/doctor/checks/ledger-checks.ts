/** The ledger: whether it can be written, its replicas, etcd, verification and checkpoints. */
import { truncateUtf8 } from '../../../../lib/cut-middle.ts';
import { describeObstacle } from '../../../output/format.ts';
import { noticeOfStorageUse } from '../../../output/storage-use.ts';
import type { Commands } from './commands.ts';
import { alertFinding, type Check, type Finding } from './finding.ts';
import { valueOf } from './metric-checks.ts';

const hour = 3_600;
const day = 24 * hour;
/** The pod-watcher stores one each five minutes. */
const checkpointMaxAgeMs = 900_000;

interface Repair {
  readonly remedy: (commands: Commands) => string;
  readonly document?: string;
}

const quota: Repair = {
  remedy: ({ etcdctlAsRoot }) =>
    `${etcdctlAsRoot} endpoint status --cluster -w table  # compact, defragment one member after the other, then disarm`,
  document: 'docs/operations.md#etcd-compaction-defragmentation-quota',
};

/** What repairs an obstacle, by its reason. */
const repairs: Readonly<Record<string, Repair>> = {
  'etcd-full': quota,
  'etcd-nearly-full': quota,
  'etcd-corrupt': {
    remedy: ({ etcdctlAsRoot }) =>
      `${etcdctlAsRoot} endpoint hashkv --cluster -w table  # replace the member whose hash differs, then disarm`,
    document: 'docs/operations.md#etcd-the-alarm-corrupt',
  },
  'no-writer': {
    remedy: ({ readLog }) => `${readLog('allocator')}  # why none was elected`,
    document: 'docs/runbooks.md#ipledgernowriter',
  },
};

const repairFirst: Repair = { remedy: () => 'ipledger status  # repair that first' };

export const checkObstacle: Check = ({ status }, commands) => {
  if (!status) return [];
  const finding = { severity: 'critical', where: 'the ledger', document: 'docs/runbooks.md#ipledgernowrites' } as const;
  if (status.frozenBy !== undefined) {
    const what = `It is frozen: etcd was restored from a backup, as ${status.frozenBy} reported.`;
    const document = 'docs/operations.md#etcd-restored-from-a-backup';
    return [{ ...finding, what, remedy: 'ipledger recover  # delete and change nothing before', document }];
  }
  if (!status.cannotWrite) return [];
  const what = `Nothing can be written ${describeObstacle(status.cannotWrite, (instant) => instant)}`;
  const { remedy, document = finding.document } = repairs[status.cannotWrite.reason] ?? repairFirst;
  return [{ ...finding, what, remedy: remedy(commands), document }];
};

export const checkReplicas: Check = ({ replicas = [], status }, { findPods }) =>
  replicas.flatMap(({ endpoint, failure }): Finding[] => {
    if (failure === '' || !status) return []; // without any answer, that is a gap
    const remedy = findPods('allocator');
    const document = 'docs/troubleshooting.md#the-allocator-does-not-answer';
    return [{ severity: 'warning', where: `allocator ${endpoint}`, what: failure, remedy, document }];
  });

export const checkStorage: Check = ({ status }) => {
  const what = noticeOfStorageUse(status?.storage).replace(/ See the runbook.*/, '');
  if (what === '') return [];
  const document = 'docs/runbooks.md#ipledgeretcdhalffull';
  return [{ severity: 'warning', where: 'etcd', what, remedy: 'ipledger status  # choose an archive', document }];
};

/**
 * A standby verifies the complete ledger from time to time. One that has just started has not, and
 * a writer never does.
 */
export const checkVerification: Check = ({ programs = [], gatheredAt }) => {
  const now = Date.parse(gatheredAt) / 1_000;
  const standbys = programs.filter((each) => valueOf(each, 'ipledger_is_leader') === 0);
  const overdue = standbys.filter((each) => {
    const verifiedAt = valueOf(each, 'ipledger_verified_timestamp_seconds');
    const startedAt = valueOf(each, 'process_start_time_seconds') ?? now;
    return verifiedAt === undefined ? now - startedAt > 6 * hour : now - verifiedAt > day;
  });
  if (standbys.length === 0 || overdue.length < standbys.length) return [];
  const series = { labels: {}, value: standbys.length };
  const remedy = 'ipledger verify  # and read the log of the standbys';
  return [alertFinding('IpledgerNotVerified', 'the ledger', series, remedy)];
};

export const checkCheckpoints: Check = ({ checkpoints, status }, { readLog }) => {
  const base = { where: 'checkpoints', document: 'docs/audit.md#checkpoints' };
  if (!checkpoints) return [];
  const { isSigned, newestAt } = checkpoints;
  if (!isSigned) {
    const what = 'No key is set up, so that a record that was rewritten from its start is not noticed.';
    const remedy =
      'ipledger checkpoint-key FILE  # then allocator.checkpointSecret; without the chart, IPLEDGER_CHECKPOINT_KEY';
    return [{ ...base, severity: 'note', what, remedy }];
  }
  if (newestAt === undefined) return []; // not read
  const remedy = `${readLog('pod-watcher')}  # look for: checkpoint`;
  if (newestAt === '') {
    const what = 'The allocators sign checkpoints, and Kubernetes keeps none of them.';
    return [{ ...base, severity: 'warning', what, remedy }];
  }
  const age = Date.parse(status?.ledgerTime ?? '') - Date.parse(newestAt);
  if (!(age > checkpointMaxAgeMs)) return [];
  const what = `The newest checkpoint that Kubernetes keeps is of ${newestAt}.`;
  return [{ ...base, severity: 'warning', what, remedy }];
};

const longestRangeBytes = 200;

/**
 * Addresses that no Pod gets. A note: an operator may keep an address so for long, and a Pod that
 * waits for one is a finding of its own.
 */
export const checkQuarantines: Check = ({ quarantines = [] }) =>
  quarantines.map(({ subnet, count, range }): Finding => {
    const what = `${count === 1 ? '1 address is' : `${count} addresses are`} quarantined, and no Pod gets ${count === 1 ? 'it' : 'them'}: ${truncateUtf8(range, longestRangeBytes)}`;
    const remedy = `ipledger unquarantine --subnet ${subnet} --reason TEXT  # it lists them with MAC and place, and requests confirmation; first remove the other hosts`;
    const document = 'docs/operations.md#conflicts-on-the-wire';
    return { severity: 'note', where: `Subnet ${subnet}`, what, remedy, document };
  });

/** What the status of the ledger and the conditions of Subnets contain already. */
const saidElsewhere = new Set(['frozen', 'not writable', 'Subnet refused']);
const critical = new Set(['allocated twice', 'bound on two nodes', 'fenced', 'key', 'no agent', 'no address']);

/** The disagreements that `ipledger check` reports. */
export const checkComparison: Check = ({ comparison }) => {
  if (!comparison) return [];
  const { disagreements, leftOut } = comparison;
  const document = 'docs/troubleshooting.md#a-pod-hangs-in-containercreating';
  const findings = disagreements
    .filter(({ kind }) => !saidElsewhere.has(kind))
    .map(({ kind, where, what, remedy }): Finding => {
      const severity = critical.has(kind) ? 'critical' : 'warning';
      const section = kind === 'no agent' ? 'docs/troubleshooting.md#a-node-without-an-agent' : document;
      return { severity, where, what: `${kind}: ${what}`, remedy, document: section };
    });
  if (leftOut === 0) return findings;
  const what = `${leftOut} more disagreements are left out.`;
  return [...findings, { severity: 'warning', where: 'the ledger', what, remedy: 'ipledger check', document }];
};
