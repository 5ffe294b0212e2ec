import { expect } from 'chai';
import { pino } from 'pino';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Usage } from '../../../proto/ipledger.ts';
import { FakeApi } from '../fake-api.ts';
import { FakeSource, holding, inForce, launcher, podNamed, silent, subnetNamed, until } from '../fakes.ts';
import { ApiError } from '../kubernetes/api.ts';
import type { Happening } from '../kubernetes/events.ts';
import { keyOf } from '../kubernetes/list-watch.ts';
import {
  type IpObject,
  ipPools,
  ips as ipKind,
  type PoolObject,
  type SubnetObject,
  toSubnet,
  type VipObject,
  vips as vipKind,
} from '../kubernetes/kept-objects.ts';
import { type Pod, toPod } from '../kubernetes/objects.ts';
import type { Holding, Reserved } from '../ledger/facts.ts';
import { ipManifest } from './ip.ts';
import { Projector } from './project.ts';

const usage: Usage = {
  family: 4,
  total: '253',
  inUse: '1',
  available: '252',
  inUseRange: '10.0.0.2',
  availableRange: '',
  resting: '0',
  reserved: '0',
  reservedRange: '',
};
const podAt = (name: string) => `/api/v1/namespaces/default/pods/${name}`;
const ipAt = (name: string) => `/apis/kubeovn.io/v1/ips/${name}`;
const subnetAt = '/apis/kubeovn.io/v1/subnets/macvlan';

describe('the projection', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  /** Sources follow what is written to the API, as a watch does. */
  function world(held: readonly Holding[], { log = silent, placementMs = 0, reservations = [] as Reserved[] } = {}) {
    const api = new FakeApi();
    const pods = new FakeSource<Pod>();
    const ips = new FakeSource<IpObject>();
    const subnets = new FakeSource<SubnetObject>();
    const pools = new FakeSource<PoolObject>();
    const vips = new FakeSource<VipObject>();
    const asked: number[] = [];
    const ledger = { usage: [usage], error: undefined as Error | undefined };
    const allocator = {
      getSubnet: (name: string, minSeq: number) => {
        asked.push(minSeq);
        if (ledger.error) return Promise.reject(ledger.error);
        return Promise.resolve({
          position: { epoch: 1, seq: minSeq, hash: '' },
          subnet: { name, usage: ledger.usage, fenced: [] },
        });
      },
      getPool: (name: string, minSeq: number) =>
        Promise.resolve({ position: { epoch: 1, seq: minSeq, hash: '' }, pool: { name, usage: ledger.usage } }),
    };
    api.onWrite = (path, object) => {
      if (path.includes('/vips/')) return vips.put(vipKind.parse(object));
      if (path.includes('/ippools/')) return pools.put(ipPools.parse(object));
      if (path.includes('/pods/')) pods.put(toPod(object));
      else if (path.includes('/subnets/')) subnets.put(toSubnet(object));
      else if (object) ips.put(ipKind.parse(object));
      else ips.drop(ips.objects.get(path.slice(path.lastIndexOf('/') + 1)) as IpObject);
    };
    const said: { pod: string; happening: Happening }[] = [];
    const say = (pod: Pod, happening: Happening): void => void said.push({ pod: pod.name, happening });
    const options = { api, allocator, pods, ips, subnets, pools, vips, say, placementMs, log, signal: stop.signal };
    const projector = new Projector(options);
    const addPod = (pod: Pod): void => {
      api.put(podAt(pod.name), {
        metadata: { name: pod.name, namespace: 'default', uid: pod.uid, annotations: pod.annotations },
      });
      pods.objects.set(keyOf(pod), pod);
    };
    const addIp = (manifest: object): void => {
      const path = ipAt((manifest as { metadata: { name: string } }).metadata.name);
      api.put(path, manifest as Record<string, unknown>);
      const object = ipKind.parse(api.objects.get(path));
      ips.objects.set(object.name, object);
    };
    const snapshot = { seq: 50, holdings: held, subnets: [inForce('macvlan')], pools: [], reservations };
    for (const reader of [projector.view, projector.vipUsers]) reader.snapshot(snapshot);
    const quiet = async (): Promise<void> => {
      for (let writes = -1; writes !== api.writes.length; await new Promise((resolve) => setTimeout(resolve, 15)))
        writes = api.writes.length;
    };
    return { api, pods, ips, subnets, pools, vips, asked, ledger, said, projector, addPod, addIp, quiet };
  }

  it('labels a Vip with the IP object of the Pod that uses it', async () => {
    const reserved = { seq: 3, subnet: 'macvlan', address: '10.0.0.2', reservedFor: 'vip/web', reason: '', mac: '' };
    const { api, vips, projector, addPod } = world([holding('a')], { reservations: [reserved] });
    addPod(podNamed('a'));
    const path = '/apis/kubeovn.io/v1/vips/web';
    api.put(path, {
      metadata: { name: 'web', uid: 'uid-web', labels: { 'ovn.kubernetes.io/ip_reserved': '' } },
      spec: {},
    });
    vips.put(vipKind.parse(api.objects.get(path)));
    projector.start();
    const label = () => (api.objects.get(path)?.metadata['labels'] as object | undefined) ?? {};
    await until(() => 'ovn.kubernetes.io/ip_reserved' in label() && api.writes.includes(`PATCH ${path}`));
    expect(label()).to.include({ 'ovn.kubernetes.io/ip_reserved': 'a.default.macvlan.default' });
  });

  it('writes annotations onto both launchers of a virtual machine that moves, and one IP object', async () => {
    const owner = { kind: 'VirtualMachineInstance', name: 'vm1', uid: 'uid-vm1' };
    const { api, pods, projector, addPod, quiet } = world([holding('vm1', { owner })]);
    for (const suffix of ['a', 'b']) {
      addPod(launcher(suffix));
      pods.put(launcher(suffix));
    }
    projector.start();
    await until(() => api.writes.length === 3);
    await quiet();
    const ip = 'vm1.default.macvlan.default';
    for (const suffix of ['a', 'b'])
      expect(api.objects.get(podAt(`virt-launcher-vm1-${suffix}`))?.metadata['annotations']).to.include({
        'macvlan.default.kubernetes.io/ip_address': '10.0.0.2',
      });
    expect(api.objects.get(ipAt(ip))?.['spec']).to.include({ podName: 'vm1', podType: 'VirtualMachine' });
  });

  it('writes annotations and IP object of an allocation, once', async () => {
    const { api, projector, addPod, quiet } = world([holding('a')]);
    addPod(podNamed('a'));
    projector.start();
    await until(() => api.writes.length === 2);
    await quiet();
    expect(api.writes).to.have.members([`PATCH ${podAt('a')}`, 'POST /apis/kubeovn.io/v1/ips']);
    expect(api.objects.get(podAt('a'))?.metadata['annotations']).to.include({
      'macvlan.default.kubernetes.io/ip_address': '10.0.0.2',
    });
    expect(api.objects.get(ipAt('a.default.macvlan.default'))).to.deep.include({
      spec: ipManifest(holding('a'), '').spec,
    });
  });

  it('waits a little for a Pod’s Node, so that its IP object is written once', async () => {
    const { api, pods, projector, addPod, quiet } = world([holding('a')], { placementMs: 60_000 });
    addPod(podNamed('a'));
    projector.start();
    await until(() => api.writes.length === 1);
    await quiet();
    expect(api.writes).to.deep.equal([`PATCH ${podAt('a')}`]);
    pods.put({ ...(pods.objects.get('default/a') as Pod), node: 'node-1' });
    await until(() => api.objects.has(ipAt('a.default.macvlan.default')));
    await quiet();
    expect(api.writes).to.have.length(2);
    expect(api.objects.get(ipAt('a.default.macvlan.default'))).to.have.nested.property('spec.nodeName', 'node-1');
  });

  it('does not wait for long for a Node', async () => {
    const { api, projector, addPod } = world([holding('a')], { placementMs: 20 });
    addPod(podNamed('a'));
    projector.start();
    await until(() => api.objects.has(ipAt('a.default.macvlan.default')));
  });

  it('writes nothing when all is right', async () => {
    const { api, projector, addPod, addIp, quiet } = world([holding('a')]);
    const annotations = {
      'macvlan.default.kubernetes.io/ip_address': '10.0.0.2',
      'macvlan.default.kubernetes.io/cidr': '10.0.0.0/24',
      'macvlan.default.kubernetes.io/gateway': '10.0.0.1',
      'macvlan.default.kubernetes.io/allocated': 'true',
    };
    addPod(podNamed('a', { annotations }));
    addIp(ipManifest(holding('a'), ''));
    projector.start();
    await quiet();
    expect(api.writes).to.deep.equal([]);
  });

  it('heals what was changed or deleted by hand', async () => {
    const { api, pods, ips, projector, addPod, quiet } = world([holding('a')]);
    addPod(podNamed('a'));
    projector.start();
    await until(() => api.writes.length === 2);
    const name = 'a.default.macvlan.default';
    api.objects.delete(ipAt(name));
    ips.drop(ips.objects.get(name) as IpObject);
    await until(() => api.objects.has(ipAt(name)));
    const edited = podNamed('a', { annotations: { 'macvlan.default.kubernetes.io/ip_address': '9.9.9.9' } });
    addPod(edited);
    pods.put(edited);
    await quiet();
    expect(pods.objects.get('default/a')?.annotations['macvlan.default.kubernetes.io/ip_address']).to.equal('10.0.0.2');
  });

  it('removes the IP object of an allocation that ended, and leaves the Pod’s annotations', async () => {
    const { api, projector, addPod, addIp, quiet } = world([holding('a')]);
    addPod(podNamed('a', { annotations: { 'k8s.v1.cni.cncf.io/networks': 'macvlan' } }));
    addIp(ipManifest(holding('a'), ''));
    projector.start();
    await quiet();
    projector.view.facts(
      [{ kind: 'ended', seq: 7, subnet: 'macvlan', namespace: 'default', pod: 'a', uid: 'uid-a', addresses: [] }],
      51,
    );
    await until(() => !api.objects.has(ipAt('a.default.macvlan.default')));
    await quiet();
    expect(api.writes.at(-1)).to.equal(`DELETE ${ipAt('a.default.macvlan.default')}`);
    expect(api.objects.get(podAt('a'))?.metadata['annotations']).to.have.property(
      'macvlan.default.kubernetes.io/allocated',
    );
  });

  it('deletes at the start IP objects that show no allocation, and never those of others', async () => {
    const { api, projector, addIp, quiet } = world([]);
    addIp(ipManifest(holding('gone'), ''));
    addIp({ metadata: { name: 'node-1' }, spec: { subnet: 'join' } });
    projector.start();
    await quiet();
    expect([...api.objects.keys()]).to.deep.equal([ipAt('node-1')]);
  });

  it('replaces the IP object when the name holds another allocation', async () => {
    const { api, projector, addIp, quiet } = world([holding('a', { seq: 9, uid: 'new' })]);
    addIp(ipManifest(holding('a', { seq: 7, uid: 'old' }), ''));
    projector.start();
    await quiet();
    const name = 'a.default.macvlan.default';
    expect(api.writes).to.deep.equal([`DELETE ${ipAt(name)}`, 'POST /apis/kubeovn.io/v1/ips']);
    expect(api.objects.get(ipAt(name))?.metadata['annotations']).to.deep.equal({ 'ipledger.io/allocation': '9' });
  });

  it('says on the IP object where the Pod runs, once it is scheduled', async () => {
    const { api, pods, projector, addPod, quiet } = world([holding('a')]);
    addPod(podNamed('a'));
    projector.start();
    await quiet();
    pods.put(
      podNamed('a', { spec: { nodeName: 'node-1' }, annotations: { ...pods.objects.get('default/a')?.annotations } }),
    );
    await until(() => api.writes.includes(`PATCH ${ipAt('a.default.macvlan.default')}`));
    expect(api.objects.get(ipAt('a.default.macvlan.default'))?.['spec']).to.include({ nodeName: 'node-1' });
  });

  it('leaves a Pod alone whose name belongs to another one by now', async () => {
    const { api, projector, addPod, quiet } = world([holding('a')]);
    addPod(podNamed('a'));
    api.put(podAt('a'), { metadata: { name: 'a', namespace: 'default', uid: 'new' } });
    projector.start();
    await quiet();
    expect(api.objects.get(podAt('a'))?.metadata).not.to.have.property('annotations');
    expect(api.writes.filter((write) => write.includes('/pods/'))).to.have.length(1);
  });

  it('tries again what the API server could not do', async () => {
    const { api, projector, addPod } = world([holding('a')]);
    addPod(podNamed('a'));
    let failures = 0;
    api.trouble = () => (failures++ < 4 ? new ApiError(failures % 2 ? 500 : 429, 'trouble') : undefined);
    projector.start();
    await until(() => api.writes.length === 2);
  });

  it('complains once of what the API refuses for many, and writes it as soon as it may', async () => {
    const held = Array.from({ length: 30 }, (_, index) => holding(`p${index}`, { seq: index + 1 }));
    const lines: string[] = [];
    const { api, projector, addPod } = world(held, { log: pino({}, { write: (line) => lines.push(line) }) });
    for (const { pod } of held) addPod(podNamed(pod));
    let asked = 0;
    api.trouble = ({ path }) => (path.includes('/ips') && ++asked <= 60 ? new ApiError(403, 'forbidden') : undefined);
    projector.start();
    await until(() => api.writes.length === 60);
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).to.deep.equal([
      'projection: the API refuses to take it',
    ]);
  });

  it('says once that a Pod was bound on another node than it is on', async () => {
    const { pods, said, projector, addPod, quiet } = world([
      holding('a', { node: 'node-2' }),
      holding('b', { seq: 8 }),
    ]);
    const [a, b] = ['a', 'b'].map((name) => podNamed(name, { spec: { nodeName: 'node-1' } })) as [Pod, Pod];
    for (const pod of [a, b]) addPod(pod);
    projector.start();
    await quiet();
    pods.put(a);
    projector.view.facts([{ kind: 'bound', seq: 8, interface: 'net1', node: 'node-1' }], 51);
    await quiet();
    expect(said.map(({ pod, happening }) => [pod, happening.reason])).to.deep.equal([['a', 'BoundOnAnotherNode']]);
    expect(said[0]?.happening.message).to.equal(
      "the agent of node node-2 bound the Pod's address of macvlan.default, but the Pod is on node node-1: is that agent started with the name of its own Node?",
    );
  });

  it('writes a Subnet’s counts together, as of the newest event, and only when they change', async () => {
    const { api, subnets, asked, ledger, projector, quiet } = world([]);
    api.put(subnetAt, { metadata: { name: 'macvlan', uid: 'uid-macvlan' }, spec: {} });
    subnets.objects.set('macvlan', subnetNamed('macvlan'));
    projector.start();
    await until(() => api.writes.length === 1);
    expect(api.objects.get(subnetAt)?.['status']).to.include({ v4usingIPs: 1, v4availableIPs: 252, v6usingIPs: 0 });
    await quiet();
    expect(api.writes).to.deep.equal([`PATCH ${subnetAt}/status`]);
    ledger.usage = [{ ...usage, inUse: '20' }];
    for (let seq = 51; seq <= 70; seq++) {
      projector.view.facts([{ kind: 'given', holding: holding(`p${seq}`, { seq }) }], seq);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    const statuses = (): string[] => api.writes.filter((write) => write.endsWith('/status'));
    await until(() => statuses().length === 2);
    expect(asked.at(-1)).to.equal(70);
    expect(asked.length, 'asked of the ledger').to.be.lessThan(12);
    expect(api.objects.get(subnetAt)?.['status']).to.include({ v4usingIPs: 20 });
  });

  it('writes the counts of a pool when anything of its subnet changed, under its own names', async () => {
    const { api, pools, projector, quiet } = world([]);
    const path = `${ipPools.path}/web`;
    api.put(path, { metadata: { name: 'web' }, spec: { subnet: 'macvlan', ips: ['10.0.0.2'] } });
    pools.objects.set('web', ipPools.parse(api.objects.get(path)));
    projector.start();
    const spec = { subnet: 'macvlan', ips: ['10.0.0.2'], namespaces: [] };
    projector.view.facts([{ kind: 'pool-configured', pool: { name: 'web', spec, source: undefined } }], 51);
    await until(() => api.writes.length > 0);
    await quiet();
    expect(api.writes).to.deep.equal([`PATCH ${path}/status`]);
    expect(pools.objects.get('web')?.status).to.include({
      v4UsingIPs: 1,
      v4AvailableIPs: 252,
      v4UsingIPRange: '10.0.0.2',
      v6UsingIPs: 0,
    });
  });

  it('replaces an IP object that somebody else made for another address, as none may change', async () => {
    const { api, addPod, addIp, projector, quiet } = world([holding('a')]);
    addPod(podNamed('a'));
    const name = 'a.default.macvlan.default';
    addIp({ metadata: { name }, spec: { ...ipManifest(holding('a'), '').spec, v4IpAddress: '10.0.0.9' } });
    projector.start();
    await until(() => api.writes.length > 2);
    await quiet();
    expect(api.writes.filter((write) => write.includes('/ips'))).to.deep.equal([
      `DELETE ${ipAt(name)}`,
      `POST ${ipKind.path}`,
    ]);
  });

  it('lets an IP object go that Kube-OVN’s finalizer holds, and makes it again', async () => {
    const { api, ips, addPod, addIp, projector, quiet } = world([holding('a')]);
    addPod(podNamed('a'));
    const manifest = ipManifest(holding('a'), '');
    const finalizers = ['kubeovn.io/kube-ovn-controller'];
    const name = 'a.default.macvlan.default';
    addIp({ ...manifest, metadata: { ...manifest.metadata, finalizers, deletionTimestamp: '2026-11-17T14:05:00Z' } });
    projector.start();
    await until(() => ips.objects.get(name)?.finalizers.length === 0);
    api.objects.delete(ipAt(name));
    ips.drop(ips.objects.get(name) as IpObject);
    await until(() => ips.objects.has(name));
    await quiet();
    expect(ips.objects.get(name)).to.include({ deleting: false });
  });

  it('says nothing of a Subnet that the ledger has retired', async () => {
    const { api, subnets, ledger, projector, quiet } = world([]);
    ledger.error = new IpledgerError('SUBNET_UNKNOWN', 'no subnet macvlan is configured');
    subnets.objects.set('macvlan', subnetNamed('macvlan'));
    projector.start();
    await quiet();
    expect(api.writes).to.deep.equal([]);
  });
});
