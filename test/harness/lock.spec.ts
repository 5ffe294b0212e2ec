import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { withLock } from './lock.ts';

describe('a lock among processes', () => {
  let folder: string;
  before(() => void (folder = mkdtempSync(join(tmpdir(), 'ipledger-lock-'))));
  after(() => rmSync(folder, { recursive: true }));

  it('lets one work at a time', async () => {
    const file = join(folder, 'turns');
    let inside = 0;
    const most: number[] = [];
    const work = async (): Promise<void> => {
      most.push((inside += 1));
      await sleep(30); // long enough for the others to come in, if they could
      inside -= 1;
    };
    await Promise.all([1, 2, 3, 4].map(() => withLock(file, work)));
    expect(most).to.deep.equal([1, 1, 1, 1]);
  });

  it('is given back when the work fails', async () => {
    const file = join(folder, 'failure');
    const failed: unknown = await withLock(file, () => Promise.reject(new Error('no'))).catch(
      (error: unknown) => error,
    );
    expect(failed).to.have.property('message', 'no');
    expect(await withLock(file, () => Promise.resolve('yes'))).to.equal('yes');
  });

  it('is given back when its holder is killed', async () => {
    const file = join(folder, 'killed');
    const script = `
      import { withLock } from ${JSON.stringify(join(import.meta.dirname, 'lock.ts'))};
      await withLock(${JSON.stringify(file)}, () => new Promise(() => setInterval(() => console.log('held'), 10)));`;
    const holder = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(holder.stdout, 'data');
    holder.kill('SIGKILL');
    expect(await withLock(file, () => Promise.resolve('mine'))).to.equal('mine');
  });
});
