/** The file format of the archive: lines, each with a line feed, compressed with gzip. */
import { setImmediate } from 'node:timers/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Between chunks the function yields to the event loop. */
const linesPerChunk = 500;

/** Compresses lines without blocking the event loop. */
export async function packLines(lines: readonly string[], signal: AbortSignal): Promise<Buffer> {
  async function* chunks(): AsyncGenerator<string> {
    for (let first = 0; first < lines.length; first += linesPerChunk) {
      yield lines
        .slice(first, first + linesPerChunk)
        .map((line) => `${line}\n`)
        .join('');
      await setImmediate();
    }
  }
  return collect(Readable.from(chunks()), createGzip(), signal);
}

/** The reverse of `packLines`. @throws Error for any other content. */
export async function unpackLines(packed: Buffer, signal: AbortSignal): Promise<string[]> {
  const lines = (await collect(Readable.from([packed]), createGunzip(), signal)).toString('utf8').split('\n');
  if (lines.pop() !== '') throw new Error('the last line has no line feed');
  return lines;
}

async function collect(from: Readable, through: Transform, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const sink = async (source: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of source) chunks.push(chunk);
  };
  await pipeline(from, through, sink, { signal });
  return Buffer.concat(chunks);
}
