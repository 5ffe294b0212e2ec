/**
 * The gRPC client of the command line and the agent, on Node's HTTP/2 alone. It has what these use: unary calls and server streams.
 * See docs/decisions/0023-clients-without-grpc-js.md.
 */
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
import type { ClientTls, ServerKind } from '../../tls/client-tls.ts';
import { rejectWhenAborted } from '../../process/abortable.ts';
import { type Connection, openConnection } from '../calls.ts';
import { type CallFailure, type Channel, channelLimits, isCallFailure } from '../channel.ts';
import { status } from '../../grpc-status.ts';
import { callFailure, failureOf, type StreamEnd, unsentFailure } from './failures.ts';
import { frameMessage, readMessages } from './messages.ts';
import { SessionKeeper } from './session-keeper.ts';

/**
 * Returns a connection to the replicas at `endpoints`: "host:port", or several separated by commas; the first one is used first.
 * It connects at the first call. Close it with `close()`.
 * @param server the identity that the server's certificate must have, with TLS
 * @throws Error without an endpoint
 */
export const connect = (endpoints: string, tls: ClientTls, server: ServerKind = 'allocator'): Connection =>
  openConnection(endpoints, tls, server, (endpoint) => createChannel(endpoint, tls, server));

function createChannel(endpoint: string, tls: ClientTls, server: ServerKind): Channel {
  const sessions = new SessionKeeper(endpoint, tls, server);
  const token = tls && 'token' in tls ? tls.token : undefined;
  const identify = async (): Promise<Record<string, string>> => {
    if (!token) return {};
    try {
      return { authorization: `Bearer ${await token.read()}` };
    } catch (error) {
      throw callFailure(status.UNAVAILABLE, error instanceof Error ? error.message : String(error));
    }
  };
  return {
    async unary({ path, requestSerialize, responseDeserialize }, request, { timeoutMs, signal, headers }) {
      const ending = new AbortController();
      const timer = setTimeout(
        () => ending.abort(callFailure(status.DEADLINE_EXCEEDED, 'Deadline exceeded')),
        timeoutMs,
      );
      const cancel = (): void => ending.abort(cancelled());
      signal?.addEventListener('abort', cancel, { once: true });
      try {
        const timeout = { 'grpc-timeout': `${Math.min(99_999_999, Math.max(1, Math.ceil(timeoutMs)))}m` };
        const call = { path, bytes: requestSerialize(request), headers: { ...headers, ...timeout } };
        let reply: Buffer | undefined;
        for await (const message of exchange(sessions, call, identify, ending.signal)) reply = message;
        if (reply === undefined) throw callFailure(status.INTERNAL, `${path}: empty reply`);
        return responseDeserialize(reply);
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener('abort', cancel);
      }
    },
    async *serverStream({ path, requestSerialize, responseDeserialize }, request, signal) {
      const ending = new AbortController();
      const cancel = (): void => ending.abort(cancelled());
      if (signal.aborted) cancel();
      signal.addEventListener('abort', cancel, { once: true });
      try {
        const call = { path, bytes: requestSerialize(request), headers: {} };
        for await (const message of exchange(sessions, call, identify, ending.signal))
          yield responseDeserialize(message);
      } finally {
        signal.removeEventListener('abort', cancel);
      }
    },
    close: () => sessions.close(),
  };
}

const cancelled = (): CallFailure => callFailure(status.CANCELLED, 'Cancelled on client');

interface OutgoingCall {
  readonly path: string;
  readonly bytes: Buffer;
  readonly headers: OutgoingHttpHeaders;
}

/**
 * Sends one request and yields the replies. The stream is reset when the consumer stops.
 * @param signal ends the call; its reason is the error
 * @throws CallFailure
 */
async function* exchange(
  sessions: SessionKeeper,
  { path, bytes, headers }: OutgoingCall,
  identify: () => Promise<Record<string, string>>,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const session = await rejectWhenAborted(sessions.open(), signal);
  const identity = await rejectWhenAborted(identify(), signal);
  const end: { -readonly [Part in keyof StreamEnd]: StreamEnd[Part] } = {
    response: undefined,
    trailers: undefined,
    resetCode: 0,
    isConnectionLost: false,
    error: undefined,
  };
  const stream = openStream(session, { ...headers, ...identity, ...grpcHeaders, ':path': path });
  const closed = new Promise<void>((resolve) => stream.once('close', resolve));
  stream.on('error', (error: Error) => (end.error = error));
  stream.once('response', (received: IncomingHttpHeaders) => (end.response = received));
  stream.once('trailers', (received: IncomingHttpHeaders) => (end.trailers = received));
  const cancel = (): void => stream.close(constants.NGHTTP2_CANCEL);
  signal.addEventListener('abort', cancel, { once: true });
  try {
    stream.end(frameMessage(bytes));
    yield* readMessages(stream as AsyncIterable<Buffer>, channelLimits.maxReplyBytes);
    await closed;
  } catch (error) {
    // A message that is not accepted. Other errors are of the stream, which the listener above has.
    if (isCallFailure(error)) throw error;
  } finally {
    signal.removeEventListener('abort', cancel);
    if (!stream.closed) cancel();
  }
  if (signal.aborted) throw signal.reason as CallFailure;
  end.resetCode = stream.rstCode ?? 0;
  end.isConnectionLost = session.destroyed || session.closed;
  const failure = failureOf(end);
  if (failure) throw failure;
}

/** @throws CallFailure when the connection has ended since it was opened */
function openStream(session: ClientHttp2Session, headers: OutgoingHttpHeaders): ClientHttp2Stream {
  try {
    return session.request(headers);
  } catch (error) {
    throw unsentFailure(error instanceof Error ? error.message : String(error));
  }
}

const grpcHeaders = {
  ':method': 'POST',
  'content-type': 'application/grpc',
  te: 'trailers',
} as const;
