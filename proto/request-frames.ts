/**
 * The messages of a stream of requests, as AllocateStreamRequest and AllocateStreamReply, with each request and each reply as the
 * bytes that a unary call would have. So a request can be forwarded unchanged, also with fields that this version does not know.
 */
import protobuf from 'protobufjs/minimal.js';
import type { RequestError } from './generated/ipledger.ts';
import { encode } from './codec.ts';
import { readUint64 } from './wire-format.ts';

/** One request of a stream. */
export interface RequestFrame {
  readonly id: number;
  /** The encoded request. */
  readonly request: Buffer;
  readonly traceparent: string;
}

const tagOf = (field: number, wireType: 0 | 2): number => (field << 3) | wireType;
/** Of AllocateStreamRequest and AllocateStreamReply. */
const list = tagOf(1, 2);
/** Of NumberedAllocateRequest and AllocateResult. */
const tags = {
  id: tagOf(1, 0),
  request: tagOf(2, 2),
  traceparent: tagOf(3, 2),
  reply: tagOf(2, 2),
  error: tagOf(3, 2),
};

/**
 * Reads the requests of one message: at most `max`, the rest is not read.
 * @throws Error for bytes that are cut off; RangeError for an id beyond 2^53 - 1
 */
export function readRequestFrames(bytes: Buffer, max: number): RequestFrame[] {
  const reader = protobuf.Reader.create(bytes);
  const frames: RequestFrame[] = [];
  while (reader.pos < reader.len && frames.length < max) {
    const tag = reader.uint32();
    if (tag === list) frames.push(readFrame(reader, bytes));
    else reader.skipType(tag & 7);
  }
  return frames;
}

function readFrame(reader: protobuf.Reader, bytes: Buffer): RequestFrame {
  const end = reader.uint32() + reader.pos;
  let [id, request, traceparent] = [0, bytes.subarray(0, 0), ''];
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (tag === tags.id) id = readUint64('NumberedAllocateRequest.id', reader);
    else if (tag === tags.traceparent) traceparent = reader.string();
    else if (tag === tags.request) {
      const length = reader.uint32();
      request = bytes.subarray(reader.pos, reader.pos + length);
      reader.skip(length);
    } else reader.skipType(tag & 7);
  }
  if (reader.pos !== end || end > reader.len) throw new RangeError('NumberedAllocateRequest ends beyond its length');
  return { id, request, traceparent };
}

/** The outcome of one request: the encoded reply, or why it failed. */
export type RequestOutcome = { readonly reply: Uint8Array } | { readonly error: RequestError };

/** Collects results into one message. */
export class ResultsWriter {
  readonly #writer = protobuf.Writer.create();
  #length = 0;

  /** The bytes of the replies and errors in the message, which has up to 25 more for each. */
  get length(): number {
    return this.#length;
  }

  add(id: number, outcome: RequestOutcome): void {
    const [tag, bytes] =
      'reply' in outcome ? [tags.reply, outcome.reply] : [tags.error, encode('RequestError', outcome.error)];
    this.#writer.uint32(list).fork().uint32(tags.id).uint64(id).uint32(tag).bytes(bytes).ldelim();
    this.#length += bytes.length;
  }

  finish(): Buffer {
    const bytes = this.#writer.finish();
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }
}
