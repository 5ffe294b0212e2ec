import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import { ApiError } from '../../../lib/kubernetes/client/api-error.ts';
import { type IpObject, ips as ipKind } from '../kubernetes/objects/ip.ts';
import { ipPools } from '../kubernetes/objects/ip-pool.ts';
import type { Pod } from '../kubernetes/objects/pod.ts';
import { vips as vipKind } from '../kubernetes/objects/vip.ts';
import type { HeldAllocation } from '../ledger/ledger-events.ts';
import { boundEvent, heldAllocation, launcher, podNamed, subnetNamed, until } from '../testing/fakes.ts';
import { ipManifest } from './ip-object.ts';
import { createProjectionWorld, ipAt, podAt, subnetAt, usage } from './testing/projection.fixture.ts';

describe('Projection', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  const world = (
    allocations: readonly HeldAllocation[],
    options: Parameters<typeof createProjectionWorld>[2] = {},
  ): ReturnType<typeof createProjectionWorld> => createProjectionWorld(stop.signal, allocations, options);

  it('Projection labels a Vip with the IP object of the Pod that uses it', async () => {
    const reserved = { seq: 3, subnet: 'macvlan', address: '10.0.0.2', reservedFor: 'vip/web', reason: '', mac: '' };
    const { api, vips, projection, addPod } = world([heldAllocation('a')], { reservations: [reserved] });
    addPod(podNamed('a'));
    const path = '/apis/kubeovn.io/v1/vips/web';
    api.put(path, {
      metadata: { name: 'web', uid: 'uid-web', labels: { 'ovn.kubernetes.io/ip_reserved': '' } },
      spec: {},
    });
    vips.put(vipKind.parse(api.objects.get(path)));
    projection.start();
    const label = () => (api.objects.get(path)?.metadata['labels'] as object | undefined) ?? {};
    await until(() => 'ovn.kubernetes.io/ip_reserved' in label() && api.writes.includes(`PATCH ${path}`));
    expect(label()).to.include({ 'ovn.kubernetes.io/ip_reserved': 'a.default.macvlan.default' });
  });

  it('Projection writes annotations to both launchers and one IP object during a live migration', async () => {
    const owner = { kind: 'VirtualMachineInstance', name: 'vm1', uid: 'uid-vm1' };
    const { api, pods, projection, addPod, quiet } = world([heldAllocation('vm1', { owner })]);
    for (const suffix of ['a', 'b']) {
      addPod(launcher(suffix));
      pods.put(launcher(suffix));
    }
    projection.start();
    await until(() => api.writes.length === 3);
    await quiet();
    const ip = 'vm1.default.macvlan.default';
    for (const suffix of ['a', 'b'])
      expect(api.objects.get(podAt(`virt-launcher-vm1-${suffix}`))?.metadata['annotations']).to.include({
        'macvlan.default.kubernetes.io/ip_address': '10.0.0.2',
      });
    expect(api.objects.get(ipAt(ip))?.['spec']).to.include({ podName: 'vm1', podType: 'VirtualMachine' });
  });

  it('Projection shows the Node of the last binding while two launchers of the same second hold the address', async () => {
    const owner = { kind: 'VirtualMachineInstance', name: 'vm1', uid: 'uid-vm1' };
    const metadata = { creationTimestamp: '2026-01-31T08:00:00Z' };
    const { api, pods, projection } = world([heldAllocation('vm1', { owner, node: 'node-2' })]);
    for (const [index, suffix] of ['source', 'target'].entries())
      pods.put(launcher(suffix, { metadata, spec: { nodeName: `node-${index + 1}` } }));
    projection.start();
    const ip = ipAt('vm1.default.macvlan.default');
    await until(() => api.objects.has(ip));
    expect(api.objects.get(ip)?.['spec']).to.include({ podName: 'vm1', nodeName: 'node-2' });
  });

  it('Projection shows the Node of the last binding of a stopped machine, in any order of the ends of its launchers', async () => {
    const owner = { kind: 'VirtualMachineInstance', name: 'vm1', uid: 'uid-vm1' };
    const { api, pods, projection, quiet } = world([heldAllocation('vm1', { owner, node: 'node-2' })]);
    const source = launcher('source', { spec: { nodeName: 'node-1' } });
    const target = launcher('target', { spec: { nodeName: 'node-2' } });
    for (const pod of [source, target]) pods.put(pod);
    projection.start();
    const shown = (): unknown => api.objects.get(ipAt('vm1.default.macvlan.default'))?.['spec'];
    await quiet();
    pods.drop(target);
    await quiet();
    expect(shown(), 'while the source runs on').to.include({ nodeName: 'node-1' });
    pods.drop(source);
    await quiet();
    expect(shown()).to.include({ nodeName: 'node-2' });
  });

  it('k8s-142223 Projection writes the annotations and the IP object of an allocation once', async () => {
    const { api, projection, addPod, quiet } = world([heldAllocation('a')]);
    addPod(podNamed('a'));
    projection.start();
    await until(() => api.writes.length === 2);
    await quiet();
    expect(api.writes).to.have.members([`PATCH ${podAt('a')}`, 'POST /apis/kubeovn.io/v1/ips']);
    expect(api.objects.get(podAt('a'))?.metadata['annotations']).to.include({
      'macvlan.default.kubernetes.io/ip_address': '10.0.0.2',
    });
    expect(api.objects.get(ipAt('a.default.macvlan.default'))).to.deep.include({
      spec: ipManifest(heldAllocation('a'), '').spec,
    });
  });

  it('Projection delays the IP object of a Pod without a Node, and writes it once', async () => {
    const { api, pods, projection, addPod, quiet } = world([heldAllocation('a')], { schedulingWaitMs: 60_000 });
    addPod(podNamed('a'));
    projection.start();
    await until(() => api.writes.length === 1);
    await quiet();
    expect(api.writes).to.deep.equal([`PATCH ${podAt('a')}`]);
    pods.put({ ...(pods.objects.get('default/a') as Pod), node: 'node-1' });
    await until(() => api.objects.has(ipAt('a.default.macvlan.default')));
    await quiet();
    expect(api.writes).to.have.length(2);
    expect(api.objects.get(ipAt('a.default.macvlan.default'))).to.have.nested.property('spec.nodeName', 'node-1');
  });

  it('Projection writes the IP object after the delay when the Pod still has no Node', async () => {
    const { api, projection, addPod } = world([heldAllocation('a')], { schedulingWaitMs: 20 });
    addPod(podNamed('a'));
    projection.start();
    await until(() => api.objects.has(ipAt('a.default.macvlan.default')));
  });

  it('Projection writes an IP object for each of two Pods that share Kube-OVN’s name, and deletes only the released Pod’s', async () => {
    const dotted = heldAllocation('a.bug', { namespace: 'net', provider: 'lan.default', seq: 7 });
    const plain = heldAllocation('a', { namespace: 'bug', provider: 'net.lan.default', seq: 8 });
    const { api, ips, projection, quiet } = world([dotted]);
    const shown = (): unknown[] =>
      [...api.objects.values()].map(({ spec }) => (spec as Record<string, unknown>)['podName']);
    projection.start();
    await until(() => ips.objects.size === 1);
    projection.view.onEvents([{ kind: 'allocated', allocation: plain }], 51);
    await until(() => ips.objects.size === 2);
    await quiet();
    expect(shown()).to.have.members(['a', 'a.bug']);
    expect(api.objects.get(ipAt('a.bug.net.lan.default'))?.['spec']).to.include({ podName: 'a', namespace: 'bug' });
    const writes = api.writes.length;
    projection.view.onEvents([{ kind: 'released', ...dotted, addresses: [] }], 52);
    await until(() => ips.objects.size === 1);
    await quiet();
    expect(shown()).to.deep.equal(['a']);
    expect(api.writes.slice(writes), 'the other object was not touched').to.have.length(1);
  });

  it('Projection keeps an IP object that reserves an address for its Pod, also if another Pod’s object would have the same name', async () => {
    const name = 'a.bug.net.lan.default';
    const reserved = {
      seq: 3,
      subnet: 'macvlan',
      address: '10.0.0.9',
      reservedFor: 'pod/net/a.bug/lan.default',
      reason: `IP object ${name}`,
      mac: '',
    };
    const plain = heldAllocation('a', { namespace: 'bug', provider: 'net.lan.default', seq: 8 });
    const { api, ips, projection, addIp, quiet } = world([plain], { reservations: [reserved] });
    const spec = { podName: 'a.bug', namespace: 'net', subnet: 'macvlan', ipAddress: '10.0.0.9' };
    addIp({ metadata: { name, finalizers: ['ipledger.io/ledger'] }, spec });
    projection.start();
    await until(() => ips.objects.size === 2);
    await quiet();
    expect(api.writes).to.deep.equal([`POST ${ipKind.path}`]);
    expect(api.objects.get(ipAt(name))?.['spec']).to.deep.equal(spec);
    const ofOwner = heldAllocation('a.bug', { namespace: 'net', provider: 'lan.default', seq: 9 });
    projection.view.onEvents([{ kind: 'allocated', allocation: ofOwner }], 51);
    await until(() => api.writes.includes(`PATCH ${ipAt(name)}`));
    expect(api.objects.get(ipAt(name))?.metadata['annotations']).to.include({ 'ipledger.io/allocation': '9' });
  });

  it('Projection writes nothing when all objects are up to date', async () => {
    const { api, projection, addPod, addIp, quiet } = world([heldAllocation('a')]);
    const annotations = {
      'macvlan.default.kubernetes.io/ip_address': '10.0.0.2',
      'macvlan.default.kubernetes.io/cidr': '10.0.0.0/24',
      'macvlan.default.kubernetes.io/gateway': '10.0.0.1',
      'macvlan.default.kubernetes.io/allocated': 'true',
      'macvlan.default.kubernetes.io/routed': 'true',
    };
    addPod(podNamed('a', { annotations }));
    addIp(ipManifest(heldAllocation('a'), ''));
    projection.start();
    await quiet();
    expect(api.writes).to.deep.equal([]);
  });

  it('Projection restores objects that were changed or deleted manually', async () => {
    const { api, pods, ips, projection, addPod, quiet } = world([heldAllocation('a')]);
    addPod(podNamed('a'));
    projection.start();
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

  it('Projection deletes the IP object of a released allocation, and keeps the annotations of the Pod', async () => {
    const { api, projection, addPod, addIp, quiet } = world([heldAllocation('a')]);
    addPod(podNamed('a', { annotations: { 'k8s.v1.cni.cncf.io/networks': 'macvlan' } }));
    addIp(ipManifest(heldAllocation('a'), ''));
    projection.start();
    await quiet();
    projection.view.onEvents(
      [{ kind: 'released', seq: 7, subnet: 'macvlan', namespace: 'default', pod: 'a', uid: 'uid-a', addresses: [] }],
      51,
    );
    await until(() => !api.objects.has(ipAt('a.default.macvlan.default')));
    await quiet();
    expect(api.writes.at(-1)).to.equal(`DELETE ${ipAt('a.default.macvlan.default')}`);
    expect(api.objects.get(podAt('a'))?.metadata['annotations']).to.have.property(
      'macvlan.default.kubernetes.io/allocated',
    );
  });

  it('Projection deletes its own IP objects without an allocation at the start, and no others', async () => {
    const { api, projection, addIp, quiet } = world([]);
    addIp(ipManifest(heldAllocation('gone'), ''));
    addIp({ metadata: { name: 'node-1' }, spec: { subnet: 'join' } });
    projection.start();
    await quiet();
    expect([...api.objects.keys()]).to.deep.equal([ipAt('node-1')]);
  });

  it('Projection replaces the IP object when its name has another allocation', async () => {
    const { api, projection, addIp, quiet } = world([heldAllocation('a', { seq: 9, uid: 'new' })]);
    addIp(ipManifest(heldAllocation('a', { seq: 7, uid: 'old' }), ''));
    projection.start();
    await quiet();
    const name = 'a.default.macvlan.default';
    expect(api.writes).to.deep.equal([`DELETE ${ipAt(name)}`, 'POST /apis/kubeovn.io/v1/ips']);
    expect(api.objects.get(ipAt(name))?.metadata['annotations']).to.deep.equal({ 'ipledger.io/allocation': '9' });
  });

  it('Projection writes the Node of the Pod to the IP object once it is scheduled', async () => {
    const { api, pods, projection, addPod, quiet } = world([heldAllocation('a')]);
    addPod(podNamed('a'));
    projection.start();
    await quiet();
    pods.put(
      podNamed('a', { spec: { nodeName: 'node-1' }, annotations: { ...pods.objects.get('default/a')?.annotations } }),
    );
    await until(() => api.writes.includes(`PATCH ${ipAt('a.default.macvlan.default')}`));
    expect(api.objects.get(ipAt('a.default.macvlan.default'))?.['spec']).to.include({ nodeName: 'node-1' });
  });

  it('Projection writes the Node of a launcher to the IP object of its machine once the launcher is verified', async () => {
    const owner = { kind: 'VirtualMachineInstance', name: 'vm1', uid: 'uid-vm1' };
    const { api, pods, projection } = world([heldAllocation('vm1', { owner })], { schedulingWaitMs: 1 });
    const verified = launcher('a', { spec: { nodeName: 'node-1' } });
    pods.put({ ...verified, ledgerName: verified.name });
    projection.start();
    const ip = ipAt('vm1.default.macvlan.default');
    await until(() => api.objects.has(ip));
    pods.put(verified);
    await until(() => (api.objects.get(ip)?.['spec'] as { nodeName?: string } | undefined)?.nodeName === 'node-1');
  });

  it('Projection does not patch another Pod of the same name', async () => {
    const { api, projection, addPod, quiet } = world([heldAllocation('a')]);
    addPod(podNamed('a'));
    api.put(podAt('a'), { metadata: { name: 'a', namespace: 'default', uid: 'new' } });
    projection.start();
    await quiet();
    expect(api.objects.get(podAt('a'))?.metadata).not.to.have.property('annotations');
    expect(api.writes.filter((write) => write.includes('/pods/'))).to.have.length(1);
  });

  it('Projection retries failed writes', async () => {
    const { api, projection, addPod } = world([heldAllocation('a')]);
    addPod(podNamed('a'));
    let failures = 0;
    api.failRequest = () => (failures++ < 4 ? new ApiError(failures % 2 ? 500 : 429, 'trouble') : undefined);
    projection.start();
    await until(() => api.writes.length === 2);
  });

  it('Projection reports once that a Pod was bound on another Node', async () => {
    const held = [heldAllocation('a', { node: 'node-2' }), heldAllocation('b', { seq: 8 })];
    const { pods, recorded, projection, addPod, quiet } = world(held);
    const [a, b] = ['a', 'b'].map((name) => podNamed(name, { spec: { nodeName: 'node-1' } })) as [Pod, Pod];
    for (const pod of [a, b]) addPod(pod);
    projection.start();
    await quiet();
    pods.put(a);
    projection.view.onEvents([boundEvent('b', 8)], 51);
    await quiet();
    expect(recorded.map(({ pod, event }) => [pod, event.reason])).to.deep.equal([['a', 'BoundOnAnotherNode']]);
    expect(recorded[0]?.event.message).to.equal(
      "the agent of node node-2 bound the Pod's address of macvlan.default, but the Pod is on node node-1: start that agent with the name of its own Node",
    );
  });

  it('Projection writes the counts of a Subnet together, as of the latest event, and only when they change', async () => {
    const { api, subnets, requestedSeqs, ledger, projection, quiet } = world([]);
    api.put(subnetAt, { metadata: { name: 'macvlan', uid: 'uid-macvlan' }, spec: {} });
    subnets.objects.set('macvlan', subnetNamed('macvlan'));
    projection.start();
    await until(() => api.writes.length === 1);
    expect(api.objects.get(subnetAt)?.['status']).to.include({ v4usingIPs: 1, v4availableIPs: 252, v6usingIPs: 0 });
    await quiet();
    expect(api.writes).to.deep.equal([`PATCH ${subnetAt}/status`]);
    ledger.usage = [{ ...usage, inUse: '20' }];
    for (let seq = 51; seq <= 70; seq++) {
      projection.view.onEvents([{ kind: 'allocated', allocation: heldAllocation(`p${seq}`, { seq }) }], seq);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    const statuses = (): string[] => api.writes.filter((write) => write.endsWith('/status'));
    await until(() => statuses().length === 2);
    expect(requestedSeqs.at(-1)).to.equal(70);
    expect(requestedSeqs.length, 'reads of the ledger').to.be.lessThan(12);
    expect(api.objects.get(subnetAt)?.['status']).to.include({ v4usingIPs: 20 });
  });

  it('Projection writes the counts of an IPPool with its field names when its Subnet changes', async () => {
    const { api, pools, projection, quiet } = world([]);
    const path = `${ipPools.path}/web`;
    api.put(path, { metadata: { name: 'web' }, spec: { subnet: 'macvlan', ips: ['10.0.0.2'] } });
    pools.objects.set('web', ipPools.parse(api.objects.get(path)));
    projection.start();
    const spec = { subnet: 'macvlan', ips: ['10.0.0.2'], namespaces: [] };
    projection.view.onEvents([{ kind: 'pool-configured', pool: { name: 'web', spec, source: undefined } }], 51);
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

  it('Projection replaces an IP object that another client created for another address', async () => {
    const { api, addPod, addIp, projection, quiet } = world([heldAllocation('a')]);
    addPod(podNamed('a'));
    const name = 'a.default.macvlan.default';
    addIp({ metadata: { name }, spec: { ...ipManifest(heldAllocation('a'), '').spec, v4IpAddress: '10.0.0.9' } });
    projection.start();
    await until(() => api.writes.length > 2);
    await quiet();
    expect(api.writes.filter((write) => write.includes('/ips'))).to.deep.equal([
      `DELETE ${ipAt(name)}`,
      `POST ${ipKind.path}`,
    ]);
  });

  it('Projection removes Kube-OVN’s finalizer from a deleted IP object, and creates the object again', async () => {
    const { api, ips, addPod, addIp, projection, quiet } = world([heldAllocation('a')]);
    addPod(podNamed('a'));
    const manifest = ipManifest(heldAllocation('a'), '');
    const finalizers = ['kubeovn.io/kube-ovn-controller'];
    const name = 'a.default.macvlan.default';
    addIp({ ...manifest, metadata: { ...manifest.metadata, finalizers, deletionTimestamp: '2026-11-17T14:05:00Z' } });
    projection.start();
    await until(() => ips.objects.get(name)?.finalizers.length === 0);
    api.objects.delete(ipAt(name));
    ips.drop(ips.objects.get(name) as IpObject);
    await until(() => ips.objects.has(name));
    await quiet();
    expect(ips.objects.get(name)).to.include({ deleting: false });
  });

  it('Projection writes no counts of a retired Subnet', async () => {
    const { api, subnets, ledger, projection, quiet } = world([]);
    ledger.error = new IpledgerError('SUBNET_UNKNOWN', 'no subnet macvlan is configured');
    subnets.objects.set('macvlan', subnetNamed('macvlan'));
    projection.start();
    await quiet();
    expect(api.writes).to.deep.equal([]);
  });
});
