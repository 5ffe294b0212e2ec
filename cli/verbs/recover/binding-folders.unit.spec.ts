import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { maxBindingFileBytes } from '../../../lib/binding-file.ts';
import { parseBindingFolder, readBindingFolders } from './recover.ts';

describe('The binding files of nodes', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ipledger-bindings-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const binding = (container: string, more: object = {}) => ({
    version: 1,
    namespace: 'default',
    pod: 'a',
    podUid: 'uid',
    provider: 'lan.default',
    containerId: container,
    interface: 'net1',
    node: 'node-1',
    bootId: 'boot',
    addresses: ['10.0.0.2'],
    epoch: 1,
    ...more,
  });
  const write = (container: string, more: object = {}): void =>
    writeFileSync(join(folder, `${container}@net1.json`), JSON.stringify(binding(container, more)));
  const read = () => readBindingFolders([{ node: 'node-1', folder }]);
  const failure = (): Promise<string> =>
    read().then(
      () => 'read',
      (error: unknown) => (error as Error).message,
    );

  it('The binding files of nodes count only for the named node, and for containers that have not ended', async () => {
    write('c1');
    write('c2', { isDeleted: true });
    write('c4', { isPending: true });
    write('c3', { node: 'node-2' });
    writeFileSync(join(folder, 'c4@net1.json.draft'), '{');
    expect((await read()).map(({ containerId }) => containerId)).to.deep.equal(['c1']);
  });

  it('The binding files of nodes are rejected if they are large, no regular files, of another name, or no bindings', async () => {
    const path = join(folder, 'c1@net1.json');
    const makers: readonly [() => void, RegExp][] = [
      [() => writeFileSync(path, ' '.repeat(maxBindingFileBytes + 1)), /the limit is 16384/],
      [() => execFileSync('mkfifo', [path]), /is not a regular file/],
      [() => symlinkSync('/etc/passwd', path), /ELOOP/],
      [() => writeFileSync(path, JSON.stringify(binding('c2'))), /has the binding of c2@net1\.json/],
      [() => writeFileSync(path, '[]'), /expected object/],
    ];
    for (const [make, message] of makers) {
      make();
      expect(await failure())
        .to.match(/^cannot read .*c1@net1\.json, with bindings of node node-1: /)
        .and.match(message);
      rmSync(path);
    }
    rmSync(folder, { recursive: true });
    expect(await failure()).to.match(/ENOENT/);
    folder = mkdtempSync(join(tmpdir(), 'ipledger-bindings-'));
  });

  it('The binding files of nodes are named by NODE=FOLDER', () => {
    expect(parseBindingFolder('node-1=/a=b')).to.deep.equal({ node: 'node-1', folder: '/a=b' });
    for (const wrong of ['node-1', 'node-1=', '=/a', 'No de=/a']) expect(parseBindingFolder(wrong)).to.equal(undefined);
  });
});
