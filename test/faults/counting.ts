/** Stands between clients and allocators, passes calls on, and counts. */
import type { sendUnaryData, ServerUnaryCall, ServerWritableStream } from '@grpc/grpc-js';
import { IpledgerError } from '../../lib/errors.ts';
import { call, connect, stream } from '../../lib/rpc.ts';
import type { Method } from '../../proto/codec.ts';
import { IpamService, LedgerService, SubnetsService } from '../../proto/ipledger.ts';
import { refusal, serve, type Served } from '../grpc-server.ts';
import type { Run } from '../harness/run.ts';

const timeoutMs = 20_000;
const silenceMs = 30_000;

/** A request, and what came of it so far: 'unanswered' is also one whose caller did not wait for the answer. */
export interface Counted {
  readonly request: unknown;
  readonly outcome: 'unanswered' | 'answered' | 'refused';
}

export interface Counter {
  /** Counts from now on what is asked of "host:port"; gives where to ask instead. */
  before(endpoint: string): Promise<string>;
  /** The requests of a method since the last `reset`, in order. One that nobody answers may be made again, and counts each time. */
  requestsOf(name: string): readonly Counted[];
  reset(): void;
}

/** A counter that ends with the run. @param admits whether a call of a method is passed on; nobody answers it otherwise. */
export function openCounter(run: Run, admits: (name: string) => boolean = () => true): Counter {
  const requests = new Map<string, Counted[]>();
  const count = (name: string, request: unknown): Noted => {
    const counted: Noted = { request, outcome: 'unanswered' };
    requests.set(name, [...(requests.get(name) ?? []), counted]);
    return counted;
  };
  return {
    async before(endpoint) {
      const passage = openPassage(endpoint, run.signal, { count, admits });
      const server = await serve(...[IpamService, SubnetsService, LedgerService].map(passage.serving));
      run.onEnd(async () => {
        await server[Symbol.asyncDispose]();
        passage.close();
      });
      return server.endpoint;
    },
    requestsOf: (name) => requests.get(name) ?? [],
    reset: () => requests.clear(),
  };
}

type Unary = Method<unknown, unknown, 'unary'>;
type Streamed = Method<unknown, unknown, 'serverStream'>;

interface Noted extends Counted {
  outcome: Counted['outcome'];
}

interface Passage {
  readonly count: (name: string, request: unknown) => Noted;
  readonly admits: (name: string) => boolean;
}

const notAdmitted = new IpledgerError('UNAVAILABLE', 'nobody answers here any more');

/** The way to an allocator. */
function openPassage(endpoint: string, ending: AbortSignal, { count, admits }: Passage) {
  const connection = connect(endpoint, undefined);

  const unary =
    (name: string, method: Unary) =>
    (received: ServerUnaryCall<unknown, unknown>, done: sendUnaryData<unknown>): void => {
      if (!admits(name)) return done(refusal(notAdmitted));
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
          done(refusal(error));
        },
      );
    };
  const streamed =
    (name: string, method: Streamed) =>
    (received: ServerWritableStream<unknown, unknown>): void => {
      count(name, received.request);
      const pass = async (): Promise<void> => {
        const options = { silenceMs, signal: signalOf(received, ending) };
        for await (const reply of stream(connection, method, received.request, options)) received.write(reply);
        received.end();
      };
      pass().catch((error: unknown) => received.emit('error', refusal(IpledgerError.from(error))));
    };

  return {
    /** A service of which every call is passed on. */
    serving: (service: object): Served => {
      const handlers = Object.entries(service as Record<string, Method<never, never>>).map(([name, method]) => [
        name,
        method.kind === 'unary'
          ? unary(name, method as unknown as Unary)
          : streamed(name, method as unknown as Streamed),
      ]);
      return [service, Object.fromEntries(handlers)] as unknown as Served;
    },
    close: () => connection.close(),
  };
}

/** Aborted when the caller is gone. */
function signalOf(
  received: { on(event: 'cancelled', listener: () => void): unknown },
  ending: AbortSignal,
): AbortSignal {
  const gone = new AbortController();
  received.on('cancelled', () => gone.abort());
  return AbortSignal.any([gone.signal, ending]);
}
