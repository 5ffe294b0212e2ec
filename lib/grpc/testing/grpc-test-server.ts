/** A gRPC server for specs, with the handlers of a spec. */
import {
  Metadata,
  Server,
  ServerCredentials,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { errorCodeMetadata, type IpledgerError } from '../../errors.ts';

/** A service of proto/generated/ipledger.ts with some of its methods; the others return UNIMPLEMENTED. */
export type TestService = readonly [ServiceDefinition, UntypedServiceImplementation];

export interface TestServer extends AsyncDisposable {
  /** host:port on loopback. */
  readonly endpoint: string;
}

/** Serves on a free port of loopback until it is disposed of, which closes all connections. */
export async function startTestServer(...services: readonly TestService[]): Promise<TestServer> {
  const server = new Server();
  for (const [definition, handlers] of services) server.addService(definition, handlers);
  const endpoint = await listenOnLoopback(server);
  return {
    endpoint,
    [Symbol.asyncDispose]: () => {
      server.forceShutdown();
      return Promise.resolve();
    },
  };
}

/** Listens on a free port of loopback. Resolves to "host:port". */
export async function listenOnLoopback(
  server: Server,
  credentials = ServerCredentials.createInsecure(),
): Promise<string> {
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', credentials, (error, bound) => (error ? reject(error) : resolve(bound)));
  });
  return `127.0.0.1:${port}`;
}

/** Converts an error to a status with its error code, as our servers send it. */
export function toServiceError(error: IpledgerError) {
  const metadata = new Metadata();
  metadata.set(errorCodeMetadata, error.code);
  return { code: error.grpcStatus, details: error.message, metadata };
}
