/** What an allocator counts, and where. docs/metrics.md says what each is good for. */
import { within } from '../../lib/deadline.ts';
import { type ErrorCode, IpledgerError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import { Counter, createRegistry, gauge, Histogram, type Reading, type Registry, yes } from '../../lib/metrics.ts';
import { type Counts, countsOf } from './domain/questions.ts';
import { type ConfiguredSubnet, sealedTo, type State } from './domain/state.ts';
import type { EtcdSize } from './etcd-size.ts';
import type { Replica } from './ledger/replica.ts';
import type { Append } from './ledger/writer.ts';
import type { Office } from './office.ts';
import type { Patrol } from './verify/patrol.ts';

const readTimeoutMs = 2_000;

export interface AllocatorMetrics {
  readonly registry: Registry;
  readonly onAppend: (append: Append) => void;
  readonly onAnswered: (path: string, code: ErrorCode | 'OK') => void;
}

/** Makes them. What this replica knows they ask of it at each scrape. */
export function allocatorMetrics(
  office: Office,
  log: Logger,
): AllocatorMetrics & { follow(replica: Replica, patrol: Patrol): void; onEtcdSize(size: EtcdSize): void } {
  const registry = createRegistry();
  const { onAppend, onAnswered } = countersOf(registry);
  let etcdSize: EtcdSize | undefined;
  return {
    registry,
    onAppend,
    onAnswered,
    onEtcdSize: (size) => void (etcdSize = size),
    follow(replica, patrol) {
      sizeGauges(registry, replica, () => etcdSize);
      gaugesOf(registry, replica, office);
      clockMetrics(registry, replica, log);
      gauge(registry, {
        name: 'ipledger_findings',
        help: 'Keys of the ledger that a standby found not to be as they were written: somebody must look.',
        read: () => [{ value: patrol.findings.length }],
      });
      addressGauges(registry, office, log);
    },
  };
}

function countersOf(registry: Registry): Pick<AllocatorMetrics, 'onAppend' | 'onAnswered'> {
  const registers = [registry];
  const appends = new Counter({
    name: 'ipledger_appends_total',
    help: 'Appends to the ledger, by what came of them.',
    labelNames: ['outcome'],
    registers,
  });
  const seconds = new Histogram({
    name: 'ipledger_append_seconds',
    help: 'How long etcd took for an append.',
    buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 5],
    registers,
  });
  const events = new Histogram({
    name: 'ipledger_batch_events',
    help: 'How many events one append held.',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128],
    registers,
  });
  const calls = new Counter({
    name: 'ipledger_calls_total',
    help: 'Answers to gRPC calls, by method and error code; OK for those that succeeded.',
    labelNames: ['method', 'code'],
    registers,
  });
  return {
    onAppend({ outcome, events: count, ms }) {
      appends.inc({ outcome });
      seconds.observe(ms / 1_000);
      events.observe(count);
    },
    onAnswered: (path, code) => calls.inc({ method: path.slice(path.lastIndexOf('/') + 1), code }),
  };
}

/** What grows, and must not without end. */
function sizeGauges(registry: Registry, replica: Replica, etcdSize: () => EtcdSize | undefined): void {
  gauge(registry, {
    name: 'ipledger_live_events',
    help: 'Events that are not sealed into an archive: etcd holds them.',
    read: () => [{ value: replica.head.seq - sealedTo(replica.state) }],
  });
  gauge(registry, {
    name: 'ipledger_etcd_bytes',
    help: "How large etcd's database is, and how much of it is in use.",
    labels: ['of'],
    read: () => {
      const size = etcdSize();
      if (!size) return [];
      return [
        { labels: { of: 'file' }, value: size.bytes },
        { labels: { of: 'in_use' }, value: size.inUse },
      ];
    },
  });
}

/** The machine's clock beside the ledger's time; each jump is logged, too. */
function clockMetrics(registry: Registry, { clock }: Replica, log: Logger): void {
  const jumps = new Counter({
    name: 'ipledger_clock_jumps_total',
    help: "Jumps ahead of this machine's clock that ledger time did not follow.",
    registers: [registry],
  });
  gauge(registry, {
    name: 'ipledger_clock_ahead_seconds',
    help: "How far this machine's clock is ahead of ledger time because it jumped.",
    read: () => {
      clock.read();
      return [{ value: clock.aheadMs / 1_000 }];
    },
  });
  clock.onJump = (aheadMs) => {
    jumps.inc();
    log.error(
      { aheadMs },
      "this machine's clock jumped ahead: ledger time follows it by a tenth of what elapses, so that no cooldown and no binding timeout ends early. Set the clock right; if it is right now, restart this allocator",
    );
  };
}

function gaugesOf(registry: Registry, replica: Replica, office: Office): void {
  gauge(registry, {
    name: 'ipledger_writer',
    help: 'Whether this replica is the writer.',
    read: () => yes(office.writer !== undefined),
  });
  gauge(registry, {
    name: 'ipledger_head_seq',
    help: 'The last event of the ledger that this replica knows.',
    read: () => [{ value: replica.head.seq }],
  });
  gauge(registry, {
    name: 'ipledger_behind_seconds',
    help: 'How long ago a standby last knew the whole ledger; 0 for the writer.',
    read: () => [{ value: (office.follower?.behindMs ?? 0) / 1_000 }],
  });
  gauge(registry, {
    name: 'ipledger_queued_commands',
    help: 'Commands and questions that wait for the writer.',
    read: () => [{ value: office.writer?.queued ?? 0 }],
  });
  gauge(registry, {
    name: 'ipledger_fenced_addresses',
    help: 'Addresses whose keys hold what ipledger did not write: somebody must look.',
    read: () => [{ value: replica.state.fenced.size }],
  });
}

type Measure = (subnet: ConfiguredSubnet, name: string) => readonly Reading[];

/**
 * Of the writer alone, so that a sum over all replicas counts each address once; proven as any answer is, and left out while
 * etcd is away.
 */
function addressGauges(registry: Registry, office: Office, log: Logger): void {
  const ofAll = (measure: Measure) => async (): Promise<readonly Reading[]> => {
    const answer = (state: State) => [...state.subnets].flatMap(([name, subnet]) => measure(subnet, name));
    try {
      const asked = { actor: 'allocator', signal: within(readTimeoutMs), answer };
      return (await office.writer?.submit(asked))?.answer ?? [];
    } catch (error) {
      log.info({ reason: IpledgerError.from(error).message }, 'metrics: the addresses could not be counted');
      return [];
    }
  };
  const add = (name: string, help: string, labels: readonly string[], measure: Measure): void =>
    gauge(registry, { name, help, labels, read: ofAll(measure) });
  const ours = ['subnet', 'family', 'state'];
  add('ipledger_addresses', 'Addresses of a subnet, by family and state.', ours, byState);
  const kubeOvns = ['subnet_name', 'protocol', 'subnet_cidr'];
  const available = 'Available addresses of a subnet, under the name that Kube-OVN has for it.';
  add('subnet_available_ip_count', available, kubeOvns, asKubeOvn(least, 'available'));
  const used = 'Used addresses of a subnet, under the name that Kube-OVN has for it.';
  add('subnet_used_ip_count', used, kubeOvns, asKubeOvn(most, 'inUse'));
}

const byState: Measure = (subnet, name) =>
  countsOf(subnet).flatMap(({ family, available, inUse, resting, reserved }) =>
    Object.entries({ available, in_use: inUse, resting, reserved }).map(([state, count]) => ({
      labels: { subnet: name, family: `IPv${family}`, state },
      value: Number(count),
    })),
  );

/** One number for both families: of a dual-stack subnet that of the family that is nearer to its end. */
const asKubeOvn =
  (pick: (counts: readonly bigint[]) => bigint, count: 'available' | 'inUse'): Measure =>
  (configured, name) => {
    const { protocol, cidrBlock } = configured.subnet.spec;
    const value = Number(pick(countsOf(configured).map((each: Counts) => each[count])));
    return [{ labels: { subnet_name: name, protocol, subnet_cidr: cidrBlock }, value }];
  };

const least = (counts: readonly bigint[]): bigint => counts.reduce((one, other) => (other < one ? other : one));
const most = (counts: readonly bigint[]): bigint => counts.reduce((one, other) => (other > one ? other : one));
