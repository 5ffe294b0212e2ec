/** Reads the fields of protobuf messages of etcd without creating an object for each. */
import { IpledgerError } from '../../../lib/errors.ts';

/** Protobuf wire types. */
const [varint, fixed64, delimited, fixed32] = [0, 1, 2, 5];

/** The factor of the tenth and last byte of a number. */
const maxScale = 128 ** 9;

/** The tag of a number field. */
export const numberTag = (field: number): number => (field << 3) | varint;
/** The tag of a text or message field. */
export const bytesTag = (field: number): number => (field << 3) | delimited;

/** The header field of each reply: RangeResponse.header, TxnResponse.header. */
export const headerTag = bytesTag(1);
/** ResponseHeader.revision. */
const revisionTag = numberTag(3);

/**
 * Reads the fields of a message in order. Each method takes the end of the enclosing message, and
 * never reads beyond it.
 * @throws IpledgerError UNAVAILABLE (each method) for bytes that are not such a message.
 */
export class MessageReader {
  readonly #bytes: Buffer;
  readonly #name: string;
  at = 0;
  /** The total bytes of the texts read so far. */
  textBytes = 0;

  /** @param name the name of the message, for errors */
  constructor(bytes: Buffer, name: string) {
    this.#bytes = bytes;
    this.#name = name;
  }

  /** Reads a number from 0 to 2^53 - 1: a tag, a length, a revision or a flag. */
  varint(end: number): number {
    let number = 0;
    for (let scale = 1; scale <= maxScale; scale *= 128) {
      if (this.at >= end) throw this.malformed('it ends inside a field');
      const byte = this.#bytes[this.at++] as number;
      number += (byte & 127) * scale;
      if (number > Number.MAX_SAFE_INTEGER) break;
      if (byte < 128) return number;
    }
    throw this.malformed('a number is too large');
  }

  /** Reads the length of a field. Returns the position where the field ends. */
  end(end: number): number {
    const length = this.varint(end);
    if (length > end - this.at) throw this.malformed('a field is longer than its message');
    return this.at + length;
  }

  text(end: number): string {
    const textEnd = this.end(end);
    const text = this.#bytes.toString('utf8', this.at, textEnd);
    this.textBytes += textEnd - this.at;
    this.at = textEnd;
    return text;
  }

  /** Reads the revision of a ResponseHeader; undefined without one. */
  headerRevision(end: number): number | undefined {
    const headerEnd = this.end(end);
    let revision: number | undefined;
    while (this.at < headerEnd) {
      const tag = this.varint(headerEnd);
      if (tag === revisionTag) revision = this.varint(headerEnd);
      else this.skip(tag, headerEnd);
    }
    return revision;
  }

  /** Skips the field that follows its tag. */
  skip(tag: number, end: number): void {
    const wireType = tag & 7;
    if (wireType === varint) this.#skipVarint(end);
    else if (wireType === delimited) this.at = this.end(end);
    else if (wireType === fixed64) this.at += 8;
    else if (wireType === fixed32) this.at += 4;
    else throw this.malformed(`a field has the unknown type ${wireType}`);
    if (this.at > end) throw this.malformed('a field is longer than its message');
  }

  /** The error for bytes that are not the message. */
  malformed(reason: string): IpledgerError {
    return new IpledgerError('UNAVAILABLE', `etcd could not be read: its reply is not a ${this.#name}: ${reason}`);
  }

  /** Skips a number of up to 64 bits, which `varint` would reject. */
  #skipVarint(end: number): void {
    do if (this.at >= end) throw this.malformed('it ends inside a field');
    while ((this.#bytes[this.at++] as number) >= 128);
  }
}
