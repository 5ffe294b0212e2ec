/** Connects the parts of an allocator: etcd, replica, leadership, API and tasks. */
import { hostname } from 'node:os';
import type { Etcd3 } from 'etcd3';
import { HealthImplementation } from 'grpc-health-check';
import { connect } from '../../lib/grpc/client.ts';
import { serverTls } from '../../lib/grpc/server/insecure.ts';
import { timeoutSignal } from '../../lib/process/abortable.ts';
import { startHealthServer } from '../../lib/process/health-server.ts';
import { collectWhenIdle } from '../../lib/process/idle-collection.ts';
import type { Lifecycle } from '../../lib/process/lifecycle.ts';
import type { Logger } from '../../lib/process/log.ts';
import { openTracing } from '../../lib/tracing/open-tracing.ts';
import { type Archive, isBounded } from '../../ledger/archive/archive.ts';
import { type Archived, openArchived } from '../../ledger/archive/open-archive.ts';
import type { prepareSegment } from '../../ledger/archive/seal.ts';
import { runSealSchedule } from '../../ledger/archive/seal-schedule.ts';
import {
  BackgroundVerifier,
  type BackgroundVerifierOptions,
} from '../../ledger/audit/verification/background-verifier.ts';
import { readMark, saveMark } from '../../ledger/audit/verification/verification-mark.ts';
import { createUlidSource } from '../../ledger/log/chain/ulid-source.ts';
import { type EventVersion, eventVersions } from '../../ledger/domain/events/schema-version.ts';
import { liftFences } from '../../ledger/log/reader/lift-fences.ts';
import { Replica } from '../../ledger/log/reader/replica.ts';
import { freezeIfRestored, freezeIfRewound } from '../../ledger/log/reader/rollback-detection.ts';
import { etcdAccessFromEnvironment } from '../../ledger/log/store/etcd-access.ts';
import { connectEtcd } from '../../ledger/log/store/etcd-client.ts';
import { EtcdLedger } from '../../ledger/log/store/etcd-ledger.ts';
import { type Candidate, observeWriter } from '../../ledger/log/writer/election.ts';
import { Membership } from '../../ledger/log/writer/membership.ts';
import { startApiServer } from './api-server.ts';
import { sealScheduleOf } from './flags/archive-flags.ts';
import { createCandidacy } from './leadership/candidacy.ts';
import { CheckpointSchedule } from './writer-tasks/checkpoint-schedule.ts';
import { dropIdleClaims } from './writer-tasks/drop-claims.ts';
import { EtcdCompaction } from './health/etcd-compaction.ts';
import { EtcdSpace } from './health/etcd-space.ts';
import { type EtcdSize, watchEtcdSize } from './health/etcd-size.ts';
import type { AllocatorContext } from './grpc/allocator-context.ts';
import { Forwarder } from './grpc/forwarding/forwarder.ts';
import { PositionWaits } from './grpc/position-waits.ts';
import { RateLimiter } from './grpc/rate-limiter.ts';
import { isReplicaHealthy, LastWriter, runHealthUpdates } from './health/health.ts';
import { type Leadership, runLeadership } from './leadership/leadership.ts';
import { allocatorMetrics } from './metrics.ts';
import type { AllocatorOptions } from './options.ts';
import { ReferenceClocks, type ReferenceClocksOptions, referencesOf } from './leadership/reference-clocks.ts';
import { logStartupWarnings } from './start/startup-warnings.ts';
import type { TaskRunner } from './threads/task.ts';
import { verifyTask } from './threads/verify-task.ts';
import { WorkerThreads } from './threads/worker-threads.ts';
import { prepareSegmentTask } from './writer-tasks/prepare-segment-task.ts';
import { WriteObstacles } from './health/write-obstacles.ts';
import { openTokenReview } from './token-review/token-review.ts';
import { retryUntil } from '../../lib/process/retry.ts';
import type { Ledger } from '../../ledger/log/store/ledger.ts';

const freezeTimeoutMs = 10_000;

interface StartOptions extends AllocatorOptions {
  /** The file that the threads of this process run. */
  readonly program: string;
}

type Metrics = ReturnType<typeof allocatorMetrics>;

/** The environment of a replica: its process, or a simulation. */
export interface Surroundings {
  readonly options: AllocatorOptions;
  readonly log: Logger;
  readonly life: Lifecycle;
  readonly etcd: Etcd3;
  readonly clocks: Pick<ReferenceClocksOptions, 'references' | 'readDate'>;
  readonly forwarder: Forwarder;
  readonly threads: TaskRunner;
  readonly leadership: Leadership;
  readonly metrics: Pick<Metrics, 'follow' | 'compareClocks' | 'onAppend' | 'onSealing'>;
  /** Serves liveness, readiness and metrics. */
  readonly serveHealth: (ready: () => boolean | string) => Promise<void>;
  /** Serves the API. Resolves when it listens. */
  readonly serve: (allocator: AllocatorContext, health: HealthImplementation) => Promise<void>;
}

/** The replica before its ledger is loaded. */
interface JoinedReplica extends Omit<Surroundings, 'clocks'> {
  readonly self: Candidate;
  readonly membership: Membership;
  readonly clocks: ReferenceClocks;
  readonly tasks: BackgroundTasks;
  readonly lastWriter: LastWriter;
  readonly space: EtcdSpace;
}

/** The ledger in memory, and its store. */
interface LoadedLedger {
  readonly live: EtcdLedger;
  readonly archived: Archived | undefined;
  readonly replica: Replica;
  readonly checkpoints: CheckpointSchedule | undefined;
}

/**
 * Starts the allocator, which stops with the program.
 * @throws Error for invalid settings, and what loading the ledger throws
 */
export async function startAllocator(options: StartOptions, log: Logger, life: Lifecycle): Promise<void> {
  collectWhenIdle({ log, signal: life.signal });
  const tls = serverTls(options, process.env, log);
  const leadership: Leadership = { writer: undefined, follower: undefined };
  const metrics = allocatorMetrics({ leadership, limits: options, log });
  const tracer = await openTracing({
    settings: options,
    metrics: metrics.registry,
    service: 'ipledger-allocator',
    instance: options.replica,
    life,
    log,
  });
  const access = etcdAccessFromEnvironment(process.env, log);
  const etcd = connectEtcd(options.etcd.split(','), access);
  life.onStop(() => etcd.close());
  metrics.followMembers(etcd.health);
  const forwarder = new Forwarder({ connect: (address) => connect(address, tls) });
  const threads = new WorkerThreads({ ...options, log, onCrash: metrics.onThreadCrash });
  const { onReviewed, registry } = metrics;
  const { env } = process;
  const tokens = await openTokenReview({ settings: options, env, tls, onReviewed, log, signal: life.signal });
  await runReplica({
    options,
    log,
    life,
    etcd,
    clocks: { references: referencesOf(options.etcd, access, env) },
    forwarder,
    threads,
    leadership,
    metrics,
    serveHealth: async (ready) => {
      await startHealthServer({ listen: options.healthListen, ready, metrics: registry, log }, life);
    },
    serve: async (allocator, health) => {
      const api = { listen: options.listen, allocator, forwarder, health, tls, tokens, metrics, tracer, log };
      const port = await startApiServer(api, life);
      log.info({ listen: options.listen, server: port }, 'listening');
      logStartupWarnings(allocator.replica.state, { listen: options.listen, tls }, log);
    },
  });
}

/** Runs a replica until the end of its life. @throws what loading the ledger throws */
export async function runReplica(surroundings: Surroundings): Promise<void> {
  const { options, log, etcd, forwarder, threads, leadership, serveHealth, serve } = surroundings;
  const joined = joinReplicas(surroundings);
  const { lastWriter } = joined;
  let ready = (): boolean | string => 'the ledger is being loaded';
  await serveHealth(() => ready());

  const loaded = await loadLedger(joined);
  const { replica, live, checkpoints } = loaded;
  const health = new HealthImplementation({ '': 'NOT_SERVING', writer: 'NOT_SERVING' });
  const obstacles = new WriteObstacles({
    readAlarms: async () => (await etcd.maintenance.status()).errors,
    freezeStore: live,
    lastWriter,
    space: joined.space,
  });
  const allocator = {
    replica,
    writer: () => leadership.writer,
    follower: () => leadership.follower,
    writerAddress: () => forwarder.writerAddress,
    positionWaits: new PositionWaits(replica),
    threads,
    freezeStore: live,
    findWriteObstacle: () => obstacles.find(),
    space: joined.space,
    signer: () => checkpoints?.signer,
    rateLimiter: new RateLimiter(options, log),
  };
  await serve(allocator, health);
  startLeadership(joined, loaded);
  startMaintenance(joined, loaded);
  const setStatus: HealthImplementation['setStatus'] = (service, status) => health.setStatus(service, status);
  joined.tasks.start((signal) => runHealthUpdates({ leadership, lastWriter, setStatus }, signal));
  ready = () =>
    (clockFault(joined) ?? isReplicaHealthy(leadership, lastWriter) === true) ||
    'this replica is behind the ledger, or has just started and has seen no writer';
}

/** Reads the variable, because commander takes any value as true. */
const isClockAccepted = ({ acceptClock }: AllocatorOptions): boolean =>
  acceptClock === true || process.env['IPLEDGER_ACCEPT_CLOCK'] === '1';

/** Why a standby is not ready. A writer with a wrong clock is: ledger time does not follow it. */
function clockFault({ clocks, membership, leadership, options }: JoinedReplica): string | undefined {
  if (leadership.writer) return undefined;
  const isWrong = membership.clockSkewed.aborted || (clocks.wrongByMs !== undefined && !isClockAccepted(options));
  return isWrong ? 'the clock of this replica differs from other clocks, so it will not be the writer' : undefined;
}

/** Tasks that run until the last call is answered: a stopping replica still forwards calls. */
interface BackgroundTasks {
  start(run: (signal: AbortSignal) => Promise<void>): void;
}

/** Announces this replica to the others, and observes which of them is the writer. */
function joinReplicas(surroundings: Surroundings): JoinedReplica {
  const { options, log, life, etcd, forwarder } = surroundings;
  const self = { replica: options.replica, address: options.advertise ?? reachableAddress(options.listen) };
  const membership = new Membership({ client: etcd, self: { ...self, reads: eventVersions }, log });
  const stopTasks = new AbortController();
  const running: Promise<void>[] = [];
  const tasks: BackgroundTasks = { start: (run) => void running.push(run(stopTasks.signal)) };
  life.onStop(async () => {
    stopTasks.abort();
    await Promise.all(running);
    forwarder.close();
  });
  const lastWriter = new LastWriter();
  const onWriter = (writer: Candidate | undefined): void => {
    if (writer) lastWriter.onSeen();
    forwarder.setRemoteWriter(writer && writer.replica !== self.replica ? writer.address : undefined);
  };
  const clocks = new ReferenceClocks({
    ...surroundings.clocks,
    peers: () => [...membership.aheadMs.values()],
    isAccepted: isClockAccepted(options),
    log,
  });
  tasks.start((signal) => membership.run(signal));
  tasks.start((signal) => clocks.run(signal));
  tasks.start((signal) => observeWriter(etcd, onWriter, signal, log));
  return {
    ...surroundings,
    self,
    membership,
    clocks,
    tasks,
    lastWriter,
    space: new EtcdSpace(options.etcdQuota, options.archive !== ''),
  };
}

/** Replaces a wildcard address, to which other replicas cannot connect. */
const reachableAddress = (listen: string): string => listen.replace(/^(0\.0\.0\.0|\[::\]):/, `${hostname()}:`);

/** Loads the ledger, and compares it with the last checkpoint, before any call is served. */
async function loadLedger(joined: JoinedReplica): Promise<LoadedLedger> {
  const { options, log, life, etcd, leadership, metrics, tasks } = joined;
  const live = new EtcdLedger(etcd);
  const limited = { client: etcd, maxBytes: options.archiveMaxBytes };
  const archived = openArchived(live, options.archive, process.env, limited);
  const replica = await loadReplica(archived?.ledger ?? live, log.child({ etcd: options.etcd }), life.signal);
  log.info({ ledger: replica.head.ledger, seq: replica.head.seq }, 'ledger loaded');
  const endOnFailure = (error: unknown): void => life.fail(error);
  tasks.start((signal) => liftFences({ replica, log }, signal).catch(endOnFailure));
  const checkpoints = CheckpointSchedule.create(options, { replica, writer: () => leadership.writer, log });
  await checkpoints?.checkRollback(live, identityOf(joined), life.signal);
  const checkRestore = (): Promise<void> => checkRestored(joined, live, life.signal);
  await retryUntil({ until: Infinity, signal: life.signal }, checkRestore);
  const standby = { replica, follower: () => leadership.follower, log };
  const verifier = new BackgroundVerifier({ ...standby, ...verificationOf(joined, archived?.archive, checkpoints) });
  tasks.start((signal) => verifier.run(signal).catch(endOnFailure));
  metrics.follow(replica, verifier, joined.space);
  metrics.compareClocks({ clocks: joined.clocks, membership: joined.membership, clock: replica.clock });
  if (checkpoints) tasks.start((signal) => checkpoints.run(signal));
  return { live, archived, replica, checkpoints };
}

/** Verifies the ledger in a thread, from the mark in the archive that the checkpoint key signed. */
const verificationOf = (
  { threads }: JoinedReplica,
  archive: Archive | undefined,
  checkpoints: CheckpointSchedule | undefined,
): Pick<BackgroundVerifierOptions, 'verifyLog' | 'onVerified'> => ({
  async verifyLog(ledger, signal) {
    const key = checkpoints?.signer?.verifier;
    const verified = archive && key && (await readMark(archive, ledger, key, signal));
    const request = { checkpoints: '', verifierKeys: [], verified };
    for await (const reply of threads.run(verifyTask, request, signal)) if ('result' in reply) return reply.result;
    throw new Error('the task ended without a result');
  },
  async onVerified(head, signal) {
    const signer = checkpoints?.signer;
    if (archive && signer) await saveMark(archive, head, signer, signal);
  },
});

const identityOf = ({ self }: Pick<JoinedReplica, 'self'>): string => `ipledger://allocator/${self.replica}`;

function startLeadership(joined: JoinedReplica, { replica, live }: LoadedLedger): void {
  const { log, life, etcd, self, membership, clocks, leadership, forwarder, metrics, tasks } = joined;
  tasks.start(async (signal) => {
    try {
      await runLeadership({
        replica,
        leadership,
        newId: createUlidSource(),
        elect: createCandidacy({ etcd, self, membership, clocks, stopping: life.signal, log }),
        beforeTerm: (signal) => checkRestored(joined, live, signal),
        eventVersion: () => eventVersionOf(membership, replica),
        onLeadershipChange: (isWriter) => (isWriter ? forwarder.setLocalWriter() : undefined),
        onAppend: metrics.onAppend,
        log,
        signal,
      });
    } catch (error) {
      await freezeBeforeExit(joined, replica, live);
      life.fail(error);
    }
  });
}

/** The version that all live replicas read, but none before that of the last event. */
const eventVersionOf = ({ eventVersion }: Membership, { version }: Replica): EventVersion =>
  Math.max(eventVersion, version) as EventVersion;

/** Freezes a ledger whose etcd was restored, before this replica writes. */
async function checkRestored(joined: JoinedReplica, live: EtcdLedger, signal: AbortSignal): Promise<void> {
  if (await freezeIfRestored(live, identityOf(joined), signal))
    joined.log.error('etcd was restored from a backup, so the ledger is frozen. Run ipledger recover');
}

/** Freezes a rewound ledger, because it is consistent, and later replicas could not detect it. */
async function freezeBeforeExit(joined: JoinedReplica, replica: Replica, live: EtcdLedger): Promise<void> {
  const { head } = replica;
  const seen = { head, by: identityOf(joined) };
  const isFrozen = await freezeIfRewound(replica.ledger, live, seen, timeoutSignal(freezeTimeoutMs)).catch(() => false);
  if (isFrozen) joined.log.error({ head }, 'the ledger was rewound and is frozen now. Run ipledger recover');
}

/** Keeps memory and etcd small: drops idle claims, seals events, and reports the size. */
function startMaintenance(joined: JoinedReplica, { archived, replica }: LoadedLedger): void {
  const { options, log, etcd, membership, leadership, metrics, threads, tasks } = joined;
  const writing = { replica, writer: () => leadership.writer, log };
  tasks.start((signal) => dropIdleClaims(writing, signal));
  const { onSealing: onOutcome } = metrics;
  const quotaBytes = options.etcdQuota;
  const compaction = new EtcdCompaction(etcd, quotaBytes);
  const onSize = async (size: EtcdSize, revision: string): Promise<void> => {
    joined.space.update(size);
    // Only an archive in etcd shows that etcd serves no other clients.
    if (archived && isBounded(archived.archive) && leadership.writer)
      await compaction.onRevision(revision, joined.space.usedShare, performance.now());
  };
  tasks.start((signal) => watchEtcdSize({ client: etcd, quotaBytes, log, onSize }, signal));
  if (!archived) return;
  const schedule = sealScheduleOf(options);
  const usedShare = (): number => joined.space.usedShare;
  log.info({ archive: archived.archive.location, ...schedule }, 'old events are sealed into the archive');
  // A replica that reads only earlier versions needs an end state in the last segment.
  const canOmitEndState = (): boolean => eventVersionOf(membership, replica) >= 7;
  const prepare: typeof prepareSegment = async (_sealing, to, signal) => {
    const request = { to, canOmitEndState: canOmitEndState() };
    for await (const segment of threads.run(prepareSegmentTask, request, signal)) return segment;
    throw new Error('the task ended without a segment');
  };
  const sealing = { ...writing, ...archived, canOmitEndState, prepare, schedule, usedShare, onOutcome };
  tasks.start((signal) => runSealSchedule(sealing, signal));
}

/** Retries until etcd is available. @throws what Replica.load throws; AbortError */
function loadReplica(ledger: Ledger, log: Logger, signal: AbortSignal): Promise<Replica> {
  return retryUntil({ until: Infinity, signal }, () => Replica.load(ledger, signal, undefined, log), {
    firstBackoffMs: 100,
    maxBackoffMs: 2_000,
    onRetry: ({ message }) => log.warn({ reason: message }, 'the ledger cannot be loaded yet'),
  });
}
