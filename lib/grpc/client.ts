/**
 * The gRPC client: promises and async iterables, with a deadline for each call and a watchdog for each stream. grpc-js has no
 * default deadline and no connect timeout. A connection has several replicas; after a failure it uses the next one.
 *
 * A channel of grpc-js may have several addresses, but stays with one that hangs while its connection is open. So each replica has
 * a channel of its own.
 */
import { type ChannelOptions, Client, Metadata, status } from '@grpc/grpc-js';
import type { MessageInput, Method } from '../../proto/codec.ts';
import { type ErrorCode, errorCodeMetadata, IpledgerError } from '../errors.ts';
import { formatTraceparent, type TraceContext, traceparentKey } from '../tracing/trace-context.ts';
import { clientCredentials, type ClientTls, type ServerKind, explainConnectionFailure } from '../tls/credentials.ts';

const channelOptions: ChannelOptions = {
  'grpc.max_receive_message_length': 32 << 20,
  // A stream or a long call to a replica that hangs fails after the sum of these two.
  'grpc.keepalive_time_ms': 5_000,
  'grpc.keepalive_timeout_ms': 5_000,
  'grpc.keepalive_permit_without_calls': 1,
  // grpc-js' default backoff of two minutes would delay the first calls after a restart of the server.
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 2_000,
  // The TLS server name, which must not be an address. It is not verified: see `clientCredentials`.
  'grpc.ssl_target_name_override': 'allocator',
};

/** After these errors another replica may succeed. */
const failoverCodes: ReadonlySet<ErrorCode> = new Set(['UNAVAILABLE', 'NOT_WRITER', 'DEADLINE_PASSED']);

/** The replicas of a server. Calls go to one replica at a time. */
export class Connection {
  readonly #clients: readonly Client[];
  /** Whether it uses TLS. */
  readonly isSecure: boolean;
  /** What the server is. */
  readonly server: ServerKind;
  #currentIndex = 0;

  constructor(clients: readonly Client[], isSecure: boolean, server: ServerKind) {
    this.#clients = clients;
    this.isSecure = isSecure;
    this.server = server;
  }

  /** The channel of the replica in use. */
  get current(): Client {
    return this.#clients[this.#currentIndex % this.#clients.length] as Client;
  }

  get size(): number {
    return this.#clients.length;
  }

  /** Switches to the next replica if `failed` is still in use. Many calls may fail together, and must switch only once. */
  failOver(failed: Client): void {
    if (failed === this.current) this.#currentIndex++;
  }

  close(): void {
    for (const client of this.#clients) client.close();
  }
}

/**
 * Returns a connection to the replicas at `endpoints`: "host:port", or several separated by commas; the first one is used first.
 * It connects at the first call. Close it with `close()`.
 * @param server the identity that the server's certificate must have, with TLS
 * @throws Error without an endpoint
 */
export function connect(endpoints: string, tls: ClientTls, server: ServerKind = 'allocator'): Connection {
  const names = endpoints.split(',').flatMap((endpoint) => endpoint.trim() || []);
  if (names.length === 0) throw new Error('no endpoint of an allocator: set host:port, or several separated by commas');
  const clients = names.map((name) => new Client(name, clientCredentials(tls, server), channelOptions));
  return new Connection(clients, tls !== undefined, server);
}

export interface CallOptions {
  /** The call fails with DEADLINE_PASSED without a reply within this time. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly metadata?: Metadata | undefined;
  /** The span that the server's spans become children of. */
  readonly trace?: TraceContext | undefined;
}

/**
 * Sends one request and returns one reply. It skips a replica without a connection. A replica that received the request and does
 * not reply may have executed it, so the request is not sent again: the call fails, and the next call uses another replica.
 * @throws IpledgerError
 */
export async function call<Request, Reply>(
  connection: Connection,
  method: Method<Request, Reply, 'unary'>,
  request: MessageInput<Request>,
  options: CallOptions,
): Promise<Reply> {
  const deadline = performance.now() + options.timeoutMs;
  for (let tries = 1; ; tries++) {
    const client = connection.current;
    try {
      return await callOnce(client, method, request, { ...options, timeoutMs: deadline - performance.now() });
    } catch (thrown) {
      const error = withConnectionFailure(thrown, connection);
      if (!failoverCodes.has(error.code)) throw error;
      connection.failOver(client);
      if (callOutcome(error) !== 'unsent' || tries === connection.size || performance.now() >= deadline) throw error;
    }
  }
}

function callOnce<Request, Reply>(
  client: Client,
  method: Method<Request, Reply, 'unary'>,
  request: MessageInput<Request>,
  { timeoutMs, signal, trace, metadata = new Metadata() }: CallOptions,
): Promise<Reply> {
  if (trace) metadata.set(traceparentKey, formatTraceparent(trace));
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(IpledgerError.from(signal.reason));
      return;
    }
    const cancel = (): void => sent.cancel();
    const sent = client.makeUnaryRequest<MessageInput<Request>, Reply>(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      request,
      metadata,
      { deadline: Date.now() + timeoutMs },
      (error, reply) => {
        signal?.removeEventListener('abort', cancel);
        if (error || reply === undefined) reject(IpledgerError.from(error ?? new Error(`${method.path}: empty reply`)));
        else resolve(reply);
      },
    );
    signal?.addEventListener('abort', cancel, { once: true });
  });
}

/** The outcome of a failed call: the server rejected the request, it was not sent for lack of a connection, or it is unknown. */
export function callOutcome({ cause }: IpledgerError): 'refused' | 'unsent' | 'unknown' {
  if (!(cause instanceof Error && 'metadata' in cause && cause.metadata instanceof Metadata)) return 'unsent';
  if (cause.metadata.get(errorCodeMetadata).length > 0) return 'refused';
  const { code, details } = cause as Error & { readonly code?: status; readonly details?: string };
  // grpc-js reports this only in its message.
  const isUnsent = /^(No connection established|Channel closed before call started)/.test(details ?? '');
  return code === status.UNAVAILABLE && isUnsent ? 'unsent' : 'unknown';
}

/** Converts an error of grpc-js, and explains a failed connection. */
function withConnectionFailure(thrown: unknown, { isSecure, server }: Connection): IpledgerError {
  const error = IpledgerError.from(thrown);
  if (!error.message.startsWith('No connection established')) return error;
  const { code, message, cause } = error;
  return new IpledgerError(code, `no connection to the ${server}: ${explainConnectionFailure(message, isSecure)}`, {
    cause,
  });
}

export interface StreamOptions {
  /** The stream fails without a reply for this time. */
  readonly silenceMs: number;
  readonly signal: AbortSignal;
}

/**
 * Sends one request and yields its replies, until the server ends the stream or the signal is aborted. After a failure, the next
 * stream uses another replica.
 * @throws IpledgerError from the iteration; UNAVAILABLE after `silenceMs` without a reply
 */
export async function* stream<Request, Reply>(
  connection: Connection,
  method: Method<Request, Reply, 'serverStream'>,
  request: MessageInput<Request>,
  { silenceMs, signal }: StreamOptions,
): AsyncGenerator<Reply> {
  if (signal.aborted) return;
  const client = connection.current;
  const sent = client.makeServerStreamRequest<MessageInput<Request>, Reply>(
    method.path,
    method.requestSerialize,
    method.responseDeserialize,
    request,
  );
  let isSilent = false;
  const cancelSilent = (): void => {
    isSilent = true;
    sent.cancel();
  };
  let watchdog = setTimeout(cancelSilent, silenceMs);
  const cancel = (): void => sent.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    for await (const reply of sent) {
      clearTimeout(watchdog); // the time in which the consumer processes a reply does not count
      yield reply as Reply;
      watchdog = setTimeout(cancelSilent, silenceMs);
    }
  } catch (error) {
    if (signal.aborted) return;
    const reason = isSilent
      ? new IpledgerError('UNAVAILABLE', `${method.path}: no reply for ${silenceMs} ms`, { cause: error })
      : withConnectionFailure(error, connection);
    if (failoverCodes.has(reason.code)) connection.failOver(client);
    throw reason;
  } finally {
    clearTimeout(watchdog);
    signal.removeEventListener('abort', cancel);
    sent.on('error', () => undefined);
    sent.cancel();
  }
}
