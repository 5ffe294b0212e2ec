/** A client of the ledger's gRPC API, with the deadlines of all programs. */
import type { MessageInput, Method } from '../../proto/codec.ts';
import type { Position } from '../../proto/generated/ipledger.ts';
import { IpledgerError } from '../errors.ts';
import { call, type Connection, stream } from '../grpc/calls.ts';
import type { TraceContext } from '../tracing/trace-context.ts';

export const callTimeoutMs = 10_000;
/** A stream without a reply for this time is broken: keepalives come every few seconds. */
export const watchSilenceMs = 20_000;

export interface LedgerClient {
  /** A unary call. @throws IpledgerError */
  call<Request, Reply>(
    method: Method<Request, Reply, 'unary'>,
    request: MessageInput<Request>,
    signal?: AbortSignal,
    trace?: TraceContext,
  ): Promise<Reply>;
  /** A server stream, which ends at an abort without an error. The iteration throws as `call`. */
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
