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
import { IpledgerError } from '../../lib/errors.ts';
import { type BindingFiles, openBindingFiles } from './binding-files.ts';
import { kept, refusal } from './fakes.ts';

describe('the files of bindings', () => {
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

  const open = (bootId = 'b-1', most?: number, node = 'node-a'): Promise<BindingFiles> =>
    openBindingFiles({ folder, node, bootId, log, ...(most !== undefined && { most }) });

  it('hold what was kept when the agent starts again', async () => {
    const files = await open();
    await files.keep(kept('c1'));
    await files.keep(kept('c2'));
    await files.keep(kept('c2', { epoch: 2 }));
    await files.keep(kept('c3'));
    await files.drop(kept('c3'));
    await files.drop(kept('c4'));
    const again = await open();
    expect(again.of({ containerId: 'c1', interface: 'net1' })).to.deep.include(kept('c1'));
    expect(again.of({ containerId: 'c2', interface: 'net1' })).to.deep.include({ epoch: 2 });
    expect(again.all()).to.have.length(2);
    expect(logged).to.deep.equal([]);
  });

  it('are for their owner only, each written whole or not at all', async () => {
    const files = await open();
    await files.keep(kept('c1'));
    expect(readdirSync(folder)).to.deep.equal(['c1@net1.json']);
    expect(statSync(folder).mode & 0o777).to.equal(0o700);
    expect(statSync(join(folder, 'c1@net1.json')).mode & 0o777).to.equal(0o600);
    writeFileSync(join(folder, 'c1@net1.json.1234.draft'), '{"version":');
    expect((await open()).all()).to.have.length(1);
    expect(readdirSync(folder)).to.deep.equal(['c1@net1.json']);
  });

  it('of an earlier boot are removed', async () => {
    await (await open('b-1')).keep(kept('c1'));
    expect((await open('b-2')).all()).to.deep.equal([]);
    expect(readdirSync(folder)).to.deep.equal([]);
  });

  it('of another node are left alone', async () => {
    await (await open()).keep(kept('c1'));
    expect((await open('b-2', undefined, 'node-b')).all()).to.deep.equal([]);
    expect((await open()).all()).to.have.length(1);
  });

  it('that cannot be read are put aside and logged, and the others are read', async () => {
    await (await open()).keep(kept('c1'));
    const whole = readFileSync(join(folder, 'c1@net1.json'), 'utf8');
    writeFileSync(join(folder, 'c2@net1.json'), whole.slice(0, 40));
    writeFileSync(join(folder, 'c3@net1.json'), whole);
    writeFileSync(join(folder, 'c4@net1.json'), whole.replace('"version":1', '"version":2'));
    writeFileSync(join(folder, 'c5@net1.json'), whole.padEnd(17 << 10, ' '));
    mkdirSync(join(folder, 'c6@net1.json'));
    const files = await open();
    expect(files.all().map(({ containerId }) => containerId)).to.deep.equal(['c1']);
    const aside = [2, 3, 4, 5, 6].map((of) => `c${of}@net1.json.broken`);
    expect(readdirSync(folder)).to.have.members(['c1@net1.json', ...aside]);
    expect(logged).to.have.length(5);
    await open();
    expect(logged).to.have.length(5);
  });

  it('that the system fails to read stay for the next start, and are logged', async () => {
    await (await open()).keep(kept('c1'));
    renameSync(join(folder, 'c1@net1.json'), join(folder, 'away'));
    symlinkSync('away', join(folder, 'c1@net1.json')); // reading it is the system's error ELOOP
    expect((await open()).all()).to.deep.equal([]);
    expect(logged).to.have.length(1);
    rmSync(join(folder, 'c1@net1.json'));
    renameSync(join(folder, 'away'), join(folder, 'c1@net1.json'));
    expect((await open()).all()).to.have.length(1);
    expect(readdirSync(folder)).to.deep.equal(['c1@net1.json']);
  });

  it('are missing, which is logged, where their folder cannot be made: the agent starts without them', async () => {
    writeFileSync(folder, '');
    const files = await open();
    expect(files.all()).to.deep.equal([]);
    expect(logged).to.have.length(1);
    expect(logged[0]).to.include({ folder, level: 50 });
    expect(await files.keep(kept('c1')).catch((error: unknown) => error)).to.be.instanceOf(Error);
    await files.drop(kept('c1')); // a DEL succeeds
    expect(files.all()).to.deep.equal([]);
  });

  it('have a limit, at which another is an error and one that is there is not', async () => {
    const files = await open('b-1', 2);
    await files.keep(kept('c1'));
    await files.keep(kept('c2'));
    expect(await refusal(files.keep(kept('c3'))))
      .to.be.instanceOf(IpledgerError)
      .with.property('message')
      .that.contains('holds 2 bindings already');
    await files.keep(kept('c2', { epoch: 9 }));
    expect((await open('b-1', 1)).all()).to.have.length(1);
    expect(logged.at(-1)).to.include({ most: 1 });
  });
});
