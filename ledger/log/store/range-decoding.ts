/**
 * Decodes a RangeResponse of etcd (api/etcdserverpb/rpc.proto, api/mvccpb/kv.proto) in one pass,
 * into only what the ledger needs. The client package would create an object with two Buffers and
 * four decimal texts for each key.
 */
import { bytesTag, headerTag, MessageReader, numberTag } from './message-reader.ts';

/** A key with its value, both decoded as UTF-8. */
export interface EtcdKey {
  readonly key: string;
  /** The value; '' if it is empty or only keys were requested. */
  readonly text: string;
  /** The revision that wrote the value. */
  readonly modRevision: number;
}

export interface RangeReply {
  /** The revision of the store. */
  readonly revision: number;
  readonly keys: readonly EtcdKey[];
  /** The bytes of the keys and values. */
  readonly bytes: number;
  /** Whether the range has more keys than requested. */
  readonly more: boolean;
}

/** RangeResponse.kvs and .more; KeyValue.key, .mod_revision and .value. */
const [keysTag, moreTag] = [bytesTag(2), numberTag(3)];
const [keyTag, modRevisionTag, valueTag] = [bytesTag(1), numberTag(3), bytesTag(5)];

/** @throws IpledgerError UNAVAILABLE for bytes that are not a RangeResponse. */
export function decodeRangeReply(message: Buffer): RangeReply {
  const reader = new MessageReader(message, 'RangeResponse');
  const keys: EtcdKey[] = [];
  let [revision, more] = [0, false];
  while (reader.at < message.length) {
    const tag = reader.varint(message.length);
    if (tag === keysTag) keys.push(readKey(reader, reader.end(message.length)));
    else if (tag === headerTag) revision = reader.headerRevision(message.length) ?? revision;
    else if (tag === moreTag) more = reader.varint(message.length) !== 0;
    else reader.skip(tag, message.length);
  }
  // Required, because the pages of a range must be of the same revision.
  if (revision === 0) throw reader.malformed('it has no revision');
  return { revision, keys, bytes: reader.textBytes, more };
}

function readKey(reader: MessageReader, end: number): EtcdKey {
  let [key, text, modRevision] = ['', '', 0];
  while (reader.at < end) {
    const tag = reader.varint(end);
    if (tag === keyTag) key = reader.text(end);
    else if (tag === valueTag) text = reader.text(end);
    else if (tag === modRevisionTag) modRevision = reader.varint(end);
    else reader.skip(tag, end);
  }
  return { key, text, modRevision };
}
