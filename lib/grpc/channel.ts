/** A channel to one replica: client.ts implements it on grpc-js, http2/connect.ts on node:http2. */
import type { OutgoingHttpHeaders } from 'node:http2';
import type { MessageInput, Method } from '../../proto/codec.ts';

/** Limits that both implementations use. */
export const channelLimits = {
  /** The longest reply. A longer one is an error. */
  maxReplyBytes: 32 << 20,
  // A stream or long call to a replica that hangs fails after the sum of these two times.
  keepaliveMs: 5_000,
  keepaliveTimeoutMs: 5_000,
  /** The time between pings of a connection without new calls, in the client in http2/. */
  idleKeepaliveMs: 60_000,
  /** The backoff after a failed connection. Calls fail immediately until it ends. */
  reconnect: { firstMs: 100, maxMs: 2_000 },
} as const;

/** The TLS server name, which must not be an address. The certificate's identity is verified. */
export const tlsServerName = 'allocator';

/** The beginning of `details` if the connection failed, so that the request was not sent. */
export const noConnection = 'No connection established';

/** The error of a call, as in grpc-js. `metadata` is empty if the server has not replied. */
export interface CallFailure extends Error {
  readonly code: number;
  readonly details: string;
  readonly metadata: { get(key: string): (string | Buffer)[] };
}

export const isCallFailure = (error: unknown): error is CallFailure =>
  error instanceof Error &&
  'details' in error &&
  'metadata' in error &&
  'code' in error &&
  typeof error.code === 'number';

export interface UnaryOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly headers: OutgoingHttpHeaders;
}

export interface Channel {
  /** Sends one request. Resolves with the reply. @throws CallFailure, also after an abort */
  unary<Request, Reply>(
    method: Method<Request, Reply, 'unary'>,
    request: MessageInput<Request>,
    options: UnaryOptions,
  ): Promise<Reply>;
  /** Sends one request and yields the replies. @throws CallFailure, also after an abort */
  serverStream<Request, Reply>(
    method: Method<Request, Reply, 'serverStream'>,
    request: MessageInput<Request>,
    signal: AbortSignal,
  ): AsyncIterable<Reply>;
  /** Ends the calls and closes the connection. */
  close(): void;
}
