import { expect } from 'chai';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { type Journal, leave as leaveDel, replay } from './journal.ts';
import { type CniRequest, parseRequest } from './wire.ts';

const signal = new AbortController().signal;

describe('DELs that found no agent', () => {
  let folder: string;
  const done: string[] = [];

  const journal = (del?: Journal['del']): Journal => ({
    folder,
    sockets: ['/run/a.sock'],
    del:
      del ??
      ((request) => {
        done.push(`${request.containerId} ${request.interface} ${request.provider}`);
        return Promise.resolve();
      }),
    log: pino({ level: 'silent' }),
  });

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
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('are done, and their files go', async () => {
    leave('c1@net1.json', entry('c1'));
    leave('c2@net1.json', entry('c2', '/run/../run/a.sock'));
    expect(await replay(journal(), signal)).to.equal(2);
    expect(done).to.deep.equal(['c1 net1 a.b', 'c2 net1 a.b']);
    expect(readdirSync(folder)).to.deep.equal([]);
    expect(await replay(journal(), signal)).to.equal(0);
  });

  it('stay when they belong to another agent, are not finished being written, or can’t be read', async () => {
    leave('c1@net1.json', entry('c1', '/run/b.sock'));
    leave('c2@net1.json.4711', entry('c2'));
    leave('c3@net1.json', '{"server_socket":');
    leave('c4@net1.json', { server_socket: '/run/a.sock', request: {} });
    mkdirSync(join(folder, 'c5@net1.json'));
    leave('c6@net1.json', entry('c6'));
    expect(await replay(journal(), signal)).to.equal(1);
    expect(done).to.deep.equal(['c6 net1 a.b']);
    expect(readdirSync(folder)).to.have.length(5);
  });

  it('stay until they succeed', async () => {
    leave('c1@net1.json', entry('c1'));
    const failing = (_request: CniRequest): Promise<void> => Promise.reject(new Error('the allocator is away'));
    expect(await replay(journal(failing), signal)).to.equal(0);
    expect(readdirSync(folder)).to.deep.equal(['c1@net1.json']);
    expect(await replay(journal(), signal)).to.equal(1);
  });

  it('are left by the agent itself when it finds no allocator, and read as they were asked', async () => {
    const asked = parseRequest('del', JSON.stringify(entry('c1').request));
    const seen: CniRequest[] = [];
    const keep = (request: CniRequest): Promise<void> => Promise.resolve(void seen.push(request));
    rmSync(folder, { recursive: true });
    for (let times = 0; times < 2; times++) await leaveDel(folder, '/run/a.sock', asked);
    expect(await replay(journal(keep), signal)).to.equal(1);
    expect(seen).to.deep.equal([asked]);
  });

  it('never leave the folder by a container’s name', async () => {
    const asked = parseRequest('del', JSON.stringify(entry('../../etc/x').request));
    const thrown: unknown = await leaveDel(folder, '/run/a.sock', asked).catch((error: unknown) => error);
    expect(thrown).to.be.instanceOf(Error).with.property('message').that.contains('no file can be named so');
    expect(readdirSync(folder)).to.deep.equal([]);
  });

  it('need no folder', async () => {
    rmSync(folder, { recursive: true });
    expect(await replay(journal(), signal)).to.equal(0);
  });
});
