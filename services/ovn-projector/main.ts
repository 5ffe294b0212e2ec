/**
 * ovn-projector: writes the OVN networks of the ledger into OVN's northbound database. Reads its
 * options and runs the leader election.
 *
 *   ledger events ─┐
 *                  ├─► desired rows ─► difference ─► northbound database ─► northd ─► ovn-controller
 *   Subnets, Vlans ┘
 *
 * One projector is active at a time; the others are standbys.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { InvalidArgumentError, Option } from 'commander';
import { errorMessage } from '../../lib/errors.ts';
import { connect } from '../../lib/grpc/client.ts';
import { connectDefaultApi } from '../../lib/kubernetes/client/kubernetes-api.ts';
import { workInTerms } from '../../lib/kubernetes/leader-election.ts';
import { parseEndpoint } from '../../lib/ovsdb/endpoint.ts';
import { startHealthServer } from '../../lib/process/health-server.ts';
import { type Lifecycle, runProgram } from '../../lib/process/lifecycle.ts';
import { createLogger } from '../../lib/process/log.ts';
import { allocatorOption, healthListenOption, namespaceOption, parseOptions } from '../../lib/process/options.ts';
import { filesFromEnvironment, tlsFromEnvironment } from '../../lib/tls/credentials.ts';
import { startActiveProjector } from './active-projector.ts';
import { createLedgerClient } from '../../lib/ledger-client/ledger-client.ts';
import { projectorMetrics, type ProjectorStats } from './metrics.ts';
import { Deposed } from './projector.ts';

interface Options {
  readonly allocator: string;
  readonly ovnNb: readonly string[];
  readonly healthListen: string;
  readonly namespace: string;
}

const log = createLogger('ovn-projector');
const leaseName = 'ipledger-ovn-projector';
/** Distinguishes this process in the fence of the northbound database. */
const writer = `${hostname()}_${randomUUID()}`;

function readOptions(): Options {
  return parseOptions('ovn-projector', "writes the OVN networks of the ledger into OVN's northbound database", [
    allocatorOption(),
    new Option(
      '--ovn-nb <endpoints>',
      'servers of the northbound database, separated by commas: unix:/path, tcp:host:port, or ssl:host:port with the certificate of IPLEDGER_OVN_CA, _CERT and _KEY',
    )
      .env('IPLEDGER_OVN_NB')
      .argParser(readEndpoints)
      .makeOptionMandatory(),
    healthListenOption('127.0.0.1:8083'),
    namespaceOption('namespace of the Lease'),
  ]).opts<Options>();
}

await runProgram(log, (life) => start(life, readOptions()));

/** @throws InvalidArgumentError */
function readEndpoints(text: string): readonly string[] {
  const endpoints = text.split(',');
  try {
    for (const endpoint of endpoints) parseEndpoint(endpoint);
  } catch (error) {
    throw new InvalidArgumentError(errorMessage(error));
  }
  return endpoints;
}

async function start(
  life: Lifecycle,
  { allocator, ovnNb: endpoints, healthListen, namespace }: Options,
): Promise<void> {
  const { signal } = life;
  let stats = (): ProjectorStats | undefined => undefined;
  const { registry: metrics, onTransaction } = projectorMetrics(() => stats());
  const ovnTls = filesFromEnvironment(process.env, 'IPLEDGER_OVN');
  const connection = connect(allocator, tlsFromEnvironment(process.env, log));
  life.onStop(() => connection.close());
  const api = await connectDefaultApi();
  let ready = (): boolean | string => 'still starting';
  await startHealthServer({ listen: healthListen, ready: () => ready(), metrics, log }, life);
  log.info({ server: api.server, allocator, endpoints }, 'starting');

  // Reports a standby as ready: it has nothing to catch up with.
  const onStandby = (): void => void (ready = () => true);
  await workInTerms({ api, namespace, name: leaseName, log, life, onStandby }, async (_, term) => {
    const active = startActiveProjector({
      api,
      allocator: createLedgerClient(connection, signal),
      endpoints,
      tls: ovnTls,
      writer,
      onTransaction,
      log,
      signal: term,
    });
    ready = () => active.ready;
    stats = () => active.stats;
    await active.ended.catch((error: unknown) => {
      if (!(error instanceof Deposed)) return life.fail(error);
      log.warn({ reason: error.message }, 'another projector is active');
    });
    ready = () => 'the Lease was lost';
    stats = () => undefined;
  });
}
