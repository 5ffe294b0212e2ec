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
import { createReplay, type Journal, leave as leaveDel, forget } from './journal.ts';
import { type CniRequest, parseRequest } from './wire.ts';

const signal = new AbortController().signal;

describe('DELs that found no agent', () => {
  let folder: string;
  const done: string[] = [];

  const warnings: Record<string, unknown>[] = [];
  const log = pino(
    { level: 'warn' },
    { write: (line: string) => void warnings.push(JSON.parse(line) as Record<string, unknown>) },
  );

  const journal = (del?: Journal['del']): Journal => ({
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

  /** One pass of an agent that has just started. */
  const replay = (of: Journal): Promise<number> => createReplay(of)(signal);

  const leave = (name: string, entry: unknown): void =>
    writeFileSync(join(folder, name), typeof entry === 'string' ? entry : JSON.stringify(entry));

  const entry = (container: string, socket = '/run/a.sock') => ({
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
    folder = mkdtempSync(join(tmpdir(), 'ipledger-journal-'));
    done.length = 0;
    warnings.length = 0;
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('are done, and their files go', async () => {
    leave('c1@net1.json', entry('c1'));
    leave('c2@net1.json', entry('c2', '/run/../run/a.sock'));
    expect(await replay(journal())).to.equal(2);
    expect(done).to.deep.equal(['c1 net1 a.b', 'c2 net1 a.b']);
    expect(readdirSync(folder)).to.deep.equal([]);
    expect(await replay(journal())).to.equal(0);
  });

  it('are missed by name when their folder cannot be read, and not when there is none', async () => {
    writeFileSync(join(folder, 'none'), '');
    expect(await replay({ ...journal(), folder: join(folder, 'nowhere') })).to.equal(0);
    expect(warnings).to.deep.equal([]);
    expect(await replay({ ...journal(), folder: join(folder, 'none') })).to.equal(0);
    expect(warnings[0]).to.include({ folder: join(folder, 'none') });
  });

  it('stay when they belong to another agent, or are not finished being written', async () => {
    leave('c1@net1.json', entry('c1', '/run/b.sock'));
    leave('c2@net1.json.4711', entry('c2'));
    mkdirSync(join(folder, 'c5@net1.json'));
    leave('c6@net1.json', entry('c6'));
    expect(await replay(journal())).to.equal(1);
    expect(done).to.deep.equal(['c6 net1 a.b']);
    expect(readdirSync(folder)).to.have.members(['c1@net1.json', 'c2@net1.json.4711', 'c5@net1.json']);
  });

  it('are put aside when they can’t be understood, with one warning each', async () => {
    leave('c3@net1.json', '{"server_socket":');
    leave('c4@net1.json', { server_socket: '/run/a.sock', request: {} });
    leave('c5@net1.json', { request: {} });
    leave('c6@net1.json', entry('c6'));
    const again = createReplay(journal());
    expect(await again(signal)).to.equal(1);
    expect(await again(signal)).to.equal(0);
    expect(readdirSync(folder)).to.have.members([3, 4, 5].map((of) => `c${of}@net1.json.broken`));
    expect(warnings.map(({ file }) => file)).to.deep.equal([3, 4, 5].map((of) => join(folder, `c${of}@net1.json`)));
  });

  it('are put aside when they are too large or another user’s, and symbolic links are passed over', async () => {
    leave('c1@net1.json', { ...entry('c1'), more: 'x'.repeat(64 << 10) });
    leave('c2@net1.json', entry('c2'));
    if (process.geteuid?.() === 0) chownSync(join(folder, 'c2@net1.json'), 65_534, 65_534);
    else rmSync(join(folder, 'c2@net1.json'));
    symlinkSync('/etc/hostname', join(folder, 'c3@net1.json'));
    expect(await replay(journal())).to.equal(0);
    expect(done).to.deep.equal([]);
    expect(readdirSync(folder)).to.include('c1@net1.json.broken').and.include('c3@net1.json');
    if (process.geteuid?.() === 0) expect(readdirSync(folder)).to.include('c2@net1.json.broken');
  });

  it('of others do not keep an agent from its own, however many there are', async () => {
    for (let other = 0; other < 1_100; other++) leave(`b${other}@net1.json`, entry(`b${other}`, '/run/b.sock'));
    leave('c1@net1.json', entry('c1'));
    expect(await replay(journal())).to.equal(1);
    expect(done).to.deep.equal(['c1 net1 a.b']);
  });

  it('are looked at some at a time, and all in the end', async () => {
    for (const container of ['c1', 'c2', 'c3', 'c4', 'c5'])
      leave(`${container}@net1.json`, entry(container, container === 'c5' ? '/run/a.sock' : '/run/b.sock'));
    const some = createReplay(journal(), 2);
    expect([await some(signal), await some(signal), await some(signal)]).to.deep.equal([0, 0, 1]);
    leave('c0@net1.json', entry('c0'));
    expect([await some(signal), await some(signal)]).to.deep.equal([0, 1]);
    expect(done).to.deep.equal(['c5 net1 a.b', 'c0 net1 a.b']);
  });

  it('that no agent may ever do, since their socket is another, are spoken of when their number changes', async () => {
    const counts = (): unknown[] => warnings.map(({ unclaimed }) => unclaimed);
    const again = createReplay(journal());
    leave('c1@net1.json', entry('c1', '/run/typo.sock'));
    await again(signal);
    await again(signal);
    expect(counts()).to.deep.equal([1]);
    expect(warnings[0]).to.deep.include({ folder, sockets: ['/run/typo.sock'] });
    leave('c2@net1.json', entry('c2', '/run/typo.sock'));
    await again(signal);
    expect(counts()).to.deep.equal([1, 2]);
    for (const container of ['c1', 'c2']) rmSync(join(folder, `${container}@net1.json`));
    await again(signal);
    expect(counts()).to.deep.equal([1, 2]);
  });

  it('that no agent did for 24 hours are removed and logged, and younger ones stay', async () => {
    const hoursAgo = (hours: number): Date => new Date(Date.now() - hours * 3_600_000);
    for (const [container, hours] of [
      ['c1', 25],
      ['c2', 26],
      ['c3', 22],
    ] as const) {
      leave(`${container}@net1.json`, entry(container, '/run/typo.sock'));
      utimesSync(join(folder, `${container}@net1.json`), hoursAgo(hours), hoursAgo(hours));
    }
    const failing = (): Promise<void> => Promise.reject(new Error('the allocator is away'));
    leave('c4@net1.json', entry('c4'));
    utimesSync(join(folder, 'c4@net1.json'), hoursAgo(48), hoursAgo(48));
    await replay(journal(failing));
    expect(readdirSync(folder)).to.have.members(['c3@net1.json', 'c4@net1.json']);
    expect(warnings.filter((warning) => 'removed' in warning)).to.have.length(1);
    expect(warnings.find((warning) => 'removed' in warning)).to.deep.include({
      removed: 2,
      sockets: ['/run/typo.sock'],
      folder,
    });
  });

  it('stay when the system fails to read them, and are not taken for broken', async () => {
    leave('c1@net1.json', entry('c1'));
    leave('c2@net1.json', entry('c2'));
    const failing = (): Promise<void> => {
      rmSync(join(folder, 'c2@net1.json'));
      symlinkSync('/etc/hostname', join(folder, 'c2@net1.json')); // reading it is the system's error ELOOP
      return Promise.resolve();
    };
    expect(await replay(journal(failing))).to.equal(1);
    expect(readdirSync(folder)).to.deep.equal(['c2@net1.json']);
    expect(warnings.map(({ msg }) => msg)).to.deep.equal(['a DEL that was left here could not be done yet']);
  });

  it('that another agent or pass did meanwhile are no failure', async () => {
    leave('c1@net1.json', entry('c1'));
    leave('c2@net1.json', entry('c2'));
    const racing = (): Promise<void> => {
      for (const name of readdirSync(folder)) rmSync(join(folder, name));
      return Promise.resolve();
    };
    expect(await replay(journal(racing))).to.equal(1);
    expect(warnings).to.deep.equal([]);
  });

  it('stay until they succeed', async () => {
    leave('c1@net1.json', entry('c1'));
    const failing = (_request: CniRequest): Promise<void> => Promise.reject(new Error('the allocator is away'));
    expect(await replay(journal(failing))).to.equal(0);
    expect(readdirSync(folder)).to.deep.equal(['c1@net1.json']);
    expect(await replay(journal())).to.equal(1);
  });

  it('are left by the agent itself when it finds no allocator, and read as they were asked', async () => {
    const asked = parseRequest('del', JSON.stringify(entry('c1').request));
    const seen: CniRequest[] = [];
    const keep = (request: CniRequest): Promise<void> => Promise.resolve(void seen.push(request));
    rmSync(folder, { recursive: true });
    for (let times = 0; times < 2; times++) await leaveDel(folder, '/run/a.sock', asked);
    expect(await replay(journal(keep))).to.equal(1);
    expect(seen).to.deep.equal([asked]);
  });

  it('are not done once the container has its address again', async () => {
    leave('c1@net1.json', entry('c1'));
    const asked = parseRequest('del', JSON.stringify(entry('c1').request));
    const lateOnes: boolean[] = [];
    const overtaken: Journal['del'] = async (_request, isLeft) => {
      await forget(folder, asked);
      lateOnes.push(isLeft());
    };
    await replay(journal(overtaken));
    expect(lateOnes).to.deep.equal([false]);
    expect(readdirSync(folder)).to.deep.equal([]);
  });

  it('never leave the folder by a container’s name', async () => {
    const asked = { ...parseRequest('del', JSON.stringify(entry('c1').request)), containerId: '../../etc/x' };
    const thrown: unknown = await leaveDel(folder, '/run/a.sock', asked).catch((error: unknown) => error);
    expect(thrown).to.be.instanceOf(Error).with.property('message').that.contains('no file can be named so');
    expect(readdirSync(folder)).to.deep.equal([]);
  });

  it('need no folder', async () => {
    rmSync(folder, { recursive: true });
    expect(await replay(journal())).to.equal(0);
  });
});
