/**
 * Sends an encoded request over the channels of the etcd client package: the same hosts, credentials, deadline and errors as its
 * other calls. Only the encoding and decoding differ.
 */
import type { Client, Metadata } from '@grpc/grpc-js';
import { castGrpcError, EtcdInvalidAuthTokenError, type Etcd3 } from 'etcd3';
import { callTimeoutMs } from './etcd-client.ts';

/** A member of the client package that its types do not have: its connections. */
interface ClientInternals {
  readonly pool: {
    withConnection<Result>(
      service: 'KV',
      run: (connection: { readonly client: Client; readonly metadata: Metadata }) => Promise<Result>,
    ): Promise<Result>;
    readonly authenticator: { invalidateMetadata(): void };
  };
}

/** How the client package encodes the requests of a method, and decodes its replies. */
export interface GeneratedMethod<Request, Reply> {
  readonly requestSerialize: (request: Request) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => Reply;
}

/** A call of etcd's KV service. */
export interface KvCall<Request, Reply, Result> {
  readonly method: 'Txn' | 'Range';
  readonly encode: (generated: GeneratedMethod<Request, Reply>) => Buffer;
  readonly decode: (bytes: Buffer, generated: GeneratedMethod<Request, Reply>) => Result;
}

/**
 * Sends a request once. A token that etcd no longer accepts is replaced, and the request sent again: etcd has not executed it.
 * @throws the errors of the client package
 */
export async function callKv<Request, Reply, Result>(
  client: Etcd3,
  call: KvCall<Request, Reply, Result>,
): Promise<Result> {
  const { pool } = client as unknown as ClientInternals;
  const send = (): Promise<Result> =>
    pool.withConnection('KV', (connection) => sendOnce(connection.client, connection.metadata, call));
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof EtcdInvalidAuthTokenError)) throw error;
    pool.authenticator.invalidateMetadata();
    return send();
  }
}

function sendOnce<Request, Reply, Result>(
  client: Client,
  metadata: Metadata,
  { method, encode, decode }: KvCall<Request, Reply, Result>,
): Promise<Result> {
  const { service } = client.constructor as unknown as {
    readonly service: Readonly<Record<string, GeneratedMethod<Request, Reply>>>;
  };
  const generated = service[method] as GeneratedMethod<Request, Reply>;
  const deserialize = (bytes: Buffer): Result => decode(bytes, generated);
  const options = { deadline: Date.now() + callTimeoutMs };
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      `/etcdserverpb.KV/${method}`,
      asIs,
      deserialize,
      encode(generated),
      metadata,
      options,
      (error, reply) => {
        if (reply && !error) resolve(reply);
        else reject(castGrpcError(error ?? new Error('etcd sent no reply')));
      },
    );
  });
}

const asIs = (bytes: Buffer): Buffer => bytes;
