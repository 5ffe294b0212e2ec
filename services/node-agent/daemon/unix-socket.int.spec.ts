import { expect } from 'chai';
import { chmodSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { publishSocket } from './unix-socket.ts';

const modeOf = (path: string): number => statSync(path).mode & 0o777;

describe('Published socket', () => {
  let folder: string;
  let path: string;
  const servers: Server[] = [];

  const makeServer = (): Server => {
    const server = createServer((connection) => connection.destroy());
    servers.push(server);
    return server;
  };
  const close = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
  const publishError = (at = path): Promise<unknown> =>
    publishSocket(makeServer(), at).catch((error: unknown) => error);

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ipledger-socket-'));
    path = join(folder, 'run', 'agent.sock');
  });

  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('Published socket is accessible to its owner only, and so is its folder', async () => {
    await publishSocket(makeServer(), path);
    expect(modeOf(path)).to.equal(0o600);
    expect(modeOf(dirname(path))).to.equal(0o700);
    expect(readdirSync(dirname(path))).to.deep.equal(['agent.sock']);
  });

  it('Published socket keeps the mode of an existing folder', async () => {
    chmodSync(folder, 0o755);
    await publishSocket(makeServer(), join(folder, 'agent.sock'));
    expect(modeOf(folder)).to.equal(0o755);
  });

  it('Published socket is removed when it is unpublished', async () => {
    const published = await publishSocket(makeServer(), path);
    expect(published.isOurs()).to.equal(true);
    published.unpublish();
    expect(existsSync(path)).to.equal(false);
    expect(published.isOurs()).to.equal(false);
    published.unpublish();
  });

  it('Published socket does not replace a socket that another server serves', async () => {
    const first = await publishSocket(makeServer(), path);
    expect(await publishError())
      .to.have.property('message')
      .that.contains('is served by another process');
    expect(first.isOurs()).to.equal(true);
  });

  it('Published socket does not replace a file that is not a socket', async () => {
    const file = join(folder, 'agent.sock');
    writeFileSync(file, 'mine');
    expect(await publishError(file))
      .to.have.property('message')
      .that.contains('is not a socket');
    expect(statSync(file).size).to.equal(4);
  });

  it('Published socket replaces the socket of a process that was killed', async () => {
    const first = makeServer();
    await publishSocket(first, path);
    await close(first); // without unpublish: the file exists, and no server listens
    expect(existsSync(path)).to.equal(true);
    const second = await publishSocket(makeServer(), path);
    expect(second.isOurs()).to.equal(true);
  });

  it('Published socket stays when an earlier server of the same path stops later', async () => {
    const firstServer = makeServer();
    const first = await publishSocket(firstServer, path);
    renameSync(path, `${path}.moved`); // as if the second server found it without a server
    const second = await publishSocket(makeServer(), path);
    expect(first.isOurs()).to.equal(false);
    first.unpublish();
    await close(firstServer);
    expect(second.isOurs()).to.equal(true);
  });
});
