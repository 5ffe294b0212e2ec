import { execFileSync } from 'node:child_process';
import { lstat, mkdtemp, readFile, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { formatTar, type TarEntry } from './format-tar.ts';

const file = (path: string, text: string, mode = 0o644): TarEntry => ({
  path,
  mode,
  content: { file: Buffer.from(text) },
});

describe('formatTar', () => {
  let folder: string;
  beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'ipledger-tar-'))));
  afterEach(() => rm(folder, { recursive: true }));

  it('formatTar writes files, links, folders and long paths that tar extracts', async () => {
    const long = `${'a'.repeat(90)}/${'b'.repeat(90)}`;
    const archive = formatTar(
      [
        file('usr/bin/node', 'binary', 0o755),
        file(long, 'x'.repeat(1_000)),
        { path: 'bin', mode: 0o777, content: { link: 'usr/bin' } },
        { path: 'tmp', mode: 0o1777, content: 'folder' },
      ],
      86_400,
    );
    execFileSync('tar', ['-xpf', '-', '-C', folder], { input: archive });
    expect(await readFile(join(folder, 'bin/node'), 'utf8')).to.equal('binary');
    expect(await readlink(join(folder, 'bin'))).to.equal('usr/bin');
    expect(await readFile(join(folder, long), 'utf8')).to.have.length(1_000);
    const [node, tmp] = await Promise.all(['usr/bin/node', 'tmp'].map((path) => lstat(join(folder, path))));
    expect(node?.mtimeMs).to.equal(86_400_000);
    expect((node?.mode ?? 0) & 0o777).to.equal(0o755);
    expect((tmp?.mode ?? 0) & 0o7777).to.equal(0o1777);
  });

  it('formatTar returns the same bytes for the same files in another order', () => {
    const entries = [file('a/b', '1'), file('c', '2'), file('a/a', '3')];
    expect(formatTar(entries, 1).equals(formatTar([...entries].reverse(), 1))).to.equal(true);
  });

  it('formatTar rejects a path that does not fit', () => {
    expect(() => formatTar([file('x'.repeat(101), '')], 0)).to.throw(RangeError, 'too long');
  });
});
