/**
 * Makes a gRPC service of handlers. Each handler gets the caller's identity and a signal that ends with the call; its errors become
 * gRPC statuses. A method without a handler returns UNIMPLEMENTED.
 */
import type { EventEmitter } from 'node:events';
import {
  Metadata,
  type sendUnaryData,
  type Server,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { waitForCallback } from '../../process/abortable.ts';
import { type ErrorCode, errorCodeMetadata, IpledgerError } from '../../errors.ts';
import type { Logger } from '../../process/log.ts';
import type { Span } from '../../tracing/span.ts';
import { parseTraceparent, traceparentKey } from '../../tracing/trace-context.ts';
import type { Tracer } from '../../tracing/tracer.ts';
import type { MessageInput, Method } from '../../../proto/codec.ts';
import { anonymous, callerOf } from './authorization.ts';
import { refuseOversized } from './request-limits.ts';
import { type Abortable, CallEnding } from './call-ending.ts';
import { statusDetails } from './status-details.ts';

/** The context of one call. */
export interface CallContext {
  /** The authenticated identity of the caller. */
  readonly actor: string;
  /** The node of a caller that is an agent. The agent may not name another node. */
  readonly ownNode?: string;
  /** Aborted when the caller has disconnected or its deadline has passed. */
  readonly signal: AbortSignal;
  /** The same without a signal, which few calls need. Absent: read `signal`. */
  readonly caller?: Abortable;
  /** Time since the request arrived, at the standby that forwarded it if there is one. Absent: 0. */
  readonly elapsedMs?: () => number;
  /** Time until the caller's deadline; Infinity without one. Absent: Infinity. */
  readonly remainingMs?: () => number;
  /** The span of the call, if its caller sent a context of a sampled trace. */
  readonly span?: Span | undefined;
}

/** A call that may be forwarded to another replica. */
export interface ForwardableCall {
  readonly path: string;
  /** The bytes that arrived. */
  readonly request: Buffer;
  readonly context: CallContext;
  /** Whether another replica forwarded it. It is not forwarded again. */
  readonly isForwarded: boolean;
}

export interface ServeOptions {
  readonly log: Logger;
  /** Handles a call here, or forwards it and returns the bytes of the reply. Absent: handles all here. */
  readonly forward?: <Reply>(call: ForwardableCall, here: () => Promise<Reply>) => Promise<Reply | Buffer>;
  /** Called after each unary call with its path, as "/ipledger.v1.Ipam/Allocate", and "OK" or its error code. */
  readonly onAnswered?: (path: string, code: ErrorCode | 'OK') => void;
  /** Records a span for each unary call with a context of a sampled trace. Absent: none. */
  readonly tracer?: Tracer | undefined;
  /** Ends all streams, so that their clients connect to another replica. */
  readonly stopping?: AbortSignal;
}

/** The handlers of a service: a promise for one reply, an async iterable for many. */
export type Handlers<Service> = {
  readonly [Name in keyof Service]?: Service[Name] extends Method<infer Request, infer Reply, 'unary'>
    ? (request: Request, context: CallContext) => Promise<MessageInput<Reply>>
    : Service[Name] extends Method<infer Request, infer Reply, 'serverStream'>
      ? (request: Request, context: CallContext) => AsyncIterable<MessageInput<Reply>>
      : never;
};

type AnyMethod = Method<never, never>;
type AnyMethods = Record<string, AnyMethod>;
type AnyHandler = (request: unknown, context: CallContext) => Promise<unknown> & AsyncIterable<unknown>;
type Call = EventEmitter & Pick<ServerUnaryCall<unknown, unknown>, 'metadata' | 'cancelled' | 'getDeadline'>;
type UnaryCall = ServerUnaryCall<object, unknown>;

/** A status is sent in a header, and clients accept only some KiB of headers. */
const maxDetailsLength = 2_000;

/** The property of a request that has its bytes as they arrived. */
const arrivedBytes = Symbol('arrivedBytes');
type ArrivedRequest = object & { [arrivedBytes]?: Buffer };

/** Metadata of a forwarded call: that it is forwarded, and how long the caller has waited. */
export const forwardedKey = 'ipledger-forwarded';
export const elapsedKey = 'ipledger-elapsed-ms';

/** Adds a service to a server. */
export function addGrpcService<Service extends object>(
  server: Server,
  service: Service,
  handlers: Handlers<Service>,
  options: ServeOptions,
): void {
  const implementation: UntypedServiceImplementation = {};
  const definition: Record<string, AnyMethod> = {};
  for (const [name, method] of Object.entries(service as AnyMethods)) {
    const handler = (handlers as Record<string, AnyHandler | undefined>)[name];
    implementation[name] =
      method.kind === 'unary' ? unaryCall(method.path, handler, options) : streamCall(method.path, handler, options);
    definition[name] = method.kind === 'unary' ? withRequestBytes(method) : method;
  }
  server.addService(definition as unknown as ServiceDefinition, implementation);
}

/** Keeps the bytes of each request, and accepts replies that are bytes, so that calls can be forwarded unchanged. */
function withRequestBytes(method: AnyMethod): AnyMethod {
  return {
    ...method,
    requestDeserialize: (bytes) => {
      const request = method.requestDeserialize(bytes) as ArrivedRequest;
      request[arrivedBytes] = Buffer.isBuffer(bytes)
        ? bytes
        : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      return request as never;
    },
    responseSerialize: (reply) => (Buffer.isBuffer(reply) ? reply : method.responseSerialize(reply)),
  };
}

function unaryCall(path: string, handler: AnyHandler | undefined, options: ServeOptions) {
  const { log, forward, onAnswered, tracer } = options;
  return (call: UnaryCall, reply: sendUnaryData<unknown>): void => {
    const answer = async (): Promise<void> => {
      const span = tracer && startCallSpan(tracer, path, call);
      try {
        if (!handler) throw notImplemented(path);
        refuseOversized(path, call.request);
        const context = contextOf(call, span);
        const here = () => handler(call.request, context);
        reply(null, await (forward ? forward(forwardableCall(path, call, context), here) : here()));
        onAnswered?.(path, 'OK');
        span?.end();
      } catch (error) {
        reply(statusOf(path, error, log));
        const { code } = IpledgerError.from(error);
        onAnswered?.(path, code);
        span?.end(code);
      }
    };
    void answer();
  };
}

/** The caller's context names the parent; whether the span is recorded is decided by this program's own ratio. */
function startCallSpan(tracer: Tracer, path: string, { metadata }: Call): Span | undefined {
  const [traceparent, ...others] = metadata.get(traceparentKey);
  if (traceparent === undefined || others.length > 0) return undefined;
  const name = path.slice(path.lastIndexOf('.') + 1); // "/ipledger.v1.Ipam/Allocate"
  return tracer.start(name, parseTraceparent(traceparent), {
    kind: 'server',
    attributes: { 'rpc.system': 'grpc', 'rpc.method': path.slice(1) },
  });
}

function forwardableCall(path: string, call: UnaryCall, context: CallContext): ForwardableCall {
  const request = (call.request as ArrivedRequest)[arrivedBytes];
  if (!request) throw new Error(`${path}: the request is not the one that arrived`);
  return {
    path,
    request,
    context,
    isForwarded: call.metadata.get(forwardedKey).length > 0,
  };
}

function streamCall(path: string, handler: AnyHandler | undefined, { log, stopping }: ServeOptions) {
  return (call: ServerWritableStream<unknown, unknown>): void => {
    const answer = async (): Promise<void> => {
      const context = contextOf(call);
      const signal = stopping ? AbortSignal.any([context.signal, stopping]) : context.signal;
      try {
        if (!handler) throw notImplemented(path);
        refuseOversized(path, call.request);
        for await (const reply of handler(call.request, { ...context, signal })) {
          if (signal.aborted) break;
          if (!call.write(reply)) await waitForDrain(call, signal);
        }
        if (context.signal.aborted) return;
        if (stopping?.aborted) throw new IpledgerError('UNAVAILABLE', 'this replica stops: connect to another');
        call.end();
      } catch (error) {
        if (!context.signal.aborted) call.emit('error', statusOf(path, error, log));
      }
    };
    void answer();
  };
}

function contextOf(call: Call, span?: Span): CallContext {
  const ending = new CallEnding();
  call.on('cancelled', () => ending.end());
  if (call.cancelled) ending.end();
  const caller = callerOf(call.metadata);
  const now = performance.now();
  // The caller sent its deadline as a duration. The monotonic clock measures it from here.
  const deadline = now + Number(call.getDeadline()) - Date.now();
  const waitedMs = (): number => Math.max(0, Number(call.metadata.get(elapsedKey)[0] ?? 0) || 0);
  return {
    actor: caller?.uri ?? anonymous,
    ...(caller?.kind === 'agent' && { ownNode: caller.name }),
    caller: ending,
    get signal() {
      return ending.signal;
    },
    elapsedMs: () => performance.now() - now + waitedMs(),
    remainingMs: () => deadline - performance.now(),
    span,
  };
}

/** Waits until a slow reader accepts more. It delays only its own stream. */
function waitForDrain(call: ServerWritableStream<unknown, unknown>, signal: AbortSignal): Promise<void> {
  return waitForCallback(signal, (done) => {
    call.on('drain', done);
    return () => call.off('drain', done);
  });
}

function statusOf(path: string, thrown: unknown, log: Logger) {
  const error = IpledgerError.from(thrown);
  if (error.kind === 'bug') log.error({ err: error, path }, 'a call failed');
  // While a ledger is frozen, every waiting Pod repeats this error: one line, without a stack.
  if (error.kind === 'damaged') log.error({ code: error.code, reason: error.message, path }, 'a call was rejected');
  const metadata = new Metadata();
  metadata.set(errorCodeMetadata, error.code);
  const details = statusDetails(error.message, maxDetailsLength);
  return Object.assign(new Error(details), { code: error.grpcStatus, details, metadata });
}

const notImplemented = (path: string): IpledgerError =>
  new IpledgerError(
    'NOT_IMPLEMENTED',
    `${path} is not served here (docs/architecture.md lists the services of each program)`,
  );
