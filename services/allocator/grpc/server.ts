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
import { errorCodeMetadata, IpledgerError } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/log.ts';
import type { Input, Method } from '../../../proto/codec.ts';
import { identityOf } from './identity.ts';

/** Of one call. */
export interface CallContext {
  /** The authenticated identity of the caller. */
  readonly actor: string;
  /** Aborted when the caller is gone or its deadline has passed. */
  readonly signal: AbortSignal;
}

/** What a service may implement: a promise for one reply, an async iterable for many. */
export type Handlers<Service> = {
  readonly [Name in keyof Service]?: Service[Name] extends Method<infer Request, infer Reply, 'unary'>
    ? (request: Request, context: CallContext) => Promise<Input<Reply>>
    : Service[Name] extends Method<infer Request, infer Reply, 'serverStream'>
      ? (request: Request, context: CallContext) => AsyncIterable<Input<Reply>>
      : never;
};

type AnyMethods = Record<string, Method<never, never>>;
type AnyHandler = (request: unknown, context: CallContext) => Promise<unknown> & AsyncIterable<unknown>;
type Call = EventEmitter & Pick<ServerUnaryCall<unknown, unknown>, 'getAuthContext' | 'cancelled'>;

/** A status travels in a header, and clients take no more than a few KiB of those. */
const mostDetails = 2_000;

/** Adds a service to a server. */
export function serve<Service extends object>(
  server: Server,
  service: Service,
  handlers: Handlers<Service>,
  log: Logger,
): void {
  const implementation: UntypedServiceImplementation = {};
  for (const [name, method] of Object.entries(service as AnyMethods)) {
    const handler = (handlers as Record<string, AnyHandler | undefined>)[name];
    implementation[name] =
      method.kind === 'unary' ? unaryCall(method.path, handler, log) : streamCall(method.path, handler, log);
  }
  server.addService(service as unknown as ServiceDefinition, implementation);
}

function unaryCall(path: string, handler: AnyHandler | undefined, log: Logger) {
  return (call: ServerUnaryCall<unknown, unknown>, reply: sendUnaryData<unknown>): void => {
    const answer = async (): Promise<void> => {
      try {
        if (!handler) throw notImplemented(path);
        reply(null, await handler(call.request, contextOf(call)));
      } catch (error) {
        reply(statusOf(path, error, log));
      }
    };
    void answer();
  };
}

function streamCall(path: string, handler: AnyHandler | undefined, log: Logger) {
  return (call: ServerWritableStream<unknown, unknown>): void => {
    const answer = async (): Promise<void> => {
      const context = contextOf(call);
      try {
        if (!handler) throw notImplemented(path);
        for await (const reply of handler(call.request, context)) {
          if (context.signal.aborted) return;
          if (!call.write(reply)) await drained(call, context.signal);
        }
        call.end();
      } catch (error) {
        if (!context.signal.aborted) call.emit('error', statusOf(path, error, log));
      }
    };
    void answer();
  };
}

function contextOf(call: Call): CallContext {
  const controller = new AbortController();
  call.on('cancelled', () => controller.abort());
  if (call.cancelled) controller.abort();
  return { actor: identityOf(call), signal: controller.signal };
}

/** A slow reader holds its own stream up, and nothing else. */
function drained(call: ServerWritableStream<unknown, unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      call.off('drain', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    call.on('drain', done);
    signal.addEventListener('abort', done);
    if (signal.aborted) done();
  });
}

function statusOf(path: string, thrown: unknown, log: Logger) {
  const error = IpledgerError.from(thrown);
  if (error.kind === 'bug' || error.kind === 'damaged') log.error({ err: error, path }, 'a call failed');
  const metadata = new Metadata();
  metadata.set(errorCodeMetadata, error.code);
  const details =
    error.message.length > mostDetails ? `${error.message.slice(0, mostDetails)} … (shortened)` : error.message;
  return Object.assign(new Error(details), { code: error.grpcStatus, details, metadata });
}

const notImplemented = (path: string): IpledgerError =>
  new IpledgerError('NOT_IMPLEMENTED', `${path} is not served by this version (docs/architecture.md lists what is)`);
