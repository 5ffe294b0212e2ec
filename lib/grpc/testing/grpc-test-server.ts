/** Test support: a gRPC server with the handlers of a spec. */
import {
  Metadata,
  Server,
  ServerCredentials,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { errorCodeMetadata, type IpledgerError } from '../../errors.ts';

/**
 * A service of proto/generated/ipledger.ts with some of its methods. The others return
 * UNIMPLEMENTED.
 */
export type TestService = readonly [ServiceDefinition, UntypedServiceImplementation];

export interface TestServer extends AsyncDisposable {
  /** The address on loopback, as "host:port". */
  readonly endpoint: string;
  /** Resolves when the calls in progress have ended. New calls are refused. */
  stop(): Promise<void>;
}

/** Serves on a free port of loopback until the server is disposed, which closes all connections. */
export const startTestServer = (...services: readonly TestService[]): Promise<TestServer> =>
  startTestServerAt('127.0.0.1:0', ...services);

/** Serves at "host:port" on loopback until the server is disposed. */
export async function startTestServerAt(address: string, ...services: readonly TestService[]): Promise<TestServer> {
  const server = new Server();
  for (const [definition, handlers] of services) server.addService(definition, handlers);
  const endpoint = await listenOnLoopback(server, ServerCredentials.createInsecure(), address);
  return {
    endpoint,
    stop: () => new Promise((resolve, reject) => server.tryShutdown((error) => (error ? reject(error) : resolve()))),
    [Symbol.asyncDispose]: () => {
      server.forceShutdown();
      return Promise.resolve();
    },
  };
}

/** Listens on loopback, by default on a free port. Resolves to "host:port". */
export async function listenOnLoopback(
  server: Server,
  credentials = ServerCredentials.createInsecure(),
  address = '127.0.0.1:0',
): Promise<string> {
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(address, credentials, (error, bound) => (error ? reject(error) : resolve(bound)));
  });
  return `127.0.0.1:${port}`;
}

/** Converts an error to a status with its error code, as the programs of ipledger send it. */
export function toServiceError(error: IpledgerError) {
  const metadata = new Metadata();
  metadata.set(errorCodeMetadata, error.code);
  return { code: error.grpcStatus, details: error.message, metadata };
}
