import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { installPlugin } from './plugin-installer.ts';
import { comparePlugin } from './installed-plugin.ts';

describe('Installed plugin', () => {
  it('Installed plugin is compared with the agent’s plugin again after each change', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ipledger-'));
    try {
      const [own, installed] = [join(folder, 'own'), join(folder, 'kube-ovn')];
      writeFileSync(own, 'version 2');
      const isCurrent = comparePlugin(installed, own);
      expect(await isCurrent(), 'missing').to.equal(false);
      await installPlugin(own, folder, 'kube-ovn');
      expect(await isCurrent(), 'installed').to.equal(true);
      writeFileSync(installed, 'version 1');
      expect(await isCurrent(), 'replaced').to.equal(false);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('Installed plugin is unknown if the agent does not see the folder of the node', async () => {
    expect(await comparePlugin('', '/own')()).to.equal(undefined);
  });
});
