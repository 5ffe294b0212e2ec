import { expect } from 'chai';
import { asRecord, asText, type UntypedJson } from '../../../../lib/kubernetes/untyped-json.ts';
import { type Ovn4nfvNetwork, toOvn4nfvNetwork } from '../../kubernetes/objects/ovn4nfv-network.ts';
import { type SubnetObject, toSubnet } from '../../kubernetes/objects/subnet.ts';
import { appliedSubnet, FakeInformer, silentLogger, until } from '../../testing/fakes.ts';
import { SubnetCache } from '../subnets/subnet-cache.ts';
import { NetworkController } from './network-controller.ts';

const finalizers = ['ipledger.io/ledger'];

describe('The controller of OVN4NFV Networks', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  /** Makes a world in which Subnets are in force at once, unless they are late or refused. */
  function world({ refusal, isLate = false }: { refusal?: string; isLate?: boolean } = {}) {
    const objects = new FakeInformer<Ovn4nfvNetwork>();
    const subnetObjects = new FakeInformer<SubnetObject>();
    const subnets = new SubnetCache(subnetObjects.objects);
    const statuses = new Map<string, UntypedJson>();
    const written: string[] = [];
    const raw = new Map<string, UntypedJson>();
    const putSubnet = (object: UntypedJson): void => {
      const subnet = toSubnet(object);
      raw.set(subnet.name, object);
      if (isLate) return subnetObjects.put(subnet);
      if (refusal === undefined) subnets.accepted(appliedSubnet(subnet.name, subnet.spec.provider), 1);
      else subnets.refused(subnet.name, refusal);
      subnetObjects.put(subnet);
    };
    const controller = new NetworkController({
      objects,
      subnetObjects,
      subnets,
      write: (network, body) => {
        const patch = asRecord(body['metadata']);
        objects.put({ ...network, ...('finalizers' in patch && { finalizers: patch['finalizers'] as string[] }) });
        return Promise.resolve();
      },
      writeStatus: ({ namespace, name }, status) => {
        statuses.set(`${namespace}/${name}`, { ...statuses.get(`${namespace}/${name}`), ...status });
        return Promise.resolve();
      },
      createSubnet: (manifest) => {
        written.push(`create ${manifest.metadata.name}`);
        putSubnet({ ...manifest, metadata: { ...manifest.metadata, uid: 'uid-of-subnet' } });
        return Promise.resolve();
      },
      patchSubnet: ({ name }, body) => {
        written.push(`patch ${name}`);
        const before = asRecord(raw.get(name));
        putSubnet({ ...before, ...body, metadata: { ...asRecord(before['metadata']), ...asRecord(body['metadata']) } });
        return Promise.resolve();
      },
      deleteSubnet: (subnet) => {
        written.push(`delete ${subnet.name}`);
        subnetObjects.put({ ...subnet, deleting: true });
        return Promise.resolve();
      },
      recordEvent: () => undefined,
      log: silentLogger,
      signal: stop.signal,
    });
    void controller.start();
    const conditionOf = (key: string, type: string): UntypedJson | undefined =>
      ((statuses.get(key)?.['conditions'] ?? []) as UntypedJson[]).find((each) => each['type'] === type);
    const messageOf = (key: string): string => asText(conditionOf(key, 'Ready')?.['message']);
    return { objects, subnetObjects, subnets, statuses, written, putSubnet, messageOf };
  }

  const network = (key = 'default/net', generation = 1, subnet = '172.16.44.0/24'): Ovn4nfvNetwork => {
    const [namespace = '', name = ''] = key.split('/');
    const range = { subnet, gateway: '172.16.44.1/24', excludeIps: '172.16.44.2' };
    const metadata = { namespace, name, uid: `uid-${key}`, generation, finalizers };
    return toOvn4nfvNetwork({ metadata, spec: { cniType: 'ovn4nfv', ipv4Subnets: [range] } });
  };

  it('The controller of OVN4NFV Networks makes a Subnet with the provider of OVN4NFV, and shows Created', async () => {
    const { objects, subnetObjects, statuses } = world();
    objects.put({ ...network(), finalizers: [] });
    await until(() => statuses.get('default/net')?.['state'] === 'Created');
    expect(subnetObjects.objects.get('net')?.spec).to.include({
      provider: 'ovn4nfv.kube-system.ovn',
      cidrBlock: '172.16.44.0/24',
      gateway: '172.16.44.1',
    });
    expect(objects.objects.get('default/net')?.finalizers).to.deep.equal(finalizers);
  });

  it('The controller of OVN4NFV Networks shows Created only when the Subnet is in force', async () => {
    const { objects, subnets, subnetObjects, statuses } = world({ isLate: true });
    objects.put(network());
    await until(() => subnetObjects.objects.has('net'));
    await new Promise((resolve) => setImmediate(resolve));
    expect([...statuses]).to.deep.equal([]);
    subnets.accepted(appliedSubnet('net'), 1);
    subnetObjects.put(subnetObjects.objects.get('net') as SubnetObject);
    await until(() => statuses.get('default/net')?.['state'] === 'Created');
  });

  it('The controller of OVN4NFV Networks writes the Subnet once for each spec, and keeps its normal form', async () => {
    const { objects, written, statuses } = world();
    objects.put(network());
    await until(() => statuses.has('default/net'));
    objects.put({ ...network(), resourceVersion: '2' });
    objects.put(network('default/net', 2, '172.16.45.0/24'));
    await until(() => written.includes('patch net'));
    expect(written).to.deep.equal(['create net', 'patch net']);
  });

  it('The controller of OVN4NFV Networks shows that its Subnet is being deleted', async () => {
    const { objects, subnetObjects, statuses, messageOf } = world();
    objects.put(network());
    await until(() => statuses.get('default/net')?.['state'] === 'Created');
    const subnet = subnetObjects.objects.get('net');
    if (subnet) subnetObjects.put({ ...subnet, deleting: true });
    await until(() => messageOf('default/net') === 'Subnet net is being deleted: wait until it is gone');
  });

  it('The controller of OVN4NFV Networks refuses a Network whose Subnet has another origin, and keeps that Subnet', async () => {
    const { objects, putSubnet, written, statuses, messageOf } = world();
    putSubnet({ metadata: { name: 'net', uid: 'own' }, spec: { cidrBlock: '10.0.0.0/24' } });
    objects.put(network());
    await until(() => messageOf('default/net') !== '');
    expect(messageOf('default/net')).to.equal(
      'there is a Subnet net, which no Network made: give this Network another name',
    );
    await until(() => statuses.get('default/net')?.['state'] === 'CreateInternalError');
    objects.put({ ...network(), deleting: true });
    await until(() => objects.objects.get('default/net')?.finalizers.length === 0);
    expect(written).to.deep.equal([]);
  });

  it('The controller of OVN4NFV Networks refuses a Network with the name of a ledger Subnet whose object is missing', async () => {
    const { objects, subnets, messageOf } = world();
    subnets.onEvents([{ kind: 'subnet-configured', subnet: appliedSubnet('net', 'ovn') }], 51);
    objects.put(network());
    await until(() => messageOf('default/net') !== '');
    expect(messageOf('default/net')).to.match(/^there is a Subnet net, which no Network made: /);
  });

  it('The controller of OVN4NFV Networks refuses a Network with the name of another namespace’s Network', async () => {
    const { objects, statuses, messageOf } = world();
    objects.put(network());
    await until(() => statuses.has('default/net'));
    objects.put(network('other/net'));
    await until(() => messageOf('other/net') !== '');
    expect(messageOf('other/net')).to.match(/^there is a Subnet net, which Network default\/net made/);
  });

  it('The controller of OVN4NFV Networks shows why the Subnet was rejected', async () => {
    const { objects, messageOf } = world({ refusal: 'the gateway is outside' });
    objects.put(network());
    await until(() => messageOf('default/net') !== '');
    expect(messageOf('default/net')).to.equal('Subnet net is rejected: the gateway is outside');
  });

  it('The controller of OVN4NFV Networks deletes the Subnet with its Network, which stays until the Subnet is removed', async () => {
    const { objects, subnetObjects, written, statuses, messageOf } = world();
    objects.put(network());
    await until(() => statuses.has('default/net'));
    objects.put({ ...network(), deleting: true });
    await until(() => messageOf('default/net') !== '');
    expect(messageOf('default/net')).to.match(/stays while its addresses are in use: delete the Pods/);
    expect(objects.objects.get('default/net')?.finalizers).to.deep.equal(finalizers);
    const subnet = subnetObjects.objects.get('net');
    if (subnet) subnetObjects.drop(subnet);
    await until(() => objects.objects.get('default/net')?.finalizers.length === 0);
    expect(written).to.deep.equal(['create net', 'delete net']);
  });

  it('The controller of OVN4NFV Networks deletes no Subnet when the API server loses its Networks', async () => {
    const { objects, subnetObjects, written, statuses } = world();
    objects.put(network());
    await until(() => statuses.has('default/net'));
    objects.drop(network(), false);
    objects.put(network('default/marker'));
    await until(() => subnetObjects.objects.has('marker'));
    expect(written).to.deep.equal(['create net', 'create marker']);
  });
});
