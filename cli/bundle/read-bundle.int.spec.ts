import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGzip, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { errorMessage } from '../../lib/errors.ts';
import { formatTar, tarFile } from '../../lib/tar/format-tar.ts';
import { healthyFacts } from '../installation/testing/facts.fixture.ts';
import { runProgram } from '../testing/run-cli.ts';
import { readBundle } from './read-bundle.ts';

const bundleOf = (facts: string): Buffer => gzipSync(formatTar([tarFile('facts.json', facts)], 0));

describe('A support bundle', () => {
  let folder: string;
  before(() => (folder = mkdtempSync(join(tmpdir(), 'ipledger-'))));
  after(() => rmSync(folder, { recursive: true }));
  const write = (bytes: Buffer): string => {
    const file = join(folder, 'bundle.tar.gz');
    writeFileSync(file, bytes);
    return file;
  };
  const reasonOf = (bytes: Buffer): Promise<string> =>
    readBundle(write(bytes)).then(
      () => 'read',
      (error: unknown) =>
        errorMessage(error).replace(/^.* can be read: (.*)\. Name a file of ipledger sysdump$/s, '$1'),
    );

  it('A support bundle is judged by doctor without an installation', async () => {
    const file = write(bundleOf(JSON.stringify({ ...healthyFacts, leases: [{ name: 'ipledger-pod-watcher' }] })));
    const { status, stdout } = await runProgram(['doctor', '--bundle', file]);
    expect(status).to.equal(1);
    expect(stdout).to.match(/^critical: Lease ipledger-pod-watcher: 0 pod-watchers are active.*\n.*\n.*\n1 finding\n$/);
    expect(await runProgram(['doctor', '--bundle', write(bundleOf(JSON.stringify(healthyFacts)))])).to.include({
      status: 0,
      stdout: 'healthy\n',
    });
  });

  it('A support bundle that is no bundle, or has facts of another form, is refused with the reason', async () => {
    expect(await reasonOf(Buffer.from('no gzip'))).to.contain('incorrect header check');
    expect(await reasonOf(bundleOf('{}').subarray(0, 40))).to.contain('unexpected end of file');
    expect(await reasonOf(gzipSync(Buffer.alloc(600, 65)))).to.contain('not octal');
    expect(await reasonOf(gzipSync(formatTar([tarFile('x', '')], 0)))).to.equal('it has no facts.json');
    expect(await reasonOf(bundleOf('{"format":1}'))).to.match(/^its facts\.json is not of this version: gatheredAt/);
    expect(await reasonOf(bundleOf(JSON.stringify({ ...healthyFacts, gaps: 'x' })))).to.contain('gaps');
    expect(await readBundle(folder).catch(errorMessage)).to.contain('it is not a file');
  });

  it('A support bundle that unpacks to more than 160 MiB is refused before it fills the memory', async () => {
    const bomb = await pack(165);
    expect(bomb.length).to.be.below(1 << 20);
    expect(await reasonOf(bomb)).to.equal('it unpacks to more than 160 MiB');
  });
});

/** Returns a gzip file of so many MiB of zeros. */
async function pack(mebibytes: number): Promise<Buffer> {
  const gzip = createGzip({ level: 1 });
  const chunks: Buffer[] = [];
  gzip.on('data', (chunk: Buffer) => chunks.push(chunk));
  const zeros = Buffer.alloc(1 << 20);
  for (let written = 0; written < mebibytes; written += 1)
    if (!gzip.write(zeros)) await new Promise((resolve) => gzip.once('drain', resolve));
  await new Promise((resolve) => gzip.end(resolve));
  return Buffer.concat(chunks);
}
