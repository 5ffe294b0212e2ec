/** Sends an encoded transaction. The reply of a transaction that succeeded is not decoded beyond its revision. */
import type { Etcd3, ITxnResponse } from 'etcd3';
import { callKv, type GeneratedMethod } from './etcd-call.ts';
import { headerTag, MessageReader, numberTag } from './message-reader.ts';

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

/** TxnResponse.succeeded. */
const succeededTag = numberTag(2);

/** The revision of a TxnResponse whose compares passed; undefined otherwise. @throws IpledgerError UNAVAILABLE for other bytes */
function revisionIfSucceeded(bytes: Buffer): bigint | undefined {
  const reader = new MessageReader(bytes, 'TxnResponse');
  let [revision, succeeded] = [0, false];
  while (reader.at < bytes.length) {
    const tag = reader.varint(bytes.length);
    if (tag === headerTag) revision = reader.headerRevision(bytes.length) ?? revision;
    else if (tag === succeededTag) succeeded = reader.varint(bytes.length) !== 0;
    // The replies to the puts follow, one for each.
    else if (succeeded) break;
    else reader.skip(tag, bytes.length);
  }
  return succeeded ? BigInt(revision) : undefined;
}
