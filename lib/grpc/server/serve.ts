/**
 * Serves a gRPC service with handlers. Each handler gets the caller's identity, and a signal that
 * ends with the call. Its errors become gRPC statuses. A method without a handler returns
 * UNIMPLEMENTED.
 */
import type {
  sendUnaryData,
  Server,
  ServerUnaryCall,
  ServerWritableStream,
  ServiceDefinition,
  UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { IpledgerError } from '../../errors.ts';
import { traceparentKey } from '../../tracing/trace-context.ts';
import type { MessageInput, Method } from '../../../proto/codec.ts';
import type { Span } from '../../tracing/span.ts';
import {
  type AnyHandler,
  type AnyMethod,
  answerRequest,
  encodeReply,
  type Arrived,
  notImplemented,
  type Served,
  type ServeOptions,
} from './answer-request.ts';
import { repeatedVerificationOf } from './authorization.ts';
import { callWith } from './call-limits.ts';
import {
  ArrivedContext,
  type CallContext,
  forwardedKey,
  startCallSpan,
  CallEnding,
  callEndingOf,
} from './call-context.ts';
import { statusOf } from './call-status.ts';
import { refuseOversized } from './request-limits.ts';
import { waitForCallback } from '../../process/abortable.ts';

export type { ForwardableCall, ServeOptions } from './answer-request.ts';
export type { CallContext } from './call-context.ts';

/** The handlers of a service. Each returns a promise for a reply, or an iterable of replies. */
export type Handlers<Service> = {
  readonly [Name in keyof Service]: Service[Name] extends Method<infer Request, infer Reply, 'unary'>
    ? (request: Request, context: CallContext) => Promise<MessageInput<Reply>>
    : Service[Name] extends Method<infer Request, infer Reply, 'serverStream'>
      ? (request: Request, context: CallContext) => AsyncIterable<MessageInput<Reply> | Buffer>
      : never;
};

type AnyMethods = Record<string, AnyMethod>;
type UnaryCall = ServerUnaryCall<object, unknown>;

/** The property of a request that holds its bytes as they arrived. */
const arrivedBytes = Symbol('arrivedBytes');
type ArrivedRequest = object & { [arrivedBytes]?: Buffer };

export function addGrpcService<Service extends object>(
  server: Server,
  service: Service,
  handlers: Partial<Handlers<Service>>,
  options: ServeOptions,
): void {
  const implementation: UntypedServiceImplementation = {};
  const definition: Record<string, AnyMethod> = {};
  const methods = service as AnyMethods;
  for (const [name, method] of Object.entries(methods)) {
    const handler = (handlers as Record<string, AnyHandler | undefined>)[name];
    if (method.kind === 'unary') {
      implementation[name] = unaryCall({ method, handler, options });
      definition[name] = withRequestBytes(withEncodedReplies(method));
    } else {
      implementation[name] = streamCall(method, handler, options);
      definition[name] = withEncodedReplies(method);
    }
  }
  server.addService(definition as unknown as ServiceDefinition, implementation);
}

/** Replies are encoded before grpc-js receives them, so that their bytes are counted. */
const withEncodedReplies = (method: AnyMethod): AnyMethod => ({ ...method, responseSerialize: (bytes) => bytes });

/** Keeps the bytes of each request, so that a call can be forwarded unchanged. */
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
  };
}

function unaryCall(served: Served) {
  const { method, options } = served;
  return (call: UnaryCall, reply: sendUnaryData<unknown>): void => {
    const span = options.tracer && startCallSpan(options.tracer, method.path, call.metadata.get(traceparentKey));
    void answerRequest(served, new ArrivedCall(method.path, call, span), reply);
  };
}

class ArrivedCall implements Arrived {
  readonly context: CallContext;
  readonly #path: string;
  readonly #call: UnaryCall;

  constructor(path: string, call: UnaryCall, span: Span | undefined) {
    this.context = new ArrivedContext(call, new CallEnding(call), span);
    this.#path = path;
    this.#call = call;
  }

  request(): object {
    return this.#call.request;
  }

  bytes(): Buffer {
    const bytes = (this.#call.request as ArrivedRequest)[arrivedBytes];
    if (!bytes) throw new Error(`${this.#path}: the request is not the one that arrived`);
    return bytes;
  }

  holdReply(bytes: number): void {
    callWith(this.#call.metadata)?.holdReply(bytes);
  }

  isForwarded(): boolean {
    return this.#call.metadata.get(forwardedKey).length > 0;
  }
}

function streamCall(method: AnyMethod, handler: AnyHandler | undefined, { log, stopping }: ServeOptions) {
  const { path } = method;
  return (call: ServerWritableStream<unknown, Buffer>): void => {
    const answer = async (): Promise<void> => {
      const caller = new CallEnding(call);
      const signal = stopping ? AbortSignal.any([caller.signal, stopping]) : caller.signal;
      try {
        if (!handler) throw notImplemented(path);
        refuseOversized(path, call.request);
        callWith(call.metadata)?.holdStream();
        const verify = repeatedVerificationOf(call.metadata);
        const writer = new ReplyWriter(call);
        let replies = 0;
        for await (const reply of handler(call.request, new ArrivedContext(call, callEndingOf(signal)))) {
          // Repeated, because a token expires, or a permission is removed, during the stream.
          if (verify && replies++ > 0) await verify();
          if (signal.aborted) break;
          await writer.write(encodeReply(method, reply), signal);
        }
        if (caller.aborted) return;
        if (stopping?.aborted) throw new IpledgerError('UNAVAILABLE', 'this replica stops: connect to another');
        call.end();
      } catch (error) {
        if (!caller.aborted) call.emit('error', statusOf(path, error, log));
      }
    };
    void answer();
  };
}

/** A stream waits while more bytes than this are not sent. The last reply may exceed the limit. */
const maxUnsentBytes = 1 << 20;

/** Writes the replies of a stream. A slow reader delays only its own stream. */
class ReplyWriter {
  readonly #call: ServerWritableStream<unknown, Buffer>;
  #unsent = 0;
  #onRoom = (): void => undefined;

  constructor(call: ServerWritableStream<unknown, Buffer>) {
    this.#call = call;
  }

  /**
   * Writes a reply, and waits until there is room for another one, or the signal is aborted.
   * @throws IpledgerError OVERLOADED if replies that this client does not read hold too much memory
   */
  async write(reply: Buffer, signal: AbortSignal): Promise<void> {
    const arrived = callWith(this.#call.metadata);
    arrived?.holdReply(reply.length);
    this.#unsent += reply.length;
    // The callback runs when HTTP/2 has sent the reply, which the client can delay forever.
    this.#call.write(reply, () => {
      arrived?.releaseReply(reply.length);
      this.#unsent -= reply.length;
      if (this.#unsent <= maxUnsentBytes) this.#onRoom();
    });
    if (this.#unsent <= maxUnsentBytes) return;
    await waitForCallback(signal, (done) => {
      this.#onRoom = done;
      return () => (this.#onRoom = () => undefined);
    });
  }
}
