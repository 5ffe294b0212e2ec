/**
 * The gRPC client of the CLI and the agent, on Node's HTTP/2 alone. It supports only unary calls
 * and server streams. See docs/decisions/0023-clients-without-grpc-js.md.
 */
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { errorMessage, status } from '../../errors.ts';
import type { ClientTls, ServerKind } from '../../tls/client-tls.ts';
import { rejectWhenAborted } from '../../process/abortable.ts';
import { type Connection, openConnection } from '../calls.ts';
import { type CallFailure, type Channel, channelLimits, isCallFailure } from '../channel.ts';
import { callFailure, failureOf, isRefused, type StreamEnd, unsentFailure } from './failures.ts';
import { SessionKeeper } from './session-keeper.ts';

/**
 * Opens a connection to the replicas at `endpoints`: "host:port", or several separated by commas.
 * The first is used first. It connects at the first call. Close it with `close()`.
 * @param server the identity that the server's certificate must have, with TLS
 * @param onDisconnected called when the connection to a replica has ended, after its last reply
 * @throws Error without an endpoint
 */
export const connect = (
  endpoints: string,
  tls: ClientTls,
  server: ServerKind = 'allocator',
  onDisconnected?: () => void,
): Connection =>
  openConnection(endpoints, tls, server, (endpoint) =>
    createChannel(new SessionKeeper(endpoint, tls, server, { onDisconnected }), tls),
  );

function createChannel(sessions: SessionKeeper, tls: ClientTls): Channel {
  const token = tls && 'token' in tls ? tls.token : undefined;
  const identify = async (): Promise<Record<string, string>> => {
    if (!token) return {};
    try {
      return { authorization: `Bearer ${await token.read()}` };
    } catch (error) {
      throw callFailure(status.UNAVAILABLE, errorMessage(error));
    }
  };
  return {
    async unary({ path, requestSerialize, responseDeserialize }, request, { timeoutMs, signal, headers }) {
      const ending = new AbortController();
      const timer = setTimeout(
        () => ending.abort(callFailure(status.DEADLINE_EXCEEDED, 'Deadline exceeded')),
        Math.max(1, timeoutMs), // Node warns of a negative timeout
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
 * Sends one request and yields the replies. Resets the stream when the consumer stops. A request
 * that the server refused is sent once more: an allocator ends its connections at each new epoch.
 * @param signal ends the call; its reason is the error
 * @throws CallFailure
 */
async function* exchange(
  sessions: SessionKeeper,
  { path, bytes, headers }: OutgoingCall,
  identify: () => Promise<Record<string, string>>,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  for (let isRepeated = false; ; isRepeated = true) {
    const session = await rejectWhenAborted(sessions.open(), signal);
    const identity = await rejectWhenAborted(identify(), signal);
    const call = { path, bytes, headers: { ...headers, ...identity } };
    const end = yield* exchangeOn(session, call, signal);
    const failure = failureOf(end);
    if (!failure) return;
    if (isRepeated || !isRefused(end)) throw failure;
  }
}

/** Exchanges messages on one connection. Returns how the stream ended. */
async function* exchangeOn(
  session: ClientHttp2Session,
  { path, bytes, headers }: OutgoingCall,
  signal: AbortSignal,
): AsyncGenerator<Buffer, StreamEnd> {
  const end: { -readonly [Part in keyof StreamEnd]: StreamEnd[Part] } = {
    response: undefined,
    trailers: undefined,
    resetCode: 0,
    isConnectionLost: false,
    error: undefined,
  };
  const stream = openStream(session, { ...headers, ...grpcHeaders, ':path': path });
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
    // Rethrows the error of a rejected message. The listener above reports errors of the stream.
    if (isCallFailure(error)) throw error;
  } finally {
    signal.removeEventListener('abort', cancel);
    if (!stream.closed) cancel();
  }
  if (signal.aborted) throw signal.reason as CallFailure;
  end.resetCode = stream.rstCode ?? 0;
  end.isConnectionLost = session.destroyed || session.closed;
  return end;
}

/** @throws CallFailure if the connection has ended */
function openStream(session: ClientHttp2Session, headers: OutgoingHttpHeaders): ClientHttp2Stream {
  try {
    return session.request(headers);
  } catch (error) {
    throw unsentFailure(errorMessage(error));
  }
}

const grpcHeaders = {
  ':method': 'POST',
  'content-type': 'application/grpc',
  te: 'trailers',
} as const;

const prefixBytes = 5;

/** Adds the prefix of an uncompressed message. */
export function frameMessage(message: Buffer): Buffer {
  const framed = Buffer.allocUnsafe(prefixBytes + message.length);
  framed[0] = 0;
  framed.writeUInt32BE(message.length, 1);
  message.copy(framed, prefixBytes);
  return framed;
}

/**
 * Yields the messages in a stream of bytes. Reads further bytes only when the consumer takes the
 * next message.
 * @param maxBytes the limit of one message
 * @throws CallFailure RESOURCE_EXHAUSTED for a longer message; INTERNAL for a compressed or
 * truncated one
 */
export async function* readMessages(bytes: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = [];
  let size = 0;
  let needed = prefixBytes;
  for await (const chunk of bytes) {
    chunks.push(chunk);
    size += chunk.length;
    while (size >= needed) {
      const joined = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size);
      const end = prefixBytes + messageLength(joined, maxBytes);
      const isComplete = size >= end;
      if (isComplete) yield joined.subarray(prefixBytes, end);
      chunks = [isComplete ? joined.subarray(end) : joined];
      size = chunks[0]?.length ?? 0;
      needed = isComplete ? prefixBytes : end;
    }
  }
  if (size > 0) throw callFailure(status.INTERNAL, 'the reply was cut off');
}

/** Reads the message length in a prefix. @throws CallFailure if it is too long or compressed */
function messageLength(prefix: Buffer, maxBytes: number): number {
  const length = prefix.readUInt32BE(1);
  if (prefix[0] !== 0) throw callFailure(status.INTERNAL, 'the reply is compressed, which was not requested');
  if (length > maxBytes)
    throw callFailure(status.RESOURCE_EXHAUSTED, `the reply has ${length} bytes, and ${maxBytes} is the limit`);
  return length;
}
