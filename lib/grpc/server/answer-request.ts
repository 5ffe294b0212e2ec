/** Answers one request of a unary method: limits, forwarding, status, count and span. */
import type { Method } from '../../../proto/codec.ts';
import { type ErrorCode, IpledgerError } from '../../errors.ts';
import type { Logger } from '../../process/log.ts';
import type { Tracer } from '../../tracing/tracer.ts';
import type { CallContext } from './call-context.ts';
import { type CallStatus, statusOf } from './call-status.ts';
import { refuseOversized } from './request-limits.ts';

/** A call that can be forwarded to another replica. */
export interface ForwardableCall {
  readonly path: string;
  /** The bytes of the request as they arrived. */
  readonly request: Buffer;
  readonly context: CallContext;
}

export interface ServeOptions {
  readonly log: Logger;
  /**
   * Answers a call whose handler threw NOT_WRITER. Returns the bytes of the writer's reply, or the
   * result of `here` once this replica is the writer. Absent: the call fails. Not used for a call
   * that another replica forwarded.
   */
  readonly forward?: <Reply>(call: ForwardableCall, here: () => Promise<Reply>) => Promise<Reply | Buffer>;
  /** Called after a unary call, with its path and "OK" or its error code. */
  readonly onAnswered?: (path: string, code: ErrorCode | 'OK') => void;
  /** Records a span for each unary call that carries a sampled trace. Absent: none. */
  readonly tracer?: Tracer | undefined;
  /** Ends all streams when it is aborted, so that their clients connect to another replica. */
  readonly stopping?: AbortSignal;
}

export type AnyMethod = Method<never, never>;
export type AnyHandler = (request: unknown, context: CallContext) => Promise<unknown> & AsyncIterable<unknown>;

/** A unary method with its handler and options. */
export interface Served {
  readonly method: AnyMethod;
  readonly handler: AnyHandler | undefined;
  readonly options: ServeOptions;
}

/** One request of a unary method. */
export interface Arrived {
  readonly context: CallContext;
  /** Decodes the request. @throws IpledgerError if it is invalid or the caller may not send it */
  request(): object;
  /** Returns the bytes of the request as they arrived. */
  bytes(): Buffer;
  /** Counts the reply's bytes. @throws IpledgerError OVERLOADED if the client reads no replies */
  holdReply(bytes: number): void;
  /** Whether another replica forwarded the request. */
  isForwarded(): boolean;
}

/** Answers one request within its limits, here or by forwarding. Never rejects. */
export async function answerRequest(
  served: Served,
  arrived: Arrived,
  send: (error: CallStatus | null, reply?: unknown) => void,
): Promise<void> {
  const {
    method,
    handler,
    options: { log, onAnswered },
  } = served;
  const { path } = method;
  const { context } = arrived;
  try {
    if (!handler) throw notImplemented(path);
    const request = arrived.request();
    refuseOversized(path, request);
    let reply: unknown;
    try {
      reply = await handler(request, context);
    } catch (error) {
      const forwarded = forward(served, arrived, { request, error });
      if (!forwarded) throw error;
      reply = await forwarded;
    }
    const encoded = encodeReply(method, reply);
    arrived.holdReply(encoded.length);
    send(null, encoded);
    onAnswered?.(path, 'OK');
    context.span?.end();
  } catch (error) {
    send(statusOf(path, error, log));
    const { code } = IpledgerError.from(error);
    onAnswered?.(path, code);
    context.span?.end(code);
  }
}

/** Forwards a request whose handler threw NOT_WRITER; undefined if it is not forwarded. */
function forward(
  { method: { path }, handler, options }: Served,
  arrived: Arrived,
  { request, error }: { readonly request: object; readonly error: unknown },
): Promise<unknown> | undefined {
  if (!options.forward || !handler || IpledgerError.from(error).code !== 'NOT_WRITER') return undefined;
  if (arrived.isForwarded()) return undefined;
  const { context } = arrived;
  return options.forward({ path, request: arrived.bytes(), context }, () => handler(request, context));
}

/** Encodes a reply, unless its handler or another replica has already encoded it. */
export const encodeReply = ({ responseSerialize }: AnyMethod, reply: unknown): Buffer =>
  Buffer.isBuffer(reply) ? reply : responseSerialize(reply as never);

export const notImplemented = (path: string): IpledgerError =>
  new IpledgerError(
    'NOT_IMPLEMENTED',
    `${path} is not served here (docs/architecture.md lists the services of each program)`,
  );
