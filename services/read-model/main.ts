/**
 * The read model: follows the ledger into a SQLite file and answers history queries by Pod, owner,
 * node and Subnet. It is optional: the allocator answers the same queries, only slower. The file
 * can be deleted at any time; the read model rebuilds it from the log.
 */
import { Option } from 'commander';
import { HealthImplementation } from 'grpc-health-check';
import { pause } from '../../lib/process/abortable.ts';
import { startHealthServer } from '../../lib/process/health-server.ts';
import { runProgram } from '../../lib/process/lifecycle.ts';
import { createLogger } from '../../lib/process/log.ts';
import { allocatorOption, healthListenOption, parseOptions, parseWholeNumber } from '../../lib/process/options.ts';
import { connect } from '../../lib/grpc/client.ts';
import { createServer, listen } from '../../lib/grpc/server/create-server.ts';
import { insecureOption, serverTls } from '../../lib/grpc/server/insecure.ts';
import { addReflection } from '../../lib/grpc/server/reflection.ts';
import { addGrpcService } from '../../lib/grpc/server/serve.ts';
import { createLedgerClient, type LedgerClient, requirePosition } from '../../lib/ledger-client/ledger-client.ts';
import { IpamService, LedgerService, ViewsService } from '../../proto/generated/ipledger.ts';
import { ledgerHandlers, type LedgerQueries, shareCalls } from './ledger-service.ts';
import { storeEvents } from './store-events.ts';
import { readStartState } from './read-start-state.ts';
import { readModelMetrics } from './metrics.ts';
import { ReadModel } from './read-model.ts';
import { viewsHandlers } from './views-service.ts';
import { verifyForever } from './verify-forever.ts';
import { watchWithBytes } from './watch-replies.ts';

interface Options {
  readonly allocator: string;
  readonly file: string;
  readonly from: number;
  readonly listen: string;
  readonly insecure?: boolean;
  readonly healthListen: string;
}

const options = parseOptions('read-model', 'answers history queries by Pod, owner, node and time', [
  allocatorOption().default('127.0.0.1:7411'),
  new Option('--file <path>', 'SQLite file of the read model')
    .env('IPLEDGER_READ_MODEL_FILE')
    .default('ipledger-read-model.sqlite'),
  new Option('--from <seq>', 'first event to read, if the events before it are deleted')
    .env('IPLEDGER_READ_MODEL_FROM')
    .argParser((text) => parseWholeNumber(text, 1, Number.MAX_SAFE_INTEGER))
    .default(1),
  new Option('--listen <host:port>', 'address of the gRPC API').env('IPLEDGER_LISTEN').default('127.0.0.1:7412'),
  insecureOption(),
  healthListenOption(),
]).opts<Options>();

const log = createLogger('read-model');
const healthIntervalMs = 100;
/** How long a query waits until the newest events arrive. */
const maxWaitMs = 10_000;

await runProgram(log, async (life) => {
  const tls = serverTls(options, process.env, log);
  const connection = connect(options.allocator, tls);
  const allocator = createLedgerClient(connection, life.signal);
  const model = new ReadModel(options.file);
  const following = storeEvents({
    model,
    // Begins at the first event of the history: older events may have been dropped.
    firstEvent: async () => Math.max(options.from, (await allocator.call(LedgerService.getStatus, {})).historyStartSeq),
    readState: (seq) => readStartState(allocator, seq),
    watch: (fromSeq, signal) => allocator.stream(watchWithBytes, { fromSeq }, signal),
    log,
    signal: life.signal,
  });
  const verifying = verifyForever({ model, scratchFile: `${options.file}-verification`, log, signal: life.signal });
  life.onStop(async () => {
    await Promise.all([following, verifying]);
    model.close();
    connection.close();
  });
  log.info({ file: options.file, seq: model.position.seq }, 'database opened');

  const ready = (): boolean | string => model.notReadyReason ?? true;
  await startHealthServer({ listen: options.healthListen, ready, metrics: readModelMetrics(model), log }, life);
  const health = new HealthImplementation({ '': 'NOT_SERVING' });
  const server = createServer({ tls, log });
  addGrpcService(server, LedgerService, ledgerHandlers(model, ledgerQueries(allocator)), {
    log,
    stopping: life.signal,
  });
  addGrpcService(server, ViewsService, viewsHandlers(model), { log, stopping: life.signal });
  health.addToServer(server);
  addReflection(server);
  const port = await listen(server, { listen: options.listen, tls }, life);
  log.info({ listen: options.listen, port }, 'listening');
  for (; !life.signal.aborted; await pause(healthIntervalMs, life.signal))
    health.setStatus('', model.notReadyReason === undefined ? 'SERVING' : 'NOT_SERVING');
});

function ledgerQueries(allocator: LedgerClient): LedgerQueries {
  return {
    // One page contains all allocations, because a Pod has at most 24 attachments.
    listPodAllocations: async (pod, signal) => {
      const { allocations, position } = await allocator.call(IpamService.listAllocations, pod, signal);
      return { allocations, position: requirePosition(position) };
    },
    readHead: shareCalls(async () => requirePosition((await allocator.call(LedgerService.getStatus, {})).position)),
    maxWaitMs,
  };
}
