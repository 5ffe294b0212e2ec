/** Events as they are kept: many in a page, which packs to a fourth of what they would take one by one. */
import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** More pack hardly better, and one that is wanted costs unpacking all of its page. */
export const eventsAPage = 64;

/** Beyond it, bytes hardly shrink and time grows. */
const level = 3;
const lengthBytes = 4;

/** Messages of the API as bytes, one behind the other, each with its length before it. */
export function packPage(messages: readonly Uint8Array[]): Buffer {
  const parts = messages.flatMap((message) => {
    const length = Buffer.alloc(lengthBytes);
    length.writeUInt32LE(message.length);
    return [length, message];
  });
  return deflateRawSync(Buffer.concat(parts), { level });
}

export function unpackPage(packed: Uint8Array): Uint8Array[] {
  const bytes = inflateRawSync(packed);
  const messages: Uint8Array[] = [];
  for (let at = 0; at < bytes.length;) {
    const from = at + lengthBytes;
    at = from + bytes.readUInt32LE(at);
    messages.push(bytes.subarray(from, at));
  }
  return messages;
}
