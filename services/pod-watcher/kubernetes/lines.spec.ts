import { expect } from 'chai';
import { lines } from './lines.ts';

async function cut(chunks: string[], maxBytes = 100): Promise<string[]> {
  const found: string[] = [];
  async function* stream() {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  for await (const line of lines(stream(), maxBytes)) found.push(line.toString());
  return found;
}

describe('cutting a stream into lines', () => {
  it('does not care where the chunks end', async () => {
    for (const chunks of [['a\nbc\nd\n'], ['a', '\nb', 'c\n', 'd\n'], ['a\nb', 'c', '\nd', '\n']])
      expect(await cut(chunks)).to.deep.equal(['a', 'bc', 'd']);
  });

  it('drops a last line that was cut off, and empty ones', async () => {
    expect(await cut(['a\n\n\nhal'])).to.deep.equal(['a']);
    expect(await cut([])).to.deep.equal([]);
  });

  it('gives up on a line without end', async () => {
    const error: unknown = await cut(['x'.repeat(60), 'y'.repeat(60)]).catch((thrown: unknown) => thrown);
    expect(error).to.have.property('message', 'a line of more than 100 bytes');
  });
});
