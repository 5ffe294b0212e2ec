/** The collection in a program of its own, which makes garbage and is then idle. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';

const program = join(import.meta.dirname, 'testing', 'idle-program.ts');

/** Runs the program until it has collected, or ends by itself. @returns its lines as numbers of MiB */
async function runIdle(...nodeOptions: string[]): Promise<{ beforeMiB: number; afterMiB: number } | undefined> {
  const { stdout } = await promisify(execFile)(process.execPath, [...nodeOptions, program], { timeout: 50_000 });
  const [line = ''] = stdout.split('\n');
  return line === '' ? undefined : (JSON.parse(line) as { beforeMiB: number; afterMiB: number });
}

describe('An idle program', function () {
  this.timeout(60_000);

  it('returns the memory of its last work', async () => {
    const collected = await runIdle('--expose-gc');
    expect(collected?.afterMiB).to.be.lessThan((collected?.beforeMiB ?? 0) / 2);
  });

  it('runs without --expose-gc, and does not collect', async () => {
    expect(await runIdle()).to.equal(undefined);
  });
});
