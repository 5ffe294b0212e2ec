import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Failure } from '../failure.ts';
import { linesOf } from './lines.ts';

describe('The lines of an export', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'ipledger-lines-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  async function read(content: string): Promise<string[]> {
    const file = join(folder, 'export');
    writeFileSync(file, content);
    const lines: string[] = [];
    for await (const line of linesOf(file)) lines.push(line);
    return lines;
  }

  it('end with a line feed, whether the last has one or not, and whoever added a carriage return', async () => {
    for (const content of ['one\ntwo\n', 'one\ntwo', 'one\r\ntwo\r\n', '\none\n\ntwo\n\n'])
      expect(await read(content)).to.deep.equal(['one', 'two']);
    expect(await read('')).to.deep.equal([]);
  });

  it('are whole, whatever stands in them', async () => {
    const reasons = ['a\u2028b', 'c\u2029d', 'e\u0085f', 'g\vh', '\u{1f600}'.repeat(40_000), 'the \ufeff mark'];
    expect(await read(`${reasons.join('\n')}\n`)).to.deep.equal(reasons);
  });

  it('are none of a file that has no lines', async () => {
    const failure = await read('x'.repeat(3 << 20)).catch((error: unknown) => error);
    expect(failure)
      .to.be.instanceOf(Failure)
      .with.property('message')
      .that.matches(/a line of more than 1048576/);
  });
});
