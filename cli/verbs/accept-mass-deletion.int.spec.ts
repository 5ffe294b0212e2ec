import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { runInProcess } from '../testing/run-in-process.ts';

const leasePath = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/ipledger-pod-watcher';
const halted = { vanishedPods: 40, vanishedNodes: 6, haltedNamespaces: { noisy: 30 } };

describe('ipledger accept-mass-deletion', () => {
  let folder: string;
  let server: Server;
  let lease: object | undefined;
  let patches: { metadata: { uid: string; annotations: Record<string, string> } }[];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ipledger-accept-'));
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        if (request.method === 'PATCH') patches.push(JSON.parse(body) as (typeof patches)[0]);
        const isFound = request.url === leasePath && lease !== undefined;
        response.writeHead(isFound ? 200 : 404, { 'content-type': 'application/json' });
        response.end(JSON.stringify(isFound ? lease : { kind: 'Status', code: 404 }));
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const config = {
      clusters: [{ name: 'one', cluster: { server: url, 'insecure-skip-tls-verify': true } }],
      contexts: [{ name: 'one', context: { cluster: 'one', user: 'one' } }],
      users: [{ name: 'one' }],
      'current-context': 'one',
    };
    await writeFile(join(folder, 'kubeconfig'), JSON.stringify(config));
  });
  after(async () => {
    server.close();
    server.closeAllConnections();
    await rm(folder, { recursive: true });
  });
  beforeEach(() => {
    patches = [];
    lease = { metadata: { uid: 'uid-lease', annotations: { 'ipledger.io/memory': JSON.stringify(halted) } } };
  });

  const run = (...args: string[]) =>
    runInProcess(['accept-mass-deletion', '--reason', 'cleaned up', ...args], {
      KUBECONFIG: join(folder, 'kubeconfig'),
    });
  const accepted = (): unknown =>
    JSON.parse(patches[0]?.metadata.annotations['ipledger.io/accepted-mass-deletion'] ?? '{}');

  it('ipledger accept-mass-deletion accepts as many missing Pods and Nodes as are halted', async () => {
    const { status, stdout } = await run('--yes');
    expect(status).to.equal(0);
    expect(stdout).to.match(/^ACCEPTED +MISSING\nPods of all namespaces +40\nPods of namespace noisy +30\nNodes +6\n$/);
    expect(patches[0]?.metadata.uid).to.equal('uid-lease');
    const { id, ...rest } = accepted() as { id: string };
    expect(id).to.match(/^[0-9a-f-]{36}$/);
    expect(rest).to.deep.equal({ pods: { '*': 40, noisy: 30 }, nodes: 6, reason: 'cleaned up' });
  });

  it('ipledger accept-mass-deletion keeps an earlier acceptance that no pod-watcher has used up', async () => {
    const earlier = { id: 'one', pods: { team: 25, noisy: 20 }, nodes: 7, reason: 'moved' };
    for (const [usedAcceptance, expected] of [
      ['', { pods: { noisy: 30, team: 25 }, nodes: 7, reason: 'cleaned up; earlier: moved' }],
      ['one', { pods: { noisy: 30 }, nodes: 0, reason: 'cleaned up' }],
    ] as const) {
      patches = [];
      const annotations = {
        'ipledger.io/memory': JSON.stringify({ ...halted, usedAcceptance }),
        'ipledger.io/accepted-mass-deletion': JSON.stringify(earlier),
      };
      lease = { metadata: { uid: 'uid-lease', annotations } };
      expect((await run('--yes', 'noisy')).status).to.equal(0);
      const { id: _, ...rest } = accepted() as { id: string };
      expect(rest).to.deep.equal(expected);
    }
  });

  it('ipledger accept-mass-deletion accepts the Pods of the named namespaces only', async () => {
    expect((await run('--yes', 'noisy')).status).to.equal(0);
    expect(accepted()).to.include({ nodes: 0 }).and.to.have.property('pods').that.deep.equals({ noisy: 30 });
    const other = await run('--yes', 'quiet');
    expect([other.status, patches.length]).to.deep.equal([1, 1]);
    expect(other.stderr).to.contain('namespace quiet is not halted by itself');
  });

  it('ipledger accept-mass-deletion changes nothing without a confirmation, a halt, a Lease or a reason', async () => {
    expect((await run()).stderr).to.contain(
      '40 missing Pods of all namespaces will count as deleted; 30 missing Pods of namespace noisy will count as deleted',
    );
    lease = { metadata: { uid: 'uid-lease', annotations: { 'ipledger.io/memory': '{"vanishedPods":0}' } } };
    expect((await run('--yes')).stderr).to.contain('no release is halted');
    expect((await run('--yes', 'noisy')).stderr).to.contain('no release is halted');
    lease = undefined;
    expect((await run('--yes')).stderr).to.contain('there is no Lease kube-system/ipledger-pod-watcher');
    for (const reason of [' ', 'x'.repeat(257)])
      expect((await run('--yes', '--reason', reason)).stderr).to.contain("option '--reason <text>' argument");
    expect(patches).to.deep.equal([]);
  });
});
