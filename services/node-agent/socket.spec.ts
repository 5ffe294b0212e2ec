import { expect } from 'chai';
import { chmodSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { publish } from './socket.ts';

const modeOf = (path: string): number => statSync(path).mode & 0o777;

describe('a published socket', () => {
  let folder: string;
  let path: string;
  const servers: Server[] = [];

  const server = (): Server => {
    const made = createServer((connection) => connection.destroy());
    servers.push(made);
    return made;
  };
  const closed = (closing: Server): Promise<void> => new Promise((resolve) => closing.close(() => resolve()));
  const refusal = (path_ = path): Promise<unknown> => publish(server(), path_).catch((error: unknown) => error);

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ipledger-socket-'));
    path = join(folder, 'run', 'agent.sock');
  });

  afterEach(() => {
    for (const open of servers.splice(0)) open.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is for its owner only, in a folder for its owner only', async () => {
    await publish(server(), path);
    expect(modeOf(path)).to.equal(0o600);
    expect(modeOf(dirname(path))).to.equal(0o700);
    expect(readdirSync(dirname(path))).to.deep.equal(['agent.sock']);
  });

  it('leaves the mode of a folder that was there alone', async () => {
    chmodSync(folder, 0o755);
    await publish(server(), join(folder, 'agent.sock'));
    expect(modeOf(folder)).to.equal(0o755);
  });

  it('goes when it is unpublished', async () => {
    const published = await publish(server(), path);
    expect(published.isOurs()).to.equal(true);
    published.unpublish();
    expect(existsSync(path)).to.equal(false);
    expect(published.isOurs()).to.equal(false);
    published.unpublish();
  });

  it('never replaces one on which somebody answers', async () => {
    const first = await publish(server(), path);
    expect(await refusal())
      .to.have.property('message')
      .that.contains('is served by another process');
    expect(first.isOurs()).to.equal(true);
  });

  it('never replaces a file that is no socket', async () => {
    const file = join(folder, 'agent.sock');
    writeFileSync(file, 'mine');
    expect(await refusal(file))
      .to.have.property('message')
      .that.contains('is no socket');
    expect(statSync(file).size).to.equal(4);
  });

  it('replaces one that was left by a process that died', async () => {
    const first = server();
    await publish(first, path);
    await closed(first); // without unpublishing: nobody listens, and the file is still there
    expect(existsSync(path)).to.equal(true);
    const second = await publish(server(), path);
    expect(second.isOurs()).to.equal(true);
  });

  it('is not taken away from a successor by a predecessor that stops later', async () => {
    const old = server();
    const before = await publish(old, path);
    renameSync(path, `${path}.moved`); // as if it had looked stale to the successor
    const after = await publish(server(), path);
    expect(before.isOurs()).to.equal(false);
    before.unpublish();
    await closed(old);
    expect(after.isOurs()).to.equal(true);
  });
});
