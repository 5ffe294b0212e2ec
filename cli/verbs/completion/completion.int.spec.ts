import { expect } from 'chai';
import { ipledgerPath, runProgram, startProgram } from '../../testing/run-cli.ts';

describe('ipledger completion', () => {
  const complete = async (...words: string[]): Promise<string[]> => {
    const { stdout: script } = await runProgram(['completion', 'bash']);
    const line = `${script}
COMP_WORDS=(ipledger ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _ipledger; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return (await startProgram(['-c', line], {}, '/bin/bash')).stdout.trim().split('\n');
  };

  it('completes verbs, options and values in bash', async () => {
    expect(await complete('who')).to.deep.equal(['who-had']);
    expect(await complete('diff', '--')).to.include.members(['--from', '--to', '--output']);
    expect(await complete('subnets', '-o', '')).to.deep.equal(['table', 'wide', 'json', 'yaml', 'csv']);
    expect(await complete('history', 'p')).to.deep.equal(['pod']);
    expect(await complete('import', 'k')).to.deep.equal(['kube-ovn']);
    expect(await complete('verify', '--export', ''), 'bash completes files').to.deep.equal(['']);
  });

  it('ipledger completion includes every verb in all three shells', async () => {
    const { stdout: help } = await runProgram(['--help']);
    const verbs = [...help.matchAll(/^ {2}([a-z-]+) .*$/gm)]
      .map(([, verb = '']) => verb)
      .filter((verb) => verb !== 'help');
    expect(verbs).to.include.members(['who-had', 'why', 'completion']);
    for (const shell of ['bash', 'zsh', 'fish']) {
      const { stdout } = await runProgram(['completion', shell]);
      for (const verb of verbs) expect(stdout, `${shell}: ${verb}`).to.contain(verb);
    }
    expect((await runProgram(['completion', 'csh'])).status).to.equal(2);
  });
});

describe('kubectl ipledger', () => {
  it('kubectl ipledger completes in the format of kubectl', async () => {
    const plugin = ipledgerPath.replace(/ipledger$/, 'kubectl_complete-ipledger');
    const complete = async (...words: string[]): Promise<string> => (await startProgram(words, {}, plugin)).stdout;
    expect(await complete('who')).to.equal('who-had\n:4\n');
    expect(await complete('subnets', '-o', 'y')).to.equal('yaml\n:4\n');
    expect(await complete('diff', '--help', '--fr')).to.equal('--from\n:4\n');
    expect(await complete('replay', 'ledger.nd')).to.equal(':0\n');
    expect(await complete('verify', '--export', '')).to.equal(':0\n');
    expect(await complete('history', '--since', '')).to.equal(':4\n');
  });

  it('kubectl ipledger runs ipledger', async () => {
    const plugin = ipledgerPath.replace(/ipledger$/, 'kubectl-ipledger');
    const result = await startProgram(['who-had', 'nowhere'], { IPLEDGER_ENDPOINT: '127.0.0.1:1' }, plugin);
    expect(result).to.deep.equal({ status: 2, stdout: '', stderr: 'ipledger: nowhere is not an IP address\n' });
  });
});
