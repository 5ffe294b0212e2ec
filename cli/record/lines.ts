/** A file of lines, one at a time, however long it is; "-" is stdin. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { Failure } from '../failure.ts';

/** @throws Failure for a file that cannot be read. */
export async function* linesOf(file: string): AsyncGenerator<string> {
  const input = file === '-' ? process.stdin : createReadStream(file);
  try {
    for await (const line of createInterface({ input, crlfDelay: Infinity })) if (line !== '') yield line;
  } catch (error) {
    throw new Failure('usage', `cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}
