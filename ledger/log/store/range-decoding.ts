/**
 * Decodes a RangeResponse of etcd (api/etcdserverpb/rpc.proto, api/mvccpb/kv.proto) in one pass, to what the ledger needs of it. The
 * client package would make an object with two Buffers and four decimal texts for each key.
 */
import { IpledgerError } from '../../../lib/errors.ts';

/** A key with its value, both decoded as UTF-8. */
export interface EtcdKey {
  readonly key: string;
  /** '' for an empty value, and if only keys were requested. */
  readonly text: string;
  /** The revision that wrote the value. */
  readonly modRevision: number;
}

export interface RangeReply {
  /** Of the store. */
  readonly revision: number;
  readonly keys: readonly EtcdKey[];
  /** The bytes of the keys and values. */
  readonly bytes: number;
  /** Whether the range has more keys than requested. */
  readonly more: boolean;
}

/** Protobuf wire types. */
const [varint, fixed64, delimited, fixed32] = [0, 1, 2, 5];

/** The factor of the tenth byte of a number, which is the last one. */
const maxScale = 128 ** 9;

const tagOf = (field: number, wireType: number): number => (field << 3) | wireType;

/** RangeResponse.header, .kvs and .more; ResponseHeader.revision; KeyValue.key, .mod_revision and .value. */
const [headerTag, keysTag, moreTag] = [tagOf(1, delimited), tagOf(2, delimited), tagOf(3, varint)];
const revisionTag = tagOf(3, varint);
const [keyTag, modRevisionTag, valueTag] = [tagOf(1, delimited), tagOf(3, varint), tagOf(5, delimited)];

/** @throws IpledgerError UNAVAILABLE for bytes that are not a RangeResponse. */
export function decodeRangeReply(message: Buffer): RangeReply {
  const reader = new MessageReader(message);
  const keys: EtcdKey[] = [];
  let [revision, more] = [0, false];
  while (reader.at < message.length) {
    const tag = reader.varint(message.length);
    if (tag === keysTag) keys.push(readKey(reader, reader.end(message.length)));
    else if (tag === headerTag) revision = readRevision(reader, reader.end(message.length)) ?? revision;
    else if (tag === moreTag) more = reader.varint(message.length) !== 0;
    else reader.skip(tag, message.length);
  }
  // Without it, the pages of a range would be of different revisions.
  if (revision === 0) throw malformed('it has no revision');
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

function readRevision(reader: MessageReader, end: number): number | undefined {
  let revision: number | undefined;
  while (reader.at < end) {
    const tag = reader.varint(end);
    if (tag === revisionTag) revision = reader.varint(end);
    else reader.skip(tag, end);
  }
  return revision;
}

/** Reads the fields of a message. Each method takes the end of the message that contains the field, and never reads beyond it. */
class MessageReader {
  readonly #bytes: Buffer;
  at = 0;
  /** Of all texts so far. */
  textBytes = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** A number from 0 to 2^53 - 1: a tag, a length, a revision or a flag. */
  varint(end: number): number {
    let number = 0;
    for (let scale = 1; scale <= maxScale; scale *= 128) {
      if (this.at >= end) throw malformed('it ends inside a field');
      const byte = this.#bytes[this.at++] as number;
      number += (byte & 127) * scale;
      if (number > Number.MAX_SAFE_INTEGER) break;
      if (byte < 128) return number;
    }
    throw malformed('a number is too large');
  }

  /** Reads the length of a field. Returns where the field ends. */
  end(end: number): number {
    const length = this.varint(end);
    if (length > end - this.at) throw malformed('a field is longer than its message');
    return this.at + length;
  }

  text(end: number): string {
    const textEnd = this.end(end);
    const text = this.#bytes.toString('utf8', this.at, textEnd);
    this.textBytes += textEnd - this.at;
    this.at = textEnd;
    return text;
  }

  /** Skips the field of a tag. */
  skip(tag: number, end: number): void {
    const wireType = tag & 7;
    if (wireType === varint) this.#skipVarint(end);
    else if (wireType === delimited) this.at = this.end(end);
    else if (wireType === fixed64) this.at += 8;
    else if (wireType === fixed32) this.at += 4;
    else throw malformed(`a field has the unknown type ${wireType}`);
    if (this.at > end) throw malformed('a field is longer than its message');
  }

  /** A number that is not needed may have 64 bits. */
  #skipVarint(end: number): void {
    do if (this.at >= end) throw malformed('it ends inside a field');
    while ((this.#bytes[this.at++] as number) >= 128);
  }
}

const malformed = (reason: string): IpledgerError =>
  new IpledgerError('UNAVAILABLE', `etcd could not be read: its reply is not a RangeResponse: ${reason}`);
