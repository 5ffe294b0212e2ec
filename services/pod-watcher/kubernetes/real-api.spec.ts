/** What no fake can tell: how a real kube-apiserver answers, to the permissions that deploy/rbac.yaml gives. */
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { expect } from 'chai';
import { type Cluster, startCluster } from '../../../test/harness/cluster.ts';
import { openRun, type Run } from '../../../test/harness/run.ts';
import { holding, podNamed, silent, until } from '../fakes.ts';
import { ipManifest } from '../projection/ip.ts';
import { podPatch } from '../projection/pod.ts';
import { countsOf, statusPatch, subnetSpelling } from '../projection/counts.ts';
import { type Api, type ApiError, connectApi } from './api.ts';
import { Events } from './events.ts';
import { deletedSince } from './history.ts';
import { kubeOvnObserver } from './kube-ovn.ts';
import { acquireLease } from './lease.ts';
import { Source } from './list-watch.ts';
import { ipPools, ips, subnets, vips } from './kept-objects.ts';
import { namespaces, networkDefinitions, nodes, pods, statefulSets, toPod, toStatefulSet } from './objects.ts';
import { create, mergePatch, objectPath, podPath, read, remove } from './patch.ts';

const account = 'system:serviceaccount:kube-system:ipledger-pod-watcher';
const podManifest = (name: string, annotations: object = {}): object => ({
  metadata: { name, namespace: 'default', annotations },
  spec: { containers: [{ name: 'c', image: 'none' }] },
});

function apiOf(kubeconfig: string): Api {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  return connectApi(config);
}

describe('on a real API server, with the watcher’s own permissions', function () {
  this.timeout(120_000);
  let run: Run;
  let cluster: Cluster;
  /** The watcher’s, and an administrator’s. */
  let api: Api;
  let admin: Api;
  let stop: AbortController;

  before(async () => {
    run = openRun();
    cluster = await startCluster(run, { controllers: false });
    await cluster.apply(join(import.meta.dirname, '../../../deploy/rbac.yaml'));
    const groups = ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'];
    api = apiOf(await cluster.kubeconfigFor(account, groups));
    admin = apiOf(cluster.kubeconfig);
  });
  after(() => run.end());
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  const createPod = (name: string, annotations?: object): Promise<void> =>
    create(admin, {
      path: '/api/v1/namespaces/default/pods',
      body: podManifest(name, annotations),
      signal: stop.signal,
    });
  const deletePod = async (name: string): Promise<void> => {
    const path = podPath('default', name);
    const { uid } = toPod(await read(admin, path, stop.signal));
    await remove(admin, path, uid, stop.signal);
  };
  const failure = async (promise: Promise<unknown>): Promise<ApiError> =>
    promise.then(
      () => expect.fail('no error'),
      (error: unknown) => error as ApiError,
    );

  it('lists in pages and watches all kinds', async () => {
    await Promise.all(['p1', 'p2', 'p3', 'p4', 'p5'].map((name) => createPod(name)));
    const pace = { pageSize: 2 };
    const source = new Source(api, pods, silent, pace);
    const others = [
      new Source(api, networkDefinitions, silent, pace),
      new Source(api, subnets, silent, pace),
      new Source(api, ips, silent, pace),
      new Source(api, nodes, silent, pace),
      new Source(api, ipPools, silent, pace),
      new Source(api, vips, silent, pace),
      new Source(api, statefulSets, silent, pace),
      new Source(api, namespaces, silent, pace),
    ];
    for (const each of [source, ...others]) void each.run(stop.signal);
    await until(() => source.listed && others.every(({ listed }) => listed));
    expect(source.objects.size).to.equal(5);
    await createPod('p6', { 'k8s.v1.cni.cncf.io/networks': 'macvlan' });
    await until(() => source.objects.get('default/p6')?.annotations['k8s.v1.cni.cncf.io/networks'] === 'macvlan');
    await deletePod('p1');
    await until(() => !source.objects.has('default/p1'));
  });

  it('reads which members a StatefulSet wants', async () => {
    const path = '/apis/apps/v1/namespaces/default/statefulsets';
    const labels = { app: 'web' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'none' }] } };
    const spec = { selector: { matchLabels: labels }, serviceName: 'web', template, ordinals: { start: 3 } };
    await create(admin, { path, body: { metadata: { name: 'web' }, spec }, signal: stop.signal });
    const set = toStatefulSet(await read(api, objectPath(path, 'web'), stop.signal));
    expect(set).to.include({ name: 'web', deleting: false, replicas: 1, firstOrdinal: 3 });
  });

  it('remembers what was deleted, marked as being deleted; not so what was lost', async () => {
    const source = new Source(api, pods, silent);
    void source.run(stop.signal);
    const names = ['graceful', 'forced', 'lost'];
    for (const name of names) await createPod(name);
    await until(() => names.every((name) => source.objects.has(`default/${name}`)));
    const { version = '' } = source;
    await deletePod('graceful');
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0 };
    await admin.request({
      method: 'DELETE',
      path: podPath('default', 'forced'),
      body,
      timeoutMs: 5_000,
      signal: stop.signal,
    });
    await cluster.etcd.etcdctl(['del', '/registry/pods/default/lost']);
    const remembered: string[] = [];
    for await (const { name, deletionTimestamp } of deletedSince(api, pods, { version, signal: stop.signal }))
      remembered.push(`${name} ${deletionTimestamp === '' ? 'lost' : 'deleted'}`);
    expect(remembered).to.deep.equal(['graceful deleted', 'forced deleted', 'lost lost']);
  });

  it('says how far it remembers, where it is asked for what was before', async () => {
    const vip = (name: string): string => objectPath(vips.path, name);
    const body = { apiVersion: 'kubeovn.io/v1', kind: 'Vip', metadata: { name: 'early' }, spec: { subnet: 'lan' } };
    await create(admin, { path: vips.path, body, signal: stop.signal });
    const { uid } = vips.parse(await read(admin, vip('early'), stop.signal));
    await remove(admin, vip('early'), uid, stop.signal);
    const version = '1'; // before there were Vips, let alone a server that watched them
    let first = '';
    for await (const { name } of deletedSince(api, vips, { version, signal: stop.signal })) {
      first = name;
      break;
    }
    expect(first).to.equal('early');
  });

  it('takes no Events in a namespace that is being deleted, and annotations there all the same', async () => {
    await cluster.kubectl(['create', 'namespace', 'doomed']);
    const path = '/api/v1/namespaces/doomed/pods';
    const finalizers = ['example.com/wait'];
    const manifest = { metadata: { name: 'doomed', finalizers }, spec: { containers: [{ name: 'c', image: 'none' }] } };
    await create(admin, { path, body: manifest, signal: stop.signal });
    await cluster.kubectl(['delete', 'namespace', 'doomed', '--wait=false']);
    const event = { metadata: { name: 'e', namespace: 'doomed' }, involvedObject: { namespace: 'doomed' } };
    const events = { path: '/api/v1/namespaces/doomed/events', body: event, signal: stop.signal };
    expect(await failure(create(api, events))).to.include({ reaction: 'denied' });
    const body = { metadata: { annotations: { 'lan.default.kubernetes.io/allocated': 'true' } } };
    await mergePatch(api, { path: `${path}/doomed`, body, signal: stop.signal });
  });

  it('patches the annotations of this very Pod, and of no other one of its name', async () => {
    await createPod('patched', { 'macvlan.default.kubernetes.io/mac_address': '02:00:00:00:00:09' });
    const path = podPath('default', 'patched');
    const pod = toPod(await read(api, path, stop.signal));
    const body = podPatch(pod, [holding('patched', { uid: pod.identity })], () => false);
    await mergePatch(api, { path, body, signal: stop.signal });
    const patched = toPod(await read(api, path, stop.signal));
    expect(patched.annotations).to.deep.equal({
      'macvlan.default.kubernetes.io/ip_address': '10.0.0.2',
      'macvlan.default.kubernetes.io/cidr': '10.0.0.0/24',
      'macvlan.default.kubernetes.io/gateway': '10.0.0.1',
      'macvlan.default.kubernetes.io/allocated': 'true',
    });
    expect(podPatch(patched, [holding('patched', { uid: pod.identity })], () => false)).to.equal(undefined);
    const stale = podPatch(
      podNamed('patched', { uid: 'another' }),
      [holding('patched', { uid: 'another' })],
      () => false,
    );
    expect(await failure(mergePatch(api, { path, body: stale, signal: stop.signal }))).to.include({
      field: 'metadata.uid',
      reaction: 'changed',
    });
  });

  it('makes, changes and deletes IP objects', async () => {
    const manifest = ipManifest(holding('a'), '');
    const path = objectPath(ips.path, 'a.default.macvlan.default');
    await create(api, { path: ips.path, body: manifest, signal: stop.signal });
    const object = ips.parse(await read(admin, path, stop.signal));
    expect(object).to.include({ allocation: '7', name: 'a.default.macvlan.default' });
    expect(await failure(create(api, { path: ips.path, body: manifest, signal: stop.signal }))).to.include({
      reaction: 'changed',
    });
    await mergePatch(api, { path, body: ipManifest(holding('a'), 'node-1'), signal: stop.signal });
    const placed = ips.parse(await read(admin, path, stop.signal));
    expect(placed.spec['nodeName']).to.equal('node-1');
    expect(await failure(remove(api, path, 'another-uid', stop.signal))).to.include({ reaction: 'changed' });
    await remove(api, path, object.uid, stop.signal);
    expect(await failure(remove(api, path, object.uid, stop.signal))).to.include({ reaction: 'absent' });
  });

  it('takes a Subnet’s counts up to 2^63 - 1', async () => {
    await cluster.apply(
      '{"apiVersion":"kubeovn.io/v1","kind":"Subnet","metadata":{"name":"big"},"spec":{"cidrBlock":"fd00::/48"}}',
    );
    const usage = {
      family: 6,
      total: '',
      inUse: '1',
      available: '1208925819614629174706174',
      inUseRange: '',
      availableRange: '',
      resting: '',
      reserved: '0',
      reservedRange: '',
    };
    const path = `${objectPath(subnets.path, 'big')}/status`;
    await mergePatch(api, { path, body: statusPatch(countsOf([usage], subnetSpelling)), signal: stop.signal });
    const available = await cluster.kubectl(['get', 'subnet', 'big', '-o', 'jsonpath={.status.v6availableIPs}']);
    expect(available).to.equal('9223372036854775807');
  });

  it('never changes what names the allocation of an IP; what its maker left open is filled in once', async () => {
    const spec = { podName: 'held', namespace: 'default', subnet: 'lan' };
    const path = objectPath(ips.path, 'held.default.lan.default');
    const body = { apiVersion: 'kubeovn.io/v1', kind: 'IP', metadata: { name: 'held.default.lan.default' }, spec };
    await create(admin, { path: ips.path, body, signal: stop.signal });
    const change = (fields: object): Promise<void> =>
      mergePatch(api, { path, body: { spec: fields }, signal: stop.signal });
    await change({ v4IpAddress: '10.0.0.2', ipAddress: '10.0.0.2' });
    for (const field of ['subnet', 'namespace', 'podName', 'podType', 'macAddress', 'v4IpAddress', 'v6IpAddress']) {
      const { reaction, message } = await failure(change({ [field]: 'other' }));
      expect({ reaction, says: message.includes(`ip held.default.lan.default ${field} can not change`) }).to.deep.equal(
        {
          reaction: 'invalid',
          says: true,
        },
      );
    }
    await change({ nodeName: 'node-1' });
  });

  it('keeps a Subnet’s fields that it does not know, and refuses a known one of the wrong type', async () => {
    const subnet = {
      apiVersion: 'kubeovn.io/v1',
      kind: 'Subnet',
      metadata: { name: 'kept' },
      spec: { cidrBlock: '10.0.0.0/24', dhcpV4Options: 'x' },
    };
    await create(admin, { path: subnets.path, body: subnet, signal: stop.signal });
    const stored = await read(admin, objectPath(subnets.path, 'kept'), stop.signal);
    expect(stored).to.have.nested.property('spec.dhcpV4Options', 'x');
    const wrong = { ...subnet, metadata: { name: 'wrong' }, spec: { excludeIps: '10.0.0.1' } };
    const error = await failure(create(admin, { path: subnets.path, body: wrong, signal: stop.signal }));
    expect(error).to.include({ reaction: 'invalid' });
    expect(error.message).to.contain('spec.excludeIps');
  });

  it('says Events about Pods and Subnets', async () => {
    const events = new Events(api, silent, stop.signal, { newsMs: 100 });
    await createPod('told');
    const { uid } = toPod(await read(api, podPath('default', 'told'), stop.signal));
    const say = (message: string): void =>
      events.say(
        { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'told', uid },
        { type: 'Warning', reason: 'Because', message },
      );
    const seen = async (): Promise<string> =>
      cluster.kubectl([
        'get',
        'events',
        '-A',
        '-o',
        'jsonpath={range .items[*]}{.involvedObject.name} {.count} {.message};{end}',
      ]);
    say('one');
    let text = '';
    while (!text.includes('told 1 one')) text = await seen();
    say('two');
    events.say(
      { apiVersion: 'kubeovn.io/v1', kind: 'Subnet', namespace: '', name: 'big', uid: 'u' },
      { type: 'Warning', reason: 'Why', message: 'bad' },
    );
    while (!text.includes('told 2 two') || !text.includes('big 1 bad')) text = await seen();
    expect(text).not.to.contain('told 1 one');
  });

  it('holds its Lease, and sees Kube-OVN’s', async () => {
    const options = {
      api,
      namespace: 'kube-system',
      name: 'ipledger-pod-watcher',
      log: silent,
      signal: stop.signal,
      onStandby: () => undefined,
    };
    const lease = await acquireLease(options);
    expect(
      await cluster.kubectl([
        'get',
        'lease',
        '-n',
        'kube-system',
        'ipledger-pod-watcher',
        '-o',
        'jsonpath={.spec.holderIdentity}',
      ]),
    ).not.to.equal('');
    await lease?.release();
  });

  it('sees whether Kube-OVN’s own controller renews its Lease', async () => {
    const look = kubeOvnObserver(api);
    expect(await look(stop.signal)).to.equal('away');
    const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
    const holderIdentity = 'kube-ovn-controller-0';
    const renewed = (ms: number) => new Date(Date.now() + ms).toISOString().replace('Z', '000Z');
    const body = {
      metadata: { name: 'kube-ovn-controller' },
      spec: { holderIdentity, leaseDurationSeconds: 3_600, renewTime: renewed(0) },
    };
    await create(admin, { path: leases, body, signal: stop.signal });
    expect(await look(stop.signal)).to.equal('unsure');
    const renewal = { spec: { renewTime: renewed(2_000) } };
    await mergePatch(admin, {
      path: objectPath(leases, 'kube-ovn-controller'),
      body: renewal,
      signal: stop.signal,
    });
    expect(await look(stop.signal)).to.have.property('holder', 'kube-ovn-controller-0');
  });

  it('may not do what it need not', async () => {
    const pod = podPath('default', 'p2');
    expect(await failure(remove(api, pod, 'u', stop.signal))).to.include({ status: 403, reaction: 'denied' });
    for (const { path } of [subnets, ipPools, vips])
      expect(await failure(remove(api, objectPath(path, 'big'), 'u', stop.signal)), path).to.include({ status: 403 });
    expect(await failure(read(api, objectPath(ips.path, 'p.default'), stop.signal))).to.include({ status: 403 });
    expect(await failure(read(api, '/api/v1/secrets', stop.signal))).to.include({ status: 403 });
  });
});
