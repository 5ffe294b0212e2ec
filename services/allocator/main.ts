/**
 * The allocator: follows the ledger, writes it while it is the writer, and serves the gRPC API, of which it passes on to the
 * writer what only that can answer.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { hostname } from 'node:os';
import { Server } from '@grpc/grpc-js';
import { Command, Option } from 'commander';
import type { Etcd3 } from 'etcd3';
import { HealthImplementation } from 'grpc-health-check';
import { within } from '../../lib/deadline.ts';
import { startHealth } from '../../lib/health.ts';
import { type Lifecycle, run } from '../../lib/lifecycle.ts';
import { createLogger } from '../../lib/log.ts';
import { connect } from '../../lib/rpc.ts';
import type { Tls } from '../../lib/tls.ts';
import type { Archive } from './archive/archive.ts';
import { ArchivedLedger } from './archive/archived-ledger.ts';
import { openArchive } from './archive/open.ts';
import { keepBounded, type RetentionOptions } from './archive/retention.ts';
import { archiveOptions, type ArchiveSettings, retentionOf, wholeNumber } from './archive/settings.ts';
import { Checkpoints, checkpointOptions, type CheckpointSettings } from './checkpoints.ts';
import { heldTwice } from './domain/on-network.ts';
import type { State } from './domain/state.ts';
import { dropRestingClaims } from './drop-claims.ts';
import { type EtcdSize, watchEtcdSize } from './etcd-size.ts';
import type { Allocator } from './grpc/allocator.ts';
import { authorization } from '../../lib/serving/authorization.ts';
import { Forwarder } from './grpc/forward.ts';
import { mostRequestBytes } from '../../lib/serving/limits.ts';
import { insecureOption, isLoopback, servedTls } from '../../lib/serving/exposure.ts';
import { listen } from '../../lib/serving/listen.ts';
import { freezeIfRewound } from './grpc/freeze.ts';
import { addReflection } from '../../lib/serving/reflection.ts';
import { RateLimiter, type RateLimits, rateOptions } from './grpc/rate-limit.ts';
import { addServices } from './grpc/services.ts';
import { isFit, keepHealth } from './health.ts';
import { etcdAccess } from './ledger/access.ts';
import { campaign, type Candidate, observeWriter, type Term } from './ledger/election.ts';
import { EtcdLedger } from './ledger/etcd.ts';
import { connectEtcd } from './ledger/etcd-client.ts';
import { idSource } from './ledger/ids.ts';
import { Membership } from './ledger/members.ts';
import { eventVersions } from './ledger/upcast.ts';
import { loadReplica } from './load.ts';
import { type AllocatorMetrics, allocatorMetrics } from './metrics.ts';
import { keepUp, type Office } from './office.ts';
import { Patrol } from './verify/patrol.ts';

interface Options extends ArchiveSettings, CheckpointSettings, RateLimits {
  readonly etcd: string;
  readonly listen: string;
  readonly insecure?: boolean;
  readonly advertise?: string;
  readonly replica: string;
  readonly healthListen: string;
  /** Bytes. */
  readonly etcdQuota: number;
}

const program = new Command('allocator')
  .description('hands out addresses and keeps the ledger of who had them')
  .addOption(
    new Option('--etcd <urls>', 'the ledger: http(s)://host:port, several joined with commas')
      .env('IPLEDGER_ETCD')
      .makeOptionMandatory(),
  )
  .addOption(
    new Option('--etcd-quota <bytes>', "etcd's --quota-backend-bytes, of which nearness is warned")
      .env('IPLEDGER_ETCD_QUOTA')
      .argParser((text) => wholeNumber(text, 1, Number.MAX_SAFE_INTEGER))
      .default(2 * 2 ** 30, "2147483648, as etcd's"),
  )
  .addOption(
    new Option('--listen <host:port>', 'where the gRPC API is served').env('IPLEDGER_LISTEN').default('127.0.0.1:7411'),
  )
  .addOption(insecureOption())
  .addOption(
    new Option('--advertise <host:port>', 'where others reach it, when that is not --listen').env('IPLEDGER_ADVERTISE'),
  )
  .addOption(
    new Option('--replica <id>', 'names this replica')
      .env('IPLEDGER_REPLICA')
      .default(`${hostname()}-${randomBytes(3).toString('hex')}`),
  )
  .addOption(
    new Option('--health-listen <host:port>', 'HTTP /livez, /readyz and /metrics; none if empty')
      .env('IPLEDGER_HEALTH_LISTEN')
      .default(''),
  );
for (const option of [...archiveOptions(), ...checkpointOptions(), ...rateOptions()]) program.addOption(option);
const options = program.parse().opts<Options>();

const log = createLogger('allocator');
const freezeWithinMs = 10_000;

await run(log, async (life) => {
  const tls = servedTls(options, process.env, log);
  const etcd = connectEtcd(options.etcd.split(','), etcdAccess(process.env, log));
  life.onStop(() => etcd.close());
  const self = { replica: options.replica, address: options.advertise ?? reachable(options.listen) };
  const forwarder = new Forwarder({ connect: (address) => connect(address, tls) });
  const membership = new Membership({ client: etcd, self: { ...self, reads: eventVersions }, log });
  const office: Office = { writer: undefined, follower: undefined };
  const metrics = allocatorMetrics(office, log);
  let writerSeenAt = -Infinity;
  const onWriter = (writer: Candidate | undefined): void => {
    if (writer) writerSeenAt = performance.now();
    forwarder.turnTo(writer && writer.replica !== self.replica ? writer.address : undefined);
  };
  // Aborted after the last answer: until then who was told to stop stands by, and passes on what only the next writer can do.
  const over = new AbortController();
  const working = [membership.run(over.signal), observeWriter(etcd, onWriter, over.signal, log)];
  life.onStop(async () => {
    over.abort();
    await Promise.all(working);
    forwarder.close();
  });

  let ready = (): boolean | string => 'the ledger is being loaded';
  await watchHealth(life, () => ready(), metrics);
  const live = new EtcdLedger(etcd);
  const archive = options.archive === '' ? undefined : openArchive(options.archive, process.env);
  const archived = archive && new ArchivedLedger(live, archive);
  const ledger = archived ?? live;
  const replica = await loadReplica(ledger, log.child({ etcd: options.etcd }), life.signal);
  log.info({ ledger: replica.head.ledger, seq: replica.head.seq }, 'ledger loaded');
  const by = `ipledger://allocator/${self.replica}`;
  const checkpoints = Checkpoints.by(options, { replica, writer: () => office.writer, log });
  await checkpoints?.holdLedger(live, by, life.signal);
  const patrol = new Patrol({ replica, follower: () => office.follower, log });
  working.push(patrol.run(over.signal));
  metrics.follow(replica, patrol);
  if (checkpoints) working.push(checkpoints.run(over.signal));

  const allocator: Allocator = {
    replica,
    writer: () => office.writer,
    follower: () => office.follower,
    writerAddress: () => forwarder.writerAddress,
    brake: live,
    signer: () => checkpoints?.signer,
    rates: new RateLimiter(options, log),
  };
  const health = new HealthImplementation({ '': 'NOT_SERVING', writer: 'NOT_SERVING' });
  const server = await serveAll({ allocator, forwarder, health, tls, metrics }, life);
  log.info({ listen: options.listen, server }, 'listening');
  warnOperator(replica.state, tls);

  working.push(watchSize(etcd, metrics.onEtcdSize, over.signal));
  const kept = keepUp({
    replica,
    office,
    newId: idSource(),
    elect: candidacy(etcd, self, membership, life.signal),
    eventVersion: () => membership.eventVersion,
    onWriter: (writing) => (writing ? forwarder.turnHere() : undefined),
    onAppend: metrics.onAppend,
    log,
    signal: over.signal,
  });
  working.push(kept.catch((error: unknown) => freezeAndFail({ replica, brake: live, by }, life, error)));
  working.push(...upkeep({ ledger: archived, archive, replica, office }, over.signal));
  const writerlessMs = (): number => performance.now() - writerSeenAt;
  working.push(
    keepHealth({ office, writerlessMs, set: (service, status) => health.setStatus(service, status) }, over.signal),
  );
  ready = () => isFit(office, writerlessMs()) === true || 'behind the ledger, or nobody is the writer';
});

/** Warns before etcd's quota is reached. */
function watchSize(client: Etcd3, onSize: (size: EtcdSize) => void, signal: AbortSignal): Promise<void> {
  return watchEtcdSize({ client, quotaBytes: options.etcdQuota, log, onSize }, signal);
}

/** Of what is served all the same. */
function warnOperator(state: State, tls: Tls): void {
  for (const name of state.fenced)
    log.error({ address: name }, 'fenced: the key of this address holds nothing that ipledger wrote');
  for (const { network, address, holders } of heldTwice(state))
    log.error(
      {
        network,
        address,
        holders: holders.map(({ seq, subnet, attachment, uid }) => ({ seq, subnet, attachment, uid })),
      },
      'held twice: two Pods hold this address on one network. Delete one of them; ipledger check names both',
    );
  if (!tls && !isLoopback(options.listen))
    log.warn(
      { listen: options.listen },
      'plaintext beyond loopback: every client that reaches this port may do everything. Set IPLEDGER_TLS_CA, _CERT and _KEY',
    );
}

/** Where the ledger was rewound, whoever starts next finds nothing amiss in it: it has to be told before we go. */
async function freezeAndFail(
  { replica, brake, by }: Pick<Allocator, 'replica' | 'brake'> & { readonly by: string },
  life: Lifecycle,
  error: unknown,
): Promise<void> {
  const seen = { head: replica.head, by };
  const isFrozen = await freezeIfRewound(replica.ledger, brake, seen, within(freezeWithinMs)).catch(() => false);
  if (isFrozen) log.error({ known: seen.head }, 'the ledger was rewound and is frozen: see ipledger recover');
  life.fail(error);
}

interface Kept extends Pick<RetentionOptions, 'replica'> {
  readonly ledger: ArchivedLedger | undefined;
  readonly archive: Archive | undefined;
  readonly office: Office;
}

/** Drops claims that rest and moves old events to the archive (if there is one), while this replica is the writer. */
function upkeep({ office, replica, ledger, archive }: Kept, signal: AbortSignal): Promise<void>[] {
  const writing = { replica, writer: () => office.writer, log };
  const dropping = dropRestingClaims(writing, signal);
  if (!ledger || !archive) return [dropping];
  const retention = retentionOf(options);
  log.info({ archive: archive.location, ...retention }, 'old events are sealed');
  return [dropping, keepBounded({ ...writing, ledger, archive, retention }, signal)];
}

/** The same over HTTP, for whoever speaks no gRPC, and what is counted; where it is asked for. */
async function watchHealth(
  life: Lifecycle,
  ready: () => boolean | string,
  { registry }: AllocatorMetrics,
): Promise<void> {
  if (options.healthListen === '') return;
  const health = await startHealth({ listen: options.healthListen, ready, metrics: registry, log });
  life.onStop(() => health.close());
}

/** How this replica is elected: while its clock is right, and until it is told to stop; it goes on standing by then. */
function candidacy(etcd: Etcd3, self: Candidate, membership: Membership, stopping: AbortSignal) {
  return async (signal: AbortSignal): Promise<Term> => {
    const standing = AbortSignal.any([signal, stopping]);
    while (!standing.aborted) {
      await membership.agreed(standing);
      const fit = AbortSignal.any([standing, membership.off]);
      const term = await campaign(etcd, self, fit, log).catch(() => undefined); // which is the signal's doing
      if (term) return term;
    }
    if (!signal.aborted) await once(signal, 'abort');
    return Promise.reject(signal.reason as Error);
  };
}

/** Where others reach who listens on all addresses. */
function reachable(listen: string): string {
  return listen.replace(/^(0\.0\.0\.0|\[::\]):/, `${hostname()}:`);
}

interface Serving {
  readonly allocator: Allocator;
  readonly forwarder: Forwarder;
  readonly health: HealthImplementation;
  readonly tls: Tls;
  readonly metrics: AllocatorMetrics;
}

/** Serves the API, health and reflection. Resolves to the port. */
function serveAll({ allocator, forwarder, health, tls, metrics }: Serving, life: Lifecycle): Promise<number> {
  const server = new Server({
    'grpc.max_receive_message_length': mostRequestBytes,
    'grpc.max_connection_idle_ms': 300_000,
    'grpc.keepalive_time_ms': 30_000,
    interceptors: tls ? [authorization(log)] : [],
  });
  addServices(server, allocator, {
    log,
    forward: (passage, here) => forwarder.answer(passage, here),
    onAnswered: metrics.onAnswered,
    stopping: life.signal,
  });
  health.addToServer(server);
  addReflection(server);
  return listen(server, { listen: options.listen, tls }, life);
}
