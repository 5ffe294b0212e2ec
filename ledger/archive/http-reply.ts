/** Reads the body of an HTTP reply up to a limit, and explains why a reply is missing. */
import { Readable } from 'node:stream';

/** Reads the body, or the first `maxBytes` of a longer body. */
export async function readBody(reply: Response, maxBytes: number): Promise<Buffer> {
  const content: Uint8Array[] = [];
  let missing = maxBytes;
  // Leaving the loop early aborts the transfer.
  const body: AsyncIterable<Uint8Array> = reply.body ?? Readable.from([]);
  for await (const chunk of body) {
    content.push(chunk.subarray(0, missing));
    missing -= chunk.length;
    if (missing <= 0) break;
  }
  return Buffer.concat(content);
}

/** Describes a fetch error. Its own message is generic; the reason is in its cause. */
export function causeOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message} (${cause.message})` : message;
}
