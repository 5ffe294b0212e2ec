import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { documentedCommands } from '../../test/docs/documented-commands.ts';
import { isRunning } from './background.ts';
import { startCluster } from '../../test/harness/kubernetes/cluster.ts';
import { addNodes, multusCrdFile } from '../../test/harness/kubernetes/kubectl.ts';
import { mustRun, runCommand } from '../../test/harness/processes/command.ts';
import { root } from '../../test/harness/paths.ts';
import { openRun, type Run } from '../../test/harness/run.ts';
import { terminalTools } from './client-access.ts';
import type { Settings } from './settings.ts';
import { type StartResult, startAll } from './start.ts';
import { stopAll } from './stop.ts';

const settings = { nodes: 1, listen: '127.0.0.1', tls: undefined, kubeconfig: undefined, yes: false };
const programs = [
  'ipledger-allocator',
  'ipledger-node-agent',
  'ipledger-node-agent-ovn',
  'ipledger-ovn-projector',
  'ipledger-pod-watcher',
];
/** The command of the README that verifies the record. */
const [documentedVerify = 'none'] =
  /^ipledger verify --etcd [^#\n]*/m.exec(readFileSync(join(root, 'README.md'), 'utf8')) ?? [];
const killAll = 'for file in "$0"/*.pid; do [ ! -e "$file" ] || kill -9 "$(jq .pid "$file")"; done';

describe('`make up` and `make down`', function () {
  this.timeout(300_000);

  let run: Run;
  let folder: string;
  let first: StartResult;
  let user: Awaited<ReturnType<typeof openUserCluster>>;
  const up = (changes: Partial<Settings> = {}): Promise<StartResult> =>
    startAll({
      folder,
      settings: { ...settings, certificates: join(run.folder, 'certificates'), ...changes },
      tools: terminalTools,
      signal: run.signal,
    });
  const down = (purge: boolean): Promise<readonly string[]> => stopAll({ folder, purge, signal: run.signal });
  const started = ({ rows }: StartResult): string[] => rows.filter((row) => row.wasStarted).map(({ name }) => name);
  const pidOf = ({ rows }: StartResult, server: string): number => rows.find(({ name }) => name === server)?.pid ?? 0;
  const sourced = (command: string): Promise<string> =>
    mustRun('sh', ['-c', `. '${join(folder, 'env')}'; ${command}`], {
      env: { PATH: '/usr/bin:/bin', HOME: run.folder },
    });

  before(async () => {
    run = openRun();
    folder = join(run.folder, 'up');
    // The servers outlive the test process by design, so the janitor must kill them.
    run.cleanUpWith(['sh', '-c', killAll, folder]);
    first = await up();
  });
  after(async () => {
    await down(true);
    await run.end();
  });

  it('`make up` and `make down` start all servers in the order of their dependencies', () => {
    expect(started(first)).to.deep.equal([
      'etcd',
      'kube-etcd',
      'kube-apiserver',
      'kube-controller-manager',
      'allocator',
      'read-model',
      'pod-watcher',
      'node-agent-1',
    ]);
  });

  it('`make up` and `make down` write an env file with which another terminal reaches each server', async () => {
    expect(await sourced('kubectl get nodes -o name')).to.equal('node/node-1\n');
    expect(await sourced('etcdctl get --prefix /ipledger/v1/log/ --print-value-only')).to.contain('LedgerCreated');
    expect(await sourced('grpcurl -plaintext "$IPLEDGER_ENDPOINT" list')).to.contain('ipledger.v1.Ipam');
    expect(await sourced('grpcurl -plaintext "$IPLEDGER_READ_MODEL" ipledger.v1.Ledger/History')).to.contain(
      'LedgerCreated',
    );
    expect(await sourced('ipledger subnets')).to.contain('ledger at epoch 1');
    expect(await sourced(documentedVerify)).to.match(/ other keys verified, up to .*: no findings$/m);
    expect(await sourced('kubectl ipledger status')).to.contain('epoch 1');
    expect(await sourced('test -S "$IPLEDGER_SOCKET_1" && jq -r .name "$NETCONFPATH"/macvlan.conflist')).to.equal(
      'macvlan\n',
    );
    expect(await sourced('command -v cnitool')).to.equal(`${folder}/bin/cnitool\n`);
  });

  it('`make up` and `make down` start only missing servers', async () => {
    expect(started(await up())).to.deep.equal([]);
    process.kill(pidOf(first, 'allocator'), 'SIGKILL');
    while (isRunning(folder, 'allocator')) await new Promise(setImmediate);
    const again = await up();
    expect(started(again)).to.deep.equal(['allocator']);
    expect(pidOf(again, 'etcd')).to.equal(pidOf(first, 'etcd'));
  });

  it('`make up` and `make down` add agents with a higher NODES, and keep them without NODES', async () => {
    expect(started(await up({ nodes: 2 }))).to.deep.equal(['node-agent-2']);
    const again = await up({ nodes: undefined });
    expect(again.exports.sockets).to.have.length(2);
    expect(started(again)).to.deep.equal([]);
  });

  it('`make up` and `make down` reject the user’s cluster while the ledger belongs to the cluster that `make up` made', async () => {
    const copy = join(run.folder, 'user-kubeconfig');
    await mustRun('cp', [first.exports.kubeconfig, copy]);
    const refused: unknown = await up({ kubeconfig: copy, yes: true }).catch((error: unknown) => error);
    expect(refused).to.have.property('message').that.contains('belongs to a cluster of its own');
  });

  it('`make up` and `make down` keep the data after down and up', async () => {
    const before = await sourced('etcdctl get /ipledger/v1/log/0000000000000001 --print-value-only');
    expect(await down(false)).to.have.length(9);
    expect(await down(false)).to.deep.equal([]);
    await up();
    expect(await sourced('etcdctl get /ipledger/v1/log/0000000000000001 --print-value-only')).to.equal(before);
  });

  it('`make up` and `make down` use TLS with TLS=1, also for etcd, and write an env file for it', async () => {
    const other: unknown = await up({ tls: true }).catch((error: unknown) => error);
    expect(other).to.have.property('message').that.contains('the running servers do not use TLS: run `make down`');
    await down(false);
    const { exports } = await up({ tls: true });
    expect(await sourced('ipledger doctor')).to.match(/^healthy$/m);
    expect(exports.etcd['ETCDCTL_ENDPOINTS']).to.match(/^https:/);
    expect(await sourced(documentedVerify)).to.match(/ other keys verified, up to .*: no findings$/m);
    expect(await sourced('ipledger subnets')).to.contain('ledger at epoch 1');
    expect(await sourced('etcdctl get --prefix /ipledger/v1/log/ --print-value-only')).to.contain('LedgerCreated');
    expect(await sourced(documentedCommands('docs/security.md', 'grpcurl'))).to.contain('ipledger.v1.Ipam');
    const plain: unknown = await sourced('grpcurl -plaintext "$IPLEDGER_ENDPOINT" list').catch(
      (error: unknown) => error,
    );
    expect(plain).to.be.instanceOf(Error);
    expect(started(await up())).to.deep.equal([]); // TLS stays on without TLS=1
  });

  it('`make up` and `make down` serve the user’s cluster only with YES=1, and remove exactly what they installed', async () => {
    user = await openUserCluster(run);
    await down(true);
    expect(existsSync(folder)).to.be.false;

    const refused: unknown = await up({ kubeconfig: user.kubeconfig }).catch((error: unknown) => error);
    expect(refused)
      .to.have.property('message')
      .that.matches(/would be installed there: .*subnets\.kubeovn\.io[^]*YES=1/);
    expect(await user.crds()).to.deep.equal(['network-attachment-definitions.k8s.cni.cncf.io']);

    const installed = await up({ kubeconfig: user.kubeconfig, yes: true });
    expect(started(installed)).to.deep.equal(['etcd', 'allocator', 'read-model', 'pod-watcher']);
    expect(installed.nodes, 'no agent for a node that is not there').to.deep.equal([]);
    expect(await user.crds()).to.include('subnets.kubeovn.io');
    expect(await user.clusterRoles()).to.deep.equal(programs);
    await user.addSubnetHeldByFinalizer();

    await down(true);
    expect(await user.crds()).to.deep.equal(['network-attachment-definitions.k8s.cni.cncf.io']);
    expect(await user.clusterRoles()).to.deep.equal([]);
    expect(await user.leases(), 'the position of the deleted ledger').to.not.include('ipledger-pod-watcher');
  });

  it('`make up` and `make down` serve a node of the user’s cluster, and have the permissions of the ServiceAccounts only', async () => {
    await user.addNode('node-1');
    const result = await up({ kubeconfig: user.kubeconfig, yes: true });
    expect(started(result)).to.include('node-agent-1');
    expect(result.nodes).to.deep.equal(['node-1']);
    const can = (account: string, verb: string): Promise<string> =>
      sourced(`KUBECONFIG='${folder}/${account}.kubeconfig' kubectl auth can-i ${verb} pods || true`);
    expect(await can('ipledger-pod-watcher', 'patch')).to.equal('yes\n');
    expect(await can('ipledger-pod-watcher', 'delete')).to.equal('no\n');
    expect(await can('ipledger-node-agent', 'patch')).to.equal('no\n');
    const environment = await mustRun('cat', [`/proc/${pidOf(result, 'pod-watcher')}/environ`]);
    expect(environment).to.contain(`KUBECONFIG=${folder}/ipledger-pod-watcher.kubeconfig`);
  });
});

/** Starts a user's cluster that already has one of the CustomResourceDefinitions. */
async function openUserCluster(run: Run) {
  const cluster = await startCluster(run, { crds: false, nodes: [] });
  await cluster.apply(multusCrdFile);
  return {
    kubeconfig: cluster.kubeconfig,
    async crds(): Promise<string[]> {
      const items = (await cluster.get(['crd'])) as { metadata: { name: string } }[];
      return items.map(({ metadata }) => metadata.name).sort();
    },
    async clusterRoles(): Promise<string[]> {
      const items = (await cluster.get(['clusterrole'])) as { metadata: { name: string } }[];
      return items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith('ipledger'));
    },
    async leases(): Promise<string[]> {
      const items = (await cluster.get(['lease', '-n', 'kube-system'])) as { metadata: { name: string } }[];
      return items.map(({ metadata }) => metadata.name);
    },
    addNode: (name: string) => addNodes(cluster.kubectl, [name]),
    async addSubnetHeldByFinalizer(): Promise<void> {
      const metadata = { name: 'held', finalizers: ['ipledger.io/ledger'] };
      const spec = { protocol: 'IPv4', provider: 'held.default', cidrBlock: '172.18.0.0/16', gateway: '172.18.0.1' };
      await cluster.apply(JSON.stringify({ apiVersion: 'kubeovn.io/v1', kind: 'Subnet', metadata, spec }));
    },
  };
}

// Stands in the file of the tests above, so that it does not run beside them: a machine has one
// socket of Kube-OVN, and both serve it.
describe('`make demo`', () => {
  it('`make demo` runs all its steps, and each command has the expected output', async function () {
    this.timeout(300_000);
    const demo = join(import.meta.dirname, '../demo/demo.ts');
    const { code, stdout, stderr } = await runCommand(process.execPath, [demo], { timeoutMs: 280_000 });
    expect(code, stderr).to.equal(0);
    expect(stdout).to.match(/demo: ok\n$/);
  });
});
