/** A gRPC proxy between clients and allocators that counts the requests. */
import type { sendUnaryData, ServerUnaryCall, ServerWritableStream } from '@grpc/grpc-js';
import { IpledgerError } from '../../lib/errors.ts';
import { call, connect, stream } from '../../lib/grpc/client.ts';
import type { Method } from '../../proto/codec.ts';
import { IpamService, LedgerService, SubnetsService } from '../../proto/generated/ipledger.ts';
import { toServiceError, startTestServer, type TestService } from '../../lib/grpc/testing/grpc-test-server.ts';
import type { Run } from '../harness/run.ts';

const timeoutMs = 20_000;
const silenceMs = 30_000;

/**
 * A request and its outcome so far. It stays 'unanswered' when its caller does not wait for the
 * reply.
 */
export interface CountedCall {
  readonly request: unknown;
  readonly outcome: 'unanswered' | 'answered' | 'refused';
}

export interface CountingProxy {
  /**
   * Starts to count the requests to an allocator "host:port"; returns the endpoint of the proxy.
   */
  startFor(endpoint: string): Promise<string>;
  /** The requests of a method since the last `reset`, in order. A repeated request counts again. */
  requestsOf(name: string): readonly CountedCall[];
  reset(): void;
}

/**
 * Creates a proxy that ends with the run.
 * @param admits whether to forward a call of this method; otherwise it fails
 */
export function createCountingProxy(run: Run, admits: (name: string) => boolean = () => true): CountingProxy {
  const requests = new Map<string, CountedCall[]>();
  const count = (name: string, request: unknown): MutableCall => {
    const counted: MutableCall = { request, outcome: 'unanswered' };
    requests.set(name, [...(requests.get(name) ?? []), counted]);
    return counted;
  };
  return {
    async startFor(endpoint) {
      const forwarder = openForwarder(endpoint, run.signal, { count, admits });
      const server = await startTestServer(...[IpamService, SubnetsService, LedgerService].map(forwarder.serving));
      run.onEnd(async () => {
        await server[Symbol.asyncDispose]();
        forwarder.close();
      });
      return server.endpoint;
    },
    requestsOf: (name) => requests.get(name) ?? [],
    reset: () => requests.clear(),
  };
}

type Unary = Method<unknown, unknown, 'unary'>;
type Streamed = Method<unknown, unknown, 'serverStream'>;

interface MutableCall extends CountedCall {
  outcome: CountedCall['outcome'];
}

interface ProxyOptions {
  readonly count: (name: string, request: unknown) => MutableCall;
  readonly admits: (name: string) => boolean;
}

const notAdmitted = new IpledgerError('UNAVAILABLE', 'the proxy refuses this call');

/** Forwards calls to an allocator. */
function openForwarder(endpoint: string, ending: AbortSignal, { count, admits }: ProxyOptions) {
  const connection = connect(endpoint, undefined);

  const unary =
    (name: string, method: Unary) =>
    (received: ServerUnaryCall<unknown, unknown>, done: sendUnaryData<unknown>): void => {
      if (!admits(name)) return done(toServiceError(notAdmitted));
      const counted = count(name, received.request);
      const signal = signalOf(received, ending);
      call(connection, method, received.request, { timeoutMs, signal }).then(
        (reply) => {
          if (!signal.aborted) counted.outcome = 'answered';
          done(null, reply);
        },
        (thrown: unknown) => {
          const error = IpledgerError.from(thrown);
          if (error.kind !== 'transient') counted.outcome = 'refused';
          done(toServiceError(error));
        },
      );
    };
  const streamed =
    (name: string, method: Streamed) =>
    (received: ServerWritableStream<unknown, unknown>): void => {
      count(name, received.request);
      const forward = async (): Promise<void> => {
        const options = { silenceMs, signal: signalOf(received, ending) };
        for await (const reply of stream(connection, method, received.request, options)) received.write(reply);
        received.end();
      };
      forward().catch((error: unknown) => received.emit('error', toServiceError(IpledgerError.from(error))));
    };

  return {
    /** A service that forwards each call. */
    serving: (service: object): TestService => {
      const handlers = Object.entries(service as Record<string, Method<never, never>>).map(([name, method]) => [
        name,
        method.kind === 'unary'
          ? unary(name, method as unknown as Unary)
          : streamed(name, method as unknown as Streamed),
      ]);
      return [service, Object.fromEntries(handlers)] as unknown as TestService;
    },
    close: () => connection.close(),
  };
}

/** Returns a signal that aborts when the caller cancels its call. */
function signalOf(
  received: { on(event: 'cancelled', listener: () => void): unknown },
  ending: AbortSignal,
): AbortSignal {
  const cancelled = new AbortController();
  received.on('cancelled', () => cancelled.abort());
  return AbortSignal.any([cancelled.signal, ending]);
}
