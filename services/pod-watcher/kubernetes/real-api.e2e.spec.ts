/** Tests a real kube-apiserver with a client that has the permissions of deploy/rbac.yaml. */
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { expect } from 'chai';
import type { Cluster } from '../../../test/harness/kubernetes/cluster.ts';
import { virtualMachineCrds } from '../../../test/harness/kubernetes/kubevirt-crds.ts';
import { openRun, type Run } from '../../../test/harness/run.ts';
import { heldAllocation, podNamed, silentLogger, until } from '../testing/fakes.ts';
import { ipManifest, showsAllocation } from '../projection/ip-object.ts';
import { podPatch } from '../projection/pod-annotations.ts';
import { usageCounts, statusPatch, subnetFieldNames } from '../projection/usage-counts.ts';
import { type Api, connectApi } from '../../../lib/kubernetes/client/kubernetes-api.ts';
import type { ApiError } from '../../../lib/kubernetes/client/api-error.ts';
import { EventRecorder } from './event-recorder.ts';
import { deletedSince } from './client/deletion-history.ts';
import { kubeOvnControllerCheck } from './kube-ovn-controller-check.ts';
import { acquireLease } from '../../../lib/kubernetes/leader-election.ts';
import { Informer } from '../../../lib/kubernetes/client/informer.ts';
import { ipPools } from './objects/ip-pool.ts';
import { ips } from './objects/ip.ts';
import { subnets } from './objects/subnet.ts';
import { virtualMachines } from './objects/virtual-machine.ts';
import { vips } from './objects/vip.ts';
import { namespaces } from './objects/namespace.ts';
import { networkDefinitions } from './objects/network-definition.ts';
import { nodes } from './objects/node.ts';
import { pods, toPod } from './objects/pod.ts';
import { statefulSets, toStatefulSet } from './objects/stateful-set.ts';
import {
  createObject,
  mergePatch,
  objectPath,
  podPath,
  readObject,
  deleteObject,
} from '../../../lib/kubernetes/client/object-requests.ts';
import { eventually } from '../../../test/e2e/support/eventually.ts';
import { borrowCluster } from '../../../test/harness/kubernetes/shared-cluster.ts';

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

describe('On a real API server with the permissions of the watcher', function () {
  this.timeout(120_000);
  let run: Run;
  let cluster: Cluster;
  /** The clients of the watcher and of an administrator. */
  let api: Api;
  let admin: Api;
  let stop: AbortController;

  before(async () => {
    run = openRun();
    cluster = await borrowCluster(run, { controllers: false });
    await cluster.apply(join(import.meta.dirname, '../../../deploy/rbac.yaml'));
    const groups = ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'];
    api = apiOf(await cluster.kubeconfigFor(account, groups));
    admin = apiOf(cluster.kubeconfig);
  });
  after(() => run.end());
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  const createPod = (name: string, annotations?: object): Promise<void> =>
    createObject(admin, {
      path: '/api/v1/namespaces/default/pods',
      body: podManifest(name, annotations),
      signal: stop.signal,
    });
  const deletePod = async (name: string): Promise<void> => {
    const path = podPath('default', name);
    const { uid } = toPod(await readObject(admin, path, stop.signal));
    await deleteObject(admin, path, uid, stop.signal);
  };
  const failure = async (promise: Promise<unknown>): Promise<ApiError> =>
    promise.then(
      () => expect.fail('no error'),
      (error: unknown) => error as ApiError,
    );

  it('the informers list as streams, or in pages if they are refused, and watch all kinds', async () => {
    await Promise.all(['p1', 'p2', 'p3', 'p4', 'p5'].map((name) => createPod(name)));
    const pace = { pageSize: 2 };
    const listed: string[] = [];
    const recorded: Api = { ...api, request: (request) => (listed.push(request.path), api.request(request)) };
    const stream: Api['stream'] = (path, options) =>
      api.stream(path.replace('resourceVersionMatch=NotOlderThan', 'resourceVersionMatch=Unknown'), options);
    const source = new Informer(recorded, pods, silentLogger, pace);
    const paged = new Informer({ ...api, stream }, pods, silentLogger, pace);
    const others = [
      paged,
      new Informer(api, networkDefinitions, silentLogger, pace),
      new Informer(api, subnets, silentLogger, pace),
      new Informer(api, ips, silentLogger, pace),
      new Informer(api, nodes, silentLogger, pace),
      new Informer(api, ipPools, silentLogger, pace),
      new Informer(api, vips, silentLogger, pace),
      new Informer(api, statefulSets, silentLogger, pace),
      new Informer(api, namespaces, silentLogger, pace),
    ];
    for (const each of [source, ...others]) void each.run(stop.signal);
    await until(() => source.hasSynced && others.every(({ hasSynced }) => hasSynced));
    expect([source.objects.size, paged.objects.size, listed]).to.deep.equal([5, 5, []]);
    await createPod('p6', { 'k8s.v1.cni.cncf.io/networks': 'macvlan' });
    await until(() => source.objects.get('default/p6')?.annotations['k8s.v1.cni.cncf.io/networks'] === 'macvlan');
    await deletePod('p1');
    await until(() => !source.objects.has('default/p1'));
  });

  it('virtual machines are listed and watched with only their metadata', async () => {
    for (const definition of virtualMachineCrds) {
      const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
      await createObject(admin, { path, body: definition, signal: stop.signal });
    }
    const path = '/apis/kubevirt.io/v1/namespaces/default/virtualmachines';
    const create = (name: string) =>
      createObject(admin, {
        path,
        body: { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata: { name }, spec: { running: true } },
        signal: stop.signal,
      });
    const fields: string[][] = [];
    const parse = (raw: unknown) => (fields.push(Object.keys(raw as object)), virtualMachines.parse(raw));
    const startInformer = () => {
      const machines = new Informer(api, { ...virtualMachines, parse }, silentLogger, { missingKindMs: 100 });
      void machines.run(stop.signal);
      return machines;
    };
    const machines = startInformer();
    await until(() => machines.resourceVersion !== undefined);
    await eventually(() => create('listed'));
    await until(() => machines.objects.has('default/listed'));
    const later = startInformer();
    await until(() => later.objects.has('default/listed'));
    await create('watched');
    await until(() => machines.objects.has('default/watched'));
    await deleteObject(
      admin,
      objectPath(path, 'listed'),
      machines.objects.get('default/listed')?.uid ?? '',
      stop.signal,
    );
    await until(() => !machines.objects.has('default/listed'));
    for (const each of fields) expect(each).to.have.members(['kind', 'apiVersion', 'metadata']);
  });

  it('the members of a StatefulSet are read', async () => {
    const path = '/apis/apps/v1/namespaces/default/statefulsets';
    const labels = { app: 'web' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'none' }] } };
    const spec = { selector: { matchLabels: labels }, serviceName: 'web', template, ordinals: { start: 3 } };
    await createObject(admin, { path, body: { metadata: { name: 'web' }, spec }, signal: stop.signal });
    const set = toStatefulSet(await readObject(api, objectPath(path, 'web'), stop.signal));
    expect(set).to.include({ name: 'web', deleting: false, replicas: 1, firstOrdinal: 3 });
  });

  it('the deletion history has deleted objects with their deletion timestamp, and no lost objects', async () => {
    const source = new Informer(api, pods, silentLogger);
    void source.run(stop.signal);
    const names = ['graceful', 'forced', 'lost'];
    for (const name of names) await createPod(name);
    await until(() => names.every((name) => source.objects.has(`default/${name}`)));
    const { resourceVersion = '' } = source;
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
    const deleted: string[] = [];
    for await (const { name, deletionTimestamp } of deletedSince(api, pods, {
      version: resourceVersion,
      signal: stop.signal,
    }))
      deleted.push(`${name} ${deletionTimestamp === '' ? 'lost' : 'deleted'}`);
    expect(deleted).to.deep.equal(['graceful deleted', 'forced deleted', 'lost lost']);
  });

  it('the server reports its earliest version when the requested one is too old', async () => {
    const vip = (name: string): string => objectPath(vips.path, name);
    const body = { apiVersion: 'kubeovn.io/v1', kind: 'Vip', metadata: { name: 'early' }, spec: { subnet: 'lan' } };
    await createObject(admin, { path: vips.path, body, signal: stop.signal });
    const { uid } = vips.parse(await readObject(admin, vip('early'), stop.signal));
    await deleteObject(admin, vip('early'), uid, stop.signal);
    const version = '1'; // is older than the first Vip and than the watch of Vips
    let first = '';
    for await (const { name } of deletedSince(api, vips, { version, signal: stop.signal })) {
      first = name;
      break;
    }
    expect(first).to.equal('early');
  });

  it('a terminating namespace rejects Events and accepts annotations', async () => {
    await cluster.kubectl(['create', 'namespace', 'doomed']);
    const path = '/api/v1/namespaces/doomed/pods';
    const finalizers = ['example.com/wait'];
    const manifest = { metadata: { name: 'doomed', finalizers }, spec: { containers: [{ name: 'c', image: 'none' }] } };
    await createObject(admin, { path, body: manifest, signal: stop.signal });
    await cluster.kubectl(['delete', 'namespace', 'doomed', '--wait=false']);
    const event = { metadata: { name: 'e', namespace: 'doomed' }, involvedObject: { namespace: 'doomed' } };
    const events = { path: '/api/v1/namespaces/doomed/events', body: event, signal: stop.signal };
    expect(await failure(createObject(api, events))).to.include({ reaction: 'denied' });
    const body = { metadata: { annotations: { 'lan.default.kubernetes.io/allocated': 'true' } } };
    await mergePatch(api, { path: `${path}/doomed`, body, signal: stop.signal });
  });

  it('a patch changes the Pod of its uid, and no other Pod of the same name', async () => {
    await createPod('patched', { 'macvlan.default.kubernetes.io/mac_address': '02:00:00:00:00:09' });
    const path = podPath('default', 'patched');
    const pod = toPod(await readObject(api, path, stop.signal));
    const { patch: body } = podPatch(pod, [heldAllocation('patched', { uid: pod.ledgerUid })], () => undefined);
    await mergePatch(api, { path, body, signal: stop.signal });
    const patched = toPod(await readObject(api, path, stop.signal));
    expect(patched.annotations).to.deep.equal({
      'macvlan.default.kubernetes.io/ip_address': '10.0.0.2',
      'macvlan.default.kubernetes.io/cidr': '10.0.0.0/24',
      'macvlan.default.kubernetes.io/gateway': '10.0.0.1',
      'macvlan.default.kubernetes.io/allocated': 'true',
      'macvlan.default.kubernetes.io/routed': 'true',
    });
    expect(podPatch(patched, [heldAllocation('patched', { uid: pod.ledgerUid })], () => undefined).patch).to.equal(
      undefined,
    );
    const { patch: stale } = podPatch(
      podNamed('patched', { uid: 'another' }),
      [heldAllocation('patched', { uid: 'another' })],
      () => undefined,
    );
    expect(await failure(mergePatch(api, { path, body: stale, signal: stop.signal }))).to.include({
      field: 'metadata.uid',
      reaction: 'changed',
    });
  });

  it('IP objects are created, changed and deleted', async () => {
    const manifest = ipManifest(heldAllocation('a'), '');
    const path = objectPath(ips.path, 'a.default.macvlan.default');
    await createObject(api, { path: ips.path, body: manifest, signal: stop.signal });
    const object = ips.parse(await readObject(admin, path, stop.signal));
    expect(object).to.include({ allocation: '7', name: 'a.default.macvlan.default' });
    expect(await failure(createObject(api, { path: ips.path, body: manifest, signal: stop.signal }))).to.include({
      reaction: 'changed',
    });
    await mergePatch(api, { path, body: ipManifest(heldAllocation('a'), 'node-1'), signal: stop.signal });
    const placed = ips.parse(await readObject(admin, path, stop.signal));
    expect(showsAllocation(placed, heldAllocation('a'), 'node-1')).to.equal(true);
    expect(await failure(deleteObject(api, path, 'another-uid', stop.signal))).to.include({ reaction: 'changed' });
    await deleteObject(api, path, object.uid, stop.signal);
    expect(await failure(deleteObject(api, path, object.uid, stop.signal))).to.include({ reaction: 'absent' });
  });

  it('the status of a Subnet has counts up to 2^63 - 1', async () => {
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
      cooldown: '',
      reserved: '0',
      reservedRange: '',
      quarantined: '0',
      quarantinedRange: '',
      free: '',
    };
    const path = `${objectPath(subnets.path, 'big')}/status`;
    await mergePatch(api, { path, body: statusPatch(usageCounts([usage], subnetFieldNames)), signal: stop.signal });
    const available = await cluster.kubectl(['get', 'subnet', 'big', '-o', 'jsonpath={.status.v6availableIPs}']);
    expect(available).to.equal('9223372036854775807');
  });

  it('the identifying fields of an IP object are immutable, and empty ones are filled in once', async () => {
    const spec = { podName: 'held', namespace: 'default', subnet: 'lan' };
    const path = objectPath(ips.path, 'held.default.lan.default');
    const body = { apiVersion: 'kubeovn.io/v1', kind: 'IP', metadata: { name: 'held.default.lan.default' }, spec };
    await createObject(admin, { path: ips.path, body, signal: stop.signal });
    const change = (fields: object): Promise<void> =>
      mergePatch(api, { path, body: { spec: fields }, signal: stop.signal });
    await change({ v4IpAddress: '10.0.0.2', ipAddress: '10.0.0.2' });
    for (const field of ['subnet', 'namespace', 'podName', 'podType', 'macAddress', 'v4IpAddress', 'v6IpAddress']) {
      const { reaction, message } = await failure(change({ [field]: 'other' }));
      expect({
        reaction,
        hasReason: message.includes(`ip held.default.lan.default ${field} can not change`),
      }).to.deep.equal({
        reaction: 'invalid',
        hasReason: true,
      });
    }
    await change({ nodeName: 'node-1' });
  });

  it('a Subnet keeps unknown fields, and a field of the wrong type is rejected', async () => {
    const subnet = {
      apiVersion: 'kubeovn.io/v1',
      kind: 'Subnet',
      metadata: { name: 'kept' },
      spec: { cidrBlock: '10.0.0.0/24', dhcpV4Options: 'x' },
    };
    await createObject(admin, { path: subnets.path, body: subnet, signal: stop.signal });
    const stored = await readObject(admin, objectPath(subnets.path, 'kept'), stop.signal);
    expect(stored).to.have.nested.property('spec.dhcpV4Options', 'x');
    const wrong = { ...subnet, metadata: { name: 'wrong' }, spec: { excludeIps: '10.0.0.1' } };
    const error = await failure(createObject(admin, { path: subnets.path, body: wrong, signal: stop.signal }));
    expect(error).to.include({ reaction: 'invalid' });
    expect(error.message).to.contain('spec.excludeIps');
  });

  it('Events about Pods and Subnets are recorded', async () => {
    const events = new EventRecorder(api, silentLogger, stop.signal, { changedMs: 100 });
    await createPod('recorded');
    const { uid } = toPod(await readObject(api, podPath('default', 'recorded'), stop.signal));
    const record = (message: string): void =>
      events.record(
        { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'recorded', uid },
        { type: 'Warning', reason: 'Because', message },
      );
    const readEvents = async (): Promise<string> =>
      cluster.kubectl([
        'get',
        'events',
        '-A',
        '-o',
        'jsonpath={range .items[*]}{.involvedObject.name} {.count} {.message};{end}',
      ]);
    record('one');
    let text = '';
    while (!text.includes('recorded 1 one')) text = await readEvents();
    record('two');
    events.record(
      { apiVersion: 'kubeovn.io/v1', kind: 'Subnet', namespace: '', name: 'big', uid: 'u' },
      { type: 'Warning', reason: 'Why', message: 'bad' },
    );
    while (!text.includes('recorded 2 two') || !text.includes('big 1 bad')) text = await readEvents();
    expect(text).not.to.contain('recorded 1 one');
  });

  it('the watcher holds its Lease and reads Kube-OVN’s', async () => {
    const options = {
      api,
      namespace: 'kube-system',
      name: 'ipledger-pod-watcher',
      log: silentLogger,
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

  it('the check detects whether Kube-OVN’s controller renews its Lease', async () => {
    const look = kubeOvnControllerCheck(api);
    expect(await look(stop.signal)).to.equal('absent');
    const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
    const holderIdentity = 'kube-ovn-controller-0';
    const renewed = (ms: number) => new Date(Date.now() + ms).toISOString().replace('Z', '000Z');
    const body = {
      metadata: { name: 'kube-ovn-controller' },
      spec: { holderIdentity, leaseDurationSeconds: 3_600, renewTime: renewed(0) },
    };
    await createObject(admin, { path: leases, body, signal: stop.signal });
    expect(await look(stop.signal)).to.equal('unknown');
    const renewal = { spec: { renewTime: renewed(2_000) } };
    await mergePatch(admin, {
      path: objectPath(leases, 'kube-ovn-controller'),
      body: renewal,
      signal: stop.signal,
    });
    expect(await look(stop.signal)).to.have.property('holder', 'kube-ovn-controller-0');
  });

  it('the watcher has no other permissions', async () => {
    const pod = podPath('default', 'p2');
    expect(await failure(deleteObject(api, pod, 'u', stop.signal))).to.include({ status: 403, reaction: 'denied' });
    // Excludes Subnets: the watcher deletes the Subnets of deleted Networks.
    for (const { path } of [ipPools, vips])
      expect(await failure(deleteObject(api, objectPath(path, 'big'), 'u', stop.signal)), path).to.include({
        status: 403,
      });
    expect(await failure(readObject(api, objectPath(ips.path, 'p.default'), stop.signal))).to.include({ status: 403 });
    expect(await failure(readObject(api, '/api/v1/secrets', stop.signal))).to.include({ status: 403 });
  });
});
