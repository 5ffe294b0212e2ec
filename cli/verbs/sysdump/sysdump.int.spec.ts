import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readBundle } from '../../bundle/read-bundle.ts';
import { startFakeAllocator } from '../../testing/fake-allocator.ts';
import { runInProcess } from '../../testing/run-in-process.ts';

const kubeconfig = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'down',
  contexts: [{ name: 'down', context: { cluster: 'down', user: 'down' } }],
  clusters: [{ name: 'down', cluster: { server: 'https://127.0.0.1:1' } }],
  users: [{ name: 'down', user: {} }],
});

describe('A support bundle', () => {
  it('A support bundle is written with what can be read, and ends with status 2, while the Kubernetes API is down', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sysdump-'));
    await using allocator = await startFakeAllocator({
      getStatus: () => ({ ledger: 'l-1', position: { seq: 0, hash: '' } }),
      listSubnets: () => ({ subnets: [] }),
    });
    try {
      const [file, config] = [join(folder, 'bundle.tar.gz'), join(folder, 'kubeconfig')];
      await writeFile(config, kubeconfig);
      const env = { ...process.env, KUBECONFIG: config, IPLEDGER_ENDPOINT: allocator.endpoint };
      const { status, stdout, stderr } = await runInProcess(['sysdump', '--file', file, '-o', 'json'], env);
      expect({ status, stderr }).to.deep.equal({ status: 2, stderr: '' });
      const { problems } = JSON.parse(stdout) as { problems: { part: string; reason: string }[] };
      expect(problems.map(({ part }) => part)).to.include.members(['Kubernetes', 'kubernetes', 'ledger/ippools.json']);
      expect(problems.find(({ part }) => part === 'kubernetes')?.reason).to.contain('127.0.0.1:1');
      expect((await readBundle(file)).status?.ledger).to.equal('l-1');
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
