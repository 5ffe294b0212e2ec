import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { isRunning } from '../background.ts';
import { startCluster } from '../cluster.ts';
import { mustRun } from '../command.ts';
import { crdFolder } from '../paths.ts';
import { openRun, type Run } from '../run.ts';
import type { Settings } from './settings.ts';
import { type Started, startAll } from './start.ts';
import { stopAll } from './stop.ts';

const settings = { nodes: 1, listen: '127.0.0.1', tls: undefined, kubeconfig: undefined, yes: false };
const killAll = 'for file in "$0"/*.pid; do [ ! -e "$file" ] || kill -9 "$(jq .pid "$file")"; done';

describe('`make up` and `make down`', function () {
  this.timeout(120_000);

  let run: Run;
  let folder: string;
  let first: Started;
  const up = (changes: Partial<Settings> = {}): Promise<Started> =>
    startAll({
      folder,
      settings: { ...settings, certificates: join(run.folder, 'certificates'), ...changes },
      signal: run.signal,
    });
  const down = (purge: boolean): Promise<readonly string[]> => stopAll({ folder, purge, signal: run.signal });
  const started = ({ rows }: Started): string[] => rows.filter((row) => row.started).map(({ name }) => name);
  const pidOf = ({ rows }: Started, wanted: string): number => rows.find(({ name }) => name === wanted)?.pid ?? 0;
  const sourced = (command: string): Promise<string> =>
    mustRun('sh', ['-c', `. '${join(folder, 'env')}'; ${command}`], {
      env: { PATH: '/usr/bin:/bin', HOME: run.folder },
    });

  before(async () => {
    run = openRun();
    folder = join(run.folder, 'up');
    // These outlive us by design, so a killed test run needs somebody else to end them.
    run.leave(['sh', '-c', killAll, folder]);
    first = await up();
  });
  after(async () => {
    await down(true);
    await run.end();
  });

  it('start everything, in the order of dependence', () => {
    expect(started(first)).to.deep.equal([
      'etcd',
      'kube-etcd',
      'kube-apiserver',
      'kube-controller-manager',
      'allocator',
      'index',
      'pod-watcher',
      'node-agent-1',
    ]);
  });

  it('leave an env file with which another terminal reaches each part', async () => {
    expect(await sourced('kubectl get nodes -o name')).to.equal('node/node-1\n');
    expect(await sourced('etcdctl get --prefix /ipledger/v1/log/ --print-value-only')).to.contain('LedgerCreated');
    expect(await sourced('grpcurl -plaintext "$IPLEDGER_ENDPOINT" list')).to.contain('ipledger.v1.Ipam');
    expect(await sourced('grpcurl -plaintext "$IPLEDGER_INDEX" ipledger.v1.Ledger/History')).to.contain(
      'LedgerCreated',
    );
    expect(await sourced('ipledger show')).to.contain('ledger at epoch 1');
    expect(await sourced('kubectl ipledger status')).to.contain('epoch 1');
    expect(await sourced('test -S "$IPLEDGER_SOCKET_1" && jq -r .name "$NETCONFPATH"/macvlan.conflist')).to.equal(
      'macvlan\n',
    );
    expect(await sourced('command -v cnitool')).to.equal(`${folder}/bin/cnitool\n`);
  });

  it('start nothing twice, and only what is missing after a kill', async () => {
    expect(started(await up())).to.deep.equal([]);
    process.kill(pidOf(first, 'allocator'), 'SIGKILL');
    while (isRunning(folder, 'allocator')) await new Promise(setImmediate);
    const again = await up();
    expect(started(again)).to.deep.equal(['allocator']);
    expect(pidOf(again, 'etcd')).to.equal(pidOf(first, 'etcd'));
  });

  it('add agents when NODES asks for more, and keep them when it is not said again', async () => {
    expect(started(await up({ nodes: 2 }))).to.deep.equal(['node-agent-2']);
    const again = await up({ nodes: undefined });
    expect(again.exports.sockets).to.have.length(2);
    expect(started(again)).to.deep.equal([]);
  });

  it('refuse a cluster of the user’s while the ledger belongs to their own', async () => {
    const copy = join(run.folder, 'user-kubeconfig');
    await mustRun('cp', [first.exports.kubeconfig, copy]);
    const refused: unknown = await up({ kubeconfig: copy, yes: true }).catch((error: unknown) => error);
    expect(refused).to.have.property('message').that.contains('belongs to a cluster of its own');
  });

  it('keep the data over down and up', async () => {
    const before = await sourced('etcdctl get /ipledger/v1/log/0000000000000001 --print-value-only');
    expect(await down(false)).to.have.length(9);
    expect(await down(false)).to.deep.equal([]);
    await up();
    expect(await sourced('etcdctl get /ipledger/v1/log/0000000000000001 --print-value-only')).to.equal(before);
  });

  it('speak TLS when told to, etcd too, and leave an env file for that', async () => {
    const other: unknown = await up({ tls: true }).catch((error: unknown) => error);
    expect(other).to.have.property('message').that.contains('what runs does not speak TLS: run `make down`');
    await down(false);
    const { exports } = await up({ tls: true });
    expect(exports.etcd['ETCDCTL_ENDPOINTS']).to.match(/^https:/);
    expect(await sourced('ipledger show')).to.contain('ledger at epoch 1');
    expect(await sourced('etcdctl get --prefix /ipledger/v1/log/ --print-value-only')).to.contain('LedgerCreated');
    const files = '-cacert "$IPLEDGER_TLS_CA" -cert "$IPLEDGER_TLS_CERT" -key "$IPLEDGER_TLS_KEY"';
    expect(await sourced(`grpcurl ${files} "$IPLEDGER_ENDPOINT" list`)).to.contain('ipledger.v1.Ipam');
    const plain: unknown = await sourced('grpcurl -plaintext "$IPLEDGER_ENDPOINT" list').catch(
      (error: unknown) => error,
    );
    expect(plain).to.be.instanceOf(Error);
    expect(started(await up())).to.deep.equal([]); // once they speak it, it need not be said again
  });

  it('serve a user’s cluster only with YES=1, and take away exactly what they brought', async () => {
    const user = await openUserCluster(run);
    await down(true);
    expect(existsSync(folder)).to.be.false;

    const refused: unknown = await up({ kubeconfig: user.kubeconfig }).catch((error: unknown) => error);
    expect(refused)
      .to.have.property('message')
      .that.matches(/would be installed there: .*subnets\.kubeovn\.io[^]*YES=1/);
    expect(await user.crds()).to.deep.equal(['network-attachment-definitions.k8s.cni.cncf.io']);

    expect(started(await up({ kubeconfig: user.kubeconfig, yes: true }))).to.deep.equal([
      'etcd',
      'allocator',
      'index',
      'pod-watcher',
      'node-agent-1',
    ]);
    expect(await user.crds()).to.include('subnets.kubeovn.io');
    await user.addSubnetHeldByFinalizer();

    await down(true);
    expect(await user.crds()).to.deep.equal(['network-attachment-definitions.k8s.cni.cncf.io']);
  });
});

/** A cluster that is not ours, where one of the CustomResourceDefinitions is there already. */
async function openUserCluster(run: Run) {
  const cluster = await startCluster(run, { crds: false });
  await cluster.apply(join(crdFolder, 'network-attachment-definition.yaml'));
  return {
    kubeconfig: cluster.kubeconfig,
    async crds(): Promise<string[]> {
      const items = (await cluster.get(['crd'])) as { metadata: { name: string } }[];
      return items.map(({ metadata }) => metadata.name).sort();
    },
    async addSubnetHeldByFinalizer(): Promise<void> {
      const metadata = { name: 'held', finalizers: ['ipledger.io/ledger'] };
      const spec = { protocol: 'IPv4', provider: 'held.default', cidrBlock: '172.18.0.0/16', gateway: '172.18.0.1' };
      await cluster.apply(JSON.stringify({ apiVersion: 'kubeovn.io/v1', kind: 'Subnet', metadata, spec }));
    },
  };
}
