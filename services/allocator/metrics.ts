/** The Prometheus metrics of an allocator. docs/metrics.md describes each. */
import { timeoutSignal } from '../../lib/process/abortable.ts';
import { type ErrorCode, type ErrorKind, IpledgerError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/process/log.ts';
import {
  Counter,
  createRegistry,
  addGauge,
  Histogram,
  type Reading,
  type Registry,
} from '../../lib/process/metrics.ts';
import { certificateGauges } from '../../lib/tls/certificate-reloader.ts';
import { handshakeGauge } from '../../lib/tls/handshake-limits.ts';
import { type Counts, countsOf } from '../../ledger/domain/queries/queries.ts';
import { type ConfiguredSubnet, lastSealedSeq, type State } from '../../ledger/domain/state/state.ts';
import type { EtcdSpace } from './health/etcd-space.ts';
import type { Replica } from '../../ledger/log/reader/replica.ts';
import type { ClusterHealth } from '../../ledger/log/store/cluster-health.ts';
import type { AppendStats } from '../../ledger/log/writer/writer.ts';
import type { LedgerClock } from '../../ledger/log/chain/ledger-clock.ts';
import type { Membership } from '../../ledger/log/writer/membership.ts';
import type { Leadership } from './leadership/leadership.ts';
import type { ReferenceClocks } from './leadership/reference-clocks.ts';
import { type ReviewOutcome, reviewOutcomes } from './token-review/token-authenticator.ts';
import type { BackgroundVerifier } from '../../ledger/audit/verification/background-verifier.ts';
import { IpamService, LedgerService, SubnetsService } from '../../proto/generated/ipledger.ts';
import type { ArchiveSettings } from './flags/archive-flags.ts';
import type { AllocatorOptions } from './options.ts';
import { tasks } from './tasks.ts';

const readTimeoutMs = 2_000;

export interface AllocatorMetrics {
  readonly registry: Registry;
  readonly onAppend: (append: AppendStats) => void;
  readonly onAnswered: (path: string, code: ErrorCode | 'OK') => void;
  readonly onReviewed: (outcome: ReviewOutcome) => void;
  /** @param task the task whose thread ended early */
  readonly onThreadCrash: (task: string) => void;
}

/** The options whose limits alerts compare sizes with. */
type Limits = ArchiveSettings & Pick<AllocatorOptions, 'etcdQuota'>;

export interface AllocatorMetricsOptions {
  readonly leadership: Leadership;
  readonly limits: Limits;
  readonly log: Logger;
}

/** Creates the metrics. Gauges read the replica at each scrape. */
export function allocatorMetrics({ leadership, limits, log }: AllocatorMetricsOptions): AllocatorMetrics & {
  follow(replica: Replica, verifier: BackgroundVerifier, space: Pick<EtcdSpace, 'size'>): void;
  compareClocks(clocks: ComparedClocks): void;
  followMembers(health: Pick<ClusterHealth, 'members'> | undefined): void;
  onSealing(failure: ErrorKind | undefined): void;
} {
  const registry = createRegistry('allocator');
  for (const gauge of [...certificateGauges, handshakeGauge]) addGauge(registry, gauge);
  const counters = countersOf(registry);
  limitGauges(registry, limits);
  let sealingFailure: ErrorKind | undefined;
  sealingGauge(registry, limits, () => sealingFailure);
  return {
    registry,
    ...counters,
    compareClocks: (clocks) => comparedClockGauges(registry, clocks),
    followMembers: (health) => memberGauge(registry, health),
    onSealing: (failure) => void (sealingFailure = failure),
    follow(replica, verifier, space) {
      sizeGauges(registry, replica, space);
      gaugesOf(registry, replica, leadership);
      clockMetrics(registry, replica, log);
      addGauge(registry, {
        name: 'ipledger_verification_failures',
        help: 'Keys of the ledger that failed verification by a standby. An operator must repair them.',
        read: () => verifier.findings.length,
      });
      addGauge(registry, {
        name: 'ipledger_verified_timestamp_seconds',
        help: 'When this standby last ended a verification of the complete ledger. Missing before the first.',
        read: () => verifier.verifiedAt && verifier.verifiedAt / 1_000,
      });
      addressGauges(registry, leadership, log);
    },
  };
}

function countersOf(registry: Registry): Omit<AllocatorMetrics, 'registry'> {
  const registers = [registry];
  const appends = new Counter({
    name: 'ipledger_appends_total',
    help: 'Attempts to append to the ledger, by outcome.',
    labelNames: ['outcome'],
    registers,
  });
  const seconds = new Histogram({
    name: 'ipledger_append_seconds',
    help: 'Time that etcd took for an append.',
    buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 5],
    registers,
  });
  const events = new Histogram({
    name: 'ipledger_batch_events',
    help: 'Number of events in one append.',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128],
    registers,
  });
  const calls = new Counter({
    name: 'ipledger_calls_total',
    help: 'Answered gRPC calls, by method and error code. The code of a successful call is OK.',
    labelNames: ['method', 'code'],
    registers,
  });
  for (const labels of alertedCalls()) calls.inc(labels, 0);
  const reviews = new Counter({
    name: 'ipledger_token_reviews_total',
    help: 'Reviews of tokens of node agents, by outcome. limited: a call that was rejected without a review.',
    labelNames: ['outcome'],
    registers,
  });
  for (const outcome of reviewOutcomes) reviews.inc({ outcome }, 0);
  const crashes = new Counter({
    name: 'ipledger_thread_crashes_total',
    help: 'Threads that ended before their task, mostly for lack of memory, by task.',
    labelNames: ['task'],
    registers,
  });
  for (const { name: task } of tasks) crashes.inc({ task }, 0);
  return {
    onThreadCrash: (task) => crashes.inc({ task }),
    onReviewed: (outcome) => reviews.inc({ outcome }),
    onAppend({ outcome, events: count, ms }) {
      appends.inc({ outcome });
      seconds.observe(ms / 1_000);
      events.observe(count);
    },
    onAnswered: countCalls(calls),
  };
}

/** Counts a call. Keeps the counter of each method and code, because the look-up costs more. */
function countCalls(calls: Counter<'method' | 'code'>): AllocatorMetrics['onAnswered'] {
  const counters = new Map<string, Map<string, { inc(): void }>>();
  return (path, code) => {
    let ofPath = counters.get(path);
    if (!ofPath) counters.set(path, (ofPath = new Map<string, { inc(): void }>()));
    let counter = ofPath.get(code);
    if (!counter) ofPath.set(code, (counter = calls.labels({ method: methodOf(path), code })));
    counter.inc();
  };
}

const methodOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/**
 * The series of the error codes that have an alert. They start at 0: Prometheus computes the
 * increase from the first sample, so the first error would not count if it created its series.
 */
export function alertedCalls(): { readonly method: string; readonly code: ErrorCode }[] {
  const services: Readonly<Record<string, { readonly path: string }>>[] = [IpamService, SubnetsService, LedgerService];
  const paths = services.flatMap((service) => Object.values(service).map(({ path }) => path));
  const codes = ['RATE_LIMITED', 'BUG'] as const;
  return [
    { method: methodOf(IpamService.allocate.path), code: 'SUBNET_FULL' },
    ...paths.flatMap((path) => codes.map((code) => ({ method: methodOf(path), code }))),
  ];
}

/** The configured limits of etcd's size and of the unsealed events. */
function limitGauges(registry: Registry, { archive, keepEvents, keepHours, segmentEvents, etcdQuota }: Limits): void {
  addGauge(registry, {
    name: 'ipledger_etcd_quota_bytes',
    help: "The quota of etcd's database, as configured with --etcd-quota.",
    read: () => etcdQuota,
  });
  // There is no limit without an archive, which seals no events, or with --keep-hours, which keeps
  // any number of young events.
  const isLimited = archive !== '' && keepHours === 0;
  addGauge(registry, {
    name: 'ipledger_live_events_limit',
    help: 'Unsealed events above which sealing is late: --keep-events and two segments.',
    read: () => (isLimited ? keepEvents + 2 * segmentEvents : undefined),
  });
}

/** Whether the last attempt to seal failed, because of damage or for another reason. */
function sealingGauge(registry: Registry, { archive }: Limits, failure: () => ErrorKind | undefined): void {
  addGauge(registry, {
    name: 'ipledger_sealing_failed',
    help: 'Whether the last attempt of this writer to seal events failed. damaged: a file of the archive differs from what was sealed.',
    labels: ['reason'],
    read: () => {
      if (archive === '') return undefined;
      const isDamaged = failure() === 'damaged';
      return { damaged: Number(isDamaged), other: Number(failure() !== undefined && !isDamaged) };
    },
  });
}

/** Sizes that must stay limited. */
function sizeGauges(registry: Registry, replica: Replica, space: Pick<EtcdSpace, 'size'>): void {
  addGauge(registry, {
    name: 'ipledger_live_events',
    help: 'Events in etcd that are not sealed into an archive.',
    read: () => replica.head.seq - lastSealedSeq(replica.state),
  });
  addGauge(registry, {
    name: 'ipledger_etcd_bytes',
    help: "Size of etcd's database, and the part of it that is in use.",
    labels: ['kind'],
    read: () => space.size && { allocated: space.size.bytes, in_use: space.size.inUse },
  });
  addGauge(registry, {
    name: 'ipledger_etcd_days_left',
    help: 'Days until the quota of etcd is in use, at the growth of the last day. Missing while it does not grow.',
    read: () => space.size?.daysLeft,
  });
}

/** The members of etcd that answer. A single member is not probed. */
function memberGauge(registry: Registry, health: Pick<ClusterHealth, 'members'> | undefined): void {
  addGauge(registry, {
    name: 'ipledger_etcd_member_answers',
    help: 'Whether a member of etcd answers the probes of this replica. One that does not gets no calls.',
    labels: ['endpoint'],
    read: () =>
      Object.fromEntries((health?.members ?? []).map((each) => [new URL(each.endpoint).host, Number(each.answers)])),
  });
}

interface ComparedClocks {
  readonly clocks: Pick<ReferenceClocks, 'aheadMs'>;
  readonly membership: Pick<Membership, 'aheadMs'>;
  readonly clock: LedgerClock;
}

/** Reports nothing without another clock to compare with. */
function comparedClockGauges(registry: Registry, { clocks, membership, clock }: ComparedClocks): void {
  addGauge(registry, {
    name: 'ipledger_clock_difference_seconds',
    help: "Lead of this machine's clock over another one: of a member of etcd, of Kubernetes, or of a replica.",
    labels: ['clock'],
    read: () =>
      [...clocks.aheadMs, ...membership.aheadMs].map(([name, ms]) => ({ labels: { clock: name }, value: ms / 1_000 })),
  });
  addGauge(registry, {
    name: 'ipledger_ledger_time_ahead_seconds',
    help: "Lead of ledger time over this machine's clock; negative if it is behind.",
    read: () => {
      const { at, clock: wall } = clock.read();
      return (at - wall) / 1_000;
    },
  });
}

/** Jumps of this machine's clock against ledger time. Each jump is also logged. */
function clockMetrics(registry: Registry, { clock }: Replica, log: Logger): void {
  const jumps = new Counter({
    name: 'ipledger_clock_jumps_total',
    help: "Forward jumps of this machine's clock that ledger time did not follow.",
    registers: [registry],
  });
  addGauge(registry, {
    name: 'ipledger_clock_ahead_seconds',
    help: "Lead of this machine's clock over ledger time, after a forward jump.",
    read: () => {
      clock.read();
      return clock.aheadMs / 1_000;
    },
  });
  clock.onJump = (aheadMs) => {
    jumps.inc();
    log.error(
      { aheadMs },
      "this machine's clock jumped forward: ledger time catches up at a tenth of real time, so that no cooldown and no binding timeout ends early. Correct the clock. If the clock is correct now, wait, or delete the Pod of this allocator",
    );
  };
}

function gaugesOf(registry: Registry, replica: Replica, leadership: Leadership): void {
  addGauge(registry, {
    name: 'ipledger_is_leader',
    help: 'Whether this replica is the writer.',
    read: () => leadership.writer !== undefined,
  });
  addGauge(registry, {
    name: 'ipledger_head_seq',
    help: 'The last event that this replica has applied.',
    read: () => replica.head.seq,
  });
  addGauge(registry, {
    name: 'ipledger_replication_lag_seconds',
    help: 'Time since a standby had applied all events; 0 for the writer.',
    read: () => (leadership.follower?.lagMs ?? 0) / 1_000,
  });
  addGauge(registry, {
    name: 'ipledger_queued_commands',
    help: 'Commands and queries that wait for their transaction.',
    read: () => leadership.writer?.queueLength ?? 0,
  });
  addGauge(registry, {
    name: 'ipledger_fenced_addresses',
    help: 'Addresses whose key in etcd another program changed. An operator must repair them.',
    read: () => replica.state.fenced.size,
  });
}

type Measure = (subnet: ConfiguredSubnet, name: string) => readonly Reading[];

/**
 * The counts of addresses. Only the writer reports them, so a sum over all replicas counts each
 * address once. They are proven like every answer, and absent while etcd is unavailable.
 */
function addressGauges(registry: Registry, leadership: Leadership, log: Logger): void {
  const readAll = (measure: Measure) => async (): Promise<readonly Reading[]> => {
    const answer = (state: State) => [...state.subnets].flatMap(([name, subnet]) => measure(subnet, name));
    try {
      const query = { actor: 'allocator', signal: timeoutSignal(readTimeoutMs), answer };
      return (await leadership.writer?.submit(query))?.answer ?? [];
    } catch (error) {
      log.info(
        { reason: IpledgerError.from(error).message },
        'metrics: the addresses could not be counted; they are absent from this scrape',
      );
      return [];
    }
  };
  const add = (name: string, help: string, labels: readonly string[], measure: Measure): void =>
    addGauge(registry, { name, help, labels, read: readAll(measure) });
  const ownLabels = ['subnet', 'family', 'state'];
  add('ipledger_addresses', 'Addresses of a subnet, by family and state.', ownLabels, byState);
  const kubeOvnLabels = ['subnet_name', 'protocol', 'subnet_cidr'];
  const available = "Available addresses of a subnet, under Kube-OVN's metric name.";
  add('subnet_available_ip_count', available, kubeOvnLabels, asKubeOvn(minimum, 'available'));
  const used = "Used addresses of a subnet, under Kube-OVN's metric name.";
  add('subnet_used_ip_count', used, kubeOvnLabels, asKubeOvn(maximum, 'inUse'));
}

const byState: Measure = (subnet, name) =>
  countsOf(subnet).flatMap(({ family, available, inUse, coolingDown, reserved, held }) =>
    Object.entries({ available, in_use: inUse, cooldown: coolingDown, reserved, held }).map(([state, count]) => ({
      labels: { subnet: name, family: `IPv${family}`, state },
      value: Number(count),
    })),
  );

/** One number for both families, as in Kube-OVN: of the family with fewer addresses left. */
const asKubeOvn =
  (select: (counts: readonly bigint[]) => bigint, count: 'available' | 'inUse'): Measure =>
  (configured, name) => {
    const { protocol, cidrBlock } = configured.subnet.spec;
    const value = Number(select(countsOf(configured).map((each: Counts) => each[count])));
    return [{ labels: { subnet_name: name, protocol, subnet_cidr: cidrBlock }, value }];
  };

const minimum = (counts: readonly bigint[]): bigint => counts.reduce((one, other) => (other < one ? other : one));
const maximum = (counts: readonly bigint[]): bigint => counts.reduce((one, other) => (other > one ? other : one));
