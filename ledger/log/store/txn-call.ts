/** Sends an encoded transaction. The reply of a transaction that succeeded is not decoded beyond its revision. */
import type { Etcd3, ITxnResponse } from 'etcd3';
import protobuf from 'protobufjs/minimal.js';
import { callKv, type GeneratedMethod } from './etcd-call.ts';

/** `reply` has the results of the reads. */
export type TransactionOutcome =
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
