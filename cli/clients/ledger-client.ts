/** The CLI's connection to the allocator and the read model, and the message when neither answers. */
import { IpledgerError } from '../../lib/errors.ts';
import { callOutcome } from '../../lib/grpc/calls.ts';
import { connect } from '../../lib/grpc/http2/connect.ts';
import type { ClusterSelection } from '../../lib/kubernetes/client/cluster-access.ts';
import {
  callTimeoutMs,
  createLedgerClient,
  type LedgerClient as ServiceClient,
} from '../../lib/ledger-client/ledger-client.ts';
import { type ServerKind, tlsFromEnvironment, tokenTlsFromEnvironment } from '../../lib/tls/client-tls.ts';
import { CliError } from '../program/cli-error.ts';
import type { ClusterConnection, connectCluster } from './cluster-connection.ts';
import { namespaceOf } from './cluster-endpoint.ts';

/** A client whose calls and streams throw a CliError when the server does not answer. */
export type LedgerClient = ServiceClient & Disposable;

/** A server: its name for people, and the settings that hold its address. */
interface Server {
  readonly kind: ServerKind;
  readonly name: string;
  readonly settings: readonly [string, string];
}

const allocatorServer: Server = {
  kind: 'allocator',
  name: 'the allocator',
  settings: ['IPLEDGER_ENDPOINT', '--allocator'],
};
const readModelServer: Server = {
  kind: 'read-model',
  name: 'the read model',
  settings: ['IPLEDGER_READ_MODEL', '--read-model'],
};

/** Where the server is, and what identifies the caller beside the TLS files of the environment. */
export interface LedgerTarget extends ClusterSelection {
  /** "host:port", several separated by commas; for allocators also "kubernetes" or "kubernetes/NAMESPACE". */
  readonly endpoint: string;
  readonly tokenFile?: string | undefined;
  /** Only with "kubernetes": the ServiceAccount that identifies the caller. */
  readonly serviceAccount?: string | undefined;
}

/**
 * Connects to the allocator, with the TLS files that the environment names. A cluster is read at the first call.
 * @param signal cancels the requests in progress.
 * @throws CliError for an empty endpoint or invalid TLS files.
 */
export const openAllocatorClient = (target: LedgerTarget, signal: AbortSignal): LedgerClient =>
  open(allocatorServer, target, signal);

/** Connects to the read model, which answers some of the allocator's queries. */
export const openReadModelClient = (endpoint: string, signal: AbortSignal): LedgerClient =>
  open(readModelServer, { endpoint }, signal);

function open(server: Server, target: LedgerTarget, signal: AbortSignal): LedgerClient {
  const { endpoint } = target;
  if (endpoint === '')
    throw new CliError('usage', `${server.settings[0]} is empty: set it to HOST:PORT of ${server.name}`);
  const namespace = server.kind === 'allocator' ? namespaceOf(endpoint) : undefined;
  if (namespace === undefined && target.serviceAccount !== undefined)
    throw new CliError(
      'usage',
      '--service-account works with --allocator kubernetes only: pass a token of the ServiceAccount with --token-file',
    );
  let opened = namespace === undefined ? Promise.resolve(connectTo(server, target)) : undefined;
  const openOnce = (): Promise<ClusterConnection> =>
    (opened ??= openCluster({ ...target, namespace: namespace ?? '' }, signal));
  const explain = (error: unknown, { failure }: ClusterConnection): unknown =>
    error instanceof IpledgerError && neverAnswered(error)
      ? unreachableError(server, endpoint, error, failure())
      : error;
  return {
    call: async (...request) => {
      const client = await openOnce();
      try {
        return await createLedgerClient(client.connection, signal).call(...request);
      } catch (error) {
        throw explain(error, client);
      }
    },
    stream: async function* (...request) {
      const client = await openOnce();
      try {
        yield* createLedgerClient(client.connection, signal).stream(...request);
      } catch (error) {
        throw explain(error, client);
      }
    },
    [Symbol.dispose]: () => {
      opened?.then(
        (client) => client[Symbol.dispose](),
        () => undefined, // the call has thrown it
      );
    },
  };
}

/** Loads the client of the Kubernetes API, which other endpoints do not need. */
const openCluster: typeof connectCluster = async (target, signal) =>
  (await import('./cluster-connection.ts')).connectCluster(target, signal);

function connectTo({ kind }: Server, { endpoint, tokenFile }: LedgerTarget): ClusterConnection {
  try {
    const { env } = process;
    const tls =
      tokenFile === undefined ? tlsFromEnvironment(env, undefined) : tokenTlsFromEnvironment(env, tokenFile, undefined);
    const connection = connect(endpoint, tls, kind);
    return { connection, failure: () => undefined, [Symbol.dispose]: () => connection.close() };
  } catch (error) {
    throw new CliError('usage', error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** Whether the error is of the client. An error that the server sent, even UNAVAILABLE, has an error code in its metadata. */
const neverAnswered = (error: IpledgerError): boolean =>
  (error.code === 'UNAVAILABLE' || error.code === 'DEADLINE_PASSED') && callOutcome(error) !== 'refused';

function unreachableError(
  { name, settings }: Server,
  endpoint: string,
  error: IpledgerError,
  failure: string | undefined,
): CliError {
  if (failure !== undefined) return new CliError('unreachable', `cannot reach ${name}: ${failure}`, { cause: error });
  const reason = error.message.replace(/^no connection to the \w+: /, '');
  const why = error.code === 'DEADLINE_PASSED' ? `no answer within ${callTimeoutMs / 1_000} s` : reason;
  const message = `cannot reach ${name} at ${endpoint} (${why}): check that it runs, and its address in ${settings.join(' or ')}. If it ended, its log states why`;
  return new CliError('unreachable', message, { cause: error });
}
