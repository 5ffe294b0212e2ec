/** The allocator: follows the ledger, writes it while it is the writer, and serves the gRPC API. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { Server } from '@grpc/grpc-js';
import { Command, Option } from 'commander';
import { HealthImplementation } from 'grpc-health-check';
import { monotonicFactory } from 'ulid';
import { backoffMs, pause } from '../../lib/deadline.ts';
import { IpledgerError } from '../../lib/errors.ts';
import { type Lifecycle, run } from '../../lib/lifecycle.ts';
import { createLogger } from '../../lib/log.ts';
import { serverCredentials, tlsFromEnvironment } from '../../lib/tls.ts';
import type { Allocator } from './grpc/allocator.ts';
import { addReflection } from './grpc/reflection.ts';
import { addServices } from './grpc/services.ts';
import { campaign, currentWriter } from './ledger/election.ts';
import { connectEtcd, EtcdLedger } from './ledger/etcd.ts';
import { Replica } from './ledger/replica.ts';
import { keepUp, type Office } from './office.ts';

interface Options {
  readonly etcd: string;
  readonly listen: string;
  readonly advertise?: string;
  readonly replica: string;
}

const options = new Command('allocator')
  .description('hands out addresses and keeps the ledger of who had them')
  .addOption(
    new Option('--etcd <urls>', 'the ledger: http://host:port, several joined with commas')
      .env('IPLEDGER_ETCD')
      .makeOptionMandatory(),
  )
  .addOption(
    new Option('--listen <host:port>', 'where the gRPC API is served').env('IPLEDGER_LISTEN').default('127.0.0.1:7411'),
  )
  .addOption(
    new Option('--advertise <host:port>', 'where others reach it, when that is not --listen').env('IPLEDGER_ADVERTISE'),
  )
  .addOption(
    new Option('--replica <id>', 'names this replica')
      .env('IPLEDGER_REPLICA')
      .default(`${hostname()}-${randomBytes(3).toString('hex')}`),
  )
  .parse()
  .opts<Options>();

const log = createLogger('allocator');

await run(log, async (life) => {
  const etcd = connectEtcd(options.etcd.split(','));
  life.onStop(() => etcd.close());
  const ledger = new EtcdLedger(etcd);
  const replica = await loadReplica(ledger, life.signal);
  log.info({ ledger: replica.head.ledger, seq: replica.head.seq }, 'ledger loaded');

  const office: Office = { writer: undefined };
  const allocator: Allocator = {
    replica,
    writer: () => office.writer,
    writerAddress: async () => (await currentWriter(etcd))?.address,
  };
  const health = new HealthImplementation({ '': 'NOT_SERVING' });
  const server = await listen(allocator, health, life);
  log.info({ listen: options.listen, server }, 'listening');
  for (const name of replica.state.fenced)
    log.error({ address: name }, 'fenced: the key of this address holds nothing that ipledger wrote');
  if (!tlsFromEnvironment(process.env) && !/^(127\.|localhost:|\[::1\])/.test(options.listen))
    log.warn({ listen: options.listen }, 'plaintext beyond loopback: whoever reaches this port may do everything');

  const candidate = { replica: options.replica, address: options.advertise ?? options.listen };
  const kept = keepUp({
    replica,
    office,
    newId: monotonicFactory(),
    elect: (signal) => campaign(etcd, candidate, signal, log),
    onWriter: (writing) => health.setStatus('', writing ? 'SERVING' : 'NOT_SERVING'),
    log,
    signal: life.signal,
  }).catch((error: unknown) => life.fail(error));
  // Before the API and etcd go: what is in flight is answered, and the office handed over.
  life.onStop(() => kept);
});

/** etcd may come up after us. */
async function loadReplica(ledger: EtcdLedger, signal: AbortSignal): Promise<Replica> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await Replica.load(ledger, signal);
    } catch (error) {
      if (IpledgerError.from(error).kind !== 'transient' || signal.aborted) throw error;
      log.warn({ etcd: options.etcd, reason: IpledgerError.from(error).message }, 'the ledger cannot be loaded yet');
      await pause(backoffMs(attempt, 100, 2_000), signal);
    }
  }
}

/** Serves the API, health and reflection. Resolves to the port. */
function listen(allocator: Allocator, health: HealthImplementation, life: Lifecycle): Promise<number> {
  const server = new Server({
    'grpc.max_receive_message_length': 1 << 20,
    'grpc.max_connection_idle_ms': 300_000,
    'grpc.keepalive_time_ms': 30_000,
  });
  addServices(server, allocator, log);
  health.addToServer(server);
  addReflection(server);
  life.onStop(() => {
    server.forceShutdown();
  });
  return new Promise((resolve, reject) => {
    server.bindAsync(options.listen, serverCredentials(tlsFromEnvironment(process.env)), (error, port) =>
      error ? reject(error) : resolve(port),
    );
  });
}
