import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { runProgram } from '../testing/run-cli.ts';

describe('ipledger checkpoint-key', () => {
  let folder: string;
  before(() => void (folder = mkdtempSync(join(tmpdir(), 'ipledger-checkpoint-key-'))));
  after(() => rmSync(folder, { recursive: true }));

  it('ipledger checkpoint-key writes a key that only its owner can read, and prints the verifier key', async () => {
    const file = join(folder, 'first.key');
    const { status, stdout, stderr } = await runProgram(['checkpoint-key', file, '--name', 'example.com/ipledger']);
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    expect(stdout).to.match(/^example\.com\/ipledger\+[0-9a-f]{8}\+\S+\n$/);
    expect(readFileSync(`${file}.pub`, 'utf8')).to.equal(stdout);
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    expect(readFileSync(file, 'utf8')).to.match(/^PRIVATE\+KEY\+example\.com\/ipledger\+/);
  });

  it('ipledger checkpoint-key does not overwrite a key', async () => {
    const file = join(folder, 'second.key');
    await runProgram(['checkpoint-key', file]);
    const key = readFileSync(file, 'utf8');
    const { status, stderr } = await runProgram(['checkpoint-key', file]);
    expect(status).to.equal(2);
    expect(stderr).to.equal(`ipledger: ${file} exists already: name another file\n`);
    expect(readFileSync(file, 'utf8')).to.equal(key);
  });
});
