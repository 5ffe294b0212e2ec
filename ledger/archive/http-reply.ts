/** Reads the body of an HTTP reply up to a limit, and the cause of a reply that is missing. */
import { Readable } from 'node:stream';

/** The body, or the first `maxBytes` of a longer one. */
export async function readBody(reply: Response, maxBytes: number): Promise<Buffer> {
  const content: Uint8Array[] = [];
  let missing = maxBytes;
  // Leaving the loop early ends the transfer.
  const body: AsyncIterable<Uint8Array> = reply.body ?? Readable.from([]);
  for await (const chunk of body) {
    content.push(chunk.subarray(0, missing));
    missing -= chunk.length;
    if (missing <= 0) break;
  }
  return Buffer.concat(content);
}

/** The message of a fetch error is generic; the reason is in its cause. */
export function causeOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message} (${cause.message})` : message;
}
