import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { FakeSource, inForce } from '../fakes.ts';
import type { NetworkDefinition } from '../kubernetes/objects.ts';
import type { SubnetInForce } from '../ledger/facts.ts';
import { overlapMessage, WireWarnings } from './wire-warnings.ts';

function world() {
  const networks = new FakeSource<NetworkDefinition>();
  const changed: string[] = [];
  const warnings = new WireWarnings(networks, (name) => changed.push(name));
  const network = (name: string, plugin: object, resource = ''): NetworkDefinition => ({
    namespace: 'default',
    name,
    uid: name,
    resourceVersion: '1',
    config: JSON.stringify({ ...plugin, ipam: { type: 'kube-ovn', provider: `${name}.default` } }),
    ...(resource !== '' && { resource }),
  });
  const subnet = (name: string, cidrBlock: string, provider = `${name}.default`): SubnetInForce => {
    const { spec, source } = inForce(name, provider);
    return { name, spec: { ...spec, cidrBlock, excludeIps: [] }, source };
  };
  /** Whom each of these Subnets names, once all that changed has been looked at. */
  const others = async (...names: string[]): Promise<(string | undefined)[]> => {
    await turn();
    return names.map((name) => warnings.of(name)?.other.subnet);
  };
  /** Whose warning changed since the last time. */
  const changes = async (): Promise<string[]> => {
    await turn();
    return changed.splice(0).sort();
  };
  const configure = (...subnets: SubnetInForce[]) =>
    warnings.facts(subnets.map((each) => ({ kind: 'configured', subnet: each })));
  const start = () => {
    networks.put(network('a', { type: 'macvlan', master: 'eth1' }));
    networks.put(network('b', { type: 'ipvlan', master: 'eth1' }));
    configure(subnet('a', '10.0.0.0/16'), subnet('b', '10.0.7.0/24'));
  };
  return { networks, warnings, network, subnet, others, changes, configure, start };
}

describe('the warnings about shared wires', () => {
  it('come with the second Subnet, and name the other', async () => {
    const { others, changes, start } = world();
    start();
    expect(await changes()).to.deep.equal(['a', 'b']);
    expect(await others('a', 'b')).to.deep.equal(['b', 'a']);
  });

  it('come with the network, in whatever order all came', async () => {
    const { networks, network, subnet, others, configure } = world();
    configure(subnet('a', '10.0.0.0/16'), subnet('b', '10.0.7.0/24'));
    networks.put(network('b', { type: 'vlan', master: 'eth1', vlanId: 100 }));
    expect(await others('a', 'b')).to.deep.equal([undefined, undefined]);
    networks.put(network('a', { type: 'macvlan', master: 'eth1.100' }));
    expect(await others('a', 'b')).to.deep.equal(['b', 'a']);
  });

  it('cost no look where no Subnet serves the network that changes', async () => {
    const { networks, network, warnings, subnet, changes, configure, start } = world();
    start();
    await changes();
    let looks = 0;
    const counted = subnet('a', '10.0.0.0/16');
    const { spec } = counted;
    configure(Object.defineProperty({ ...counted }, 'spec', { get: () => ((looks += 1), spec) }));
    await changes();
    looks = 0;
    networks.put(network('c', { type: 'macvlan', master: 'eth1' }));
    networks.drop(network('c', {}));
    await changes();
    expect(looks).to.equal(0);
    expect(warnings.of('a')?.other.subnet).to.equal('b');
  });

  it('quote the beginning of a long wire', () => {
    const other = { subnet: 'b', network: 'default/b' };
    const message = overlapMessage('a', { wire: 'e'.repeat(60_000), network: 'default/a', other });
    expect(message.length).to.be.lessThan(600);
    expect(message).to.match(/Serve both networks by one NetworkAttachmentDefinition/);
  });

  it('go when a network moves to another wire, or is deleted', async () => {
    const { networks, network, others, changes, start } = world();
    start();
    await changes();
    networks.put(network('b', { type: 'macvlan', master: 'eth2' }));
    expect(await changes()).to.deep.equal(['a', 'b']);
    expect(await others('a', 'b')).to.deep.equal([undefined, undefined]);
    networks.put(network('b', { type: 'macvlan', master: 'eth1' }));
    expect(await others('a', 'b')).to.deep.equal(['b', 'a']);
    networks.drop(network('b', {}));
    expect(await others('a', 'b')).to.deep.equal([undefined, undefined]);
  });

  it('go when a Subnet is retired, is given other addresses, or serves another network', async () => {
    const { warnings, subnet, others, configure, start } = world();
    for (const change of [
      () => warnings.facts([{ kind: 'retired', subnet: 'b' }]),
      () => configure(subnet('b', '10.1.0.0/24')),
      () => configure(subnet('b', '10.0.7.0/24', 'elsewhere.default')),
    ]) {
      start();
      expect(await others('a')).to.deep.equal(['b']);
      change();
      expect(await others('a', 'b')).to.deep.equal([undefined, undefined]);
    }
  });

  it('follow a new snapshot of the ledger', async () => {
    const { warnings, subnet, others, start } = world();
    start();
    warnings.snapshot({ seq: 1, holdings: [], subnets: [subnet('a', '10.0.0.0/16')], pools: [], reservations: [] });
    expect(await others('a', 'b')).to.deep.equal([undefined, undefined]);
  });

  it('compare SR-IOV networks by their resource and VLAN', async () => {
    const { networks, network, subnet, others, configure } = world();
    networks.put(network('a', { type: 'sriov', vlan: 5 }, 'intel.com/sriov'));
    networks.put(network('b', { type: 'sriov', vlan: 5 }, 'intel.com/sriov'));
    networks.put(network('c', { type: 'sriov', vlan: 5 }, 'intel.com/other'));
    configure(...['a', 'b', 'c'].map((name) => subnet(name, '10.0.0.0/24')));
    expect(await others('a', 'b', 'c')).to.deep.equal(['b', 'a', undefined]);
  });

  it('change for nobody whose wire did not change', async () => {
    const { networks, network, subnet, changes, configure, start } = world();
    start();
    await changes();
    networks.put(network('c', { type: 'macvlan', master: 'eth7' }));
    networks.put(network('a', { type: 'macvlan', master: 'eth1', mode: 'private' }));
    configure(subnet('c', '10.0.0.0/16'));
    expect(await changes()).to.deep.equal([]);
  });

  it('of changes that come together are found by one look', async () => {
    const { warnings, networks, network, subnet, others, configure } = world();
    let looks = 0;
    const original = warnings.of.bind(warnings);
    for (let index = 0; index < 1_000; index++) {
      networks.put(network(`n${index}`, { type: 'macvlan', master: 'eth1' }));
      configure(subnet(`n${index}`, `10.${index >> 8}.${index & 255}.0/24`));
      if (original(`n${index}`)) looks++;
    }
    expect(looks, 'nothing is looked at before the turn ends').to.equal(0);
    configure(subnet('n7', '10.0.0.0/8'));
    expect((await others('n0', 'n999')).every((other) => other === 'n7')).to.equal(true);
  });
});
