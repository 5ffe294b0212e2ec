import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ensureRunning, isRunning, runningNames, stopBackground } from './background.ts';
import type { Launch } from '../../test/harness/processes/launch.ts';
import { startTimeOf } from './pid-file.ts';

describe('A background server', () => {
  const { signal } = new AbortController();
  let folder: string;

  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'ipledger-background-'))));
  afterEach(async () => {
    for (const name of runningNames(folder)) await stopBackground(folder, name);
    rmSync(folder, { recursive: true });
  });

  function sleeper(script: string, ready: Launch['ready'] = () => Promise.resolve()): Launch {
    return { name: 'sleeper', program: 'sh', args: ['-c', script], ready, readyWithinMs: 10_000 };
  }

  it('A background server is started once, and again after it ended', async () => {
    const launch = sleeper('exec sleep 600');
    const first = await ensureRunning(folder, launch, signal);
    expect(first.wasStarted).to.be.true;
    expect(await ensureRunning(folder, launch, signal)).to.deep.equal({ pid: first.pid, wasStarted: false });

    process.kill(first.pid, 'SIGKILL');
    while (isRunning(folder, 'sleeper')) await new Promise(setImmediate);
    const second = await ensureRunning(folder, launch, signal);
    expect(second.wasStarted).to.be.true;
    expect(second.pid).to.not.equal(first.pid);
  });

  it('A background server keeps running if it is started with other settings, which is rejected', async () => {
    await ensureRunning(folder, sleeper('exec sleep 600'), signal);
    const refused: unknown = await ensureRunning(folder, sleeper('exec sleep 601'), signal).catch(
      (error: unknown) => error,
    );
    expect(refused).to.have.property('message').that.contains('runs with other settings');
    expect(runningNames(folder)).to.deep.equal(['sleeper']);
  });

  it('A background server that ends during its start is reported with the end of its log', async () => {
    const launch = sleeper('sleep 0.2; echo no such option >&2; exit 2', () => Promise.reject(new Error('not yet')));
    const failed: unknown = await ensureRunning(folder, launch, signal).catch((error: unknown) => error);
    expect(failed)
      .to.have.property('message')
      .that.matches(/sleeper ended while starting[^]*no such option/);
  });

  it('A background server is stopped', async () => {
    const { pid } = await ensureRunning(folder, sleeper('exec sleep 600'), signal);
    expect(await stopBackground(folder, 'sleeper')).to.be.true;
    expect(startTimeOf(pid)).to.equal(undefined);
    expect(await stopBackground(folder, 'sleeper')).to.be.false;
  });
});
