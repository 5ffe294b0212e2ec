/** The node agent: serves the CNI plugin on the daemon socket of one node, and asks the allocator for each of its requests. */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { Command, Option } from 'commander';
import { startHealth } from '../../lib/health.ts';
import { type Lifecycle, run } from '../../lib/lifecycle.ts';
import { createLogger } from '../../lib/log.ts';
import { connect } from '../../lib/rpc.ts';
import { tlsFromEnvironment } from '../../lib/tls.ts';
import { allocatorBy } from './allocator.ts';
import { createApi, type Serve } from './api.ts';
import type { Attached } from './asked.ts';
import { openBindingFiles } from './binding-files.ts';
import { turnOf } from './bindings.ts';
import { del } from './del.ts';
import { isLeft, type Journal, replayForever } from './journal.ts';
import { agentMetrics } from './metrics.ts';
import { identifyBy, kubernetesApi } from './pods.ts';
import { earlierBoots } from './reboot.ts';
import { restoreForever } from './restored-bindings.ts';
import { sandboxOfNode } from './sandbox.ts';
import { serveBy } from './serve.ts';
import { type Published, publish } from './socket.ts';
import { toldFrom } from './told.ts';
import { createTurns } from './turns.ts';

interface Options {
  readonly allocator: string;
  readonly socket: readonly string[];
  readonly node: string;
  readonly healthListen: string;
  readonly journal: string;
  readonly bindings: string;
  readonly bootIdFile: string;
}

const list = (text: string, before: readonly string[] | undefined): string[] => [
  ...(before ?? []),
  ...text.split(',').filter((item) => item !== ''),
];

const options = new Command('node-agent')
  .description("serves the CNI plugin's requests of one node")
  .addOption(
    new Option('--allocator <host:port>', 'the allocator; its replicas joined with commas')
      .env('IPLEDGER_ENDPOINT')
      .makeOptionMandatory(),
  )
  .addOption(
    new Option('--socket <path>', 'a unix socket to serve on; repeatable, or joined with commas')
      .env('IPLEDGER_SOCKETS')
      .argParser(list)
      .makeOptionMandatory(),
  )
  .addOption(new Option('--node <name>', "the node's name in Kubernetes").env('IPLEDGER_NODE').default(hostname()))
  .addOption(
    new Option('--health-listen <host:port>', 'HTTP /livez, /readyz and /metrics; none if empty')
      .env('IPLEDGER_HEALTH_LISTEN')
      .default(''),
  )
  .addOption(
    new Option('--journal <folder>', 'where DELs are left that found no agent, or no allocator')
      .env('IPLEDGER_JOURNAL')
      .default('/var/lib/cni/ipledger'),
  )
  .addOption(
    new Option('--bindings <folder>', 'what this agent bound, for a ledger that is restored from a backup')
      .env('IPLEDGER_BINDINGS')
      .default('/var/lib/ipledger/bindings'),
  )
  .addOption(
    new Option('--boot-id-file <path>', 'says which boot of the node this is; bindings of others are void')
      .env('IPLEDGER_BOOT_ID_FILE')
      .default('/proc/sys/kernel/random/boot_id'),
  )
  .parse()
  .opts<Options>();

const log = createLogger('node-agent');

await run(log, async (life) => {
  const connection = connect(options.allocator, tlsFromEnvironment(process.env, log));
  life.onStop(() => connection.close());
  const [socket] = options.socket;
  if (socket === undefined) throw new Error('--socket names none: want the path of a unix socket');
  const journal = { folder: options.journal, socket };
  const allocator = allocatorBy(connection);
  const inTurn = createTurns();
  const bootId = bootIdOf(options.bootIdFile);
  const files = await openBindingFiles({ folder: options.bindings, node: options.node, bootId, log });
  const boots = earlierBoots({ allocator, node: options.node, inTurn, log }, bootId);
  const api = kubernetesApi();
  const { registry: metrics, counted } = agentMetrics(options.node);
  const serve = counted(
    serveBy({
      allocator,
      identify: identifyBy(api),
      told: toldFrom(api),
      sandbox: sandboxOfNode,
      node: options.node,
      bootId,
      log,
      inTurn,
      boots,
      files,
      journal,
    }),
  );

  const published: Published[] = [];
  if (options.healthListen !== '') {
    const ready = (): boolean => published.length > 0 && published.every((socket) => socket.isOurs());
    const health = await startHealth({ listen: options.healthListen, ready, metrics, log });
    life.onStop(() => health.close());
  }
  published.push(...(await openSockets(serve, life)));
  log.info({ sockets: options.socket, node: options.node, allocator: options.allocator, bootId }, 'ready');

  const late: Journal['del'] = (request, isLeft, signal) =>
    inTurn(turnOf(request), signal, async () => {
      if (!isLeft()) return;
      await del(allocator, request, signal);
      await files.drop(request);
    });
  const waitsForDel = (container: Attached): boolean => isLeft(options.journal, container);
  const behind = [
    boots.end(life.signal),
    restoreForever({ allocator, node: options.node, bootId, inTurn, files, isLeft: waitsForDel, log }, life.signal),
    replayForever({ folder: options.journal, sockets: options.socket, del: late, log }, life.signal),
  ];
  Promise.all(behind).catch((error: unknown) => life.fail(error));
});

function bootIdOf(file: string): string {
  const bootId = readFileSync(file, 'utf8').trim();
  if (bootId === '') throw new Error(`--boot-id-file ${file} is empty: bindings of an earlier boot could not be told`);
  return bootId;
}

function openSockets(serve: Serve, life: Lifecycle): Promise<Published[]> {
  return Promise.all(
    options.socket.map(async (path) => {
      const api = createApi(serve, log);
      const published = await publish(api.server, path);
      life.onStop(() => {
        published.unpublish();
        return api.close();
      });
      return published;
    }),
  );
}
