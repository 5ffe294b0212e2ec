/** The CLI's door to the allocator: where it is, and what a person is told when it does not answer there. */
import { Metadata } from '@grpc/grpc-js';
import { errorCodeMetadata, IpledgerError } from '../lib/errors.ts';
import { call, connect, stream } from '../lib/rpc.ts';
import { tlsFromEnvironment } from '../lib/tls.ts';
import type { Input, Method } from '../proto/codec.ts';
import { Failure } from './failure.ts';

const timeoutMs = 10_000;
/** Streams give a sign of life every few seconds. */
const silenceMs = 20_000;

export interface Allocator extends Disposable {
  /**
   * One request, one reply.
   * @throws Failure when nobody answers; IpledgerError when the allocator refuses.
   */
  ask<Request, Reply>(method: Method<Request, Reply, 'unary'>, request: Input<Request>): Promise<Reply>;
  /** One request, many replies. Throws as `ask`, from the iteration. */
  listen<Request, Reply>(method: Method<Request, Reply, 'serverStream'>, request: Input<Request>): AsyncIterable<Reply>;
}

/**
 * Opens a channel to the allocator at `endpoint` (host:port), with the TLS files that the environment names.
 * @param signal ends what is being asked.
 * @throws Failure when there is no endpoint, or the TLS files can't be used.
 */
export function openAllocator(endpoint: string, signal: AbortSignal): Allocator {
  if (endpoint === '') throw new Failure('usage', 'IPLEDGER_ENDPOINT is empty: set it to HOST:PORT of the allocator');
  const client = connectTo(endpoint);
  return {
    ask: async (method, request) => {
      try {
        return await call(client, method, request, { timeoutMs, signal });
      } catch (error) {
        if (error instanceof IpledgerError && neverAnswered(error)) throw unreachable(endpoint, error);
        throw error;
      }
    },
    listen: async function* (method, request) {
      try {
        yield* stream(client, method, request, { silenceMs, signal });
      } catch (error) {
        if (error instanceof IpledgerError && neverAnswered(error)) throw unreachable(endpoint, error);
        throw error;
      }
    },
    [Symbol.dispose]: () => client.close(),
  };
}

function connectTo(endpoint: string) {
  try {
    return connect(endpoint, tlsFromEnvironment(process.env, undefined));
  } catch (error) {
    throw new Failure('usage', error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** Whether grpc-js gave up; an allocator that answers, be it "not now", sends a code of its own. */
function neverAnswered({ code, cause }: IpledgerError): boolean {
  if (code !== 'UNAVAILABLE' && code !== 'DEADLINE_PASSED') return false;
  const sent = cause instanceof Error && 'metadata' in cause && cause.metadata instanceof Metadata;
  return !(sent && (cause.metadata as Metadata).get(errorCodeMetadata).length > 0);
}

function unreachable(endpoint: string, error: IpledgerError): Failure {
  const reason = error.message.replace(/^no connection: /, '');
  const why = error.code === 'DEADLINE_PASSED' ? `no answer within ${timeoutMs / 1_000} s` : reason;
  const what = `cannot reach the allocator at ${endpoint} (${why})`;
  return new Failure('unreachable', `${what}: is it running? IPLEDGER_ENDPOINT or --allocator say where`, {
    cause: error,
  });
}
