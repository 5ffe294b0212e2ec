/** The node agent: serves the plugin's ADD and DEL on the daemon socket of one node, and asks the allocator for each. */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { Command, Option } from 'commander';
import { IpledgerError } from '../../lib/errors.ts';
import { startHealth } from '../../lib/health.ts';
import { type Lifecycle, run } from '../../lib/lifecycle.ts';
import { createLogger } from '../../lib/log.ts';
import { connect } from '../../lib/rpc.ts';
import { tlsFromEnvironment } from '../../lib/tls.ts';
import { add } from './add.ts';
import { allocatorBy } from './allocator.ts';
import { createApi, type Serve } from './api.ts';
import { del } from './del.ts';
import { forget, type Journal, leave, replayForever } from './journal.ts';
import { kubernetesApi, podUidFrom } from './pods.ts';
import { sandboxOfNode } from './sandbox.ts';
import { type Published, publish } from './socket.ts';
import { createTurns } from './turns.ts';
import type { CniRequest } from './wire.ts';

interface Options {
  readonly allocator: string;
  readonly socket: readonly string[];
  readonly node: string;
  readonly healthListen: string;
  readonly journal: string;
}

const list = (text: string, before: readonly string[] | undefined): string[] => [
  ...(before ?? []),
  ...text.split(',').filter((item) => item !== ''),
];

const options = new Command('node-agent')
  .description("serves the CNI plugin's requests of one node")
  .addOption(new Option('--allocator <host:port>', 'the allocator').env('IPLEDGER_ENDPOINT').makeOptionMandatory())
  .addOption(
    new Option('--socket <path>', 'a unix socket to serve on; repeatable, or joined with commas')
      .env('IPLEDGER_SOCKETS')
      .argParser(list)
      .makeOptionMandatory(),
  )
  .addOption(new Option('--node <name>', "the node's name in Kubernetes").env('IPLEDGER_NODE').default(hostname()))
  .addOption(
    new Option('--health-listen <host:port>', 'HTTP /livez and /readyz; none if empty')
      .env('IPLEDGER_HEALTH_LISTEN')
      .default(''),
  )
  .addOption(
    new Option('--journal <folder>', 'where DELs are left that found no agent, or no allocator')
      .env('IPLEDGER_JOURNAL')
      .default('/var/lib/cni/ipledger'),
  )
  .parse()
  .opts<Options>();

const log = createLogger('node-agent');

await run(log, async (life) => {
  const client = connect(options.allocator, tlsFromEnvironment(process.env));
  life.onStop(() => client.close());
  const allocator = allocatorBy(client);
  const deps = {
    allocator,
    podUid: podUidFrom(kubernetesApi()),
    sandbox: sandboxOfNode,
    node: options.node,
    bootId: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
    log,
  };
  const inTurn = createTurns();
  const serve: Serve = (verb, request, signal) =>
    inTurn(turnOf(request), signal, async () => {
      if (verb === 'add') {
        const answer = await add(deps, request, signal);
        await forget(options.journal, request);
        return answer;
      }
      await del(allocator, request, signal).catch((error: unknown) => leaveIfLater(request, error, signal));
      return '';
    });

  const published: Published[] = [];
  if (options.healthListen !== '') {
    const ready = (): boolean => published.length > 0 && published.every((socket) => socket.isOurs());
    const health = await startHealth({ listen: options.healthListen, ready, log });
    life.onStop(() => health.close());
  }
  published.push(...(await openSockets(serve, life)));
  log.info({ sockets: options.socket, node: options.node, allocator: options.allocator }, 'ready');

  const late: Journal['del'] = (request, isLeft, signal) =>
    inTurn(turnOf(request), signal, async () => {
      if (isLeft()) await del(allocator, request, signal);
    });
  replayForever({ folder: options.journal, sockets: options.socket, del: late, log }, life.signal).catch(
    (error: unknown) => life.fail(error),
  );
});

/** A Pod must be able to go while the allocator is away: its DEL is done when it is back. */
async function leaveIfLater(request: CniRequest, error: unknown, signal: AbortSignal): Promise<void> {
  const [socket] = options.socket;
  if (IpledgerError.from(error).kind !== 'transient' || signal.aborted || socket === undefined) throw error;
  await leave(options.journal, socket, request);
  log.warn({ err: error, containerId: request.containerId }, 'DEL: the allocator is away; left to be done later');
}

/** What is done one at a time. */
const turnOf = ({ containerId, interface: name }: CniRequest): string => `${containerId} ${name}`;

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
