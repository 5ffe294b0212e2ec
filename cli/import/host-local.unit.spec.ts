import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readHostLocal } from './host-local.ts';

const all = (): boolean => true;

describe('readHostLocal', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'host-local-'));
    await mkdir(join(folder, 'lan'));
  });
  afterEach(() => rm(folder, { recursive: true }));
  const write = (path: string, content: string | Buffer): Promise<void> => writeFile(join(folder, path), content);
  const read = (isSelected: (network: string) => boolean = all) =>
    readHostLocal([{ node: 'node-a', folder }], isSelected);

  it('readHostLocal reads address, container and interface', async () => {
    await write('lan/10.8.0.3', 'c0ffee\r\nnet1');
    await write('lan/10.8.0.4', 'decade');
    await write('lan/fd00::3', 'c0ffee\nnet1\n');
    await write('lan/last_reserved_ip.0', '10.8.0.4');
    await write('lan/lock', '');
    await write('note', 'a file beside the networks');
    const { networks, addresses, conflicts } = await read();
    expect(conflicts).to.deep.equal([]);
    expect([...networks]).to.deep.equal(['lan']);
    expect(addresses).to.deep.include({
      where: 'lan/10.8.0.3 of node node-a',
      network: 'lan',
      address: '10.8.0.3',
      interface: 'net1',
      containerId: 'c0ffee',
      holder: { by: 'node', node: 'node-a' },
    });
    expect(addresses.map(({ address, interface: name }) => `${address} ${name}`)).to.deep.equal([
      '10.8.0.3 net1',
      '10.8.0.4 ',
      'fd00::3 net1',
    ]);
  });

  it('readHostLocal reports files that are not of host-local, and does not follow links', async () => {
    await write('lan/readme', 'c0ffee\r\nnet1');
    await write('lan/10.8.0.3', '');
    await write('lan/10.8.0.4', Buffer.alloc(100_000, 'x'));
    await write('lan/10.8.0.5', 'c0ffee\r\nnet1\r\nmore');
    await symlink('/dev/zero', join(folder, 'lan', '10.8.0.6'));
    await mkdir(join(folder, 'lan', '10.8.0.7'));
    const { addresses, conflicts } = await read();
    expect(addresses).to.deep.equal([]);
    expect(conflicts.map(({ kind, where }) => `${kind} ${where.split(' ')[0]}`)).to.deep.equal([
      'invalid entry lan/10.8.0.3',
      'invalid entry lan/10.8.0.4',
      'invalid entry lan/10.8.0.5',
      'invalid entry lan/10.8.0.6',
      'invalid entry lan/10.8.0.7',
      'invalid entry lan/readme',
    ]);
  });

  it('readHostLocal reads the selected networks only', async () => {
    await write('lan/10.8.0.3', 'c0ffee');
    expect((await read((name) => name === 'dmz')).addresses).to.deep.equal([]);
  });

  it('readHostLocal fails for a folder that does not exist', async () => {
    const error = await readHostLocal([{ node: 'node-a', folder: join(folder, 'no') }], all).catch(String);
    expect(error).to.contain('cannot read').and.contain('ENOENT');
  });
});
