/** Cutting a stream of bytes into lines, with a limit on each. */

const newline = 10;

/**
 * The lines of `chunks`, without their newlines; empty ones are skipped. A last line without a newline was cut off and is dropped.
 * @throws Error when a line grows beyond `maxBytes`.
 */
export async function* lines(chunks: AsyncIterable<unknown>, maxBytes: number): AsyncGenerator<Buffer> {
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
