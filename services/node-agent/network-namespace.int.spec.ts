import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { CommandError, runCommand } from './network-namespace.ts';

const failureOf = (command: Promise<string>): Promise<unknown> => command.catch((error: unknown) => error);

describe('A command in the network namespace of a sandbox', () => {
  it('a command that is aborted fails after the end of its process', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ipledger-command-'));
    const file = join(folder, 'pid');
    const readPid = (): string => (existsSync(file) ? readFileSync(file, 'utf8').trim() : '');
    const caller = new AbortController();
    const script = 'echo $$ >"$0"; exec sleep 60';
    const failed = failureOf(runCommand('sh', ['-c', script, file], { signal: caller.signal }));
    while (readPid() === '') await pause(5);
    caller.abort();
    expect(await failed).to.be.instanceOf(CommandError);
    expect(existsSync(`/proc/${readPid()}`)).to.equal(false);
    rmSync(folder, { recursive: true });
  });

  it('a command that does not exist fails with its name', async () => {
    const error = await failureOf(runCommand('no-such-command', [], { signal: new AbortController().signal }));
    expect(error).to.be.instanceOf(CommandError).with.property('message').that.contains('no-such-command');
  });
});
