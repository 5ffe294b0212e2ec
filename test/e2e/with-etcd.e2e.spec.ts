/**
 * Tests `kubectl ipledger with-etcd` with the kubeconfig of an auditor: a port-forward of a real
 * API server to a real etcd with TLS and users.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import type { TlsFiles } from '../../lib/tls/credentials.ts';
import { chartFolder } from '../chart/render-chart.ts';
import { documentedCommands } from '../docs/documented-commands.ts';
import { certificateFolder, type CertificateFolder, makeCertificates } from '../harness/certificates/certificates.ts';
import { type Etcd, startEtcd } from '../harness/etcd.ts';
import { type Cluster, startCluster } from '../harness/kubernetes/cluster.ts';
import { addForwardingNode } from '../harness/kubernetes/port-forward-kubelet.ts';
import { root } from '../harness/paths.ts';
import { type CommandResult, mustRun, runCommand } from '../harness/processes/command.ts';
import { childEnvironment } from '../harness/processes/launch.ts';
import { findProgram } from '../harness/programs/find-program.ts';
import { openRun, type Run } from '../harness/run.ts';
import { startAllocator } from '../harness/services.ts';
import { applyChartRoles, installed } from './support/people.ts';

const user = 'anna@example.org';
const labels = { 'app.kubernetes.io/name': 'ipledger', 'app.kubernetes.io/component': 'etcd' };

describe('kubectl ipledger with-etcd', function () {
  this.timeout(180_000);
  let run: Run;
  let cluster: Cluster;
  let etcd: Etcd;
  let certificates: CertificateFolder;
  let path: string;
  let kubeconfig: string;
  let temporary: string;

  before(async () => {
    run = openRun();
    const folder = join(run.folder, 'certificates');
    await makeCertificates({ folder, allocators: ['allocator'], nodes: [], operators: [] });
    certificates = certificateFolder(folder);
    const { server, allocator: client, root: administrator } = certificates.etcd;
    [cluster, etcd] = await Promise.all([
      startCluster(run, { nodes: [], controllers: false, crds: false }),
      startEtcd(run, { tls: { server, client } }),
    ]);
    await startAllocator(run, { etcd, tls: certificates.allocator('allocator') });
    await createEtcdUsers(administrator);
    await applyChartRoles(cluster);
    await addForwardingNode(run, cluster, 'node-a');
    await applyEtcd(certificates.etcd.auditor);
    const programs = await Promise.all((['kubectl', 'etcdctl'] as const).map((name) => findProgram(name)));
    path = [join(root, 'cli'), ...programs.map(dirname), process.env['PATH']].join(':');
    kubeconfig = await cluster.kubeconfigFor(user);
    temporary = join(run.folder, 'temporary');
    mkdirSync(temporary);
  });
  after(() => run?.end());

  const createEtcdUsers = ({ ca, cert, key }: TlsFiles): Promise<string> => {
    const files = { ETCDCTL_CACERT: ca, ETCDCTL_CERT: cert, ETCDCTL_KEY: key };
    const env = { PATH: process.env['PATH'] ?? '', ETCDCTL_ENDPOINTS: etcd.endpoint, ...files };
    return mustRun(process.execPath, [join(chartFolder, 'files', 'etcd-users.mjs')], { env });
  };
  /** Creates Service, Pod and Secret, as the chart does. */
  const applyEtcd = async ({ ca, cert, key }: TlsFiles): Promise<void> => {
    const named = (name: string, more: object = {}) => ({ name, namespace: installed, ...more });
    const annotations = { 'ipledger.io/auditor-secret': 'ipledger-etcd-auditor' };
    const port = { name: 'client', port: 2379, targetPort: 'client', appProtocol: 'https' };
    const ports = [{ name: 'client', containerPort: etcd.port }];
    const data = Object.entries({ 'ca.crt': ca, 'tls.crt': cert, 'tls.key': key });
    const stringData = Object.fromEntries(data.map(([name, file]) => [name, readFileSync(file, 'utf8')]));
    const items = [
      { apiVersion: 'v1', kind: 'Secret', metadata: named('ipledger-etcd-auditor'), stringData },
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: named('ipledger-etcd', { annotations }),
        spec: { clusterIP: 'None', selector: labels, ports: [port] },
      },
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: named('ipledger-etcd-0', { labels }),
        spec: { nodeName: 'node-a', containers: [{ name: 'etcd', image: 'etcd', ports }] },
      },
    ];
    await cluster.apply(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    const patch = ['--subresource=status', '-p', JSON.stringify({ status })];
    await cluster.kubectl(['patch', 'pod', 'ipledger-etcd-0', '-n', installed, ...patch]);
  };
  const shell = (script: string, config = kubeconfig): Promise<CommandResult> =>
    runCommand('sh', ['-ec', script], {
      env: childEnvironment({ HOME: '', TMPDIR: temporary, PATH: path, KUBECONFIG: config }),
      signal: run.signal,
    });

  it('kubectl ipledger with-etcd names the missing permission of a user', async () => {
    const { code, stderr } = await shell('kubectl ipledger with-etcd etcdctl version');
    expect(code).to.equal(3);
    expect(stderr).to.match(/services "ipledger-etcd" is forbidden/);
  });

  it('kubectl ipledger with-etcd runs etcdctl and verify for an auditor, with the commands of docs/install.md', async () => {
    const permitted = await shell(documentedCommands('docs/install.md', 'auditor-role'), cluster.kubeconfig);
    expect(permitted).to.include({ code: 0, stderr: '' });
    const { code, stdout, stderr } = await shell(documentedCommands('docs/install.md', 'auditor'));
    expect(stderr).to.equal('');
    expect(stdout).to.contain('"ledger"').and.contain('verified').and.contain('no findings');
    expect(code).to.equal(0);
  });

  it('kubectl ipledger with-etcd permits the auditor no write, and keeps no file of the certificate', async () => {
    const { code, stderr } = await shell('kubectl ipledger with-etcd etcdctl put /ipledger/v1/head x');
    expect(stderr).to.contain('permission denied');
    expect(code).to.equal(1);
    expect(existsSync(temporary) && readdirSync(temporary)).to.deep.equal([]);
  });

  it('kubectl ipledger with-etcd exits with the status of the command', async () => {
    const options = { env: childEnvironment({ HOME: '', PATH: path, KUBECONFIG: kubeconfig }), signal: run.signal };
    const command = ['with-etcd', '--namespace', installed, 'sh', '-c', 'exit 7'];
    expect((await runCommand(join(root, 'cli', 'ipledger'), command, options)).code).to.equal(7);
    const missing = await shell('kubectl ipledger with-etcd no-such-program');
    expect(missing.stderr).to.contain('cannot run no-such-program');
    expect(missing.code).to.equal(2);
  });
});
