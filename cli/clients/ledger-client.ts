/** The CLI's connection to the allocator and the read model. */
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
import { CliError, orUsageError } from '../cli-error.ts';
import type { ClusterConnection, connectCluster } from './cluster-connection.ts';

/** A client whose calls and streams throw a CliError when the server does not answer. */
export type LedgerClient = ServiceClient & Disposable;

/** The settings that hold the address of a server. */
const settings = {
  allocator: ['IPLEDGER_ENDPOINT', '--allocator'],
  'read-model': ['IPLEDGER_READ_MODEL', '--read-model'],
} as const;
const nameOf = (server: ServerKind): string => `the ${server.replace('-', ' ')}`;

/** The server, and the identity of the caller beside the TLS files of the environment. */
export interface LedgerTarget extends ClusterSelection {
  /**
   * The server as "host:port", several joined by commas; allocators also "kubernetes[/NAMESPACE]".
   */
  readonly endpoint: string;
  readonly tokenFile?: string | undefined;
  /** The ServiceAccount that identifies the caller to allocators of "kubernetes". */
  readonly serviceAccount?: string | undefined;
}

/**
 * Connects to the allocator, with the TLS files that the environment names. A cluster is read at
 * the first call.
 * @param signal cancels the requests in progress.
 * @throws CliError for an empty endpoint or invalid TLS files.
 */
export const openAllocatorClient = (target: LedgerTarget, signal: AbortSignal): LedgerClient =>
  open('allocator', target, signal);

/** Connects to the read model, which answers some of the allocator's queries. */
export const openReadModelClient = (endpoint: string, signal: AbortSignal): LedgerClient =>
  open('read-model', { endpoint }, signal);

function open(server: ServerKind, target: LedgerTarget, signal: AbortSignal): LedgerClient {
  const { endpoint } = target;
  if (endpoint === '')
    throw new CliError('usage', `${settings[server][0]} is empty: set it to HOST:PORT of ${nameOf(server)}`);
  const namespace = server === 'allocator' ? namespaceOf(endpoint) : undefined;
  if (namespace === undefined && target.serviceAccount !== undefined)
    throw new CliError(
      'usage',
      '--service-account works with --allocator kubernetes only: pass a token of the ServiceAccount with --token-file',
    );
  let opened = namespace === undefined ? Promise.resolve(connectTo(server, target)) : undefined;
  const openOnce = (): Promise<ClusterConnection> =>
    (opened ??= openCluster({ ...target, namespace: namespace ?? '' }, signal));
  return {
    call: async (...request) => {
      const client = await openOnce();
      try {
        return await createLedgerClient(client.connection, signal).call(...request);
      } catch (error) {
        throw explain(error, server, endpoint, client.failure());
      }
    },
    stream: async function* (...request) {
      const client = await openOnce();
      try {
        yield* createLedgerClient(client.connection, signal).stream(...request);
      } catch (error) {
        throw explain(error, server, endpoint, client.failure());
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

const connectTo = (server: ServerKind, { endpoint, tokenFile }: LedgerTarget): ClusterConnection =>
  orUsageError(() => {
    const { env } = process;
    const tls =
      tokenFile === undefined ? tlsFromEnvironment(env, undefined) : tokenTlsFromEnvironment(env, tokenFile, undefined);
    const connection = connect(endpoint, tls, server);
    return { connection, failure: () => undefined, [Symbol.dispose]: () => connection.close() };
  });

/** Explains the client's errors. An error of the server has an error code in its metadata. */
function explain(thrown: unknown, server: ServerKind, endpoint: string, failure: string | undefined): unknown {
  if (!(thrown instanceof IpledgerError) || callOutcome(thrown) === 'refused') return thrown;
  const { code, message } = thrown;
  if (code !== 'UNAVAILABLE' && code !== 'DEADLINE_PASSED') return thrown;
  const reason = message.replace(/^no connection to the [\w-]+: /, '');
  const why = code === 'DEADLINE_PASSED' ? `no answer within ${callTimeoutMs / 1_000} s` : reason;
  const advice = `check that it runs, and its address in ${settings[server].join(' or ')}. If it ended, its log states why`;
  const what = failure === undefined ? ` at ${endpoint} (${why}): ${advice}` : `: ${failure}`;
  return new CliError('unreachable', `cannot reach ${nameOf(server)}${what}`, { cause: thrown });
}

/** The namespace that the chart and docs/install.md name. */
export const chartNamespace = 'ipledger-system';

/** The namespace of the endpoint "kubernetes[/NAMESPACE]"; undefined for another endpoint. */
export function namespaceOf(endpoint: string): string | undefined {
  const match = /^kubernetes(?:\/([a-z0-9-]{1,63}))?$/.exec(endpoint);
  return match ? (match[1] ?? chartNamespace) : undefined;
}
