/**
 * Encodes and decodes the messages of ipledger.proto, and describes its methods for grpc-js.
 *
 * Messages are plain objects. An absent scalar is written as zero, and zero is read for it. An
 * absent message or `optional` field is left out. Numbers are safe integers: any other number is an
 * error, and is never rounded.
 */
import protobuf from 'protobufjs/minimal.js';
import tables from './generated/ipledger.json' with { type: 'json' };
import { messageTypes, readMessage, writeMessage } from './wire-format.ts';

/** A message to write. Any field may be absent. */
export type MessageInput<T> = T extends readonly (infer Item)[]
  ? readonly MessageInput<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]?: MessageInput<T[Key]> | undefined }
    : T;

export type MethodKind = 'unary' | 'serverStream';

/** A method of a service in the form of grpc-js: its path, and the codecs of its messages. */
export interface Method<Request, Reply, Kind extends MethodKind = MethodKind> {
  readonly kind: Kind;
  readonly path: string;
  readonly requestStream: boolean;
  readonly responseStream: boolean;
  readonly requestSerialize: (request: MessageInput<Request>) => Buffer;
  readonly requestDeserialize: (bytes: Uint8Array) => Request;
  readonly responseSerialize: (reply: MessageInput<Reply>) => Buffer;
  readonly responseDeserialize: (bytes: Uint8Array) => Reply;
}

const typeOf = messageTypes(tables);

/**
 * Encodes a message.
 * @param name the name of the message in ipledger.proto
 * @throws RangeError, with the path of the field, for a BigInt and for a number that is negative,
 * fractional or beyond 2^53 - 1; TypeError for an unknown message, and for a value of another type
 */
export function encode(name: string, plain: object): Buffer {
  const type = typeOf(name);
  try {
    const bytes = writeMessage(type, plain as Record<string, unknown>).finish();
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  } catch (error) {
    if (error instanceof Error) error.message = `${name}.${error.message}`;
    throw error;
  }
}

/**
 * Decodes a message to a plain object. All scalars and lists are present. An absent message or
 * `optional` field is left out.
 * @throws Error for truncated bytes; RangeError for a number beyond 2^53 - 1
 */
export function decode(name: string, bytes: Uint8Array): object {
  return readMessage(typeOf(name), protobuf.Reader.create(bytes));
}

function method<Request, Reply, Kind extends MethodKind>(
  kind: Kind,
  path: string,
  request: string,
  reply: string,
): Method<Request, Reply, Kind> {
  return {
    kind,
    path,
    requestStream: false,
    responseStream: kind === 'serverStream',
    requestSerialize: (plain) => encode(request, plain as object),
    requestDeserialize: (bytes) => decode(request, bytes) as Request,
    responseSerialize: (plain) => encode(reply, plain as object),
    responseDeserialize: (bytes) => decode(reply, bytes) as Reply,
  };
}

/** A method with one request and one reply. Each is given by the name of its message. */
export const unary = <Request, Reply>(path: string, request: string, reply: string) =>
  method<Request, Reply, 'unary'>('unary', path, request, reply);

/** A method with one request and many replies. */
export const serverStream = <Request, Reply>(path: string, request: string, reply: string) =>
  method<Request, Reply, 'serverStream'>('serverStream', path, request, reply);
