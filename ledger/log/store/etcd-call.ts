/**
 * Sends a request over the channels of the etcd client package, with the same hosts, credentials,
 * deadlines and errors as its own calls. Only encoding and decoding differ.
 */
import type { Client, Metadata } from '@grpc/grpc-js';
import { castGrpcError, type Etcd3, GRPCUnavailableError, type ITxnResponse } from 'etcd3';
import { poolOf, withValidToken } from './connection-pool.ts';
import { callTimeoutMs } from './etcd-client.ts';
import { headerTag, MessageReader, numberTag } from './message-reader.ts';

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

/** A read must survive one silent member and one election. */
const readsPerMember = 2;

/**
 * Sends a transaction only once, but sends a read to the next member if a member cannot be reached.
 * If etcd rejects the token, the request is sent again with a new token: etcd has not executed it.
 * @throws the errors of the client package
 */
export async function callKv<Request, Reply, Result>(
  client: Etcd3,
  call: KvCall<Request, Reply, Result>,
): Promise<Result> {
  const pool = poolOf(client);
  const order = pool.shuffledHosts();
  const deadline = Date.now() + callTimeoutMs;
  for (let attempts = call.method === 'Txn' ? 1 : readsPerMember * pool.hosts.length; ; attempts--)
    try {
      return await withValidToken(client, () =>
        pool.withConnection('KV', (connection) => sendOnce(connection, call, deadline), order),
      );
    } catch (error) {
      if (attempts <= 1 || !(error instanceof GRPCUnavailableError)) throw error;
    }
}

function sendOnce<Request, Reply, Result>(
  { client, metadata }: { readonly client: Client; readonly metadata: Metadata },
  { method, encode, decode }: KvCall<Request, Reply, Result>,
  deadline: number,
): Promise<Result> {
  const { service } = client.constructor as unknown as {
    readonly service: Readonly<Record<string, GeneratedMethod<Request, Reply>>>;
  };
  const generated = service[method] as GeneratedMethod<Request, Reply>;
  const deserialize = (bytes: Buffer): Result => decode(bytes, generated);
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      `/etcdserverpb.KV/${method}`,
      asIs,
      deserialize,
      encode(generated),
      metadata,
      { deadline },
      (error, reply) => {
        if (reply && !error) resolve(reply);
        else reject(castGrpcError(error ?? new Error('etcd sent no reply')));
      },
    );
  });
}

const asIs = (bytes: Buffer): Buffer => bytes;

/** `reply` has the results of the reads. */
type TransactionOutcome =
  { readonly succeeded: true; readonly revision: bigint } | { readonly succeeded: false; readonly reply: ITxnResponse };

/**
 * Sends a TxnRequest once.
 * @throws the errors of the client package
 */
export const callTransaction = (client: Etcd3, request: Buffer): Promise<TransactionOutcome> =>
  callKv(client, { method: 'Txn', encode: () => request, decode: readReply });

function readReply(bytes: Buffer, generated: GeneratedMethod<unknown, ITxnResponse>): TransactionOutcome {
  const revision = revisionIfSucceeded(bytes);
  if (revision !== undefined) return { succeeded: true, revision };
  return { succeeded: false, reply: generated.responseDeserialize(bytes) };
}

/** TxnResponse.succeeded. */
const succeededTag = numberTag(2);

/** The revision of a TxnResponse if its compares passed. @throws UNAVAILABLE for other bytes */
function revisionIfSucceeded(bytes: Buffer): bigint | undefined {
  const reader = new MessageReader(bytes, 'TxnResponse');
  let [revision, succeeded] = [0, false];
  while (reader.at < bytes.length) {
    const tag = reader.varint(bytes.length);
    if (tag === headerTag) revision = reader.headerRevision(bytes.length) ?? revision;
    else if (tag === succeededTag) succeeded = reader.varint(bytes.length) !== 0;
    // The replies to the puts follow, and are not needed.
    else if (succeeded) break;
    else reader.skip(tag, bytes.length);
  }
  return succeeded ? BigInt(revision) : undefined;
}
