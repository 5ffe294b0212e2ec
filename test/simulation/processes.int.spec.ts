/** Tests that `make sim` leaves no process. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';

describe('A run of seeds', function () {
  this.timeout(60_000);

  let part = '';
  after(() => {
    if (part !== '' && existsSync(`/proc/${part}`)) process.kill(Number(part), 'SIGKILL');
  });

  it('A run of seeds ends its processes when it is ended by a signal', async () => {
    const env = { ...process.env, SEEDS: '1000000', JOBS: '1', HALF: 'ledger', SEED: '' };
    const main = spawn(process.execPath, [join(import.meta.dirname, 'main.ts')], { env, stdio: 'ignore' });
    const children = `/proc/${main.pid}/task/${main.pid}/children`;
    while (part === '') {
      await sleep(20);
      part = readFileSync(children, 'utf8').trim();
    }
    expect(part).to.match(/^\d+$/);
    const isRunning = (): boolean => readFileSync(`/proc/${part}/cmdline`, 'utf8').startsWith(process.execPath);
    while (!isRunning()) await sleep(20);
    main.kill('SIGTERM');
    while (existsSync(`/proc/${part}`)) await sleep(20);
  });
});
