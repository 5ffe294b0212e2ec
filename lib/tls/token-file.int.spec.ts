import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { isTokenShaped, maxTokenLength, TokenFile } from './token-file.ts';

describe('The token file', () => {
  let folder: string;
  let file: string;
  let now: number;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ipledger-token-'));
    file = join(folder, 'token');
    now = 0;
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('WB-459 is read again a second later, so a renewed token needs no restart', () => {
    writeFileSync(file, 'first.token.x\n');
    const tokens = new TokenFile(file, () => now);
    writeFileSync(`${file}.new`, 'second.token.x');
    renameSync(`${file}.new`, file);
    now = 999;
    expect(tokens.read()).to.equal('first.token.x');
    now = 1_000;
    expect(tokens.read()).to.equal('second.token.x');
  });

  it('the token is not returned from memory after its file was removed', () => {
    writeFileSync(file, 'first.token.x');
    const tokens = new TokenFile(file, () => now);
    rmSync(file);
    now = 1_000;
    expect(() => tokens.read()).to.throw(`the token file ${file} cannot be read: ENOENT`);
  });

  it('the start fails without a token, and the error does not contain the content', () => {
    expect(() => new TokenFile(file)).to.throw('cannot be read');
    for (const content of ['', 'a secret password', 'a.b', `a.b.${'c'.repeat(maxTokenLength)}`]) {
      writeFileSync(file, content);
      expect(() => new TokenFile(file), content.slice(0, 20))
        .to.throw('is not a ServiceAccount token of at most 8192 bytes')
        .with.property('message')
        .that.does.not.contain('secret');
    }
  });
});

describe('The form of a token', () => {
  it('a token has three parts in base64url, and a limited length', () => {
    expect(isTokenShaped('eyJ0_x-.eyJ1.sig')).to.be.true;
    for (const text of ['', 'a.b', 'a.b.c.d', 'a.b.', 'a.b.c d', 'a.b.c\n', `a.b.${'c'.repeat(maxTokenLength)}`])
      expect(isTokenShaped(text), JSON.stringify(text.slice(0, 20))).to.be.false;
  });
});
