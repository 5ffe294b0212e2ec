/** A file of lines, one at a time, however long it is; "-" is stdin. */
import { createReadStream } from 'node:fs';
import { Failure } from '../failure.ts';

/** No event takes so much: whatever has such a line is no export. */
const mostCharacters = 1 << 20;

/**
 * The lines of an export, without empty ones. Only a line feed ends a line (and a carriage return before it, which some editors add):
 * an event may hold U+2028, at which Node's own reader of lines would cut it.
 * @throws Failure for a file that cannot be read, or that has no lines.
 */
export async function* linesOf(file: string): AsyncGenerator<string> {
  const input: AsyncIterable<Buffer> = file === '-' ? process.stdin : createReadStream(file);
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for await (const chunk of input) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > mostCharacters) throw new Error(`it has a line of more than ${mostCharacters} characters`);
      for (const line of lines) yield* withoutReturn(line);
    }
  } catch (error) {
    throw new Failure('usage', `cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  yield* withoutReturn(rest + decoder.decode());
}

function* withoutReturn(line: string): Generator<string> {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line;
  if (text !== '') yield text;
}
