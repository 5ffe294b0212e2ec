/** A channel to one replica, made by client.ts on grpc-js, by http2/connect.ts on Node's HTTP/2. */
import type { OutgoingHttpHeaders } from 'node:http2';
import type { MessageInput, Method } from '../../proto/codec.ts';

/** Limits of both channels. */
export const channelLimits = {
  /** A longer reply is an error. */
  maxReplyBytes: 32 << 20,
  // A stream or a long call to a replica that hangs fails after the sum of these two.
  keepaliveMs: 5_000,
  keepaliveTimeoutMs: 5_000,
  /** Between the pings of a connection on which no call begins, of a client on http2/. */
  idleKeepaliveMs: 60_000,
  /**
   * The wait after a failed connection, during which calls fail immediately. It doubles up to the
   * maximum.
   */
  reconnect: { firstMs: 100, maxMs: 2_000 },
} as const;

/** The TLS server name, which must not be an address. The certificate's identity is verified. */
export const tlsServerName = 'allocator';

/** What a failed connection begins with, in `details`: the request was not sent. */
export const noConnection = 'No connection established';

/** The error of a call, as grpc-js has it. Without a reply of the server, `metadata` is empty. */
export interface CallFailure extends Error {
  readonly code: number;
  readonly details: string;
  readonly metadata: { get(key: string): (string | Buffer)[] };
}

/** Whether an error is of a channel. */
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
