/** The choice of Multus for the workers. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { findMultus, multusNetwork } from './multus.ts';

describe('The choice of Multus', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'ipledger-multus-'))));
  afterEach(() => rmSync(folder, { recursive: true }));
  const main = { name: 'main' };

  it('The choice of Multus takes a file as the thin plugin, which gets the main network as its delegate', async () => {
    const file = join(folder, 'multus');
    writeFileSync(file, '');
    const multus = await findMultus({ MULTUS: file });
    expect(multus).to.deep.equal({ type: 'multus', plugin: file });
    const network = await multusNetwork(multus, '/kubeconfig', main);
    expect(network).to.deep.equal({ type: 'multus', kubeconfig: '/kubeconfig', delegates: [main] });
  });

  it('The choice of Multus takes a folder with shim and daemon as the thick plugin', async () => {
    const [shim, daemon] = [join(folder, 'multus-shim'), join(folder, 'multus-daemon')];
    for (const file of [shim, daemon]) writeFileSync(file, '');
    const multus = await findMultus({ MULTUS: folder });
    expect(multus).to.deep.equal({ type: 'multus-shim', plugin: shim, daemon });
    expect(await multusNetwork(multus, '/kubeconfig', main)).to.include({ daemonSocketDir: '/run/multus/' });
  });

  it('The choice of Multus refuses a path that is neither a program nor a folder of programs', async () => {
    mkdirSync(join(folder, 'empty'));
    for (const path of ['empty', 'absent'])
      expect(String(await findMultus({ MULTUS: join(folder, path) }).catch((error: unknown) => error))).to.contain(
        'is neither a file nor a folder with multus-shim and multus-daemon',
      );
  });
});
