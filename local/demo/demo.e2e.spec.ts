/** Runs the demo as `make demo` does: each of its commands checks its own output. */
import { join } from 'node:path';
import { expect } from 'chai';
import { runCommand } from '../../test/harness/processes/command.ts';

describe('`make demo`', () => {
  it('runs all its steps, and each command has the expected output', async function () {
    this.timeout(300_000);
    const { code, stdout, stderr } = await runCommand(process.execPath, [join(import.meta.dirname, 'demo.ts')], {
      timeoutMs: 280_000,
    });
    expect(code, stderr).to.equal(0);
    expect(stdout).to.match(/demo: ok\n$/);
  });
});
