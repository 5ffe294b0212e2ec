/**
 * Sends an encoded transaction over the channels of the etcd client package: the same hosts, credentials, deadline and errors as its
 * other calls. Only the encoding differs, and the reply of a transaction that succeeded is not decoded beyond its revision.
 */
import type { Client, Metadata } from '@grpc/grpc-js';
import { castGrpcError, EtcdInvalidAuthTokenError, type Etcd3, type ITxnResponse } from 'etcd3';
import protobuf from 'protobufjs/minimal.js';
import { callTimeoutMs } from './etcd-client.ts';

const path = '/etcdserverpb.KV/Txn';

/** `reply` has the results of the reads. */
export type TransactionOutcome =
  { readonly succeeded: true; readonly revision: bigint } | { readonly succeeded: false; readonly reply: ITxnResponse };

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

/** The generated client of a service, which describes its methods. */
interface GeneratedClient {
  readonly service: { readonly Txn: ReplyReader };
}
type ReplyReader = { readonly responseDeserialize: (bytes: Buffer) => ITxnResponse };

/**
 * Sends a TxnRequest once. A token that etcd no longer accepts is replaced, and the request sent again: etcd has not executed it.
 * @throws the errors of the client package
 */
export async function callTransaction(client: Etcd3, request: Buffer): Promise<TransactionOutcome> {
  const { pool } = client as unknown as ClientInternals;
  const send = (): Promise<TransactionOutcome> =>
    pool.withConnection('KV', (connection) => sendOnce(connection.client, connection.metadata, request));
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof EtcdInvalidAuthTokenError)) throw error;
    pool.authenticator.invalidateMetadata();
    return send();
  }
}

function sendOnce(client: Client, metadata: Metadata, request: Buffer): Promise<TransactionOutcome> {
  const deserialize = (bytes: Buffer): TransactionOutcome => readReply(bytes, client);
  const options = { deadline: Date.now() + callTimeoutMs };
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(path, asIs, deserialize, request, metadata, options, (error, reply) => {
      if (reply && !error) resolve(reply);
      else reject(castGrpcError(error ?? new Error('etcd sent no reply')));
    });
  });
}

const asIs = (bytes: Buffer): Buffer => bytes;

function readReply(bytes: Buffer, client: Client): TransactionOutcome {
  const revision = revisionIfSucceeded(bytes);
  if (revision !== undefined) return { succeeded: true, revision };
  const { service } = client.constructor as unknown as GeneratedClient;
  return { succeeded: false, reply: service.Txn.responseDeserialize(bytes) };
}

/** The revision of a TxnResponse whose compares passed; undefined otherwise. */
function revisionIfSucceeded(bytes: Buffer): bigint | undefined {
  const reader = protobuf.Reader.create(bytes);
  let [revision, succeeded] = [0n, false];
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag === headerTag) revision = readRevision(reader);
    else if (tag === succeededTag) succeeded = reader.bool();
    // The replies to the puts follow, one for each.
    else if (succeeded) break;
    else reader.skipType(tag & 7);
  }
  return succeeded ? revision : undefined;
}

/** TxnResponse.header, TxnResponse.succeeded, ResponseHeader.revision. */
const [headerTag, succeededTag, revisionTag] = [(1 << 3) | 2, 2 << 3, 3 << 3];

/** A positive int64. protobufjs returns a number, or its two halves. */
function readInteger(reader: protobuf.Reader): bigint {
  const value = reader.int64();
  return typeof value === 'number' ? BigInt(value) : (BigInt(value.high >>> 0) << 32n) | BigInt(value.low >>> 0);
}

function readRevision(reader: protobuf.Reader): bigint {
  const end = reader.uint32() + reader.pos;
  let revision = 0n;
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (tag === revisionTag) revision = readInteger(reader);
    else reader.skipType(tag & 7);
  }
  return revision;
}
