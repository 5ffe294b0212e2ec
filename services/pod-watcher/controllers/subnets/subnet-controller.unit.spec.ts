import { expect } from 'chai';
import { noBindingTimeoutMs } from '../../../../ledger/domain/commands/command.ts';
import { fakeLedgerClient } from '../../../../lib/ledger-client/testing/fake-ledger-client.ts';
import { IpledgerError } from '../../../../lib/errors.ts';
import type { MessageInput } from '../../../../proto/codec.ts';
import type { ApplySubnetRequest } from '../../../../proto/generated/ipledger.ts';
import { FakeInformer, appliedSubnet, silentLogger, subnetNamed, until } from '../../testing/fakes.ts';
import type { SubnetObject } from '../../kubernetes/objects/subnet.ts';
import type { NetworkDefinition } from '../../kubernetes/objects/network-definition.ts';
import type { NodeObject } from '../../kubernetes/objects/node.ts';
import { type UntypedJson, asRecord } from '../../../../lib/kubernetes/untyped-json.ts';
import type { AppliedSubnet } from '../../ledger/ledger-events.ts';
import type { Condition } from '../object-controller/conditions.ts';
import { SubnetController } from './subnet-controller.ts';
import { SubnetCache } from './subnet-cache.ts';

describe('a Subnet object', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  /** @param conflict why Kube-OVN may give the addresses of each Subnet */
  function world(present: AppliedSubnet[] = [], conflict?: string) {
    const objects = new FakeInformer<SubnetObject>();
    const subnets = new SubnetCache(objects.objects);
    const applied: MessageInput<ApplySubnetRequest>[] = [];
    const deleted: string[] = [];
    const written: { name: string; ready: string; message: string }[] = [];
    const networks = new FakeInformer<NetworkDefinition>();
    const overlaps = new Map<string, Pick<Condition, 'status' | 'message'>>();
    const patches: UntypedJson[] = [];
    const nodes = new Map<string, NodeObject>();
    const eventMessages: string[] = [];
    const wokenTopics = new Set<string>();
    const allocator: { refuse?: IpledgerError } = {};
    const controller = new SubnetController({
      allocator: fakeLedgerClient({
        applySubnet: (request) => {
          applied.push(request);
          if (allocator.refuse) return Promise.reject(allocator.refuse);
          const normalised = appliedSubnet(request.name ?? '', request.spec?.provider || 'ovn').spec;
          const spec = { ...normalised, cidrBlock: request.spec?.cidrBlock ?? '' };
          return {
            position: { epoch: 1, seq: 99, hash: '' },
            subnet: { name: request.name, spec, source: { uid: 'u', generation: 1 } },
          };
        },
        deleteSubnet: ({ name = '' }) => {
          deleted.push(name);
          return allocator.refuse ? Promise.reject(allocator.refuse) : {};
        },
      }),
      objects,
      networks,
      subnets,
      kubeOvn: { conflictOf: () => conflict, subscribe: () => undefined },
      wakeWaiters: (topic) => wokenTopics.add(topic),
      clusterAddresses: () => ({ apiServer: '10.96.0.1', nodes }),
      // Delivers what was written, as the informer does.
      write: (object, body) => {
        patches.push(body);
        const { finalizers, deletionTimestamp } = {
          ...object,
          ...asRecord(body['metadata']),
          deletionTimestamp: undefined,
        };
        const metadata = { generation: object.generation + (body['spec'] ? 1 : 0), finalizers, deletionTimestamp };
        const next = subnetNamed(
          object.name,
          { ...object.spec, ...object.overlay, ...asRecord(body['spec']) },
          metadata,
        );
        setImmediate(() => (object.deleting ? objects.drop(object) : objects.put({ ...next, status: object.status })));
        return Promise.resolve();
      },
      writeStatus: ({ name }, { conditions }) => {
        const overlap = (conditions as Condition[]).find(({ type }) => type === 'AddressOverlap');
        if (overlap) overlaps.set(name, overlap);
        const stored = objects.objects.get(name);
        if (overlap && stored) setImmediate(() => objects.put({ ...stored, status: { conditions } }));
        const ready = (conditions as Condition[]).find(({ type }) => type === 'Ready');
        written.push({ name, ready: ready?.status ?? '', message: ready?.message ?? '' });
        return Promise.resolve();
      },
      recordEvent: (_subnet, { message }) => eventMessages.push(message),
      log: silentLogger,
      signal: stop.signal,
    });
    for (const subscriber of [subnets, controller])
      subscriber.onSnapshot({ seq: 50, allocations: [], subnets: present, pools: [], reservations: [] });
    return {
      objects,
      subnets,
      applied,
      deleted,
      written,
      patches,
      nodes,
      eventMessages,
      wokenTopics,
      allocator,
      networks,
      overlaps,
      controller,
    };
  }

  it('a Subnet object is applied to the ledger, and shows that it is in force', async () => {
    const { objects, subnets, applied, written, wokenTopics, controller } = world();
    objects.put(subnetNamed('macvlan', { excludeIps: ['10.0.0.2..10.0.0.9'], gateway: '10.0.0.1' }));
    await controller.start();
    await until(() => written.length > 0);
    expect(applied.slice(0, 1)).to.deep.equal([
      {
        name: 'macvlan',
        spec: {
          bindingTimeoutMs: noBindingTimeoutMs,
          cidrBlock: '10.0.0.0/24',
          gateway: '10.0.0.1',
          excludeIps: ['10.0.0.2..10.0.0.9'],
          provider: 'macvlan.default',
          protocol: '',
        },
        source: { uid: 'uid-macvlan', generation: 1 },
      },
    ]);
    expect(subnets.servingProvider('macvlan.default')).to.deep.equal(['macvlan']);
    expect(written).to.deep.equal([{ name: 'macvlan', ready: 'True', message: '' }]);
    expect([...wokenTopics]).to.deep.equal(['subnet:macvlan', 'provider:macvlan.default']);
  });

  it('a Subnet object is applied again when its spec changes, and not when its status changes', async () => {
    const { objects, applied, written, controller } = world();
    const spec = { gateway: '10.0.0.1', excludeIps: ['10.0.0.1'], protocol: 'IPv4' };
    const finalizers = ['ipledger.io/ledger'];
    objects.put(subnetNamed('macvlan', spec, { finalizers }));
    await controller.start();
    objects.put(subnetNamed('macvlan', spec, { finalizers, resourceVersion: '2' }));
    objects.put(subnetNamed('macvlan', { ...spec, cidrBlock: '10.0.0.0/16' }, { finalizers, generation: 2 }));
    await until(() => applied.length > 1 && written.length > 1);
    expect(applied.map(({ source }) => source?.generation)).to.deep.equal([1, 2]);
  });

  it('a Subnet object passes cooldown, binding timeout, quota and probe to the ledger, and each change of them', async () => {
    const { objects, applied, controller } = world();
    const finalizers = ['ipledger.io/ledger'];
    const spec = { gateway: '10.0.0.1', excludeIps: ['10.0.0.1'], protocol: 'IPv4' };
    objects.put(
      subnetNamed('macvlan', { ...spec, cooldownSeconds: 300, bindingTimeoutSeconds: 7_200 }, { finalizers }),
    );
    await controller.start();
    expect(applied[0]?.spec).to.include({ cooldownMs: 300_000, bindingTimeoutMs: 7_200_000 });
    objects.put(
      subnetNamed(
        'macvlan',
        { ...spec, maxAddressesPerNamespace: 5, probeAddresses: true },
        { finalizers, generation: 2 },
      ),
    );
    await until(() => applied.length === 2);
    expect(applied[1]?.spec).to.include({ maxAddressesPerNamespace: 5, probeAddresses: true });
    expect(applied[1]?.spec).to.not.have.any.keys('cooldownMs');
    expect(applied[1]?.spec, 'an earlier allocator has another default').to.include({
      bindingTimeoutMs: noBindingTimeoutMs,
    });
  });

  it('a Subnet object with an invalid cooldown is rejected with a condition and an Event', async () => {
    const { objects, applied, written, eventMessages, controller } = world();
    objects.put(subnetNamed('macvlan', { cooldownSeconds: '5m' }));
    await controller.start();
    await until(() => written.length > 0);
    const message = 'spec.cooldownSeconds must be a whole number from 0 to 2592000, and is "5m"';
    expect(written[0]).to.deep.equal({ name: 'macvlan', ready: 'False', message });
    expect(eventMessages).to.deep.equal([message]);
    expect(applied).to.deep.equal([]);
  });

  for (const isolation of [{ private: true }, { allowSubnets: ['10.1.0.0/16'] }])
    it(`a Subnet object with ${JSON.stringify(isolation)} is in force, and an Event reports that the isolation has no effect`, async () => {
      const { objects, eventMessages, written, controller } = world();
      objects.put(subnetNamed('macvlan', isolation, { finalizers: ['ipledger.io/ledger'] }));
      await controller.start();
      await until(() => written.length > 0);
      expect(written[0]).to.include({ ready: 'True' });
      expect(eventMessages[0]).to.match(
        /^spec\.private and spec\.allowSubnets of Subnet macvlan have no effect: ipledger gives addresses and filters no packets\. Separate/,
      );
    });

  it('a Subnet object shows why its spec is not in force in a condition and an Event', async () => {
    const { objects, subnets, written, eventMessages, allocator, controller } = world();
    allocator.refuse = new IpledgerError('SUBNET_INVALID', 'subnet macvlan cidr 10.0.0.0/99 is invalid');
    objects.put(subnetNamed('macvlan', { cidrBlock: '10.0.0.0/99' }));
    await controller.start();
    await until(() => written.length > 0);
    expect(written[0]).to.deep.equal({
      name: 'macvlan',
      ready: 'False',
      message: 'subnet macvlan cidr 10.0.0.0/99 is invalid',
    });
    expect(eventMessages).to.deep.equal(['subnet macvlan cidr 10.0.0.0/99 is invalid']);
    expect(subnets.whyNot('macvlan.default')).to.equal(
      'Subnet macvlan is not in force: subnet macvlan cidr 10.0.0.0/99 is invalid',
    );
  });

  it('a Subnet object that conflicts with Kube-OVN before it is in force is rejected with the conflict alone', async () => {
    const { objects, applied, subnets, eventMessages, controller } = world([], 'Kube-OVN may give 10.0.0.9');
    objects.put(subnetNamed('macvlan'));
    await controller.start();
    expect(eventMessages).to.deep.equal(['Kube-OVN may give 10.0.0.9']);
    expect([applied, subnets.serves('macvlan')]).to.deep.equal([[], false]);
  });

  it('a Subnet object shows the spec in force, and gets a finalizer', async () => {
    const { objects, patches, written, applied, controller } = world();
    objects.put(subnetNamed('macvlan', {}, { resourceVersion: '7', finalizers: ['example.com/other'] }));
    await controller.start();
    await until(() => written.length > 0);
    expect(patches).to.deep.equal([
      {
        metadata: {
          uid: 'uid-macvlan',
          resourceVersion: '7',
          finalizers: ['example.com/other', 'ipledger.io/ledger'],
        },
        spec: { gateway: '10.0.0.1', excludeIps: ['10.0.0.1'], protocol: 'IPv4' },
      },
    ]);
    expect(applied.map(({ source }) => source?.generation)).to.deep.equal([1, 2]);
  });

  it('a Subnet object gets the defaults of Kube-OVN’s own networks only if it belongs to one', async () => {
    const { objects, patches, written, controller } = world();
    objects.put(subnetNamed('overlay', { provider: '' }));
    objects.put(subnetNamed('custom', { provider: 'ovn', vpc: 'mine' }));
    await controller.start();
    await until(() => written.length > 1);
    const specs = patches.map((body) => asRecord(body['spec']));
    expect(specs[0]).to.include({ provider: 'ovn', vpc: 'ovn-cluster', gatewayType: 'distributed' });
    expect(specs[1]).to.not.have.any.keys('provider', 'vpc', 'gatewayType');
  });

  it('a Subnet object is rejected if it contains the Kubernetes API’s address, as an overlay also Nodes, or lacks its vips', async () => {
    const { objects, applied, eventMessages, nodes, controller } = world();
    nodes.set('n', {
      namespace: '',
      name: 'n',
      uid: 'u',
      resourceVersion: '1',
      isOutOfService: false,
      addresses: ['192.168.1.10', 'fd00::1'],
    });
    objects.put(subnetNamed('services', { cidrBlock: '10.96.0.0/12' }));
    objects.put(subnetNamed('overlay', { cidrBlock: '192.168.1.0/24', provider: 'ovn' }));
    objects.put(subnetNamed('underlay', { cidrBlock: '192.168.1.0/24', provider: 'ovn', vlan: 'v' }));
    objects.put(subnetNamed('lan', { cidrBlock: '192.168.1.0/24', vips: ['192.168.1.7'] }));
    objects.put(subnetNamed('vips', { vips: ['10.0.1.7', 'FD00::7'] }));
    await controller.start();
    expect(eventMessages).to.deep.equal([
      'subnet services cidr 10.96.0.0/12 conflicts with k8s apiserver svc ip 10.96.0.1',
      'subnet overlay cidr 192.168.1.0/24 conflicts with node n address 192.168.1.10',
      'vip 10.0.1.7 conflicts with subnet vips cidr 10.0.0.0/24; subnet vips vips FD00::7 v6 ip address can not contain upper case',
    ]);
    expect(new Set(applied.map(({ name }) => name))).to.deep.equal(new Set(['underlay', 'lan']));
  });

  it('a Subnet object is rejected if a field has the wrong type', async () => {
    const { objects, applied, written, controller } = world();
    objects.put(subnetNamed('macvlan', { excludeIps: '10.0.0.1' }));
    await controller.start();
    await until(() => written.length > 0);
    expect(applied).to.deep.equal([]);
    expect(written[0]?.message).to.equal('spec.excludeIps must be a list of texts, and is "10.0.0.1"');
  });

  it('a Subnet object stays while an address is held, names the holder, and is deleted after the last release', async () => {
    const { objects, deleted, patches, written, eventMessages, allocator, controller } = world([
      appliedSubnet('macvlan'),
    ]);
    allocator.refuse = new IpledgerError('SUBNET_IN_USE', 'held, the first by Pod default/a');
    const finalizers = ['ipledger.io/ledger', 'kubeovn.io/kube-ovn-controller', 'example.com/other'];
    objects.put(subnetNamed('macvlan', {}, { deletionTimestamp: '2026-11-17T14:05:00Z', finalizers }));
    await controller.start();
    expect(deleted).to.deep.equal(['macvlan']);
    expect([eventMessages, patches]).to.deep.equal([['held, the first by Pod default/a'], []]);
    expect(written).to.deep.equal([{ name: 'macvlan', ready: 'False', message: 'held, the first by Pod default/a' }]);
    delete allocator.refuse;
    controller.onEvents([
      { kind: 'released', seq: 7, subnet: 'macvlan', namespace: 'default', pod: 'a', uid: 'u', addresses: [] },
    ]);
    await until(() => patches.length === 1);
    expect(deleted).to.have.length.above(1);
    expect(asRecord(patches[0]?.['metadata'])['finalizers']).to.deep.equal(['example.com/other']);
  });

  it('an Event reports a Subnet object that was deleted without its finalizer while an address is held', async () => {
    const { objects, deleted, eventMessages, allocator, controller } = world([appliedSubnet('macvlan')]);
    const deletedObject = subnetNamed('macvlan');
    objects.put(deletedObject);
    await controller.start();
    allocator.refuse = new IpledgerError('SUBNET_IN_USE', 'held, the first by Pod default/a');
    objects.drop(deletedObject);
    await until(() => eventMessages.length > 0);
    expect(eventMessages).to.deep.equal(['held, the first by Pod default/a']);
    delete allocator.refuse;
    controller.onEvents([{ kind: 'unreserved', subnet: 'macvlan', address: '10.0.0.2', reservedFor: 'vip/a' }]);
    await until(() => deleted.length === 2);
  });

  it('a subnet that an operator configured over gRPC needs no Subnet object', async () => {
    const { deleted, subnets, controller } = world([
      { ...appliedSubnet('manual'), source: undefined },
      appliedSubnet('orphan'),
    ]);
    await controller.start();
    expect(deleted).to.deep.equal(['orphan']);
    expect(subnets.servingProvider('macvlan.default')).to.deep.equal(['manual']);
  });

  it('a Subnet object is applied again after another client has deleted its subnet', async () => {
    const { objects, subnets, applied, controller } = world([appliedSubnet('macvlan')]);
    const spec = { gateway: '10.0.0.1', excludeIps: ['10.0.0.1'], protocol: 'IPv4' };
    objects.put(subnetNamed('macvlan', spec, { finalizers: ['ipledger.io/ledger'] }));
    await controller.start();
    const before = applied.length;
    for (const subscriber of [subnets, controller])
      subscriber.onEvents([{ kind: 'subnet-retired', subnet: 'macvlan' }], 100);
    await until(() => applied.length > before);
    expect(applied.at(-1)).to.include({ name: 'macvlan' });
  });

  it('the subnet of a Subnet object that was deleted before the ledger’s event is retired', async () => {
    const { subnets, deleted, controller } = world();
    await controller.start();
    const late = [appliedSubnet('late'), { ...appliedSubnet('manual'), source: undefined }];
    for (const subscriber of [subnets, controller])
      subscriber.onEvents(
        late.map((subnet) => ({ kind: 'subnet-configured', subnet })),
        99,
      );
    await until(() => deleted.length > 0);
    expect(deleted).to.deep.equal(['late']);
  });

  it('a Subnet object is applied again if the allocator does not answer', async () => {
    const { objects, applied, written, allocator, controller } = world();
    allocator.refuse = new IpledgerError('UNAVAILABLE', 'connection lost');
    objects.put(subnetNamed('macvlan'));
    await controller.start();
    expect(written).to.deep.equal([]);
    expect(applied).to.have.length(1);
    delete allocator.refuse;
    await until(() => written.length === 1);
  });

  it('Subnet objects serve in the order of names, and not while they are being deleted', () => {
    const { objects, subnets } = world(['b', 'c', 'a'].map((name) => appliedSubnet(name)));
    for (const name of ['c', 'a']) objects.put(subnetNamed(name));
    objects.put(subnetNamed('b', {}, { deletionTimestamp: '2026-11-17T14:05:00Z' }));
    expect(subnets.servingProvider('macvlan.default')).to.deep.equal(['a', 'c']);
    expect(subnets.whyNotServing('b')).to.equal('Subnet b is being deleted');
  });

  it('a Subnet object that is missing, or not in force yet, is named with that reason', () => {
    const { objects, subnets } = world();
    objects.put(subnetNamed('new'));
    expect(subnets.whyNotServing('new')).to.equal('Subnet new is not in force yet');
    expect(subnets.whyNotServing('nowhere')).to.equal('there is no Subnet nowhere');
  });

  it('a Subnet object names the other Subnet in its broadcast domain in a condition while their addresses overlap', async () => {
    const { objects, networks, overlaps, controller } = world([appliedSubnet('a', 'a.default')]);
    controller.onEvents([{ kind: 'subnet-configured', subnet: appliedSubnet('b', 'b.default') }]);
    const network = (name: string, master: string) => {
      const config = JSON.stringify({
        type: 'macvlan',
        master,
        ipam: { type: 'kube-ovn', provider: `${name}.default` },
      });
      networks.put({ namespace: 'default', name, uid: name, resourceVersion: '1', config });
    };
    for (const name of ['a', 'b']) {
      objects.put(subnetNamed(name, { provider: `${name}.default` }));
      network(name, 'eth1');
    }
    await controller.start();
    const both = (status: string) => ['a', 'b'].every((name) => overlaps.get(name)?.status === status);
    await until(() => both('True'));
    expect(overlaps.get('a')?.message).to.match(
      /^Subnet a and Subnet b give the same addresses in one broadcast domain \(eth1\): NetworkAttachmentDefinitions default\/a and default\/b both .*\. Serve both networks by one .*, or separate the Subnets by cidrBlock or excludeIps$/,
    );
    network('b', 'eth2');
    await until(() => both('False'));
    expect(overlaps.get('a')?.message).to.equal('');
  });
});
