import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { asCalled, pluginName } from './called-as.ts';
import { runProgram } from './testing/run-cli.ts';
import { verbTable } from './verb-table.ts';

const plugin = { IPLEDGER_CALLED_AS: 'kubectl ipledger' };

describe('Printed commands', () => {
  it('Printed commands have the form in which the program was called, for each verb', () => {
    for (const { usage } of verbTable) {
      const [verb = ''] = usage.split(' ');
      expect(asCalled(`run: ipledger ${verb} x`, {})).to.equal(`run: ipledger ${verb} x`);
      for (const around of ['run: ? x', '`?`', 'Usage: ? [options]', '?', '? # see it; then ?.'])
        expect(asCalled(around.replaceAll('?', `ipledger ${verb}`), plugin), around).to.equal(
          around.replaceAll('?', `kubectl ipledger ${verb}`),
        );
    }
  });

  it('Printed commands stay as they are where no command is meant, and in the shell of with-etcd', () => {
    const once = asCalled('ipledger with-etcd ipledger verify', plugin);
    expect(once).to.equal('kubectl ipledger with-etcd ipledger verify');
    expect(asCalled(once, plugin)).to.equal(once);
    for (const text of [
      'a certificate of ipledger (IPLEDGER_TLS_CA)',
      'install ipledger 0.1.0 here',
      'kubectl -n ipledger check',
      '/opt/ipledger check',
      'ipledger-etcd check',
      'ipledger checks that',
    ])
      expect(asCalled(text, plugin)).to.equal(text);
  });

  it('Printed commands have that form in the help and in errors', async () => {
    const help = await runProgram(['doctor', '--help'], plugin);
    expect(help.stdout).to.match(/^Usage: kubectl ipledger doctor \[options\]/);
    expect((await runProgram(['--help'], plugin)).stdout).to.match(/^Usage: kubectl ipledger \[options\] \[command\]/);
    const refused = await runProgram(['doctor', '--bundle', '/nowhere'], plugin);
    expect(refused.stderr).to.match(/^ipledger: .*\. Name a file of kubectl ipledger sysdump\n$/);
  });

  it('Printed commands have that form when kubectl runs the plugin, because it sets the variable', () => {
    expect(readFileSync(join(import.meta.dirname, 'kubectl-ipledger'), 'utf8')).to.contain(
      `export IPLEDGER_CALLED_AS='${pluginName}'`,
    );
  });
});
