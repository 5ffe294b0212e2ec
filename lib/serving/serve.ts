/**
 * How handlers become a gRPC service: typed by the generated tables, with the caller's identity, a signal that ends with the
 * call, and errors as statuses. What has no handler answers UNIMPLEMENTED; nothing pretends.
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
import { untilCalled } from '../deadline.ts';
import { type ErrorCode, errorCodeMetadata, IpledgerError } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { Input, Method } from '../../proto/codec.ts';
import { anonymous, callerOf } from './authorization.ts';
import { refuseOversized } from './limits.ts';

/** Of one call. */
export interface CallContext {
  /** The authenticated identity of the caller. */
  readonly actor: string;
  /** The node of a caller who is an agent: it may speak of no other. */
  readonly ownNode?: string;
  /** Aborted when the caller is gone or its deadline has passed. */
  readonly signal: AbortSignal;
  /** How long ago the request arrived; at the standby that passed it on, if one did. Absent: just now. */
  readonly elapsedMs?: () => number;
  /** How long the caller waits still, by the deadline that it sent; Infinity where it sent none. Absent: Infinity. */
  readonly remainingMs?: () => number;
}

/** A call on its way to whoever can answer it. */
export interface Passage {
  readonly path: string;
  /** As it arrived. */
  readonly request: Buffer;
  readonly context: CallContext;
  /** Another replica passed it on: it is not passed on again. */
  readonly passedOn: boolean;
}

export interface ServeOptions {
  readonly log: Logger;
  /** Has a call answered here, or elsewhere; gives the reply's bytes then. Absent: here. */
  readonly forward?: <Reply>(passage: Passage, here: () => Promise<Reply>) => Promise<Reply | Buffer>;
  /** Told of each call that was answered here or elsewhere: "/ipledger.v1.Ipam/Allocate", and "OK" or the code of its error. */
  readonly onAnswered?: (path: string, code: ErrorCode | 'OK') => void;
  /** Streams end with it, so that whoever reads them goes elsewhere. */
  readonly stopping?: AbortSignal;
}

/** What a service may implement: a promise for one reply, an async iterable for many. */
export type Handlers<Service> = {
  readonly [Name in keyof Service]?: Service[Name] extends Method<infer Request, infer Reply, 'unary'>
    ? (request: Request, context: CallContext) => Promise<Input<Reply>>
    : Service[Name] extends Method<infer Request, infer Reply, 'serverStream'>
      ? (request: Request, context: CallContext) => AsyncIterable<Input<Reply>>
      : never;
};

type AnyMethod = Method<never, never>;
type AnyMethods = Record<string, AnyMethod>;
type AnyHandler = (request: unknown, context: CallContext) => Promise<unknown> & AsyncIterable<unknown>;
type Call = EventEmitter & Pick<ServerUnaryCall<unknown, unknown>, 'metadata' | 'cancelled' | 'getDeadline'>;
type UnaryCall = ServerUnaryCall<object, unknown>;

/** A status travels in a header, and clients take no more than a few KiB of those. */
const mostDetails = 2_000;

/** The bytes of each request in progress. */
const bytesOf = new WeakMap<object, Buffer>();

/** Metadata of a call that a standby passes on: that it does so, and how long the caller has waited already. */
export const passedOnKey = 'ipledger-passed-on';
export const elapsedKey = 'ipledger-elapsed-ms';

/** Adds a service to a server. */
export function serve<Service extends object>(
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
    definition[name] = method.kind === 'unary' ? keepingBytes(method) : method;
  }
  server.addService(definition as unknown as ServiceDefinition, implementation);
}

/** A method whose requests can be passed on as they came, and whose replies may be bytes already. */
function keepingBytes(method: AnyMethod): AnyMethod {
  return {
    ...method,
    requestDeserialize: (bytes) => {
      const request = method.requestDeserialize(bytes) as object;
      bytesOf.set(request, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
      return request as never;
    },
    responseSerialize: (reply) => (Buffer.isBuffer(reply) ? reply : method.responseSerialize(reply)),
  };
}

function unaryCall(path: string, handler: AnyHandler | undefined, options: ServeOptions) {
  const { log, forward, onAnswered } = options;
  return (call: UnaryCall, reply: sendUnaryData<unknown>): void => {
    const answer = async (): Promise<void> => {
      try {
        if (!handler) throw notImplemented(path);
        refuseOversized(path, call.request);
        const context = contextOf(call);
        const here = () => handler(call.request, context);
        reply(null, await (forward ? forward(passageOf(path, call, context), here) : here()));
        onAnswered?.(path, 'OK');
      } catch (error) {
        reply(statusOf(path, error, log));
        onAnswered?.(path, IpledgerError.from(error).code);
      }
    };
    void answer();
  };
}

function passageOf(path: string, call: UnaryCall, context: CallContext): Passage {
  const request = bytesOf.get(call.request);
  if (!request) throw new Error(`${path}: the request is not the one that arrived`);
  return {
    path,
    request,
    context,
    passedOn: call.metadata.get(passedOnKey).length > 0,
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
          if (!call.write(reply)) await drained(call, signal);
        }
        if (context.signal.aborted) return;
        if (stopping?.aborted) throw new IpledgerError('UNAVAILABLE', 'this replica stops: go on at another');
        call.end();
      } catch (error) {
        if (!context.signal.aborted) call.emit('error', statusOf(path, error, log));
      }
    };
    void answer();
  };
}

const callerGone = new IpledgerError('CANCELLED', 'the caller is gone');

function contextOf(call: Call): CallContext {
  const controller = new AbortController();
  // Every call ends with it, answered or not: a reason of its own would be an error with a stack for each.
  call.on('cancelled', () => controller.abort(callerGone));
  if (call.cancelled) controller.abort(callerGone);
  const caller = callerOf(call.metadata);
  const now = performance.now();
  const arrivedAt = now - Math.max(0, Number(call.metadata.get(elapsedKey)[0] ?? 0) || 0);
  // The deadline came as a length of time. From here on it is counted by the monotonic clock.
  const givesUpAt = now + Number(call.getDeadline()) - Date.now();
  return {
    actor: caller?.uri ?? anonymous,
    ...(caller?.kind === 'agent' && { ownNode: caller.name }),
    signal: controller.signal,
    elapsedMs: () => performance.now() - arrivedAt,
    remainingMs: () => givesUpAt - performance.now(),
  };
}

/** A slow reader holds its own stream up, and nothing else. */
function drained(call: ServerWritableStream<unknown, unknown>, signal: AbortSignal): Promise<void> {
  return untilCalled(signal, (done) => {
    call.on('drain', done);
    return () => call.off('drain', done);
  });
}

function statusOf(path: string, thrown: unknown, log: Logger) {
  const error = IpledgerError.from(thrown);
  if (error.kind === 'bug') log.error({ err: error, path }, 'a call failed');
  // Each Pod that waits is told that a ledger is frozen, again and again: a line each, and no stack.
  if (error.kind === 'damaged') log.error({ code: error.code, reason: error.message, path }, 'a call was refused');
  const metadata = new Metadata();
  metadata.set(errorCodeMetadata, error.code);
  const details =
    error.message.length > mostDetails ? `${error.message.slice(0, mostDetails)} … (shortened)` : error.message;
  return Object.assign(new Error(details), { code: error.grpcStatus, details, metadata });
}

const notImplemented = (path: string): IpledgerError =>
  new IpledgerError('NOT_IMPLEMENTED', `${path} is not served here (docs/architecture.md says who serves what)`);
