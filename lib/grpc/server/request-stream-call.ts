/** Serves a stream of requests to a unary method: each is decoded, permitted, limited, answered and counted as a call of its own. */
import type { ServerDuplexStream } from '@grpc/grpc-js';
import { readRequestFrames, type RequestFrame, type RequestOutcome } from '../../../proto/request-frames.ts';
import { errorCodeMetadata, IpledgerError } from '../../errors.ts';
import { traceparentKey } from '../../tracing/trace-context.ts';
import {
  type AnyMethod,
  answerRequest,
  type Arrived,
  notImplemented,
  type Served,
  type ServeOptions,
} from './answer-request.ts';
import { callerOf, verificationOf } from './authorization.ts';
import { ArrivedContext, type Call, type CallContext, startCallSpan } from './call-context.ts';
import { CallEnding } from './call-ending.ts';
import { type CallStatus, statusOf } from './call-status.ts';
import { refuseUnauthorizedRequest } from './permissions.ts';
import { maxStreamRequests, refuseOversized } from './request-limits.ts';
import { RequestStream, type StreamedRequest } from './request-stream.ts';

/** @param served the unary method whose requests the stream carries; undefined: the stream is not served */
export function requestStreamCall(path: string, served: Served | undefined, { log, stopping }: ServeOptions) {
  return (call: ServerDuplexStream<Buffer, Buffer>): void => {
    const answer = async (): Promise<void> => {
      const ending = new CallEnding(call);
      try {
        if (!served?.handler) throw notImplemented(path);
        const stream = new RequestStream(call, {
          receive: (message) => {
            const frames = readFrames(path, message);
            return frames.map((frame) => new ArrivedFrame(served, frame, call, ending));
          },
          verify: verificationOf(call.metadata),
          cancelled: ending.signal,
          stopping,
        });
        await stream.run();
        call.end();
      } catch (error) {
        if (!ending.aborted) call.emit('error', statusOf(path, error, log));
      }
    };
    void answer();
  };
}

/** @throws IpledgerError INVALID_REQUEST for a malformed message, or one with too many requests */
function readFrames(path: string, message: Buffer): readonly RequestFrame[] {
  try {
    const requests = readRequestFrames(message, maxStreamRequests + 1);
    refuseOversized(path, { requests });
    return requests;
  } catch (error) {
    throw error instanceof IpledgerError ? error : malformed('the message', error);
  }
}

/** A request of a stream, which is decoded, permitted, answered and counted as a unary call. It waits from now on. */
class ArrivedFrame implements Arrived, StreamedRequest {
  readonly id: number;
  readonly context: CallContext;
  readonly #served: Served;
  readonly #call: Call;
  readonly #bytes: Buffer;
  #outcome: { readonly error: CallStatus | null; readonly reply: unknown } | undefined;

  constructor(served: Served, { id, request, traceparent }: RequestFrame, call: Call, ending: CallEnding) {
    const { tracer } = served.options;
    const parents = (): readonly unknown[] => (traceparent === '' ? call.metadata.get(traceparentKey) : [traceparent]);
    this.id = id;
    this.context = new ArrivedContext(call, ending, tracer && startCallSpan(tracer, served.method.path, parents()));
    this.#served = served;
    this.#call = call;
    this.#bytes = request;
  }

  request(): object {
    const { method } = this.#served;
    const request = decodeRequest(method, this.#bytes);
    const caller = callerOf(this.#call.metadata);
    if (caller) refuseUnauthorizedRequest(caller, method.path, request);
    return request;
  }

  bytes(): Buffer {
    return this.#bytes;
  }

  isForwarded(): boolean {
    return false;
  }

  answer(): Promise<void> {
    return answerRequest(this.#served, this, (error, reply) => void (this.#outcome = { error, reply }));
  }

  /** Encoded when its message is sent. */
  outcome(): RequestOutcome {
    if (!this.#outcome) throw new Error(`request ${this.id} has no outcome yet`);
    const { error, reply } = this.#outcome;
    return error ? failureOf(error) : encodeReply(this.#served, reply);
  }
}

/** A reply of another replica is encoded already. */
function encodeReply({ method, options }: Served, reply: unknown): RequestOutcome {
  try {
    return { reply: Buffer.isBuffer(reply) ? reply : method.responseSerialize(reply as never) };
  } catch (error) {
    return failureOf(statusOf(method.path, error, options.log));
  }
}

function failureOf({ code, metadata, details }: CallStatus): RequestOutcome {
  return { error: { status: code, code: String(metadata.get(errorCodeMetadata)[0]), message: details } };
}

function decodeRequest(method: AnyMethod, bytes: Buffer): object {
  try {
    return method.requestDeserialize(bytes);
  } catch (error) {
    throw malformed('the request', error);
  }
}

const malformed = (what: string, cause: unknown): IpledgerError =>
  new IpledgerError('INVALID_REQUEST', `${what} cannot be decoded: ${IpledgerError.from(cause).message}`, { cause });
