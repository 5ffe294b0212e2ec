/** Tests the collection in a separate program, which makes garbage and is then idle. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';

const program = join(import.meta.dirname, 'testing', 'idle-program.ts');

/**
 * Runs the program until it has returned memory, or ends by itself.
 * @returns the line of its log; '' if it did not collect garbage
 */
async function runIdle(...nodeOptions: string[]): Promise<string> {
  const env = { ...process.env, NODE_OPTIONS: '' };
  const { stdout } = await promisify(execFile)(process.execPath, [...nodeOptions, program], { env, timeout: 50_000 });
  return stdout;
}

describe('An idle program', function () {
  this.timeout(60_000);

  it('An idle program returns the memory of its last work', async () => {
    expect(JSON.parse(await runIdle('--expose-gc'))).to.have.property('msg', 'idle: garbage collected');
  });

  it('An idle program runs without --expose-gc, and does not collect', async () => {
    expect(await runIdle()).to.equal('');
  });
});
