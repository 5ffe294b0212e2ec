import { mkdir, mkdtemp, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { installPlugin, linkPlugin } from './plugin-installer.ts';

describe('installPlugin', () => {
  let root: string;
  let folder: string;
  let plugin: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'ipledger-plugin-'));
    folder = join(root, 'cni');
    plugin = join(root, 'kube-ovn');
    await mkdir(folder);
    await writeFile(plugin, 'new', { mode: 0o600 });
  });
  afterEach(() => rm(root, { recursive: true }));

  it('installPlugin copies the plugin as an executable', async () => {
    expect(await installPlugin(plugin, folder)).to.equal(join(folder, 'kube-ovn'));
    expect(await readFile(join(folder, 'kube-ovn'), 'utf8')).to.equal('new');
    expect((await stat(join(folder, 'kube-ovn'))).mode & 0o777).to.equal(0o755);
  });

  it('installPlugin copies the plugin under a given name, and leaves a file with the usual name as it is', async () => {
    await writeFile(join(folder, 'kube-ovn'), 'of Kube-OVN');
    expect(await installPlugin(plugin, folder, 'ipledger')).to.equal(join(folder, 'ipledger'));
    expect(await readFile(join(folder, 'ipledger'), 'utf8')).to.equal('new');
    expect(await readFile(join(folder, 'kube-ovn'), 'utf8')).to.equal('of Kube-OVN');
  });

  it('installPlugin replaces the file and does not write into the running file', async () => {
    await writeFile(join(folder, 'kube-ovn'), 'old');
    await using running = await open(join(folder, 'kube-ovn'), 'r');
    await installPlugin(plugin, folder);
    expect(await running.readFile('utf8')).to.equal('old');
    expect(await readFile(join(folder, 'kube-ovn'), 'utf8')).to.equal('new');
  });

  it('installPlugin leaves the old plugin and no draft when the copy fails', async () => {
    await writeFile(join(folder, 'kube-ovn'), 'old');
    const failure = await installPlugin(join(root, 'missing', 'kube-ovn'), folder).catch((error: unknown) => error);
    expect(failure).to.have.property('code', 'ENOENT');
    expect(await readdir(folder)).to.deep.equal(['kube-ovn']);
    expect(await readFile(join(folder, 'kube-ovn'), 'utf8')).to.equal('old');
  });

  it('installPlugin removes the draft of a killed installation, and no other file', async () => {
    await writeFile(join(folder, '.kube-ovn.0a0b.new'), 'half');
    await writeFile(join(folder, 'macvlan'), 'other');
    await installPlugin(plugin, folder);
    expect((await readdir(folder)).sort()).to.deep.equal(['kube-ovn', 'macvlan']);
  });

  it('installPlugin fails when the folder does not exist', async () => {
    const failure = await installPlugin(plugin, join(root, 'none')).catch((error: unknown) => error);
    expect(failure).to.have.property('code', 'ENOENT');
  });
});

describe('linkPlugin', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ipledger-plugin-'));
    await writeFile(join(folder, 'kube-ovn'), 'plugin');
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('linkPlugin links further names to the plugin, also if they exist already', async () => {
    for (const attempt of ['first', 'second'])
      expect(await linkPlugin(join(folder, 'kube-ovn'), ['ovn4nfvk8s-cni', 'other']), attempt).to.deep.equal([]);
    expect(await readFile(join(folder, 'ovn4nfvk8s-cni'), 'utf8')).to.equal('plugin');
    expect(await readdir(folder)).to.deep.equal(['kube-ovn', 'other', 'ovn4nfvk8s-cni']);
  });

  it('linkPlugin keeps another plugin of the same name, and returns that name', async () => {
    await writeFile(join(folder, 'ovn4nfvk8s-cni'), 'theirs');
    expect(await linkPlugin(join(folder, 'kube-ovn'), ['ovn4nfvk8s-cni'])).to.deep.equal(['ovn4nfvk8s-cni']);
    expect(await readFile(join(folder, 'ovn4nfvk8s-cni'), 'utf8')).to.equal('theirs');
  });
});
