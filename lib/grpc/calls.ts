/**
 * The gRPC client: promises and async iterables, with a deadline for each call and a watchdog for
 * each stream. A connection knows several replicas, and uses the next one after a failure.
 * client.ts and http2/connect.ts open connections.
 */
import type { OutgoingHttpHeaders } from 'node:http2';
import type { MessageInput, Method } from '../../proto/codec.ts';
import { type ErrorCode, errorCodeMetadata, IpledgerError, status } from '../errors.ts';
import { formatTraceparent, type TraceContext, traceparentKey } from '../tracing/trace-context.ts';
import { type ClientTls, explainConnectionFailure, type ServerKind } from '../tls/client-tls.ts';
import { type Channel, isCallFailure, noConnection } from './channel.ts';

/** The errors after which another replica may succeed. */
const failoverCodes: ReadonlySet<ErrorCode> = new Set([
  'UNAVAILABLE',
  'NOT_WRITER',
  'LEDGER_NOT_WRITABLE',
  'DEADLINE_PASSED',
]);

/** The replicas of a server. Calls go to one replica at a time. */
export class Connection {
  readonly #channels: readonly Channel[];
  readonly isSecure: boolean;
  /** The program at the other end. */
  readonly server: ServerKind;
  #currentIndex = 0;

  constructor(channels: readonly Channel[], isSecure: boolean, server: ServerKind) {
    this.#channels = channels;
    this.isSecure = isSecure;
    this.server = server;
  }

  /** The channel of the replica in use. */
  get current(): Channel {
    return this.#channels[this.#currentIndex % this.#channels.length] as Channel;
  }

  get size(): number {
    return this.#channels.length;
  }

  /** Switches to the next replica, unless another call that failed with `failed` has done so. */
  failOver(failed: Channel): void {
    if (failed === this.current) this.#currentIndex++;
  }

  close(): void {
    for (const channel of this.#channels) channel.close();
  }
}

/**
 * Opens a channel for each of `endpoints`: "host:port", or several separated by commas. The first
 * is used first.
 * @param server the identity that the server's certificate must have, with TLS
 * @throws Error without an endpoint
 */
export function openConnection(
  endpoints: string,
  tls: ClientTls,
  server: ServerKind,
  createChannel: (endpoint: string) => Channel,
): Connection {
  const names = endpoints.split(',').flatMap((endpoint) => endpoint.trim() || []);
  if (names.length === 0) throw new Error('no endpoint of an allocator: set host:port, or several separated by commas');
  return new Connection(names.map(createChannel), tls !== undefined, server);
}

export interface CallOptions {
  /** The time without a reply after which the call fails with DEADLINE_PASSED. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly metadata?: { toHttp2Headers(): OutgoingHttpHeaders } | undefined;
  /** The parent of the server's spans. */
  readonly trace?: TraceContext | undefined;
}

/**
 * Sends one request and returns one reply. Skips replicas without a connection. A replica that
 * received the request but does not reply may have executed it. So the request is not sent again:
 * the call fails, and the next call uses another replica.
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
    const channel = connection.current;
    try {
      return await callOnce(channel, method, request, { ...options, timeoutMs: deadline - performance.now() });
    } catch (thrown) {
      const error = withConnectionFailure(thrown, connection);
      if (!failoverCodes.has(error.code)) throw error;
      connection.failOver(channel);
      if (callOutcome(error) !== 'unsent' || tries === connection.size || performance.now() >= deadline) throw error;
    }
  }
}

async function callOnce<Request, Reply>(
  channel: Channel,
  method: Method<Request, Reply, 'unary'>,
  request: MessageInput<Request>,
  { timeoutMs, signal, trace, metadata }: CallOptions,
): Promise<Reply> {
  if (signal?.aborted) throw IpledgerError.from(signal.reason);
  const headers = { ...metadata?.toHttp2Headers(), ...(trace && { [traceparentKey]: formatTraceparent(trace) }) };
  try {
    return await channel.unary(method, request, { timeoutMs, signal, headers });
  } catch (error) {
    throw IpledgerError.from(error);
  }
}

/** The outcome of a failed call: refused by the server, not sent, or unknown. */
export function callOutcome({ cause }: IpledgerError): 'refused' | 'unsent' | 'unknown' {
  if (!isCallFailure(cause)) return 'unsent';
  if (cause.metadata.get(errorCodeMetadata).length > 0) return 'refused';
  // grpc-js reports this in no other way than by its message.
  const isUnsent =
    cause.details.startsWith(noConnection) || cause.details.startsWith('Channel closed before call started');
  return cause.code === status.UNAVAILABLE && isUnsent ? 'unsent' : 'unknown';
}

/** Converts an error of a channel, and adds why a connection failed. */
function withConnectionFailure(thrown: unknown, { isSecure, server }: Connection): IpledgerError {
  const error = IpledgerError.from(thrown);
  if (!error.message.startsWith(noConnection)) return error;
  const { code, message, cause } = error;
  return new IpledgerError(code, `no connection to the ${server}: ${explainConnectionFailure(message, isSecure)}`, {
    cause,
  });
}

export interface StreamOptions {
  /** The time without a reply after which the stream fails. */
  readonly silenceMs: number;
  readonly signal: AbortSignal;
}

/**
 * Sends one request and yields its replies, until the server ends the stream or the signal is
 * aborted. After a failure, the next stream uses another replica.
 * @throws IpledgerError from the iteration; UNAVAILABLE after `silenceMs` without a reply
 */
export async function* stream<Request, Reply>(
  connection: Connection,
  method: Method<Request, Reply, 'serverStream'>,
  request: MessageInput<Request>,
  { silenceMs, signal }: StreamOptions,
): AsyncGenerator<Reply> {
  if (signal.aborted) return;
  const channel = connection.current;
  const ending = new AbortController();
  let isSilent = false;
  const cancelSilent = (): void => {
    isSilent = true;
    ending.abort();
  };
  let watchdog = setTimeout(cancelSilent, silenceMs);
  const cancel = (): void => ending.abort();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    for await (const reply of channel.serverStream(method, request, ending.signal)) {
      clearTimeout(watchdog); // the time that the consumer takes does not count
      yield reply;
      watchdog = setTimeout(cancelSilent, silenceMs);
    }
  } catch (error) {
    if (signal.aborted) return;
    const reason = isSilent
      ? new IpledgerError('UNAVAILABLE', `${method.path}: no reply for ${silenceMs} ms`, { cause: error })
      : withConnectionFailure(error, connection);
    if (failoverCodes.has(reason.code)) connection.failOver(channel);
    throw reason;
  } finally {
    clearTimeout(watchdog);
    signal.removeEventListener('abort', cancel);
  }
}
