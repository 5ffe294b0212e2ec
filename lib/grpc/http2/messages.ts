/** gRPC messages on an HTTP/2 stream: each has a prefix of five bytes, whether it is compressed and its length. */
import { callFailure } from './failures.ts';
import { status } from '../../grpc-status.ts';

const prefixBytes = 5;

/** A message with its prefix, uncompressed. */
export function frameMessage(message: Buffer): Buffer {
  const framed = Buffer.allocUnsafe(prefixBytes + message.length);
  framed[0] = 0;
  framed.writeUInt32BE(message.length, 1);
  message.copy(framed, prefixBytes);
  return framed;
}

/**
 * Yields the messages of a stream of bytes. It reads further bytes when the consumer takes the next message.
 * @param maxBytes of one message
 * @throws CallFailure RESOURCE_EXHAUSTED for a longer message; INTERNAL for a compressed one, or one that is cut off
 */
export async function* readMessages(bytes: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = [];
  let size = 0;
  let needed = prefixBytes;
  for await (const chunk of bytes) {
    chunks.push(chunk);
    size += chunk.length;
    while (size >= needed) {
      const joined = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size);
      const end = prefixBytes + messageLength(joined, maxBytes);
      const isComplete = size >= end;
      if (isComplete) yield joined.subarray(prefixBytes, end);
      chunks = [isComplete ? joined.subarray(end) : joined];
      size = chunks[0]?.length ?? 0;
      needed = isComplete ? prefixBytes : end;
    }
  }
  if (size > 0) throw callFailure(status.INTERNAL, 'the reply was cut off');
}

/** The length of the message after a prefix. @throws CallFailure for a message that is too long or compressed */
function messageLength(prefix: Buffer, maxBytes: number): number {
  const length = prefix.readUInt32BE(1);
  if (prefix[0] !== 0) throw callFailure(status.INTERNAL, 'the reply is compressed, which was not requested');
  if (length > maxBytes)
    throw callFailure(status.RESOURCE_EXHAUSTED, `the reply has ${length} bytes, and ${maxBytes} is the limit`);
  return length;
}
