/** Splits a stream of bytes into lines, with a limit on each. */

const newline = 10;

/**
 * Yields the lines of `chunks` without their newlines; empty ones are skipped. A last line without a newline is incomplete, and
 * is dropped.
 * @throws Error for a line longer than `maxBytes`
 */
export async function* splitLines(chunks: AsyncIterable<unknown>, maxBytes: number): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    let rest = chunk as Buffer;
    for (let end = rest.indexOf(newline); end !== -1; end = rest.indexOf(newline)) {
      const line = pieces.length === 0 ? rest.subarray(0, end) : Buffer.concat([...pieces, rest.subarray(0, end)]);
      pieces = [];
      bytes = 0;
      rest = rest.subarray(end + 1);
      if (line.length > 0) yield line;
    }
    if (rest.length === 0) continue;
    pieces.push(rest);
    bytes += rest.length;
    if (bytes > maxBytes) throw new Error(`a line of more than ${maxBytes} bytes`);
  }
}
