import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { withFileLock } from './file-lock.ts';

describe('A file lock', () => {
  let folder: string;
  before(() => void (folder = mkdtempSync(join(tmpdir(), 'ipledger-lock-'))));
  after(() => rmSync(folder, { recursive: true }));

  it('A file lock runs one work at a time', async () => {
    const file = join(folder, 'exclusive');
    let inside = 0;
    const concurrent: number[] = [];
    const work = async (): Promise<void> => {
      concurrent.push((inside += 1));
      await sleep(30); // long enough for the others to enter without the lock
      inside -= 1;
    };
    await Promise.all([1, 2, 3, 4].map(() => withFileLock(file, work)));
    expect(concurrent).to.deep.equal([1, 1, 1, 1]);
  });

  it('A file lock is released when the work fails', async () => {
    const file = join(folder, 'failure');
    const failed: unknown = await withFileLock(file, () => Promise.reject(new Error('no'))).catch(
      (error: unknown) => error,
    );
    expect(failed).to.have.property('message', 'no');
    expect(await withFileLock(file, () => Promise.resolve('yes'))).to.equal('yes');
  });

  it('A file lock is released when its holder is killed', async () => {
    const file = join(folder, 'killed');
    const script = `
      import { withFileLock } from ${JSON.stringify(join(import.meta.dirname, 'file-lock.ts'))};
      await withFileLock(${JSON.stringify(file)}, () => new Promise(() => setInterval(() => console.log('held'), 10)));`;
    const holder = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(holder.stdout, 'data');
    holder.kill('SIGKILL');
    expect(await withFileLock(file, () => Promise.resolve('mine'))).to.equal('mine');
  });
});
