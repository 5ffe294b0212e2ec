/** Reads an export file line by line. */
import { createReadStream } from 'node:fs';
import { errorMessage } from '../../lib/errors.ts';
import { CliError } from '../cli-error.ts';

/** The longest line that is read. No event is that long: a file with a longer line is no export. */
const maxLineCharacters = 1 << 20;

/**
 * The non-empty lines of an export; "-" reads stdin. A line ends with LF or CRLF. (Node's readline
 * also splits at U+2028, which an event may contain.)
 * @throws CliError for a file that cannot be read, or with a line of more than 1 MiB.
 */
export async function* readExportLines(file: string): AsyncGenerator<string> {
  const input: AsyncIterable<Buffer> = file === '-' ? process.stdin : createReadStream(file);
  const decoder = new TextDecoder();
  let incomplete = '';
  try {
    for await (const chunk of input) {
      const lines = (incomplete + decoder.decode(chunk, { stream: true })).split('\n');
      incomplete = lines.pop() ?? '';
      if (incomplete.length > maxLineCharacters)
        throw new Error(`a line has more than ${maxLineCharacters} characters`);
      for (const line of lines) yield* nonEmptyLine(line);
    }
  } catch (error) {
    throw new CliError('usage', `cannot read ${file}: ${errorMessage(error)}`, {
      cause: error,
    });
  }
  yield* nonEmptyLine(incomplete + decoder.decode());
}

function* nonEmptyLine(line: string): Generator<string> {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line;
  if (text !== '') yield text;
}
