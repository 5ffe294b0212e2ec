import { expect } from 'chai';
import {
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { type CniRequest, parseCniRequest } from '../daemon/plugin-request.ts';
import { createPendingDelReplay, type ReplayOptions } from './pending-del-replay.ts';
import { removePendingDel } from './pending-dels.ts';

const signal = new AbortController().signal;

describe('Pending DEL replay', () => {
  let folder: string;
  const done: string[] = [];

  const warnings: Record<string, unknown>[] = [];
  const log = pino(
    { level: 'warn' },
    { write: (line: string) => void warnings.push(JSON.parse(line) as Record<string, unknown>) },
  );

  const options = (del?: ReplayOptions['del']): ReplayOptions => ({
    folder,
    sockets: ['/run/a.sock'],
    del:
      del ??
      ((request) => {
        done.push(`${request.containerId} ${request.interface} ${request.provider}`);
        return Promise.resolve();
      }),
    log,
  });

  /** Runs one pass of an agent that has just started. */
  const replay = (replayed: ReplayOptions): Promise<number> => createPendingDelReplay(replayed)(signal);

  const saveFile = (name: string, content: unknown): void =>
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));

  const fileOf = (container: string, socket = '/run/a.sock') => ({
    server_socket: socket,
    request: {
      pod_name: 'p',
      pod_namespace: 'default',
      container_id: container,
      if_name: 'net1',
      provider: 'a.b',
      net_ns: '',
    },
  });

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ipledger-pending-dels-'));
    done.length = 0;
    warnings.length = 0;
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('Pending DEL replay runs the DELs and removes their files', async () => {
    saveFile('c1@net1.json', fileOf('c1'));
    saveFile('c2@net1.json', fileOf('c2', '/run/../run/a.sock'));
    expect(await replay(options())).to.equal(2);
    expect(done).to.deep.equal(['c1 net1 a.b', 'c2 net1 a.b']);
    expect(readdirSync(folder)).to.deep.equal([]);
    expect(await replay(options())).to.equal(0);
  });

  it('Pending DEL replay logs a folder that cannot be read, and ignores an absent folder', async () => {
    writeFileSync(join(folder, 'none'), '');
    expect(await replay({ ...options(), folder: join(folder, 'absent') })).to.equal(0);
    expect(warnings).to.deep.equal([]);
    expect(await replay({ ...options(), folder: join(folder, 'none') })).to.equal(0);
    expect(warnings[0]).to.include({ folder: join(folder, 'none') });
  });

  it('Pending DEL replay ignores drafts and the DELs of another agent', async () => {
    saveFile('c1@net1.json', fileOf('c1', '/run/b.sock'));
    saveFile('c2@net1.json.4711', fileOf('c2'));
    mkdirSync(join(folder, 'c5@net1.json'));
    saveFile('c6@net1.json', fileOf('c6'));
    expect(await replay(options())).to.equal(1);
    expect(done).to.deep.equal(['c6 net1 a.b']);
    expect(readdirSync(folder)).to.have.members(['c1@net1.json', 'c2@net1.json.4711', 'c5@net1.json']);
  });

  it('Pending DEL replay renames files that cannot be parsed, with one warning each', async () => {
    saveFile('c3@net1.json', '{"server_socket":');
    saveFile('c4@net1.json', { server_socket: '/run/a.sock', request: {} });
    saveFile('c5@net1.json', { request: {} });
    saveFile('c6@net1.json', fileOf('c6'));
    const pass = createPendingDelReplay(options());
    expect(await pass(signal)).to.equal(1);
    expect(await pass(signal)).to.equal(0);
    expect(readdirSync(folder)).to.have.members([3, 4, 5].map((number) => `c${number}@net1.json.broken`));
    expect(warnings.map(({ file }) => file)).to.deep.equal(
      [3, 4, 5].map((number) => join(folder, `c${number}@net1.json`)),
    );
  });

  it('Pending DEL replay renames files that are too large or belong to another user, and ignores symbolic links', async () => {
    saveFile('c1@net1.json', { ...fileOf('c1'), more: 'x'.repeat(64 << 10) });
    saveFile('c2@net1.json', fileOf('c2'));
    if (process.geteuid?.() === 0) chownSync(join(folder, 'c2@net1.json'), 65_534, 65_534);
    else rmSync(join(folder, 'c2@net1.json'));
    symlinkSync('/etc/hostname', join(folder, 'c3@net1.json'));
    expect(await replay(options())).to.equal(0);
    expect(done).to.deep.equal([]);
    expect(readdirSync(folder)).to.include('c1@net1.json.broken').and.include('c3@net1.json');
    if (process.geteuid?.() === 0) expect(readdirSync(folder)).to.include('c2@net1.json.broken');
  });

  it('Pending DEL replay runs its own DELs among many DELs of another agent', async () => {
    for (let other = 0; other < 1_100; other++) saveFile(`b${other}@net1.json`, fileOf(`b${other}`, '/run/b.sock'));
    saveFile('c1@net1.json', fileOf('c1'));
    expect(await replay(options())).to.equal(1);
    expect(done).to.deep.equal(['c1 net1 a.b']);
  });

  it('Pending DEL replay reads a limited number of files in a pass, and all files in several passes', async () => {
    for (const container of ['c1', 'c2', 'c3', 'c4', 'c5'])
      saveFile(`${container}@net1.json`, fileOf(container, container === 'c5' ? '/run/a.sock' : '/run/b.sock'));
    const pass = createPendingDelReplay(options(), 2);
    expect([await pass(signal), await pass(signal), await pass(signal)]).to.deep.equal([0, 0, 1]);
    saveFile('c0@net1.json', fileOf('c0'));
    expect([await pass(signal), await pass(signal)]).to.deep.equal([0, 1]);
    expect(done).to.deep.equal(['c5 net1 a.b', 'c0 net1 a.b']);
  });

  it('Pending DEL replay logs DELs for unserved sockets when their number changes', async () => {
    const counts = (): unknown[] => warnings.map(({ unclaimed }) => unclaimed);
    const pass = createPendingDelReplay(options());
    saveFile('c1@net1.json', fileOf('c1', '/run/typo.sock'));
    await pass(signal);
    await pass(signal);
    expect(counts()).to.deep.equal([1]);
    expect(warnings[0]).to.deep.include({ folder, sockets: ['/run/typo.sock'] });
    saveFile('c2@net1.json', fileOf('c2', '/run/typo.sock'));
    await pass(signal);
    expect(counts()).to.deep.equal([1, 2]);
    for (const container of ['c1', 'c2']) rmSync(join(folder, `${container}@net1.json`));
    await pass(signal);
    expect(counts()).to.deep.equal([1, 2]);
  });

  it('Pending DEL replay removes and logs DELs for unserved sockets after 24 hours, and keeps younger DELs', async () => {
    const hoursAgo = (hours: number): Date => new Date(Date.now() - hours * 3_600_000);
    for (const [container, hours] of [
      ['c1', 25],
      ['c2', 26],
      ['c3', 22],
    ] as const) {
      saveFile(`${container}@net1.json`, fileOf(container, '/run/typo.sock'));
      utimesSync(join(folder, `${container}@net1.json`), hoursAgo(hours), hoursAgo(hours));
    }
    const failing = (): Promise<void> => Promise.reject(new Error('the allocator is unavailable'));
    saveFile('c4@net1.json', fileOf('c4'));
    utimesSync(join(folder, 'c4@net1.json'), hoursAgo(48), hoursAgo(48));
    await replay(options(failing));
    expect(readdirSync(folder)).to.have.members(['c3@net1.json', 'c4@net1.json']);
    expect(warnings.filter((warning) => 'removed' in warning)).to.have.length(1);
    expect(warnings.find((warning) => 'removed' in warning)).to.deep.include({
      removed: 2,
      sockets: ['/run/typo.sock'],
      folder,
    });
  });

  it('Pending DEL replay keeps a file that the system cannot read', async () => {
    saveFile('c1@net1.json', fileOf('c1'));
    saveFile('c2@net1.json', fileOf('c2'));
    const failing = (): Promise<void> => {
      rmSync(join(folder, 'c2@net1.json'));
      symlinkSync('/etc/hostname', join(folder, 'c2@net1.json')); // the read fails with the system's error ELOOP
      return Promise.resolve();
    };
    expect(await replay(options(failing))).to.equal(1);
    expect(readdirSync(folder)).to.deep.equal(['c2@net1.json']);
    expect(warnings.map(({ msg }) => msg)).to.deep.equal(['a pending DEL failed; the agent retries']);
  });

  it('Pending DEL replay ignores a DEL that another agent completes at the same time', async () => {
    saveFile('c1@net1.json', fileOf('c1'));
    saveFile('c2@net1.json', fileOf('c2'));
    const racing = (): Promise<void> => {
      for (const name of readdirSync(folder)) rmSync(join(folder, name));
      return Promise.resolve();
    };
    expect(await replay(options(racing))).to.equal(1);
    expect(warnings).to.deep.equal([]);
  });

  it('Pending DEL replay keeps a DEL until it succeeds', async () => {
    saveFile('c1@net1.json', fileOf('c1'));
    const failing = (_request: CniRequest): Promise<void> => Promise.reject(new Error('the allocator is unavailable'));
    expect(await replay(options(failing))).to.equal(0);
    expect(readdirSync(folder)).to.deep.equal(['c1@net1.json']);
    expect(await replay(options())).to.equal(1);
  });

  it('Pending DEL replay skips a DEL when its container has a new binding', async () => {
    saveFile('c1@net1.json', fileOf('c1'));
    const request = parseCniRequest('del', JSON.stringify(fileOf('c1').request));
    const pending: boolean[] = [];
    const removing: ReplayOptions['del'] = async (_request, isPending) => {
      await removePendingDel(folder, request);
      pending.push(isPending());
    };
    await replay(options(removing));
    expect(pending).to.deep.equal([false]);
    expect(readdirSync(folder)).to.deep.equal([]);
  });

  it('Pending DEL replay does nothing without a folder', async () => {
    rmSync(folder, { recursive: true });
    expect(await replay(options())).to.equal(0);
  });
});
