/** Splits a byte stream into JSON objects, which OVSDB sends without a separator. */
import { type JsonObject, readObject } from './json.ts';
import { protocolError } from './ovsdb-error.ts';

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** A limit, because messages of OVSDB have about ten levels. */
const maxDepth = 100;

const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** Scans each byte only once, even if the bytes arrive in many pieces. */
export class MessageSplitter {
  readonly #maxBytes: number;
  /** The pieces of the unfinished message. */
  #pieces: Buffer[] = [];
  #bytes = 0;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;

  /** @param maxBytes the limit of one message */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Calls `receive` with each message that `chunk` completes.
   * @throws OvsdbError PROTOCOL if a message is too long, too deep or not a JSON object. The
   * splitter is unusable afterwards.
   */
  push(chunk: Buffer, receive: (message: JsonObject) => void): void {
    let start = 0;
    for (let at = 0; at < chunk.length; at++) {
      if (this.#depth === 0) {
        if (isSpace(chunk[at] ?? 0)) continue;
        if (chunk[at] !== openBrace) throw protocolError('the server sent bytes that are not a JSON object');
        start = at;
      }
      if (this.#isInString) at = this.#skipString(chunk, at);
      else this.#scan(chunk[at] ?? 0);
      if (this.#bytes + Math.min(at + 1, chunk.length) - start > this.#maxBytes)
        throw protocolError(`the server sent a message of more than ${this.#maxBytes} bytes`);
      if (this.#depth === 0) receive(this.#finish(chunk.subarray(start, at + 1)));
    }
    if (this.#depth === 0) return;
    const rest = chunk.subarray(start);
    this.#pieces.push(rest);
    this.#bytes += rest.length;
  }

  #scan(byte: number): void {
    if (byte === quote) this.#isInString = true;
    else if (byte === openBrace || byte === openBracket) {
      if (++this.#depth > maxDepth) throw protocolError(`the server sent JSON of more than ${maxDepth} levels`);
    } else if (byte === closeBrace || byte === closeBracket) this.#depth--;
  }

  /** Scans to the end of a string. Returns the index of the last scanned byte. */
  #skipString(chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (chunk[at] === backslash) this.#isEscaped = true;
      else if (chunk[at] === quote) {
        this.#isInString = false;
        return at;
      }
    }
    return chunk.length;
  }

  #finish(last: Buffer): JsonObject {
    const text = this.#pieces.length === 0 ? last : Buffer.concat([...this.#pieces, last]);
    this.#pieces = [];
    this.#bytes = 0;
    try {
      return readObject(JSON.parse(text.toString('utf8')), 'a message');
    } catch (error) {
      throw protocolError(`the server sent invalid JSON: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}
