import { spawn } from 'node:child_process';
import { expect } from 'chai';
import { allocatorThat, environment, ipledger, position } from '../specification.ts';

describe('ipledger export', () => {
  it('does not end like a whole one where it is interrupted', async () => {
    await using server = await allocatorThat({ export: () => [{ position, lines: ['{"seq":1}'] }], endless: true });
    const child = spawn(ipledger, ['export'], { env: environment({ IPLEDGER_ENDPOINT: server.endpoint }) });
    let said = '';
    child.stdout.on('data', (text: Buffer) => {
      said += text.toString();
      child.kill('SIGINT');
    });
    expect(await new Promise((resolve) => child.once('close', resolve))).to.equal(130);
    expect(said).to.equal('{"seq":1}\n');
  });
});
