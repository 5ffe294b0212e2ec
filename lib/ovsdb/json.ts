/** Reads JSON from a server. Each function returns the expected type, or throws PROTOCOL. */
import { protocolError } from './ovsdb-error.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

const quoted = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
};

/** @param what names the value in the error */
export function readObject(value: unknown, what: string): JsonObject {
  if (isObject(value)) return value;
  throw protocolError(`${what} is ${quoted(value)}, not an object`);
}

export function readArray(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw protocolError(`${what} is ${quoted(value)}, not an array`);
}

export function readText(value: unknown, what: string): string {
  if (typeof value === 'string') return value;
  throw protocolError(`${what} is ${quoted(value)}, not a text`);
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Shortens a server's text for a message: 300 characters, without control characters. */
export function shorten(text: string): string {
  const plain = text.replaceAll(/\p{C}/gu, ' ');
  return plain.length > 300 ? `${plain.slice(0, 300)}…` : plain;
}
