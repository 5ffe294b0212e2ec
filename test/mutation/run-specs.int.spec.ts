import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { runSpecs, unchanged } from './run-specs.ts';

describe('A run of specs on a mutant', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ipledger-mutation-'));
  after(() => rmSync(folder, { recursive: true }));

  const outcomeOf = async (test: string, timeoutMs?: number): Promise<string> => {
    const spec = join(folder, 'one.spec.mjs');
    writeFileSync(spec, `it('works', ${test});`);
    return (await runSpecs(unchanged('lib/errors.ts'), [spec], timeoutMs)).outcome;
  };

  it('kills the mutant by a failed assertion, and not by green specs', async () => {
    expect(await outcomeOf("() => { throw new Error('no'); }")).to.equal('killed');
    expect(await outcomeOf('() => {}')).to.equal('survived');
  });

  it('does not kill the mutant by the time limit of a spec, or of the process', async () => {
    expect(await outcomeOf('function (done) { this.timeout(1); }')).to.equal('timed out');
    expect(await outcomeOf('() => { for (;;); }', 3_000)).to.equal('timed out');
  });
});
