/** A client of the ledger's gRPC API: calls and streams with the deadlines that all programs use. */
import type { MessageInput, Method } from '../../proto/codec.ts';
import type { Position } from '../../proto/generated/ipledger.ts';
import { IpledgerError } from '../errors.ts';
import { call, type Connection, stream } from '../grpc/calls.ts';
import type { TraceContext } from '../tracing/trace-context.ts';

export const callTimeoutMs = 10_000;
/** The server sends a keepalive every few seconds. Without a reply for this time, the stream is broken. */
export const watchSilenceMs = 20_000;

export interface LedgerClient {
  /** A unary call. @throws IpledgerError */
  call<Request, Reply>(
    method: Method<Request, Reply, 'unary'>,
    request: MessageInput<Request>,
    signal?: AbortSignal,
    trace?: TraceContext,
  ): Promise<Reply>;
  /** A server stream. It ends without an error when the signal is aborted. The iteration throws as `call`. */
  stream<Request, Reply>(
    method: Method<Request, Reply, 'serverStream'>,
    request: MessageInput<Request>,
    signal?: AbortSignal,
  ): AsyncIterable<Reply>;
}

/** @param ownSignal ends calls and streams without a signal of their own */
export const createLedgerClient = (connection: Connection, ownSignal: AbortSignal): LedgerClient => ({
  call: (method, request, signal = ownSignal, trace) =>
    call(connection, method, request, { timeoutMs: callTimeoutMs, signal, trace }),
  stream: (method, request, signal = ownSignal) =>
    stream(connection, method, request, { silenceMs: watchSilenceMs, signal }),
});

/** The position of a reply, which each reply of the ledger states. @throws IpledgerError BUG */
export function requirePosition(position: Position | undefined): Position {
  if (!position) throw new IpledgerError('BUG', 'a reply of the allocator has no position');
  return position;
}
