/** The file format of the archive: lines, each with a line feed, compressed with gzip. */
import { addAbortSignal, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import { createGunzip, createGzip } from 'node:zlib';

/** The functions yield to the event loop after this many lines. */
const linesPerChunk = 500;
/** About eighty claims, which are parsed within 2 ms. */
const chunkBytes = 32 << 10;

/** Compresses lines, which are produced on demand, without blocking the event loop. */
export async function packLines(lines: Iterable<string>, signal: AbortSignal): Promise<Buffer> {
  async function* chunks(): AsyncGenerator<string> {
    let chunk: string[] = [];
    for (const line of lines) {
      if (chunk.push(`${line}\n`) < linesPerChunk) continue;
      yield chunk.join('');
      chunk = [];
      await setImmediate();
    }
    yield chunk.join('');
  }
  const packed: Buffer[] = [];
  const sink = async (source: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of source) packed.push(chunk);
  };
  await pipeline(Readable.from(chunks()), createGzip(), sink, { signal });
  return Buffer.concat(packed);
}

export interface UnpackLimits {
  readonly maxBytes: number;
  readonly maxLineBytes: number;
}

/**
 * Unpacks what `packLines` packed, in parts that fit into a turn of the event loop.
 * @throws Error for any other content, or over a limit.
 */
export async function* unpackLines(
  packed: Buffer,
  { maxBytes, maxLineBytes }: UnpackLimits,
  signal: AbortSignal,
): AsyncGenerator<readonly string[]> {
  const gunzip = addAbortSignal(signal, createGunzip({ chunkSize: chunkBytes }));
  gunzip.end(packed);
  const decoder = new TextDecoder();
  let [bytes, incomplete] = [0, ''];
  for await (const chunk of gunzip as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`it has more than ${maxBytes} bytes when it is unpacked`);
    const lines = (incomplete + decoder.decode(chunk, { stream: true })).split('\n');
    incomplete = lines.pop() ?? '';
    if (incomplete.length > maxLineBytes) throw new Error(`it has a line of more than ${maxLineBytes} bytes`);
    if (lines.length > 0) yield lines;
  }
  if (incomplete + decoder.decode() !== '') throw new Error('its last line has no line feed');
}
