/**
 * The client's side of our gRPC API: promises and async iterables with a deadline on every call (grpc-js has none, and no
 * connect timeout either) and a watchdog on every stream; and several replicas as one, of which the next is asked when one
 * does not answer.
 *
 * grpc-js can be given several addresses for one channel, but stays with one that hangs for as long as its connection stands,
 * whatever deadlines pass. So each replica has a channel of its own.
 */
import { type ChannelOptions, Client, Metadata, status } from '@grpc/grpc-js';
import type { Input, Method } from '../proto/codec.ts';
import { type ErrorCode, errorCodeMetadata, IpledgerError } from './errors.ts';
import { clientCredentials, type ServerKind, type Tls, whyNoConnection } from './tls.ts';

const channelOptions: ChannelOptions = {
  'grpc.max_receive_message_length': 32 << 20,
  // A stream, or a long wait, at a replica that hangs is given up after these two.
  'grpc.keepalive_time_ms': 5_000,
  'grpc.keepalive_timeout_ms': 5_000,
  'grpc.keepalive_permit_without_calls': 1,
  // After a peer's restart the next call should meet it, not a backoff of two minutes.
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 2_000,
  // With TLS a name is sent ahead, and must not be an address. Nobody goes by it: see `clientCredentials`.
  'grpc.ssl_target_name_override': 'allocator',
};

/** After these another replica may do better; anything else it would answer as well. */
const elsewhere: ReadonlySet<ErrorCode> = new Set(['UNAVAILABLE', 'NOT_WRITER', 'DEADLINE_PASSED']);

/** The replicas of an allocator, of which one is asked at a time. */
export class Connection {
  readonly #clients: readonly Client[];
  /** Whether it is by TLS. */
  readonly secured: boolean;
  /** Who is there. */
  readonly server: ServerKind;
  #turn = 0;

  constructor(clients: readonly Client[], secured: boolean, server: ServerKind) {
    this.#clients = clients;
    this.secured = secured;
    this.server = server;
  }

  /** The channel to who is asked now. */
  get current(): Client {
    return this.#clients[this.#turn % this.#clients.length] as Client;
  }

  get size(): number {
    return this.#clients.length;
  }

  /** Has the next one asked from now on, if `failed` is still the one: many calls fail at once, and they turn away once. */
  turnFrom(failed: Client): void {
    if (failed === this.current) this.#turn++;
  }

  close(): void {
    for (const client of this.#clients) client.close();
  }
}

/**
 * A connection to the replicas at `endpoints`, "host:port" or several joined with commas; the first is asked first. Closed with
 * `close()`. Nothing is connected before the first call.
 * @param server who must be there, where TLS is on.
 * @throws Error for no endpoint at all
 */
export function connect(endpoints: string, tls: Tls, server: ServerKind = 'allocator'): Connection {
  const names = endpoints.split(',').flatMap((endpoint) => endpoint.trim() || []);
  if (names.length === 0) throw new Error('no endpoint of an allocator: want host:port, or several joined with commas');
  const clients = names.map((name) => new Client(name, clientCredentials(tls, server), channelOptions));
  return new Connection(clients, tls !== undefined, server);
}

export interface CallOptions {
  /** The call fails with DEADLINE_PASSED when it is not answered within this time. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Sent with the request. */
  readonly metadata?: Metadata | undefined;
}

/**
 * One request, one reply. A replica to which there is no connection is passed over. One that was sent the request and does not
 * answer may have done what it says, so nothing is sent twice here: the call fails, and the next call asks another replica.
 * @throws IpledgerError
 */
export async function call<Request, Reply>(
  connection: Connection,
  method: Method<Request, Reply, 'unary'>,
  request: Input<Request>,
  options: CallOptions,
): Promise<Reply> {
  const until = performance.now() + options.timeoutMs;
  for (let tries = 1; ; tries++) {
    const client = connection.current;
    try {
      return await callOnce(client, method, request, { ...options, timeoutMs: until - performance.now() });
    } catch (thrown) {
      const error = inPlainWords(thrown, connection);
      if (!elsewhere.has(error.code)) throw error;
      connection.turnFrom(client);
      if (fateOf(error) !== 'unsent' || tries === connection.size || performance.now() >= until) throw error;
    }
  }
}

function callOnce<Request, Reply>(
  client: Client,
  method: Method<Request, Reply, 'unary'>,
  request: Input<Request>,
  { timeoutMs, signal, metadata = new Metadata() }: CallOptions,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(IpledgerError.from(signal.reason));
      return;
    }
    const cancel = (): void => sent.cancel();
    const sent = client.makeUnaryRequest<Input<Request>, Reply>(
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

/**
 * What became of a request whose call failed: it was answered, with a refusal; it never left, for want of a connection; or
 * nobody knows.
 */
export function fateOf({ cause }: IpledgerError): 'refused' | 'unsent' | 'unknown' {
  if (!(cause instanceof Error && 'metadata' in cause && cause.metadata instanceof Metadata)) return 'unsent';
  if (cause.metadata.get(errorCodeMetadata).length > 0) return 'refused';
  const { code, details } = cause as Error & { readonly code?: status; readonly details?: string };
  // grpc-js has no other sign of it than its sentence.
  const neverLeft = /^(No connection established|Channel closed before call started)/.test(details ?? '');
  return code === status.UNAVAILABLE && neverLeft ? 'unsent' : 'unknown';
}

/** What grpc-js rejected with, as a member of the vocabulary; of a connection that did not come about, why. */
function inPlainWords(thrown: unknown, { secured, server }: Connection): IpledgerError {
  const error = IpledgerError.from(thrown);
  if (!error.message.startsWith('No connection established')) return error;
  const { code, message, cause } = error;
  return new IpledgerError(code, `no connection to the ${server}: ${whyNoConnection(message, secured)}`, { cause });
}

export interface StreamOptions {
  /** The stream is given up as dead when nothing arrived for this long. */
  readonly silenceMs: number;
  readonly signal: AbortSignal;
}

/**
 * One request, many replies, until the server ends, the signal is aborted (the iterable then ends), or it breaks; the next
 * stream is then asked of another replica.
 * @throws IpledgerError from the iteration; UNAVAILABLE after `silenceMs` of silence.
 */
export async function* stream<Request, Reply>(
  connection: Connection,
  method: Method<Request, Reply, 'serverStream'>,
  request: Input<Request>,
  { silenceMs, signal }: StreamOptions,
): AsyncGenerator<Reply> {
  if (signal.aborted) return;
  const client = connection.current;
  const sent = client.makeServerStreamRequest<Input<Request>, Reply>(
    method.path,
    method.requestSerialize,
    method.responseDeserialize,
    request,
  );
  let silent = false;
  const giveUp = (): void => {
    silent = true;
    sent.cancel();
  };
  let watchdog = setTimeout(giveUp, silenceMs);
  const cancel = (): void => sent.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    for await (const reply of sent) {
      clearTimeout(watchdog); // while the consumer is busy with it: its own slowness is no silence
      yield reply as Reply;
      watchdog = setTimeout(giveUp, silenceMs);
    }
  } catch (error) {
    if (signal.aborted) return;
    const reason = silent
      ? new IpledgerError('UNAVAILABLE', `${method.path}: nothing heard for ${silenceMs} ms`, { cause: error })
      : inPlainWords(error, connection);
    if (elsewhere.has(reason.code)) connection.turnFrom(client);
    throw reason;
  } finally {
    clearTimeout(watchdog);
    signal.removeEventListener('abort', cancel);
    sent.on('error', () => undefined);
    sent.cancel();
  }
}
