/**
 * Tests `ipledger import kube-ovn` on a real cluster without Kube-OVN's controller: every Pod keeps
 * its address.
 */
import { expect } from 'chai';
import { executeIpledger } from '../../harness/ipledger-cli.ts';
import type { Cluster } from '../../harness/kubernetes/cluster.ts';
import type { CommandResult } from '../../harness/processes/command.ts';
import type { Etcd } from '../../harness/etcd.ts';
import { openRun, type Run } from '../../harness/run.ts';
import { type AllocatorServer, startWatcher } from '../../harness/services.ts';
import { startLedger } from '../../harness/stack.ts';
import { expectConsistency } from '../support/consistency.ts';
import { eventually } from '../support/eventually.ts';
import { borrowCluster } from '../../harness/kubernetes/shared-cluster.ts';
import {
  kubeOvnIp,
  kubeOvnFinalizer,
  kubeOvnPod,
  kubeOvnPool,
  type KubeOvnObject,
  attachmentAnnotations,
  kubeOvnSubnet,
  kubeOvnVip,
} from '../support/kube-ovn-objects.ts';
import {
  type KubeObject,
  type KubernetesClient,
  createKubernetesClient,
} from '../../harness/kubernetes/kubernetes-client.ts';

const lan = (address: string, more = {}) =>
  attachmentAnnotations('lan.default', [address, '10.9.0.0/24', '10.9.0.1'], more);
const dual = (address: string) =>
  attachmentAnnotations('dual.default', [address, '10.10.0.0/24,fd00:10::/64', '10.10.0.1,fd00:10::1']);
const overlay = (address: string) =>
  attachmentAnnotations('nic.default.ovn', [address, '10.11.0.0/24', '10.11.0.1'], {
    mac_address: '0a:58:0a:0b:00:07',
    logical_switch: 'nic',
  });
const networks = (text: string) => ({ 'k8s.v1.cni.cncf.io/networks': text });

const network = (name: string, config: object): KubeOvnObject =>
  ({
    apiVersion: 'k8s.cni.cncf.io/v1',
    kind: 'NetworkAttachmentDefinition',
    metadata: { name, namespace: 'default' },
    spec: { config: JSON.stringify({ cniVersion: '0.3.1', ...config }) },
  }) as KubeOvnObject;
const attached = (name: string) =>
  network(name, { type: 'macvlan', master: 'eth0', ipam: { type: 'kube-ovn', provider: `${name}.default` } });
const configuration = {
  subnets: [
    kubeOvnSubnet('lan', '10.9.0.0/24'),
    kubeOvnSubnet('dual', '10.10.0.0/24,fd00:10::/64'),
    kubeOvnSubnet('nic', '10.11.0.0/24', {
      provider: 'nic.default.ovn',
      vpc: 'ovn-cluster',
      gatewayType: 'distributed',
    }),
  ],
  networks: [attached('lan'), attached('dual'), network('nic', { type: 'kube-ovn', provider: 'nic.default.ovn' })],
};

describe('ipledger import kube-ovn', function () {
  this.timeout(180_000);
  let run: Run;
  let cluster: Cluster;
  let etcd: Etcd;
  let allocator: AllocatorServer;
  let kubernetes: KubernetesClient;
  before(async () => {
    run = openRun();
    [cluster, [etcd, allocator]] = await Promise.all([borrowCluster(run, { controllers: false }), startLedger(run)]);
    kubernetes = createKubernetesClient(cluster.kubeconfig, run.signal);
    const set = {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'db', namespace: 'default' },
      spec: member,
    };
    await apply([
      set,
      ...configuration.networks,
      ...configuration.subnets,
      kubeOvnPool('few', 'lan', ['10.9.0.100..10.9.0.109']),
      kubeOvnVip('front', 'lan', '10.9.0.50'),
    ]);
    await apply([
      kubeOvnPod('web', {
        ...networks('lan,dual'),
        ...lan('10.9.0.7', { routes: '[{"dst":"10.99.0.0/16","gw":"10.9.0.254"}]' }),
        ...dual('10.10.0.3,fd00:10::3'),
      }),
      kubeOvnPod('pooled', { ...networks('lan'), ...lan('10.9.0.103') }),
      kubeOvnPod('machine', { ...networks('nic'), ...overlay('10.11.0.7') }),
      kubeOvnIp({ pod: 'web', provider: 'lan.default', subnet: 'lan', address: '10.9.0.7' }),
      kubeOvnIp({ pod: 'web', provider: 'dual.default', subnet: 'dual', address: '10.10.0.3,fd00:10::3' }),
      kubeOvnIp({ pod: 'pooled', provider: 'lan.default', subnet: 'lan', address: '10.9.0.103' }),
      kubeOvnIp({
        pod: 'machine',
        provider: 'nic.default.ovn',
        subnet: 'nic',
        address: '10.11.0.7',
        mac: '0a:58:0a:0b:00:07',
      }),
      kubeOvnIp({ pod: 'db-1', provider: 'lan.default', subnet: 'lan', address: '10.9.0.21', podType: 'StatefulSet' }),
      kubeOvnIp({ pod: 'later', provider: 'lan.default', subnet: 'lan', address: '10.9.0.60', reserved: true }),
      kubeOvnIp({ pod: 'deleted', provider: 'lan.default', subnet: 'lan', address: '10.9.0.99' }),
    ]);
    annotationsBefore = await readAnnotations();
  });
  after(() => run?.end());

  const labels = { app: 'db' };
  const member = {
    replicas: 2,
    serviceName: 'db',
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'box', image: 'box' }] } },
  };
  let annotationsBefore: object;

  const apply = (items: readonly KubeOvnObject[]): Promise<void> =>
    cluster.apply(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  const ipledger = (...args: string[]): Promise<CommandResult> =>
    executeIpledger(args, { allocator, kubeconfig: cluster.kubeconfig });
  const runImport = (...args: string[]): Promise<CommandResult> => ipledger('import', 'kube-ovn', ...args);
  /** Reads the address annotations of all Pods. */
  const readAnnotations = async (): Promise<object> =>
    Object.fromEntries(
      (await kubernetes.list('Pod')).map(({ metadata: { name, annotations = {} } }) => [
        name,
        Object.entries(annotations).filter(([key]) => /\/(ip_address|mac_address|cidr|gateway|allocated)$/.test(key)),
      ]),
    );
  const listKubeOvnObjects = async (): Promise<string[]> => {
    const kinds = ['Subnet', 'IPPool', 'Vip', 'IP'] as const;
    const all = await Promise.all(kinds.map((kind) => kubernetes.list(kind)));
    const hasFinalizer = ({ metadata }: KubeObject): boolean =>
      metadata.finalizers?.includes(kubeOvnFinalizer) ?? false;
    return all
      .flat()
      .filter(hasFinalizer)
      .map(({ metadata }) => metadata.name);
  };
  const applyLease = (spec: object): Promise<void> =>
    apply([
      {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name: 'kube-ovn-controller', namespace: 'kube-system' },
        spec,
      } as unknown as KubeOvnObject,
    ]);

  it('ipledger import kube-ovn fails while Kube-OVN’s controller renews its Lease', async () => {
    const spec = { holderIdentity: 'kube-ovn-controller-7', leaseDurationSeconds: 3_600 };
    let renewals = 0;
    const renewLease = (): Promise<void> =>
      applyLease({ ...spec, renewTime: `2026-01-01T00:00:${String(renewals++ % 60).padStart(2, '0')}.000000Z` });
    await renewLease();
    const importing = runImport('--apply');
    const ended = new AbortController();
    void importing.finally(() => ended.abort());
    while (!ended.signal.aborted) await renewLease();
    const { code, stderr } = await importing;
    expect(code).to.equal(1);
    expect(stderr)
      .to.contain('kube-ovn-controller-7 holds the Lease kube-system/kube-ovn-controller')
      .and.contain('then import');
    await applyLease({ holderIdentity: '' });
  });

  it('ipledger import kube-ovn lists all conflicts, and changes nothing if one of them is about Subnets', async () => {
    await apply([
      kubeOvnSubnet('lan-too', '10.9.0.128/25', { gateway: '10.9.0.129', provider: 'lan.default' }),
      kubeOvnPod('thief', { ...networks('lan'), ...lan('10.9.0.7') }),
      kubeOvnPod('astray', { ...networks('lan'), ...lan('10.99.0.7') }),
      kubeOvnPod('two-minds', { ...networks('lan'), ...lan('10.9.0.40') }),
      kubeOvnIp({ pod: 'two-minds', provider: 'lan.default', subnet: 'lan', address: '10.9.0.41' }),
      kubeOvnPod('homeless', {
        ...networks('attic'),
        ...attachmentAnnotations('attic.default', ['10.12.0.9', '10.12.0.0/24', '10.12.0.1']),
      }),
      kubeOvnPod('liar', { ...networks('dual'), ...lan('10.9.0.42') }),
      kubeOvnPod('squatter', { ...networks('lan'), ...lan('10.9.0.50') }),
      kubeOvnIp({ pod: 'vm', provider: 'lan.default', subnet: 'lan', address: '10.9.0.70', podType: 'VirtualMachine' }),
    ]);
    const { code, stdout } = await runImport('--apply');
    expect(code).to.equal(1);
    expect(stdout).to.match(/^overlap +Subnets lan and lan-too /m);
    for (const line of podConflicts) expect(stdout).to.match(line);
    expect(stdout).to.match(/conflicts: nothing was changed\n$/);
    expect(JSON.parse((await ipledger('allocations', '-o', 'json')).stdout)).to.have.property('allocations').that.is
      .empty;
    await deleteObject('Subnet', 'lan-too');
  });

  const podConflicts = [
    /^allocated twice +Pod default\/web and Pod default\/thief +10\.9\.0\.7 of Subnet lan/m,
    /^out of range +Pod default\/astray +10\.99\.0\.7 is not in Subnet lan/m,
    /^IP object and annotation +Pod default\/two-minds .*10\.9\.0\.40.*10\.9\.0\.41/m,
    /^no Subnet +Pod default\/homeless .*attic\.default/m,
    /^no evidence +Pod default\/liar .*does not request network lan\.default/m,
    /^allocated and reserved +Pod default\/squatter +10\.9\.0\.50 .*Vip front/m,
    /^stopped virtual machine +IP object vm\.default\.lan\.default /m,
  ];
  const decisions = /^quarantined: (10\.9\.0\.[47]0 of Subnet lan(, )?){2}$/m;

  async function deleteObject(kind: 'IP' | 'Subnet', name: string): Promise<void> {
    await kubernetes.patch(kind, name, { metadata: { finalizers: [] } });
    await kubernetes.remove(kind, name);
  }

  it('ipledger import kube-ovn without --apply only prints the plan', async () => {
    const { code, stdout, stderr } = await runImport();
    expect({ code, stderr }).to.deep.equal({ code: 1, stderr: 'nothing was changed: add --apply to import\n' });
    for (const line of [...podConflicts, decisions]) expect(stdout).to.match(line);
    expect(stdout).to.match(/3 Subnets, 1 IPPool, 2 reservations, 6 attachments\n$/);
    const { attachments, deleted } = JSON.parse((await runImport('-o', 'json')).stdout) as {
      readonly attachments: readonly { readonly name: string }[];
      readonly deleted: readonly string[];
    };
    expect(attachments.map(({ name }) => name))
      .to.include('db-1')
      .and.not.include('thief');
    expect(deleted).to.deep.equal(['deleted.default.lan.default']);
    expect(await listKubeOvnObjects()).to.have.length(14);
    expect(JSON.parse((await ipledger('allocations', '-o', 'json')).stdout)).to.have.property('allocations').that.is
      .empty;
  });

  it('ipledger import kube-ovn imports Pods without a conflict, and allocates the addresses of the others to no Pod', async () => {
    const { code, stdout } = await runImport('--apply');
    expect(code, stdout).to.equal(1);
    for (const line of [...podConflicts, decisions]) expect(stdout).to.match(line);
    expect(stdout).to.match(/3 Subnets, 1 IPPool, 2 reservations, 6 attachments imported\n$/);
    const { allocations } = JSON.parse((await ipledger('allocations', '-o', 'json')).stdout) as {
      allocations: { attachment: { pod: string } }[];
    };
    const pods = ['web', 'web', 'pooled', 'machine', 'db-1', 'two-minds'];
    expect(allocations.map(({ attachment }) => attachment.pod)).to.have.members(pods);
    for (const pod of ['thief', 'astray', 'two-minds', 'homeless', 'liar', 'squatter'])
      await kubernetes.remove('Pod', pod);
    for (const ip of ['two-minds', 'vm']) await deleteObject('IP', `${ip}.default.lan.default`);
    const reason = ['--reason', 'the Pods are deleted'];
    for (const address of ['10.9.0.40', '10.9.0.70']) {
      const ended = await ipledger('unquarantine', address, '--subnet', 'lan', '--yes', ...reason);
      expect(ended.code, ended.stderr).to.equal(0);
    }
    await ipledger('release', 'default/two-minds', '--yes', ...reason);
  });

  it('ipledger import kube-ovn changes nothing when repeated', async () => {
    const { code, stdout, stderr } = await runImport('--apply');
    expect({ code, stderr }, stdout).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout).to.match(/^3 Subnets, 1 IPPool, 2 reservations, 4 attachments imported\n$/);
    const { allocations } = JSON.parse((await ipledger('allocations', '-o', 'json')).stdout) as {
      allocations: { cause: string; addresses: { address: string }[] }[];
    };
    expect(new Set(allocations.map(({ cause }) => cause))).to.deep.equal(new Set(['ALLOCATION_CAUSE_IMPORT']));
    expect(allocations.map(({ addresses }) => addresses.map(({ address }) => address).join())).to.have.members([
      '10.9.0.7',
      '10.10.0.3,fd00:10::3',
      '10.9.0.103',
      '10.11.0.7',
      '10.9.0.21',
    ]);
    expect(await listKubeOvnObjects()).to.be.empty;
    const ips = (await kubernetes.list('IP')).map(({ metadata }) => metadata.name);
    expect(ips).to.include('later.default.lan.default').and.not.include('deleted.default.lan.default');
  });

  it('ipledger import kube-ovn leaves a state that the pod-watcher accepts without changing an address', async () => {
    await startWatcher(run, { allocator, cluster });
    const uid = (await kubernetes.get('StatefulSet', 'db')).metadata.uid;
    await apply([
      kubeOvnPod('db-1', networks('lan'), {
        apiVersion: 'apps/v1',
        kind: 'StatefulSet',
        name: 'db',
        uid,
        controller: true,
      }),
      kubeOvnPod('later', networks('lan')),
    ]);
    await eventually(async () => {
      const annotations = await readAnnotations();
      expect(annotations).to.deep.include(annotationsBefore);
      expect(JSON.stringify(annotations))
        .to.contain('"lan.default.kubernetes.io/ip_address","10.9.0.21"')
        .and.contain('"10.9.0.60"');
    });
    await expectConsistency({ etcd, cluster, allocator });
  });
});
