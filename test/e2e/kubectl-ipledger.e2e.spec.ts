/**
 * Tests `kubectl ipledger` with only a kubeconfig: a real API server authorizes the port-forward,
 * and a process in place of the kubelet forwards it to a real allocator with TLS.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadTls } from '../../lib/tls/credentials.ts';
import { call, connect } from '../../lib/grpc/client.ts';
import { SubnetsService } from '../../proto/generated/ipledger.ts';
import { eventually } from './support/eventually.ts';
import {
  applyChartRoles,
  createPerson,
  createToken,
  installed,
  permitConnecting,
  writeUserKubeconfig,
} from './support/people.ts';
import { openAuthority } from '../harness/certificates/certificate-authority.ts';
import { certificateFolder, type CertificateFolder, makeCertificates } from '../harness/certificates/certificates.ts';
import { startEtcd } from '../harness/etcd.ts';
import { type Cluster, startCluster } from '../harness/kubernetes/cluster.ts';
import { addForwardingNode } from '../harness/kubernetes/port-forward-kubelet.ts';
import { documentedCommands } from '../docs/documented-commands.ts';
import { runDocumented } from '../docs/run-documented.ts';
import { root } from '../harness/paths.ts';
import { type CommandResult, runCommand } from '../harness/processes/command.ts';
import { childEnvironment } from '../harness/processes/launch.ts';
import { openRun, type Run } from '../harness/run.ts';
import { type AllocatorServer, startAllocator, tlsVariables } from '../harness/services.ts';

const labels = { 'app.kubernetes.io/name': 'ipledger', 'app.kubernetes.io/component': 'allocator' };
const lan = { provider: 'lan.default', cidrBlock: '10.9.0.0/24', gateway: '10.9.0.1' };
const secretName = 'ipledger-agent-authority';
const reserve = ['reserve', '--subnet', 'lan', '--for', 'vip/web', '--reason', 'a test'];

describe('kubectl ipledger', function () {
  this.timeout(180_000);
  let run: Run;
  let cluster: Cluster;
  let certificates: CertificateFolder;
  let allocator: AllocatorServer;

  before(async () => {
    run = openRun();
    const folder = join(run.folder, 'certificates');
    const [started, etcd] = await Promise.all([
      startCluster(run, { nodes: [], controllers: false, crds: false }),
      startEtcd(run),
      makeCertificates({ folder, allocators: ['allocator'], nodes: [], operators: ['test'] }),
    ]);
    cluster = started;
    certificates = certificateFolder(folder);
    await applyChartRoles(cluster);
    const kubeconfig = await cluster.kubeconfigFor(`system:serviceaccount:${installed}:ipledger-allocator`);
    const tokenReview = { kubeconfig, account: `${installed}/ipledger-node-agent`, users: true };
    allocator = await startAllocator(run, { etcd, tls: certificates.allocator('allocator'), tokenReview });
    await addForwardingNode(run, cluster, 'node-a');
    await createPerson(cluster, 'alice', ['ipledger-operator']);
    await permitConnecting(cluster, 'alice');
    await applyAllocator(certificates.watcher.ca);
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    const patch = ['--subresource=status', '-p', JSON.stringify({ status })];
    await cluster.kubectl(['patch', 'pod', 'allocator', '-n', installed, ...patch]);
    const operator = connect(allocator.endpoint, loadTls(certificates.operator('test')));
    await call(operator, SubnetsService.applySubnet, { name: 'lan', spec: lan }, { timeoutMs: 20_000 });
    operator.close();
  });
  after(() => run?.end());

  /** Creates Service, Pod and authority, as the chart does. */
  const applyAllocator = (authority: string): Promise<void> => {
    const inNamespace = (name: string, more: object = {}) => ({ name, namespace: installed, ...more });
    const annotations = { 'ipledger.io/authority-secret': secretName };
    const port = { name: 'grpc', containerPort: Number(allocator.endpoint.split(':')[1]) };
    const items = [
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: inNamespace('ipledger-allocator', { annotations }),
        spec: { selector: labels, ports: [{ name: 'grpc', port: 7411, targetPort: 'grpc' }] },
      },
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: inNamespace(secretName),
        stringData: { 'ca.crt': readFileSync(authority, 'utf8') },
      },
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: inNamespace('allocator', { labels }),
        spec: { nodeName: 'node-a', containers: [{ name: 'allocator', image: 'ipledger', ports: [port] }] },
      },
    ];
    return cluster.apply(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  };
  const kubeconfigOf = (user: object): string =>
    writeUserKubeconfig(cluster, join(run.folder, 'user.kubeconfig'), user);
  const kubectlIpledger = (args: readonly string[], env: Readonly<Record<string, string>>): Promise<CommandResult> =>
    runCommand(join(root, 'cli', 'kubectl-ipledger'), args, {
      env: childEnvironment({ HOME: '', ...env }),
      signal: run.signal,
    });
  const historyOf = async (kubeconfig: string, address: string, env: Readonly<Record<string, string>> = {}) =>
    (await kubectlIpledger(['history', address, '-o', 'wide'], { KUBECONFIG: kubeconfig, ...env })).stdout;

  it('kubectl ipledger reaches the allocator with the token of the kubeconfig, and the event names the user', async () => {
    const kubeconfig = kubeconfigOf({ token: await createToken(cluster, 'alice') });
    const reserved = await kubectlIpledger([...reserve, '10.9.0.20'], { KUBECONFIG: kubeconfig });
    expect(reserved.stderr).to.equal('');
    expect(await historyOf(kubeconfig, '10.9.0.20')).to.contain('kubernetes:system:serviceaccount:people:alice');
  });

  it('kubectl ipledger runs the credential program of the kubeconfig', async () => {
    const status = { token: await createToken(cluster, 'alice') };
    const credential = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status };
    const args = ['-c', `echo '${JSON.stringify(credential)}'`];
    const exec = { apiVersion: credential.apiVersion, command: 'sh', args, interactiveMode: 'Never' };
    const answer = await kubectlIpledger(['subnets'], { KUBECONFIG: kubeconfigOf({ exec }) });
    expect(answer.stderr).to.equal('');
    expect(answer.stdout).to.contain('10.9.0.0/24');
  });

  it('kubectl ipledger uses an operator’s certificate, if there is one, with any kubeconfig that may forward ports', async () => {
    const env = { KUBECONFIG: cluster.kubeconfig, ...tlsVariables(certificates.operator('test')) };
    expect((await kubectlIpledger(['status'], env)).stderr).to.equal('');
  });

  it('kubectl ipledger identifies the user of a client certificate by a ServiceAccount, with the commands of docs/install.md', async () => {
    const script = documentedCommands('docs/install.md', 'client-certificate');
    const env = { KUBECONFIG: cluster.kubeconfig };
    expect(await runDocumented(run, script, env)).to.include({ code: 0, stderr: '' });
    const account = { KUBECONFIG: cluster.kubeconfig, IPLEDGER_SERVICE_ACCOUNT: 'anna' };
    expect((await kubectlIpledger([...reserve, '10.9.0.30'], account)).stderr).to.equal('');
    expect(await historyOf(cluster.kubeconfig, '10.9.0.30', account)).to.contain(
      `kubernetes:system:serviceaccount:${installed}:anna`,
    );
  });

  it('kubectl ipledger admits a person with the roles that the commands of docs/install.md bind', async () => {
    const user = await createPerson(cluster, 'anna', []);
    const lines = documentedCommands('docs/install.md', 'people').replaceAll('anna@example.org', user).split('\n');
    const bind = lines.slice(0, 2).join('\n');
    expect(await runDocumented(run, bind, { KUBECONFIG: cluster.kubeconfig })).to.include({ code: 0, stderr: '' });
    const KUBECONFIG = kubeconfigOf({ token: await createToken(cluster, 'anna') });
    expect(await runDocumented(run, lines.slice(2).join('\n'), { KUBECONFIG })).to.include({ code: 0, stderr: '' });
  });

  it('kubectl ipledger uses an operator’s certificate that the commands of docs/install.md fetch', async () => {
    const { ca, cert, key } = certificates.operator('test');
    const files = [`--from-file=ca.crt=${ca}`, `--from-file=tls.crt=${cert}`, `--from-file=tls.key=${key}`];
    await cluster.kubectl(['create', 'secret', 'generic', 'ipledger-operator-anna', '-n', installed, ...files]);
    const script = documentedCommands('docs/install.md', 'operator-certificate');
    const env = { KUBECONFIG: cluster.kubeconfig };
    expect(await runDocumented(run, script, env)).to.include({ code: 0, stderr: '' });
  });

  it('kubectl ipledger names the missing permission for tokens of a ServiceAccount', async () => {
    const kubeconfig = await cluster.kubeconfigFor('erin');
    const { code, stderr } = await kubectlIpledger(['status', '--service-account', 'anna'], { KUBECONFIG: kubeconfig });
    expect(stderr).to.match(/cannot create resource "serviceaccounts\/token"/);
    expect(code).to.equal(3);
    const wrong = await kubectlIpledger(['status', '--service-account', 'a/b/c'], { KUBECONFIG: kubeconfig });
    expect(wrong).to.include({ code: 2 });
    const elsewhere = ['status', '--service-account', 'anna', '--allocator', allocator.endpoint];
    expect((await kubectlIpledger(elsewhere, {})).stderr).to.contain('works with --allocator kubernetes only');
  });

  it('kubectl ipledger prints a complete export', async () => {
    const kubeconfig = kubeconfigOf({ token: await createToken(cluster, 'alice') });
    const { stderr, stdout } = await kubectlIpledger(['export'], { KUBECONFIG: kubeconfig });
    expect(stderr).to.equal('');
    expect(stdout.trim().split('\n')).to.have.length.greaterThan(1);
  });

  it('kubectl ipledger names the missing permission for the port-forward', async () => {
    await createPerson(cluster, 'bob', ['ipledger-reader']);
    const kubeconfig = kubeconfigOf({ token: await createToken(cluster, 'bob') });
    const status = (): Promise<CommandResult> => kubectlIpledger(['status'], { KUBECONFIG: kubeconfig });
    const first = await status();
    expect(first).to.include({ code: 3 });
    expect(first.stderr).to.match(/services "ipledger-allocator" is forbidden/);
    const role = ['create', 'role', 'almost', '-n', installed, '--verb=get,list', '--resource=pods,services,secrets'];
    await cluster.kubectl(role);
    const subject = '--serviceaccount=people:bob';
    await cluster.kubectl(['create', 'rolebinding', 'almost', '-n', installed, '--role=almost', subject]);
    await eventually(async () => {
      const second = await status();
      expect(second.stderr).to.contain(
        'needs the verbs get and create on pods/portforward in namespace ipledger-system',
      );
      expect(second).to.include({ code: 3 });
    });
  });

  it('kubectl ipledger sends no token to an allocator of another authority', async () => {
    const stranger = await openAuthority(join(run.folder, 'strangers'), 'strangers');
    await applyAllocator(stranger.cert);
    const kubeconfig = kubeconfigOf({ token: await createToken(cluster, 'alice') });
    const answer = await kubectlIpledger(['status'], { KUBECONFIG: kubeconfig });
    expect(answer).to.include({ code: 3 });
    expect(answer.stderr).to.contain('its certificate is of no authority that is trusted here');
  });
});
