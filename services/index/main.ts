/**
 * The read model: follows the ledger and answers, from an index of its own, whom and what its events are about. Nothing depends on
 * it: the allocator answers the same, more slowly. Its file can be deleted at any time, and is made again from the log.
 */
import { Server } from '@grpc/grpc-js';
import { Command, InvalidArgumentError, Option } from 'commander';
import { HealthImplementation } from 'grpc-health-check';
import { pause } from '../../lib/deadline.ts';
import { IpledgerError } from '../../lib/errors.ts';
import { startHealth } from '../../lib/health.ts';
import { type Lifecycle, run } from '../../lib/lifecycle.ts';
import { createLogger } from '../../lib/log.ts';
import { call, connect, type Connection, stream } from '../../lib/rpc.ts';
import { authorization } from '../../lib/serving/authorization.ts';
import { mostRequestBytes } from '../../lib/serving/limits.ts';
import { insecureOption, servedTls } from '../../lib/serving/exposure.ts';
import { listen } from '../../lib/serving/listen.ts';
import { addReflection } from '../../lib/serving/reflection.ts';
import { serve } from '../../lib/serving/serve.ts';
import type { Tls } from '../../lib/tls.ts';
import { IpamService, LedgerService } from '../../proto/ipledger.ts';
import { answersOf, type Holdings } from './answers.ts';
import { follow } from './follow.ts';
import { indexMetrics } from './metrics.ts';
import { Model } from './model.ts';

interface Options {
  readonly allocator: string;
  readonly file: string;
  readonly from: number;
  readonly listen: string;
  readonly insecure?: boolean;
  readonly healthListen: string;
}

const options = new Command('index')
  .description('answers by Pod, owner, node and time what the ledger knows')
  .addOption(
    new Option('--allocator <host:port>', 'the ledger: an allocator; its replicas joined with commas')
      .env('IPLEDGER_ENDPOINT')
      .default('127.0.0.1:7411'),
  )
  .addOption(new Option('--file <path>', 'its SQLite file').env('IPLEDGER_INDEX_FILE').default('ipledger-index.sqlite'))
  .addOption(
    new Option('--from <seq>', 'the first event to know, where those before it are gone')
      .env('IPLEDGER_INDEX_FROM')
      .argParser(readSeq)
      .default(1),
  )
  .addOption(
    new Option('--listen <host:port>', 'where the gRPC API is served').env('IPLEDGER_LISTEN').default('127.0.0.1:7412'),
  )
  .addOption(insecureOption())
  .addOption(
    new Option('--health-listen <host:port>', 'HTTP /livez, /readyz and /metrics; none if empty')
      .env('IPLEDGER_HEALTH_LISTEN')
      .default(''),
  )
  .parse()
  .opts<Options>();

const log = createLogger('index');
const lookMs = 100;
const callTimeoutMs = 10_000;
/** The allocator gives a sign of life every few seconds: one that is silent for longer is away. */
const watchSilenceMs = 20_000;

await run(log, async (life) => {
  const tls = servedTls(options, process.env, log);
  const connection = connect(options.allocator, tls);
  const model = new Model(options.file);
  const following = follow({
    model,
    from: options.from,
    watch: (fromSeq, signal) =>
      stream(connection, LedgerService.watch, { fromSeq }, { silenceMs: watchSilenceMs, signal }),
    log,
    signal: life.signal,
  });
  life.onStop(async () => {
    await following;
    model.close();
    connection.close();
  });
  log.info({ file: options.file, seq: model.position.seq }, 'index opened');

  const ready = (): boolean | string => model.objection ?? true;
  if (options.healthListen !== '') {
    const metrics = indexMetrics(model);
    const health = await startHealth({ listen: options.healthListen, ready, metrics, log });
    life.onStop(() => health.close());
  }
  const health = new HealthImplementation({ '': 'NOT_SERVING' });
  const port = await serveAll({ model, holdings: holdingsBy(connection), health, tls }, life);
  log.info({ listen: options.listen, port }, 'listening');
  for (; !life.signal.aborted; await pause(lookMs, life.signal))
    health.setStatus('', model.objection === undefined ? 'SERVING' : 'NOT_SERVING');
});

function readSeq(text: string): number {
  if (!/^[1-9]\d{0,15}$/.test(text)) throw new InvalidArgumentError("It is an event's number, from 1 on.");
  return Number(text);
}

/** One Pod has 24 attachments at most: it is one page. */
function holdingsBy(connection: Connection): Holdings {
  return async ({ namespace, pod }, signal) => {
    const timeoutMs = callTimeoutMs;
    const { allocations, position } = await call(
      connection,
      IpamService.list,
      { namespace, pod },
      { timeoutMs, signal },
    );
    if (!position) throw new IpledgerError('BUG', 'a reply without position');
    return { allocations, position };
  };
}

interface Serving {
  readonly model: Model;
  readonly holdings: Holdings;
  readonly health: HealthImplementation;
  readonly tls: Tls;
}

/** Serves its part of the API, health and reflection. Resolves to the port. */
function serveAll({ model, holdings, health, tls }: Serving, life: Lifecycle): Promise<number> {
  const server = new Server({
    'grpc.max_receive_message_length': mostRequestBytes,
    'grpc.keepalive_time_ms': 30_000,
    interceptors: tls ? [authorization(log)] : [],
  });
  serve(server, LedgerService, answersOf(model, holdings), { log, stopping: life.signal });
  health.addToServer(server);
  addReflection(server);
  return listen(server, { listen: options.listen, tls }, life);
}
