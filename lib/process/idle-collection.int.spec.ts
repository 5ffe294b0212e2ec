/** The collection in a program of its own, which makes garbage and is then idle. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';

const program = join(import.meta.dirname, 'testing', 'idle-program.ts');

/** Runs the program until it has collected, or ends by itself. @returns its memory before and after; undefined if it did not collect */
async function runIdle(...nodeOptions: string[]): Promise<{ beforeMiB: number; afterMiB: number } | undefined> {
  const { stdout } = await promisify(execFile)(process.execPath, [...nodeOptions, program], {
    env: { ...process.env, NODE_OPTIONS: '' },
    timeout: 50_000,
  });
  const [line = ''] = stdout.split('\n');
  return line === '' ? undefined : (JSON.parse(line) as { beforeMiB: number; afterMiB: number });
}

describe('An idle program', function () {
  this.timeout(60_000);

  it('returns the memory of its last work', async () => {
    const collected = await runIdle('--expose-gc');
    if (!collected) throw new Error('the program did not collect');
    expect(collected.beforeMiB - collected.afterMiB).to.be.above(50);
  });

  it('runs without --expose-gc, and does not collect', async () => {
    expect(await runIdle()).to.equal(undefined);
  });
});
