import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { runSpecs, unchanged } from './run-specs.ts';

describe('A run of specs on a mutant', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ipledger-mutation-'));
  const [endless, pidFile] = ['endless.spec.mjs', 'pid'].map((name) => join(folder, name)) as [string, string];
  const pidOfMocha = (): string => (existsSync(pidFile) ? readFileSync(pidFile, 'utf8') : '');
  after(() => {
    const pid = pidOfMocha();
    if (pid !== '' && existsSync(`/proc/${pid}`)) process.kill(Number(pid), 'SIGKILL');
    rmSync(folder, { recursive: true });
  });

  const outcomeOf = async (test: string, timeoutMs?: number): Promise<string> => {
    const spec = join(folder, 'one.spec.mjs');
    writeFileSync(spec, `it('a spec works', ${test});`);
    return (await runSpecs(unchanged('lib/errors.ts'), [spec], timeoutMs)).outcome;
  };

  it('A run of specs on a mutant kills the mutant by a failed assertion, and not by green specs', async () => {
    expect(await outcomeOf("() => { throw new Error('no'); }")).to.equal('killed');
    expect(await outcomeOf('() => {}')).to.equal('survived');
  });

  it('A run of specs on a mutant does not kill the mutant by the time limit of a spec, or of the process', async () => {
    expect(await outcomeOf('function (done) { this.timeout(1); }')).to.equal('timed out');
    expect(await outcomeOf('() => { for (;;); }', 3_000)).to.equal('timed out');
  });

  it('A run of specs on a mutant ends mocha when the process that started it ends by a signal', async () => {
    writeFileSync(
      endless,
      `import { writeFileSync } from 'node:fs';
       it('a spec is endless', () => {
         writeFileSync(${JSON.stringify(pidFile)}, String(process.pid));
         for (;;);
       });`,
    );
    const module = JSON.stringify(join(import.meta.dirname, 'run-specs.ts'));
    const run = `runSpecs(unchanged('lib/errors.ts'), [${JSON.stringify(endless)}])`;
    const program = `import(${module}).then(({ runSpecs, unchanged }) => ${run})`;
    const started = spawn(process.execPath, ['--eval', program], { stdio: 'ignore' });
    while (pidOfMocha() === '') await sleep(20);
    started.kill('SIGTERM');
    while (existsSync(`/proc/${pidOfMocha()}`)) await sleep(20);
  });
});
