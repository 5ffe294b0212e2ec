/** The CLI's door to the allocator and the read model: where they are, and what a person is told when nobody answers there. */
import { Metadata } from '@grpc/grpc-js';
import { errorCodeMetadata, IpledgerError } from '../lib/errors.ts';
import { call, connect, type Connection, stream } from '../lib/rpc.ts';
import { type ServerKind, tlsFromEnvironment } from '../lib/tls.ts';
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
  /** One request, many replies; ends early, without an error, when the asking is ended. Throws as `ask`, from the iteration. */
  listen<Request, Reply>(method: Method<Request, Reply, 'serverStream'>, request: Input<Request>): AsyncIterable<Reply>;
}

/** Which server, how a person calls it, and what says where it is. */
interface Door {
  readonly kind: ServerKind;
  readonly name: string;
  readonly settings: readonly [string, string];
}

const allocatorDoor: Door = {
  kind: 'allocator',
  name: 'the allocator',
  settings: ['IPLEDGER_ENDPOINT', '--allocator'],
};
const indexDoor: Door = { kind: 'index', name: 'the read model', settings: ['IPLEDGER_INDEX', '--index'] };

/**
 * Opens a channel to the allocator at `endpoint` (host:port), with the TLS files that the environment names.
 * @param signal ends what is being asked.
 * @throws Failure when there is no endpoint, or the TLS files can't be used.
 */
export const openAllocator = (endpoint: string, signal: AbortSignal): Allocator =>
  open(allocatorDoor, endpoint, signal);

/** The same to the read model, which answers some of the allocator's questions. */
export const openIndex = (endpoint: string, signal: AbortSignal): Allocator => open(indexDoor, endpoint, signal);

function open(door: Door, endpoint: string, signal: AbortSignal): Allocator {
  if (endpoint === '') throw new Failure('usage', `${door.settings[0]} is empty: set it to HOST:PORT of ${door.name}`);
  const client = connectTo(door, endpoint);
  const explained = (error: unknown): unknown =>
    error instanceof IpledgerError && neverAnswered(error) ? unreachable(door, endpoint, error) : error;
  return {
    ask: async (method, request) => {
      try {
        return await call(client, method, request, { timeoutMs, signal });
      } catch (error) {
        throw explained(error);
      }
    },
    listen: async function* (method, request) {
      try {
        yield* stream(client, method, request, { silenceMs, signal });
      } catch (error) {
        throw explained(error);
      }
    },
    [Symbol.dispose]: () => client.close(),
  };
}

function connectTo({ kind }: Door, endpoint: string): Connection {
  try {
    return connect(endpoint, tlsFromEnvironment(process.env, undefined), kind);
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

function unreachable({ name, settings }: Door, endpoint: string, error: IpledgerError): Failure {
  const reason = error.message.replace(/^no connection to the \w+: /, '');
  const why = error.code === 'DEADLINE_PASSED' ? `no answer within ${timeoutMs / 1_000} s` : reason;
  const what = `cannot reach ${name} at ${endpoint} (${why})`;
  return new Failure('unreachable', `${what}: is it running? ${settings.join(' or ')} say where`, { cause: error });
}
