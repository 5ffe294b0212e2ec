/** `ipledger import kube-ovn` on a real cluster that Kube-OVN's controller has left: no address changes hands. */
import { join } from 'node:path';
import { expect } from 'chai';
import { type Cluster, startCluster } from '../harness/cluster.ts';
import { type CommandResult, runCommand } from '../harness/command.ts';
import type { Etcd } from '../harness/etcd.ts';
import { childEnvironment } from '../harness/launch.ts';
import { root } from '../harness/paths.ts';
import { openRun, type Run } from '../harness/run.ts';
import { type Allocator, startWatcher } from '../harness/services.ts';
import { startLedger } from '../harness/stack.ts';
import { expectAgreement } from './agreement.ts';
import { eventually } from './eventually.ts';
import {
  ipLeft,
  kubeOvnFinalizer,
  podLeft,
  poolLeft,
  type Remains,
  shownBy,
  subnetLeft,
  vipLeft,
} from './kube-ovn-remains.ts';
import { type KubeObject, type Kubernetes, kubernetesOf } from './kubernetes.ts';

const lan = (address: string, more = {}) => shownBy('lan.default', [address, '10.9.0.0/24', '10.9.0.1'], more);
const dual = (address: string) =>
  shownBy('dual.default', [address, '10.10.0.0/24,fd00:10::/64', '10.10.0.1,fd00:10::1']);
const overlay = (address: string) =>
  shownBy('nic.default.ovn', [address, '10.11.0.0/24', '10.11.0.1'], {
    mac_address: '0a:58:0a:0b:00:07',
    logical_switch: 'nic',
  });
const networks = (text: string) => ({ 'k8s.v1.cni.cncf.io/networks': text });

const network = (name: string, config: object): Remains =>
  ({
    apiVersion: 'k8s.cni.cncf.io/v1',
    kind: 'NetworkAttachmentDefinition',
    metadata: { name, namespace: 'default' },
    spec: { config: JSON.stringify({ cniVersion: '0.3.1', ...config }) },
  }) as Remains;
const attached = (name: string) =>
  network(name, { type: 'macvlan', master: 'eth0', ipam: { type: 'kube-ovn', provider: `${name}.default` } });
const left = {
  subnets: [
    subnetLeft('lan', '10.9.0.0/24'),
    subnetLeft('dual', '10.10.0.0/24,fd00:10::/64'),
    subnetLeft('nic', '10.11.0.0/24', { provider: 'nic.default.ovn', vpc: 'ovn-cluster', gatewayType: 'distributed' }),
  ],
  networks: [attached('lan'), attached('dual'), network('nic', { type: 'kube-ovn', provider: 'nic.default.ovn' })],
};

describe('ipledger import kube-ovn', function () {
  this.timeout(180_000);
  let run: Run;
  let cluster: Cluster;
  let etcd: Etcd;
  let allocator: Allocator;
  let kubernetes: Kubernetes;
  before(async () => {
    run = openRun();
    [cluster, [etcd, allocator]] = await Promise.all([startCluster(run, { controllers: false }), startLedger(run)]);
    kubernetes = kubernetesOf(cluster.kubeconfig, run.signal);
    const set = {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'db', namespace: 'default' },
      spec: member,
    };
    await apply([
      set,
      ...left.networks,
      ...left.subnets,
      poolLeft('few', 'lan', ['10.9.0.100..10.9.0.109']),
      vipLeft('front', 'lan', '10.9.0.50'),
    ]);
    await apply([
      podLeft('web', {
        ...networks('lan,dual'),
        ...lan('10.9.0.7', { routes: '[{"dst":"10.99.0.0/16","gw":"10.9.0.254"}]' }),
        ...dual('10.10.0.3,fd00:10::3'),
      }),
      podLeft('pooled', { ...networks('lan'), ...lan('10.9.0.103') }),
      podLeft('machine', { ...networks('nic'), ...overlay('10.11.0.7') }),
      ipLeft({ pod: 'web', provider: 'lan.default', subnet: 'lan', address: '10.9.0.7' }),
      ipLeft({ pod: 'web', provider: 'dual.default', subnet: 'dual', address: '10.10.0.3,fd00:10::3' }),
      ipLeft({ pod: 'pooled', provider: 'lan.default', subnet: 'lan', address: '10.9.0.103' }),
      ipLeft({
        pod: 'machine',
        provider: 'nic.default.ovn',
        subnet: 'nic',
        address: '10.11.0.7',
        mac: '0a:58:0a:0b:00:07',
      }),
      ipLeft({ pod: 'db-1', provider: 'lan.default', subnet: 'lan', address: '10.9.0.21', podType: 'StatefulSet' }),
      ipLeft({ pod: 'later', provider: 'lan.default', subnet: 'lan', address: '10.9.0.60', reserved: true }),
      ipLeft({ pod: 'gone', provider: 'lan.default', subnet: 'lan', address: '10.9.0.99' }),
    ]);
    shownBefore = await shown();
  });
  after(() => run?.end());

  const labels = { app: 'db' };
  const member = {
    replicas: 2,
    serviceName: 'db',
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'box', image: 'box' }] } },
  };
  let shownBefore: object;

  const apply = (items: readonly Remains[]): Promise<void> =>
    cluster.apply(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  const ipledger = (...args: string[]): Promise<CommandResult> =>
    runCommand(join(root, 'cli', 'ipledger'), args, {
      env: childEnvironment({ IPLEDGER_ENDPOINT: allocator.endpoint, KUBECONFIG: cluster.kubeconfig }),
    });
  const imports = (...args: string[]): Promise<CommandResult> => ipledger('import', 'kube-ovn', ...args);
  /** The addresses that Pods show. */
  const shown = async (): Promise<object> =>
    Object.fromEntries(
      (await kubernetes.list('Pod')).map(({ metadata: { name, annotations = {} } }) => [
        name,
        Object.entries(annotations).filter(([key]) => /\/(ip_address|mac_address|cidr|gateway|allocated)$/.test(key)),
      ]),
    );
  const ofKubeOvn = async (): Promise<string[]> => {
    const kinds = ['Subnet', 'IPPool', 'Vip', 'IP'] as const;
    const all = await Promise.all(kinds.map((kind) => kubernetes.list(kind)));
    const held = ({ metadata }: KubeObject): boolean => metadata.finalizers?.includes(kubeOvnFinalizer) ?? false;
    return all
      .flat()
      .filter(held)
      .map(({ metadata }) => metadata.name);
  };
  const lease = (spec: object): Promise<void> =>
    apply([
      {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name: 'kube-ovn-controller', namespace: 'kube-system' },
        spec,
      } as unknown as Remains,
    ]);

  it('refuses while Kube-OVN’s controller renews its Lease', async () => {
    const spec = { holderIdentity: 'kube-ovn-controller-7', leaseDurationSeconds: 3_600 };
    let renewals = 0;
    const importing = imports('--apply');
    const ended = new AbortController();
    void importing.finally(() => ended.abort());
    while (!ended.signal.aborted)
      await lease({ ...spec, renewTime: `2026-01-01T00:00:${String(renewals++ % 60).padStart(2, '0')}.000000Z` });
    const { code, stderr } = await importing;
    expect(code).to.equal(1);
    expect(stderr)
      .to.contain('kube-ovn-controller-7 holds the Lease kube-system/kube-ovn-controller')
      .and.contain('then import');
    await lease({ holderIdentity: '' });
  });

  it('tells everything that stands against it, and changes nothing', async () => {
    await apply([
      subnetLeft('lan-too', '10.9.0.128/25', { gateway: '10.9.0.129', provider: 'lan.default' }),
      podLeft('thief', { ...networks('lan'), ...lan('10.9.0.7') }),
      podLeft('astray', { ...networks('lan'), ...lan('10.99.0.7') }),
      podLeft('two-minds', { ...networks('lan'), ...lan('10.9.0.40') }),
      ipLeft({ pod: 'two-minds', provider: 'lan.default', subnet: 'lan', address: '10.9.0.41' }),
      podLeft('homeless', {
        ...networks('attic'),
        ...shownBy('attic.default', ['10.12.0.9', '10.12.0.0/24', '10.12.0.1']),
      }),
      podLeft('squatter', { ...networks('lan'), ...lan('10.9.0.50') }),
      ipLeft({ pod: 'vm', provider: 'lan.default', subnet: 'lan', address: '10.9.0.70', podType: 'VirtualMachine' }),
    ]);
    const { code, stdout } = await imports('--apply');
    expect(code).to.equal(1);
    const told = [
      /^overlap +Subnets lan and lan-too /m,
      /^held twice +Pod default\/\w+ and Pod default\/\w+ +10\.9\.0\.7 of Subnet lan /m,
      /^out of range +Pod default\/astray +10\.99\.0\.7 is not in Subnet lan/m,
      /^IP object and annotation +Pod default\/two-minds .*10\.9\.0\.40.*10\.9\.0\.41/m,
      /^no Subnet +Pod default\/homeless .*attic\.default/m,
      /^held and reserved +Pod default\/squatter +10\.9\.0\.50 .*Vip front/m,
      /^stopped machine +IP object vm\.default\.lan\.default /m,
    ];
    for (const line of told) expect(stdout).to.match(line);
    expect(stdout).to.match(/things stand against it: nothing was changed\n$/);
    expect(JSON.parse((await ipledger('allocations', '-o', 'json')).stdout)).to.have.property('allocations').that.is
      .empty;
    for (const pod of ['thief', 'astray', 'two-minds', 'homeless', 'squatter']) await kubernetes.remove('Pod', pod);
    for (const ip of ['two-minds', 'vm']) await forget('IP', `${ip}.default.lan.default`);
    await forget('Subnet', 'lan-too');
  });

  async function forget(kind: 'IP' | 'Subnet', name: string): Promise<void> {
    await kubernetes.patch(kind, name, { metadata: { finalizers: [] } });
    await kubernetes.remove(kind, name);
  }

  it('only tells what it would do, unless it is told to do it', async () => {
    const { code, stdout, stderr } = await imports();
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: 'nothing was changed: --apply does it\n' });
    expect(stdout).to.contain('10.9.0.21 of Subnet lan, for lan.default');
    expect(stdout).to.match(/^IP of nobody +gone\.default\.lan\.default +10\.9\.0\.99/m);
    expect(stdout).to.match(/3 Subnets, 1 IPPool, 2 reservations, 5 attachments\n$/);
    expect(await ofKubeOvn()).to.have.length(12);
    expect(JSON.parse((await ipledger('allocations', '-o', 'json')).stdout)).to.have.property('allocations').that.is
      .empty;
  });

  it('takes all of it over, and no less when it is run again', async () => {
    for (const time of ['first', 'again']) {
      const { code, stdout, stderr } = await imports('--apply');
      expect({ code, stderr }, `${time}: ${stdout}`).to.deep.equal({ code: 0, stderr: '' });
      expect(stdout).to.match(/^3 Subnets, 1 IPPool, 2 reservations, [45] attachments taken over\n$/);
    }
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
    expect(await ofKubeOvn()).to.be.empty;
    const ips = (await kubernetes.list('IP')).map(({ metadata }) => metadata.name);
    expect(ips).to.include('later.default.lan.default').and.not.include('gone.default.lan.default');
  });

  it('is agreed to by the pod-watcher, and no address has changed', async () => {
    await startWatcher(run, { allocator, cluster });
    const uid = (await kubernetes.get('StatefulSet', 'db')).metadata.uid;
    await apply([
      podLeft('db-1', networks('lan'), {
        apiVersion: 'apps/v1',
        kind: 'StatefulSet',
        name: 'db',
        uid,
        controller: true,
      }),
      podLeft('later', networks('lan')),
    ]);
    await eventually(async () => {
      const now = await shown();
      expect(now).to.deep.include(shownBefore);
      expect(JSON.stringify(now))
        .to.contain('"lan.default.kubernetes.io/ip_address","10.9.0.21"')
        .and.contain('"10.9.0.60"');
    });
    await expectAgreement({ etcd, cluster, allocator });
  });
});
