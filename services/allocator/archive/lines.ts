/** Lines of text as the archive keeps them: each ended by a line feed, all of them gzipped. */
import { setImmediate } from 'node:timers/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Between pieces everybody else in the process has a turn. */
const linesAPiece = 500;

/** However many lines there are, the rest of the process goes on meanwhile. */
export async function packLines(lines: readonly string[], signal: AbortSignal): Promise<Buffer> {
  async function* pieces(): AsyncGenerator<string> {
    for (let first = 0; first < lines.length; first += linesAPiece) {
      yield lines
        .slice(first, first + linesAPiece)
        .map((line) => `${line}\n`)
        .join('');
      await setImmediate();
    }
  }
  return collect(Readable.from(pieces()), createGzip(), signal);
}

/** @throws Error for what `packLines` did not make. */
export async function unpackLines(packed: Buffer, signal: AbortSignal): Promise<string[]> {
  const lines = (await collect(Readable.from([packed]), createGunzip(), signal)).toString('utf8').split('\n');
  if (lines.pop() !== '') throw new Error('its last line does not end');
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
