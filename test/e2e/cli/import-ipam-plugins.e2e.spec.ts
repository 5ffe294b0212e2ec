/**
 * Tests `ipledger import whereabouts` and `ipledger import host-local` on a real API server: every
 * Pod keeps its address.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { executeIpledger } from '../../harness/ipledger-cli.ts';
import type { Cluster } from '../../harness/kubernetes/cluster.ts';
import { borrowCluster } from '../../harness/kubernetes/shared-cluster.ts';
import type { CommandResult } from '../../harness/processes/command.ts';
import type { Etcd } from '../../harness/etcd.ts';
import { openRun, type Run } from '../../harness/run.ts';
import { type AllocatorServer, startWatcher } from '../../harness/services.ts';
import { startLedger } from '../../harness/stack.ts';
import { expectConsistency } from '../support/consistency.ts';
import { eventually } from '../support/eventually.ts';
import { kubeOvnPod, kubeOvnSubnet } from '../support/kube-ovn-objects.ts';
import { createKubernetesClient, type KubernetesClient } from '../../harness/kubernetes/kubernetes-client.ts';
import { whereaboutsCrds, whereaboutsPool, whereaboutsReservation } from '../support/whereabouts-objects.ts';

const network = (name: string, ipam: object) => ({
  apiVersion: 'k8s.cni.cncf.io/v1',
  kind: 'NetworkAttachmentDefinition',
  metadata: { name, namespace: 'default' },
  spec: { config: JSON.stringify({ cniVersion: '0.3.1', name, type: 'macvlan', master: 'eth0', ipam }) },
});
const ledgerIpam = (name: string) => ({ type: 'kube-ovn', provider: `${name}.default` });
const pod = (name: string, networkName: string, ips: readonly string[], mac = '') =>
  kubeOvnPod(name, {
    'k8s.v1.cni.cncf.io/networks': networkName,
    'k8s.v1.cni.cncf.io/network-status': JSON.stringify([
      { name: 'cbr0', interface: 'eth0', ips: ['10.244.0.9'], default: true },
      { name: `default/${networkName}`, interface: 'net1', ips, mac },
    ]),
  });
const pools = ['--network', '10.9.0.0-24', '--network', 'fd00-9---64'];

interface AllocationList {
  readonly allocations: readonly {
    readonly cause: string;
    readonly mac: string;
    readonly attachment: { readonly pod: string };
    readonly addresses: readonly { readonly address: string }[];
  }[];
}

describe('ipledger import of IPAM plugins', function () {
  this.timeout(180_000);
  let run: Run;
  let cluster: Cluster;
  let etcd: Etcd;
  let allocator: AllocatorServer;
  let kubernetes: KubernetesClient;
  let nodeFolder: string;
  before(async () => {
    run = openRun();
    [cluster, [etcd, allocator]] = await Promise.all([borrowCluster(run, { controllers: false }), startLedger(run)]);
    kubernetes = createKubernetesClient(cluster.kubeconfig, run.signal);
    await apply(whereaboutsCrds);
    await cluster.kubectl([
      'wait',
      '--for=condition=Established',
      '--timeout=60s',
      ...whereaboutsCrds.map(({ metadata: { name } }) => `customresourcedefinition/${name}`),
    ]);
    await apply([
      network('lan', { type: 'whereabouts', range: '10.9.0.0/24' }),
      network('edge', ledgerIpam('edge')),
      kubeOvnSubnet('lan', '10.9.0.0/24,fd00:9::/64'),
      kubeOvnSubnet('edge', '10.10.0.0/24'),
      pod('web', 'lan', ['10.9.0.7', 'fd00:9::7'], '0a:58:0a:09:00:07'),
      pod('db', 'lan', ['10.9.0.8', 'fd00:9::8']),
      pod('proxy', 'edge', ['10.10.0.5']),
      whereaboutsPool('10.9.0.0-24', '10.9.0.0/24', { 7: 'web', 8: 'db', 99: 'gone' }),
      whereaboutsPool('fd00-9---64', 'fd00:9::/64', { 7: 'web', 8: 'db' }),
      whereaboutsPool('10.77.0.0-24', '10.77.0.0/24', { 7: 'of-another-network' }),
      whereaboutsReservation('10.9.0.7', 'web'),
      whereaboutsReservation('fd00-9--7', 'web'),
    ]);
    nodeFolder = join(run.folder, 'node-1-networks');
    await mkdir(join(nodeFolder, 'edge'), { recursive: true });
    await writeFile(join(nodeFolder, 'edge', '10.10.0.5'), 'sandbox-of-proxy\r\nnet1');
    await writeFile(join(nodeFolder, 'edge', 'last_reserved_ip.0'), '10.10.0.5');
    await writeFile(join(nodeFolder, 'edge', 'lock'), '');
  });
  after(() => run?.end());

  const apply = (items: readonly object[]): Promise<void> =>
    cluster.apply(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  const ipledger = (...args: string[]): Promise<CommandResult> =>
    executeIpledger(args, { allocator, kubeconfig: cluster.kubeconfig });
  const listAllocations = async (): Promise<AllocationList['allocations']> =>
    (JSON.parse((await ipledger('allocations', '-o', 'json')).stdout) as AllocationList).allocations;

  it('ipledger import lists all conflicts of whereabouts, and omits the conflicting addresses', async () => {
    await apply([whereaboutsReservation('10.9.0.8', 'another')]);
    const { code, stdout } = await ipledger('import', 'whereabouts', ...pools, '--apply');
    expect(code).to.equal(1);
    expect(stdout).to.match(/^no Pod +IPPool kube-system\/10\.9\.0\.0-24 +10\.9\.0\.99 is for Pod default\/gone/m);
    expect(stdout).to.match(/^entry and reservation +OverlappingRangeIPReservation kube-system\/10\.9\.0\.8 /m);
    expect(stdout).to.match(/^network in use +NetworkAttachmentDefinition default\/lan /m);
    expect(stdout).to.match(/^3 conflicts left out$/m);
    expect(stdout)
      .to.match(/^quarantined: .*\b10\.9\.0\.99 of Subnet lan/m)
      .and.match(/, 0 attachments imported\n$/);
    expect(await listAllocations()).to.be.empty;
    for (const address of ['10.9.0.8', 'fd00:9::8', '10.9.0.99']) {
      const reason = ['--yes', '--reason', 'the entries are correct now'];
      const ended = await ipledger('unquarantine', address, '--subnet', 'lan', ...reason);
      expect(ended.code, ended.stderr).to.equal(0);
    }
    await apply([
      network('lan', ledgerIpam('lan')),
      whereaboutsReservation('10.9.0.8', 'db'),
      // Omits one entry: kubectl apply removes the entry that the object no longer has.
      whereaboutsPool('10.9.0.0-24', '10.9.0.0/24', { 7: 'web', 8: 'db' }),
    ]);
  });

  it('ipledger import reports a network that its source does not have', async () => {
    const { code, stderr } = await ipledger('import', 'whereabouts', '--network', '10.9.0.0/24');
    expect(code).to.equal(2);
    expect(stderr).to.contain('the source has no network 10.9.0.0/24; it has 10.77.0.0-24, 10.9.0.0-24');
  });

  it('ipledger import without --apply only prints the plan', async () => {
    const { code, stdout, stderr } = await ipledger('import', 'whereabouts', ...pools);
    expect({ code, stderr }, stdout).to.deep.equal({ code: 0, stderr: 'nothing was changed: add --apply to import\n' });
    expect(stdout).to.contain('10.9.0.7,fd00:9::7 of Subnet lan, for lan.default');
    expect(await listAllocations()).to.be.empty;
  });

  it('ipledger import imports the addresses of whereabouts and host-local, and changes nothing when repeated', async () => {
    for (const time of ['first', 'again']) {
      const whereabouts = await ipledger('import', 'whereabouts', ...pools, '--apply');
      expect(whereabouts.code, `${time}: ${whereabouts.stdout}${whereabouts.stderr}`).to.equal(0);
      expect(whereabouts.stdout).to.match(/2 attachments imported\n$/);
      const hostLocal = await ipledger('import', 'host-local', '--folder', `node-1=${nodeFolder}`, '--apply');
      expect(hostLocal.code, `${time}: ${hostLocal.stdout}${hostLocal.stderr}`).to.equal(0);
      expect(hostLocal.stdout).to.match(/1 attachment imported\n$/);
    }
    const allocations = await listAllocations();
    expect(
      allocations.map(
        ({ cause, attachment, addresses }) =>
          `${cause} ${attachment.pod} ${addresses.map(({ address }) => address).join()}`,
      ),
    ).to.have.members([
      'ALLOCATION_CAUSE_IMPORT web 10.9.0.7,fd00:9::7',
      'ALLOCATION_CAUSE_IMPORT db 10.9.0.8,fd00:9::8',
      'ALLOCATION_CAUSE_IMPORT proxy 10.10.0.5',
    ]);
    expect(allocations.find(({ attachment }) => attachment.pod === 'web')?.mac).to.equal('0a:58:0a:09:00:07');
  });

  it('ipledger import leaves a state that the pod-watcher accepts, and refuses to run beside the pod-watcher', async () => {
    await startWatcher(run, { allocator, cluster });
    await eventually(async () => {
      const { metadata } = await kubernetes.get('Pod', 'web');
      expect(metadata.annotations?.['lan.default.kubernetes.io/ip_address']).to.equal('10.9.0.7,fd00:9::7');
    });
    await expectConsistency({ etcd, cluster, allocator });
    const { code, stderr } = await ipledger('import', 'whereabouts', '--apply');
    expect(code).to.equal(1);
    expect(stderr).to.contain('holds the Lease ipledger-pod-watcher').and.contain('then import');
  });
});
