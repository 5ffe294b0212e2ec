import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { CliError } from '../cli-error.ts';
import { readExportLines } from './read-lines.ts';

describe('readExportLines', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'ipledger-lines-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  async function read(content: string): Promise<string[]> {
    const file = join(folder, 'export');
    writeFileSync(file, content);
    const lines: string[] = [];
    for await (const line of readExportLines(file)) lines.push(line);
    return lines;
  }

  it('readExportLines splits at LF and CRLF, also without a line end at the end of the file', async () => {
    for (const content of ['one\ntwo\n', 'one\ntwo', 'one\r\ntwo\r\n', '\none\n\ntwo\n\n'])
      expect(await read(content)).to.deep.equal(['one', 'two']);
    expect(await read('')).to.deep.equal([]);
  });

  it('readExportLines does not split a line at other line separators', async () => {
    const reasons = ['a\u2028b', 'c\u2029d', 'e\u0085f', 'g\vh', '\u{1f600}'.repeat(40_000), 'the \ufeff mark'];
    expect(await read(`${reasons.join('\n')}\n`)).to.deep.equal(reasons);
  });

  it('readExportLines rejects a file with a line of more than 1 MiB', async () => {
    const error = await read('x'.repeat(3 << 20)).catch((thrown: unknown) => thrown);
    expect(error)
      .to.be.instanceOf(CliError)
      .with.property('message')
      .that.matches(/a line has more than 1048576 characters/);
  });
});
