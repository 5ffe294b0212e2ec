import { spawn } from 'node:child_process';
import { expect } from 'chai';
import { cleanEnvironment, ipledgerPath } from '../testing/run-cli.ts';
import { startFakeAllocator } from '../testing/fake-allocator.ts';
import { position } from '../testing/address-events.fixture.ts';

describe('ipledger export', () => {
  it('ipledger export exits with 130 on Ctrl-C, unlike a complete export', async () => {
    await using server = await startFakeAllocator({
      export: () => [{ position, lines: ['{"seq":1}'] }],
      keepsStreamsOpen: true,
    });
    const child = spawn(ipledgerPath, ['export'], { env: cleanEnvironment({ IPLEDGER_ENDPOINT: server.endpoint }) });
    let stdout = '';
    child.stdout.on('data', (text: Buffer) => {
      stdout += text.toString();
      child.kill('SIGINT');
    });
    expect(await new Promise((resolve) => child.once('close', resolve))).to.equal(130);
    expect(stdout).to.equal('{"seq":1}\n');
  });
});
