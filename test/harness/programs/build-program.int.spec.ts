import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { buildPrograms, isBuilt } from './build-program.ts';
import { runCommand } from '../processes/command.ts';

describe('A program built from test/tools', function () {
  this.timeout(300_000); // with an empty Go cache

  let folder: string;
  before(() => void (folder = mkdtempSync(join(tmpdir(), 'ipledger-build-'))));
  after(() => rmSync(folder, { recursive: true }));

  it('A program built from test/tools runs, and is not built a second time', async () => {
    await buildPrograms(['loopback', 'static'], { into: folder });
    expect(isBuilt('loopback', folder) && isBuilt('static', folder)).to.be.true;
    const version = await runCommand(join(folder, 'loopback'), [], { env: { CNI_COMMAND: 'VERSION' }, input: '{}' });
    expect(version.stdout).to.contain('supportedVersions');

    const { mtimeMs } = statSync(join(folder, 'loopback'));
    await buildPrograms(['loopback', 'static'], { into: folder });
    expect(statSync(join(folder, 'loopback')).mtimeMs).to.equal(mtimeMs);
  });

  it('A program built from test/tools is built again when its pin changes', () => {
    const pin = join(folder, '.built', 'loopback.pin');
    writeFileSync(
      pin,
      readFileSync(pin, 'utf8').replace(/^./, (digit) => (digit === '0' ? '1' : '0')),
    );
    expect(isBuilt('loopback', folder)).to.be.false;
  });
});
