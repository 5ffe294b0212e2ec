/** A gRPC server for the specs of clients, with handlers that a spec writes. */
import {
  Metadata,
  Server,
  ServerCredentials,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { errorCodeMetadata, type IpledgerError } from '../lib/errors.ts';

/** A service of proto/ipledger.ts with some of its methods; the others answer UNIMPLEMENTED. */
export type Served = readonly [ServiceDefinition, UntypedServiceImplementation];

export interface TestServer extends AsyncDisposable {
  /** host:port on loopback. */
  readonly endpoint: string;
}

/** Serves on a free port of loopback until it is disposed of, which cuts every connection. */
export async function serve(...services: readonly Served[]): Promise<TestServer> {
  const server = new Server();
  for (const [definition, handlers] of services) server.addService(definition, handlers);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  return {
    endpoint: `127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () => {
      server.forceShutdown();
      return Promise.resolve();
    },
  };
}

/** What a handler answers to refuse: a status that carries the vocabulary's code, as our servers send it. */
export function refusal(error: IpledgerError) {
  const metadata = new Metadata();
  metadata.set(errorCodeMetadata, error.code);
  return { code: error.grpcStatus, details: error.message, metadata };
}
