/**
 * The client's side of our gRPC API: promises and async iterables with a deadline on every call (grpc-js has none, and no
 * connect timeout either) and a watchdog on every stream.
 */
import { type ChannelOptions, Client, Metadata } from '@grpc/grpc-js';
import type { Input, Method } from '../proto/codec.ts';
import { IpledgerError } from './errors.ts';
import { clientCredentials, type TlsFiles } from './tls.ts';

const channelOptions: ChannelOptions = {
  'grpc.max_receive_message_length': 32 << 20,
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5_000,
  'grpc.keepalive_permit_without_calls': 1,
  // After a peer's restart the next call should meet it, not a backoff of two minutes.
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 2_000,
};

/** A channel to an allocator; closed with `close()`. Nothing is connected before the first call. */
export function connect(endpoint: string, tls: TlsFiles | undefined): Client {
  return new Client(endpoint, clientCredentials(tls), channelOptions);
}

export interface CallOptions {
  /** The call fails with DEADLINE_PASSED when it is not answered within this time. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * One request, one reply.
 * @throws IpledgerError
 */
export function call<Request, Reply>(
  client: Client,
  method: Method<Request, Reply, 'unary'>,
  request: Input<Request>,
  { timeoutMs, signal }: CallOptions,
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
      new Metadata(),
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

export interface StreamOptions {
  /** The stream is given up as dead when nothing arrived for this long. */
  readonly silenceMs: number;
  readonly signal: AbortSignal;
}

/**
 * One request, many replies, until the server ends, the signal is aborted (the iterable then ends), or it breaks.
 * @throws IpledgerError from the iteration; UNAVAILABLE after `silenceMs` of silence.
 */
export async function* stream<Request, Reply>(
  client: Client,
  method: Method<Request, Reply, 'serverStream'>,
  request: Input<Request>,
  { silenceMs, signal }: StreamOptions,
): AsyncGenerator<Reply> {
  if (signal.aborted) return;
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
    if (silent)
      throw new IpledgerError('UNAVAILABLE', `${method.path}: nothing heard for ${silenceMs} ms`, { cause: error });
    throw IpledgerError.from(error);
  } finally {
    clearTimeout(watchdog);
    signal.removeEventListener('abort', cancel);
    sent.on('error', () => undefined);
    sent.cancel();
  }
}
