import { expect } from 'chai';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { IpledgerError } from '../../../lib/errors.ts';
import { type BindingFiles, openBindingFiles } from './binding-files.ts';
import { savedBinding, rejectionOf } from '../testing/fakes.ts';

describe('Binding files', () => {
  let folder: string;
  const logged: Record<string, unknown>[] = [];
  const log = pino(
    { level: 'warn' },
    { write: (line: string) => void logged.push(JSON.parse(line) as Record<string, unknown>) },
  );

  beforeEach(() => {
    folder = join(mkdtempSync(join(tmpdir(), 'ipledger-bindings-')), 'bindings');
    logged.length = 0;
  });

  afterEach(() => rmSync(join(folder, '..'), { recursive: true, force: true }));

  const open = (bootId = 'b-1', maxFiles?: number, node = 'node-a'): Promise<BindingFiles> =>
    openBindingFiles({ folder, node, bootId, log, ...(maxFiles !== undefined && { maxFiles }) });

  it('Binding files keep the saved bindings across a restart of the agent', async () => {
    const files = await open();
    await files.save(savedBinding('c1'));
    await files.save(savedBinding('c2'));
    await files.save(savedBinding('c2', { epoch: 2 }));
    await files.save(savedBinding('c3'));
    await files.remove(savedBinding('c3'));
    await files.remove(savedBinding('c4'));
    const reopened = await open();
    expect(reopened.get({ containerId: 'c1', interface: 'net1' })).to.deep.include(savedBinding('c1'));
    expect(reopened.get({ containerId: 'c2', interface: 'net1' })).to.deep.include({ epoch: 2 });
    expect(reopened.all()).to.have.length(2);
    expect(logged).to.deep.equal([]);
  });

  it('Binding files are written atomically, and only their owner can access them', async () => {
    const files = await open();
    await files.save(savedBinding('c1'));
    expect(readdirSync(folder)).to.deep.equal(['c1@net1.json']);
    expect(statSync(folder).mode & 0o777).to.equal(0o700);
    expect(statSync(join(folder, 'c1@net1.json')).mode & 0o777).to.equal(0o600);
    writeFileSync(join(folder, 'c1@net1.json.1234.draft'), '{"version":');
    expect((await open()).all()).to.have.length(1);
    expect(readdirSync(folder)).to.deep.equal(['c1@net1.json']);
  });

  it('A binding that changes keeps its file, and a shorter text leaves nothing of the one before', async () => {
    const files = await open();
    const path = join(folder, 'c1@net1.json');
    await files.save(savedBinding('c1', { addresses: ['10.8.0.3'] }));
    const { ino } = statSync(path);
    for (const address of ['10.8.0.200', '10.8.0.2']) {
      await files.save(savedBinding('c1', { addresses: [address] }));
      expect(statSync(path).ino).to.equal(ino);
      expect((await open()).all()).to.have.length(1);
      expect((await open()).all()[0]).to.deep.include({ addresses: [address] });
    }
  });

  it('Binding files that another program removed, or replaced by a link, are new files after a change', async () => {
    const files = await open();
    const path = join(folder, 'c1@net1.json');
    await files.save(savedBinding('c1'));
    rmSync(path);
    await files.save(savedBinding('c1', { epoch: 2 }));
    expect((await open()).all()[0]).to.include({ epoch: 2 });
    const elsewhere = join(folder, '..', 'elsewhere');
    writeFileSync(elsewhere, 'untouched');
    rmSync(path);
    symlinkSync(elsewhere, path);
    await files.save(savedBinding('c1', { epoch: 3 }));
    expect(readFileSync(elsewhere, 'utf8')).to.equal('untouched');
    expect((await open()).all()[0]).to.include({ epoch: 3 });
  });

  it('A binding of more than a page is a new file after each change, because a signal could interrupt its write', async () => {
    const files = await open();
    const pod = 'p'.repeat(1_024);
    const addresses = Array.from({ length: 64 }, (_, index) => `2001:db8:1234:5678:9abc:def0:1234:${index}`);
    const large = savedBinding('c1', { pod, podUid: pod, addresses });
    await files.save(large);
    const { ino } = statSync(join(folder, 'c1@net1.json'));
    await files.save({ ...large, epoch: 2 });
    expect(statSync(join(folder, 'c1@net1.json')).ino).to.not.equal(ino);
    expect((await open()).all()[0]).to.deep.include({ addresses, epoch: 2 });
    await files.save(savedBinding('c1', { epoch: 3 }));
    expect((await open()).all()[0]).to.include({ epoch: 3 });
  });

  it('Binding files are removed after a reboot', async () => {
    await (await open('b-1')).save(savedBinding('c1'));
    expect((await open('b-2')).all()).to.deep.equal([]);
    expect(readdirSync(folder)).to.deep.equal([]);
  });

  it('Binding files of another node are kept', async () => {
    await (await open()).save(savedBinding('c1'));
    expect((await open('b-2', undefined, 'node-b')).all()).to.deep.equal([]);
    expect((await open()).all()).to.have.length(1);
  });

  it('Binding files of an earlier version have no known network namespace', async () => {
    await (await open()).save(savedBinding('c1'));
    const file = join(folder, 'c1@net1.json');
    const { netns: _, ...earlier } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    writeFileSync(file, JSON.stringify(earlier));
    expect((await open()).all()[0]).to.include({ containerId: 'c1', netns: '' });
  });

  it('Binding files that cannot be parsed are renamed and logged, and the others are read', async () => {
    await (await open()).save(savedBinding('c1'));
    const valid = readFileSync(join(folder, 'c1@net1.json'), 'utf8');
    writeFileSync(join(folder, 'c2@net1.json'), valid.slice(0, 40));
    writeFileSync(join(folder, 'c3@net1.json'), valid);
    writeFileSync(join(folder, 'c4@net1.json'), valid.replace('"version":1', '"version":2'));
    writeFileSync(join(folder, 'c5@net1.json'), valid.padEnd(17 << 10, ' '));
    mkdirSync(join(folder, 'c6@net1.json'));
    const files = await open();
    expect(files.all().map(({ containerId }) => containerId)).to.deep.equal(['c1']);
    const broken = [2, 3, 4, 5, 6].map((number) => `c${number}@net1.json.broken`);
    expect(readdirSync(folder)).to.have.members(['c1@net1.json', ...broken]);
    expect(logged).to.have.length(5);
    await open();
    expect(logged).to.have.length(5);
  });

  it('Binding files that a power cut left empty are removed, and the others of their boot, too', async () => {
    await (await open()).save(savedBinding('c1'));
    writeFileSync(join(folder, 'c2@net1.json'), '');
    writeFileSync(join(folder, 'c3@net1.json'), Buffer.alloc(500));
    expect((await open('b-2')).all()).to.deep.equal([]);
    expect(readdirSync(folder)).to.deep.equal([]);
    expect(logged.map(({ level }) => level)).to.deep.equal([40, 40]);
  });

  it('A folder with an empty binding file is not complete, because its binding may be one of this boot', async () => {
    await (await open()).record.save(3);
    writeFileSync(join(folder, 'c2@net1.json'), '');
    expect((await open()).record.epoch).to.equal(undefined);
  });

  it('Binding files that the system cannot read are kept and logged', async () => {
    await (await open()).save(savedBinding('c1'));
    renameSync(join(folder, 'c1@net1.json'), join(folder, 'moved'));
    symlinkSync('moved', join(folder, 'c1@net1.json')); // the read fails with the system's error ELOOP
    expect((await open()).all()).to.deep.equal([]);
    expect(logged).to.have.length(1);
    rmSync(join(folder, 'c1@net1.json'));
    renameSync(join(folder, 'moved'), join(folder, 'c1@net1.json'));
    expect((await open()).all()).to.have.length(1);
    expect(readdirSync(folder)).to.deep.equal(['c1@net1.json']);
  });

  it('Binding files are disabled, with a log line, when their folder cannot be created', async () => {
    writeFileSync(folder, '');
    const files = await open();
    expect(files.all()).to.deep.equal([]);
    expect(logged).to.have.length(1);
    expect(logged[0]).to.include({ folder, level: 50 });
    expect(await files.save(savedBinding('c1')).catch((error: unknown) => error)).to.be.instanceOf(Error);
    await files.remove(savedBinding('c1')); // a DEL succeeds
    expect(files.all()).to.deep.equal([]);
  });

  it('Binding files have a limit, at which a new file is rejected and an existing one can be replaced', async () => {
    const files = await open('b-1', 2);
    await files.save(savedBinding('c1'));
    await files.save(savedBinding('c2'));
    expect(await rejectionOf(files.save(savedBinding('c3'))))
      .to.be.instanceOf(IpledgerError)
      .with.property('message')
      .that.contains('has 2 bindings, the limit');
    await files.save(savedBinding('c2', { epoch: 9 }));
    expect((await open('b-1', 1)).all()).to.have.length(1);
    expect(logged.at(-1)).to.include({ maxFiles: 1 });
  });

  it('A folder that was complete is so after a restart of the agent, and not after a reboot or for another node', async () => {
    const { record } = await open();
    expect(record.epoch).to.equal(undefined);
    await record.save(3);
    expect((await open()).record.epoch).to.equal(3);
    expect((await open('b-1', undefined, 'node-b')).record.epoch).to.equal(undefined);
    expect((await open('b-2')).record.epoch).to.equal(undefined);
    expect((await open('b-1')).record.epoch, 'a boot does not return').to.equal(undefined);
  });

  it('A folder is no longer complete when a file could not be written, in this run and the next one', async () => {
    const files = await open('b-1', 1);
    await files.save(savedBinding('c1'));
    await files.record.save(3);
    await rejectionOf(files.save(savedBinding('c2')));
    expect(files.record.epoch).to.equal(undefined);
    expect((await open()).record.epoch).to.equal(undefined);
  });

  it('A folder whose record could not be removed is not complete after a restart, once the removal was repeated', async () => {
    const files = await open();
    await files.record.save(3);
    renameSync(folder, `${folder}.away`);
    writeFileSync(folder, ''); // each write and removal fails with the system's error ENOTDIR
    await files.save(savedBinding('c1')).catch(() => undefined);
    await files.record.repeatDiscard();
    rmSync(folder);
    renameSync(`${folder}.away`, folder);
    expect([files.record.epoch, readdirSync(folder)]).to.deep.equal([undefined, ['complete@node-a']]);
    await files.record.repeatDiscard();
    expect([readdirSync(folder), (await open()).record.epoch]).to.deep.equal([[], undefined]);
  });

  it('A folder keeps its new record when an earlier removal had failed', async () => {
    const files = await open();
    writeFileSync(`${folder}.file`, '');
    renameSync(folder, `${folder}.away`);
    renameSync(`${folder}.file`, folder);
    await files.save(savedBinding('c1')).catch(() => undefined);
    rmSync(folder);
    renameSync(`${folder}.away`, folder);
    await files.record.save(4);
    await files.record.repeatDiscard();
    expect((await open()).record.epoch).to.equal(4);
  });

  it('A folder has a new file for each record, which counts only where files can be made', async () => {
    const { record } = await open();
    const inode = async (epoch: number): Promise<number> => {
      await record.save(epoch);
      return statSync(join(folder, 'complete@node-a')).ino;
    };
    expect(await inode(3)).not.to.equal(await inode(4));
    expect(readdirSync(folder)).to.deep.equal(['complete@node-a']);
  });

  for (const [what, spoil] of [
    ['is broken', (path: string) => writeFileSync(path, '{')],
    ['cannot be read', (path: string) => (rmSync(path), symlinkSync('c1@net1.json', path))],
  ] as const)
    it(`A folder is no longer complete when a file ${what}`, async () => {
      const { save, record } = await open();
      await save(savedBinding('c1'));
      await record.save(3);
      spoil(join(folder, 'c1@net1.json'));
      expect((await open()).record.epoch).to.equal(undefined);
      rmSync(join(folder, 'c1@net1.json'), { force: true });
      expect((await open()).record.epoch).to.equal(undefined);
    });

  it('A folder with more files than the limit, or with a record that cannot be read, is not complete', async () => {
    const files = await open();
    for (const each of ['c1', 'c2']) await files.save(savedBinding(each));
    await files.record.save(3);
    expect((await open('b-1', 1)).record.epoch).to.equal(undefined);
    writeFileSync(join(folder, 'complete@node-a'), '{"bootId":"b-1","epoch":"3"}');
    expect((await open()).record.epoch).to.equal(undefined);
  });

  it('A file that another process has written is seen on the disk', async () => {
    const [files, other] = [await open(), await open()];
    await other.save(savedBinding('c1'));
    expect([files.get(savedBinding('c1')), files.isOnDisk(savedBinding('c1'))]).to.deep.equal([undefined, true]);
    expect(files.isOnDisk(savedBinding('c2'))).to.equal(false);
  });
});
