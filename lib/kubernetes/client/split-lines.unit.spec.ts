import { expect } from 'chai';
import { splitLines } from './kubernetes-api.ts';

async function cut(chunks: string[], maxBytes = 100): Promise<string[]> {
  const found: string[] = [];
  async function* stream() {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  for await (const line of splitLines(stream(), maxBytes)) found.push(line.toString());
  return found;
}

describe('splitLines', () => {
  it('splitLines returns the same lines for any chunks', async () => {
    for (const chunks of [['a\nbc\nd\n'], ['a', '\nb', 'c\n', 'd\n'], ['a\nb', 'c', '\nd', '\n']])
      expect(await cut(chunks)).to.deep.equal(['a', 'bc', 'd']);
  });

  it('splitLines drops an incomplete last line, and empty lines', async () => {
    expect(await cut(['a\n\n\nhal'])).to.deep.equal(['a']);
    expect(await cut([])).to.deep.equal([]);
  });

  it('splitLines fails for a line over the limit', async () => {
    const error: unknown = await cut(['x'.repeat(60), 'y'.repeat(60)]).catch((thrown: unknown) => thrown);
    expect(error).to.have.property('message', 'a line of more than 100 bytes');
  });
});
