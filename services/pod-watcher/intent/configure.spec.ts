import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Input } from '../../../proto/codec.ts';
import type { ApplySubnetRequest } from '../../../proto/ipledger.ts';
import { FakeSource, inForce, silent, subnetNamed, until } from '../fakes.ts';
import type { SubnetObject } from '../kubernetes/kept-objects.ts';
import type { NetworkDefinition, NodeObject } from '../kubernetes/objects.ts';
import { type Raw, record } from '../../../lib/raw.ts';
import type { SubnetInForce } from '../ledger/facts.ts';
import type { Condition } from './conditions.ts';
import { Configurer } from './configure.ts';
import { Subnets } from './subnets.ts';

describe('the Subnet objects', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  function world(known: SubnetInForce[] = []) {
    const objects = new FakeSource<SubnetObject>();
    const subnets = new Subnets(objects.objects);
    const applied: Input<ApplySubnetRequest>[] = [];
    const deleted: string[] = [];
    const written: { name: string; ready: string; message: string }[] = [];
    const networks = new FakeSource<NetworkDefinition>();
    const overlaps = new Map<string, Pick<Condition, 'status' | 'message'>>();
    const shown: Raw[] = [];
    const nodes = new Map<string, NodeObject>();
    const said: string[] = [];
    const rung = new Set<string>();
    const answers: { refuse?: IpledgerError } = {};
    const configurer = new Configurer({
      allocator: {
        applySubnet: (request) => {
          applied.push(request);
          if (answers.refuse) return Promise.reject(answers.refuse);
          const normalised = inForce(request.name ?? '', request.spec?.provider || 'ovn').spec;
          const spec = { ...normalised, cidrBlock: request.spec?.cidrBlock ?? '' };
          return Promise.resolve({
            position: { epoch: 1, seq: 99, hash: '' },
            subnet: { name: request.name ?? '', spec, source: { uid: 'u', generation: 1 }, usage: [], fenced: [] },
          });
        },
        deleteSubnet: (name) => {
          deleted.push(name);
          return answers.refuse ? Promise.reject(answers.refuse) : Promise.resolve();
        },
      },
      objects,
      networks,
      subnets,
      ring: (topic) => rung.add(topic),
      surroundings: () => ({ apiServer: '10.96.0.1', nodes }),
      // What is written comes back, as from the API server.
      write: (object, body) => {
        shown.push(body);
        const { finalizers, deletionTimestamp } = {
          ...object,
          ...record(body['metadata']),
          deletionTimestamp: undefined,
        };
        const metadata = { generation: object.generation + (body['spec'] ? 1 : 0), finalizers, deletionTimestamp };
        const next = subnetNamed(object.name, { ...object.spec, ...object.overlay, ...record(body['spec']) }, metadata);
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
      say: (_subnet, { message }) => said.push(message),
      log: silent,
      signal: stop.signal,
    });
    for (const reader of [subnets, configurer])
      reader.snapshot({ seq: 50, holdings: [], subnets: known, pools: [], reservations: [] });
    return {
      objects,
      subnets,
      applied,
      deleted,
      written,
      shown,
      nodes,
      said,
      rung,
      answers,
      networks,
      overlaps,
      configurer,
    };
  }

  it('become the ledger’s subnets, and say that they are in force', async () => {
    const { objects, subnets, applied, written, rung, configurer } = world();
    objects.put(subnetNamed('macvlan', { excludeIps: ['10.0.0.2..10.0.0.9'], gateway: '10.0.0.1' }));
    await configurer.start();
    await until(() => written.length > 0);
    expect(applied.slice(0, 1)).to.deep.equal([
      {
        name: 'macvlan',
        spec: {
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
    expect([...rung]).to.deep.equal(['subnet:macvlan', 'provider:macvlan.default']);
  });

  it('are applied again when their spec changes, not when their status does', async () => {
    const { objects, applied, written, configurer } = world();
    const spec = { gateway: '10.0.0.1', excludeIps: ['10.0.0.1'], protocol: 'IPv4' };
    const finalizers = ['ipledger.io/ledger'];
    objects.put(subnetNamed('macvlan', spec, { finalizers }));
    await configurer.start();
    objects.put(subnetNamed('macvlan', spec, { finalizers, resourceVersion: '2' }));
    objects.put(subnetNamed('macvlan', { ...spec, cidrBlock: '10.0.0.0/16' }, { finalizers, generation: 2 }));
    await until(() => applied.length > 1 && written.length > 1);
    expect(applied.map(({ source }) => source?.generation)).to.deep.equal([1, 2]);
  });

  it('pass cooldown, bindingTimeout and the limit of a namespace to the ledger, and each change of them', async () => {
    const { objects, applied, configurer } = world();
    const finalizers = ['ipledger.io/ledger'];
    const spec = { gateway: '10.0.0.1', excludeIps: ['10.0.0.1'], protocol: 'IPv4' };
    objects.put(
      subnetNamed('macvlan', { ...spec, cooldownSeconds: 300, bindingTimeoutSeconds: 7_200 }, { finalizers }),
    );
    await configurer.start();
    expect(applied[0]?.spec).to.include({ cooldownMs: 300_000, bindingTimeoutMs: 7_200_000 });
    objects.put(subnetNamed('macvlan', { ...spec, maxAddressesPerNamespace: 5 }, { finalizers, generation: 2 }));
    await until(() => applied.length === 2);
    expect(applied[1]?.spec).to.include({ maxAddressesPerNamespace: 5 });
    expect(applied[1]?.spec).to.not.have.any.keys('cooldownMs', 'bindingTimeoutMs');
  });

  it('with a cooldown that is no number of seconds are refused with a condition and an Event', async () => {
    const { objects, applied, written, said, configurer } = world();
    objects.put(subnetNamed('macvlan', { cooldownSeconds: '5m' }));
    await configurer.start();
    await until(() => written.length > 0);
    const message = 'spec.cooldownSeconds must be a whole number from 0 to 2592000, and is "5m"';
    expect(written[0]).to.deep.equal({ name: 'macvlan', ready: 'False', message });
    expect(said).to.deep.equal([message]);
    expect(applied).to.deep.equal([]);
  });

  for (const asked of [{ private: true }, { allowSubnets: ['10.1.0.0/16'] }])
    it(`with ${JSON.stringify(asked)} are in force, and an Event says that it has no effect`, async () => {
      const { objects, said, written, configurer } = world();
      objects.put(subnetNamed('macvlan', asked, { finalizers: ['ipledger.io/ledger'] }));
      await configurer.start();
      await until(() => written.length > 0);
      expect(written[0]).to.include({ ready: 'True' });
      expect(said[0]).to.match(
        /^spec\.private and spec\.allowSubnets of Subnet macvlan have no effect: ipledger gives addresses and filters no packets\. Separate/,
      );
    });

  it('say why their spec is not in force, on the condition and in an Event', async () => {
    const { objects, subnets, written, said, answers, configurer } = world();
    answers.refuse = new IpledgerError('SUBNET_INVALID', 'subnet macvlan cidr 10.0.0.0/99 is invalid');
    objects.put(subnetNamed('macvlan', { cidrBlock: '10.0.0.0/99' }));
    await configurer.start();
    await until(() => written.length > 0);
    expect(written[0]).to.deep.equal({
      name: 'macvlan',
      ready: 'False',
      message: 'subnet macvlan cidr 10.0.0.0/99 is invalid',
    });
    expect(said).to.deep.equal(['subnet macvlan cidr 10.0.0.0/99 is invalid']);
    expect(subnets.whyNot('macvlan.default')).to.equal(
      'Subnet macvlan is not in force: subnet macvlan cidr 10.0.0.0/99 is invalid',
    );
  });

  it('show how the ledger understood them, and are held from then on', async () => {
    const { objects, shown, written, applied, configurer } = world();
    objects.put(subnetNamed('macvlan', {}, { resourceVersion: '7', finalizers: ['example.com/other'] }));
    await configurer.start();
    await until(() => written.length > 0);
    expect(shown).to.deep.equal([
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

  it('get the defaults of Kube-OVN’s own networks only when they are of those', async () => {
    const { objects, shown, written, configurer } = world();
    objects.put(subnetNamed('overlay', { provider: '' }));
    objects.put(subnetNamed('custom', { provider: 'ovn', vpc: 'mine' }));
    await configurer.start();
    await until(() => written.length > 1);
    const specs = shown.map((body) => record(body['spec']));
    expect(specs[0]).to.include({ provider: 'ovn', vpc: 'ovn-cluster', gatewayType: 'distributed' });
    expect(specs[1]).to.not.have.any.keys('provider', 'vpc', 'gatewayType');
  });

  it('may not have the address of the Kubernetes API, nor an overlay those of Nodes, and have their own vips', async () => {
    const { objects, applied, said, nodes, configurer } = world();
    nodes.set('n', {
      namespace: '',
      name: 'n',
      uid: 'u',
      resourceVersion: '1',
      outOfServiceSince: undefined,
      addresses: ['192.168.1.10', 'fd00::1'],
    });
    objects.put(subnetNamed('services', { cidrBlock: '10.96.0.0/12' }));
    objects.put(subnetNamed('overlay', { cidrBlock: '192.168.1.0/24', provider: 'ovn' }));
    objects.put(subnetNamed('underlay', { cidrBlock: '192.168.1.0/24', provider: 'ovn', vlan: 'v' }));
    objects.put(subnetNamed('wire', { cidrBlock: '192.168.1.0/24', vips: ['192.168.1.7'] }));
    objects.put(subnetNamed('vips', { vips: ['10.0.1.7', 'FD00::7'] }));
    await configurer.start();
    expect(said).to.deep.equal([
      'subnet services cidr 10.96.0.0/12 conflicts with k8s apiserver svc ip 10.96.0.1',
      'subnet overlay cidr 192.168.1.0/24 conflicts with node n address 192.168.1.10',
      'vip 10.0.1.7 conflicts with subnet vips cidr 10.0.0.0/24; subnet vips vips FD00::7 v6 ip address can not contain upper case',
    ]);
    expect(new Set(applied.map(({ name }) => name))).to.deep.equal(new Set(['underlay', 'wire']));
  });

  it('are not guessed at when a field is of the wrong type', async () => {
    const { objects, applied, written, configurer } = world();
    objects.put(subnetNamed('macvlan', { excludeIps: '10.0.0.1' }));
    await configurer.start();
    await until(() => written.length > 0);
    expect(applied).to.deep.equal([]);
    expect(written[0]?.message).to.equal('spec.excludeIps must be a list of texts, and is "10.0.0.1"');
  });

  it('stay while something of their subnet is held, say who holds it, and go with the last', async () => {
    const { objects, deleted, shown, written, said, answers, configurer } = world([inForce('macvlan')]);
    answers.refuse = new IpledgerError('SUBNET_IN_USE', 'held, the first by Pod default/a');
    const finalizers = ['ipledger.io/ledger', 'kubeovn.io/kube-ovn-controller', 'example.com/other'];
    objects.put(subnetNamed('macvlan', {}, { deletionTimestamp: '2026-11-17T14:05:00Z', finalizers }));
    await configurer.start();
    expect(deleted).to.deep.equal(['macvlan']);
    expect([said, shown]).to.deep.equal([['held, the first by Pod default/a'], []]);
    expect(written).to.deep.equal([{ name: 'macvlan', ready: 'False', message: 'held, the first by Pod default/a' }]);
    delete answers.refuse;
    configurer.facts([
      { kind: 'ended', seq: 7, subnet: 'macvlan', namespace: 'default', pod: 'a', uid: 'u', addresses: [] },
    ]);
    await until(() => shown.length === 1);
    expect(deleted).to.have.length.above(1);
    expect(record(shown[0]?.['metadata'])['finalizers']).to.deep.equal(['example.com/other']);
  });

  it('that were taken away by force are told of as long as somebody holds something', async () => {
    const { objects, deleted, said, answers, configurer } = world([inForce('macvlan')]);
    const forced = subnetNamed('macvlan');
    objects.put(forced);
    await configurer.start();
    answers.refuse = new IpledgerError('SUBNET_IN_USE', 'held, the first by Pod default/a');
    objects.drop(forced);
    await until(() => said.length > 0);
    expect(said).to.deep.equal(['held, the first by Pod default/a']);
    delete answers.refuse;
    configurer.facts([{ kind: 'unreserved', subnet: 'macvlan', address: '10.0.0.2', reservedFor: 'vip/a' }]);
    await until(() => deleted.length === 2);
  });

  it('leave alone a subnet that an operator configured', async () => {
    const { deleted, subnets, configurer } = world([{ ...inForce('by-hand'), source: undefined }, inForce('orphan')]);
    await configurer.start();
    expect(deleted).to.deep.equal(['orphan']);
    expect(subnets.servingProvider('macvlan.default')).to.deep.equal(['by-hand']);
  });

  it('retire their subnet also when they went before the ledger told of it', async () => {
    const { subnets, deleted, configurer } = world();
    await configurer.start();
    const late = [inForce('late'), { ...inForce('by-hand'), source: undefined }];
    for (const reader of [subnets, configurer])
      reader.facts(
        late.map((subnet) => ({ kind: 'configured', subnet })),
        99,
      );
    await until(() => deleted.length > 0);
    expect(deleted).to.deep.equal(['late']);
  });

  it('are tried again when the ledger does not answer', async () => {
    const { objects, applied, written, answers, configurer } = world();
    answers.refuse = new IpledgerError('UNAVAILABLE', 'gone away');
    objects.put(subnetNamed('macvlan'));
    await configurer.start();
    expect(written).to.deep.equal([]);
    expect(applied).to.have.length(1);
    delete answers.refuse;
    await until(() => written.length === 1);
  });

  it('serve in the order of their names, and not while they are being deleted', () => {
    const { objects, subnets } = world(['b', 'c', 'a'].map((name) => inForce(name)));
    for (const name of ['c', 'a']) objects.put(subnetNamed(name));
    objects.put(subnetNamed('b', {}, { deletionTimestamp: '2026-11-17T14:05:00Z' }));
    expect(subnets.servingProvider('macvlan.default')).to.deep.equal(['a', 'c']);
    expect(subnets.whyNotServing('b')).to.equal('Subnet b is being deleted');
  });

  it('on one wire and with the same addresses warn in a condition that names the other, until one of them goes', async () => {
    const { objects, networks, overlaps, configurer } = world([inForce('a', 'a.default'), inForce('b', 'b.default')]);
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
    await configurer.start();
    const both = (status: string) => ['a', 'b'].every((name) => overlaps.get(name)?.status === status);
    await until(() => both('True'));
    expect(overlaps.get('a')?.message).to.match(
      /^Subnet a and Subnet b give the same addresses on one wire \(eth1\): NetworkAttachmentDefinitions default\/a and default\/b both .*\. Serve both networks by one .*, or separate the Subnets by cidrBlock or excludeIps$/,
    );
    network('b', 'eth2');
    await until(() => both('False'));
    expect(overlaps.get('a')?.message).to.equal('');
  });
});
