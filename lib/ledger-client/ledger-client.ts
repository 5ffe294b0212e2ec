/** A client of the ledger's gRPC API, with the deadlines that all programs use. */
import type { MessageInput, Method } from '../../proto/codec.ts';
import type { Position } from '../../proto/generated/ipledger.ts';
import { IpledgerError } from '../errors.ts';
import { call, type Connection, stream } from '../grpc/calls.ts';
import type { TraceContext } from '../tracing/trace-context.ts';

export const callTimeoutMs = 10_000;
/** A stream that is silent for this long is broken, because keepalives come every few seconds. */
export const watchSilenceMs = 20_000;

export interface LedgerClient {
  /** Sends a unary call. @throws IpledgerError */
  call<Request, Reply>(
    method: Method<Request, Reply, 'unary'>,
    request: MessageInput<Request>,
    signal?: AbortSignal,
    trace?: TraceContext,
  ): Promise<Reply>;
  /** Opens a server stream, which an abort ends without an error. Throws as `call`. */
  stream<Request, Reply>(
    method: Method<Request, Reply, 'serverStream'>,
    request: MessageInput<Request>,
    signal?: AbortSignal,
  ): AsyncIterable<Reply>;
}

/** @param ownSignal ends calls and streams that are given no signal */
export const createLedgerClient = (connection: Connection, ownSignal: AbortSignal): LedgerClient => ({
  call: (method, request, signal = ownSignal, trace) =>
    call(connection, method, request, { timeoutMs: callTimeoutMs, signal, trace }),
  stream: (method, request, signal = ownSignal) =>
    stream(connection, method, request, { silenceMs: watchSilenceMs, signal }),
});

/** The position in a reply. Each reply of the ledger states one. @throws IpledgerError BUG */
export function requirePosition(position: Position | undefined): Position {
  if (!position) throw new IpledgerError('BUG', 'a reply of the allocator has no position');
  return position;
}
