import { expect } from 'chai';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseCniRequest } from '../daemon/plugin-request.ts';
import { request } from '../testing/fakes.ts';
import { hasPendingDel, removePendingDel, savePendingDel } from './pending-dels.ts';

const socket = '/run/a.sock';

describe('Pending DEL', () => {
  let parent: string;
  let folder: string;

  beforeEach(() => {
    parent = mkdtempSync(join(tmpdir(), 'ipledger-pending-dels-'));
    folder = join(parent, 'pending');
  });

  afterEach(() => rmSync(parent, { recursive: true, force: true }));

  it('A pending DEL is a file with the socket and the request, which a repeated DEL replaces', async () => {
    const del = request({ pod_uid: undefined });
    for (let times = 0; times < 2; times++) await savePendingDel(folder, socket, del);
    expect(readdirSync(folder)).to.deep.equal(['c1@net1.json']);
    const saved = JSON.parse(readFileSync(join(folder, 'c1@net1.json'), 'utf8')) as Record<string, unknown>;
    expect(saved['server_socket']).to.equal(socket);
    expect(parseCniRequest('del', JSON.stringify(saved['request']))).to.deep.equal(del);
  });

  it('A pending DEL exists from its save to its removal', async () => {
    expect(hasPendingDel(folder, request())).to.equal(false);
    await savePendingDel(folder, socket, request());
    expect(hasPendingDel(folder, request())).to.equal(true);
    await removePendingDel(folder, request());
    expect(hasPendingDel(folder, request())).to.equal(false);
    await removePendingDel(folder, request());
  });

  it('A pending DEL is rejected when the container’s name is a path', async () => {
    const del = { ...request(), containerId: '../../etc/x' };
    const error: unknown = await savePendingDel(folder, socket, del).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(Error).with.property('message').that.contains('no file can have this name');
    expect(existsSync(folder)).to.equal(false);
  });
});
