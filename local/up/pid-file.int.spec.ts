import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { expect } from 'chai';
import { readLivingRecord, type PidRecord, startTimeOf, writePidFile } from './pid-file.ts';

describe('A pid file', () => {
  let folder: string;
  let file: string;
  let child: ChildProcess;

  before(() => void (folder = mkdtempSync(join(tmpdir(), 'ipledger-pid-'))));
  after(() => rmSync(folder, { recursive: true }));
  beforeEach(() => {
    file = join(folder, 'sleeper.pid');
    child = spawn('sleep', ['600']);
    writePidFile(file, pidOf(child), 'as requested');
  });
  afterEach(() => child.kill('SIGKILL'));

  function pidOf({ pid }: ChildProcess): number {
    if (pid === undefined) throw new Error('not started');
    return pid;
  }

  function rewrite(change: Partial<PidRecord>): void {
    const record = JSON.parse(readFileSync(file, 'utf8')) as PidRecord;
    writeFileSync(file, JSON.stringify({ ...record, ...change }));
  }

  it('A pid file identifies a process while it runs', async () => {
    expect(readLivingRecord(file)).to.include({ pid: child.pid, settings: 'as requested' });
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(readLivingRecord(file)).to.equal(undefined);
  });

  it('A pid file does not identify another process with the same pid', () => {
    rewrite({ startTime: '1' });
    expect(readLivingRecord(file)).to.equal(undefined);
  });

  it('A pid file does not identify a process of another boot', () => {
    rewrite({ boot: '00000000-0000-0000-0000-000000000000' });
    expect(readLivingRecord(file)).to.equal(undefined);
  });

  it('A pid file that is missing identifies no process', () => {
    expect(readLivingRecord(join(folder, 'missing.pid'))).to.equal(undefined);
  });

  it('A pid file does not identify a zombie', async () => {
    // The shell becomes a `sleep`, which never waits for its child. Then the child ends.
    const parent = spawn('sh', ['-c', 'cat <&3 & echo $!; exec sleep 600'], {
      stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
    });
    try {
      const [line] = (await once(parent.stdio[1] as Readable, 'data')) as [Buffer];
      const zombie = Number(line.toString());
      while (readFileSync(`/proc/${pidOf(parent)}/comm`, 'utf8') !== 'sleep\n') await new Promise(setImmediate);
      (parent.stdio[3] as Writable).end();
      while (!/\) Z /.test(readFileSync(`/proc/${zombie}/stat`, 'utf8'))) await new Promise(setImmediate);
      expect(startTimeOf(zombie)).to.equal(undefined);
    } finally {
      parent.kill('SIGKILL');
    }
  });
});
