/**
 * The only door to the generated codec.
 *
 * protobufjs writes 0, silently, for a BigInt that is handed to `encode` or `create`; only `fromObject` converts. And
 * `decode` hands out instances whose absent fields hide in a prototype. So nothing else imports ipledger.pb.js:
 * everything goes in by `fromObject`, comes out by `toObject` as a plain object with every scalar and list present, and a
 * number that JavaScript cannot hold exactly is refused in both directions instead of being rounded.
 */
import { ipledger } from './ipledger.pb.js';

/** What may be left out when a message is written: everything. Absent scalars are written as their zero value. */
export type Input<T> = T extends readonly (infer Item)[]
  ? readonly Input<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]?: Input<T[Key]> | undefined }
    : T;

export type MethodKind = 'unary' | 'serverStream';

/** A method of a service: its path, and how its messages become bytes and back. Has the shape that grpc-js asks for. */
export interface Method<Request, Reply, Kind extends MethodKind = MethodKind> {
  readonly kind: Kind;
  readonly path: string;
  readonly requestStream: boolean;
  readonly responseStream: boolean;
  readonly requestSerialize: (request: Input<Request>) => Buffer;
  readonly requestDeserialize: (bytes: Uint8Array) => Request;
  readonly responseSerialize: (reply: Input<Reply>) => Buffer;
  readonly responseDeserialize: (bytes: Uint8Array) => Reply;
}

interface GeneratedMessage {
  fromObject(plain: object): object;
  encode(message: object): { finish(): Uint8Array };
  decode(bytes: Uint8Array): object;
  toObject(message: object, options: object): object;
}

const plainObjects = { longs: Number, enums: String, defaults: true, arrays: true, objects: true };

function generatedMessage(name: string): GeneratedMessage {
  const type = (ipledger.v1 as Record<string, GeneratedMessage | undefined>)[name];
  if (!type) throw new TypeError(`no message ${name}: is the generated code up to date?`);
  return type;
}

/**
 * Message → bytes.
 * @param name the message's name in ipledger.proto.
 * @throws RangeError for a BigInt, or a number that is negative, broken or beyond 2^53 - 1.
 */
export function encode(name: string, plain: object): Buffer {
  refuseUnsafe(plain, name);
  const type = generatedMessage(name);
  return Buffer.from(type.encode(type.fromObject(plain)).finish());
}

/**
 * Bytes → message, a plain object with every scalar and list present; an absent message or `optional` is left out.
 * @throws Error for bytes that are no such message; RangeError for a number beyond 2^53 - 1.
 */
export function decode(name: string, bytes: Uint8Array): object {
  const type = generatedMessage(name);
  const plain = type.toObject(type.decode(bytes), plainObjects);
  refuseUnsafe(plain, name);
  dropNulls(plain);
  return plain;
}

function refuseUnsafe(value: unknown, path: string): void {
  if (typeof value === 'bigint' || (typeof value === 'number' && !(Number.isSafeInteger(value) && value >= 0)))
    throw new RangeError(`${path} is ${value}: numbers here are whole, from 0 to 2^53 - 1`);
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
  for (const [key, inner] of Object.entries(value)) refuseUnsafe(inner, `${path}.${key}`);
}

/** `defaults: true` writes null for an absent message; our types say that it is left out. */
function dropNulls(value: object): void {
  for (const [key, inner] of Object.entries(value) as [string, unknown][]) {
    if (inner === null) delete (value as Record<string, unknown>)[key];
    else if (typeof inner === 'object' && !(inner instanceof Uint8Array)) dropNulls(inner);
  }
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
    responseStream: kind !== 'unary',
    requestSerialize: (plain) => encode(request, plain as object),
    requestDeserialize: (bytes) => decode(request, bytes) as Request,
    responseSerialize: (plain) => encode(reply, plain as object),
    responseDeserialize: (bytes) => decode(reply, bytes) as Reply,
  };
}

/** A method with one request and one reply; messages are given by name. */
export const unary = <Request, Reply>(path: string, request: string, reply: string) =>
  method<Request, Reply, 'unary'>('unary', path, request, reply);

/** A method with one request and many replies. */
export const serverStream = <Request, Reply>(path: string, request: string, reply: string) =>
  method<Request, Reply, 'serverStream'>('serverStream', path, request, reply);
