import { setImmediate as nextTick } from 'node:timers/promises';
import { expect } from 'chai';
import { FakeInformer, appliedSubnet } from '../../testing/fakes.ts';
import type { NetworkDefinition } from '../../kubernetes/objects/network-definition.ts';
import type { AppliedSubnet } from '../../ledger/ledger-events.ts';
import { overlapMessage, AddressOverlapDetector } from './address-overlap-detector.ts';

function world() {
  const networks = new FakeInformer<NetworkDefinition>();
  const changed: string[] = [];
  const detector = new AddressOverlapDetector(networks, (name) => changed.push(name));
  const network = (name: string, plugin: object, resource = ''): NetworkDefinition => ({
    namespace: 'default',
    name,
    uid: name,
    resourceVersion: '1',
    config: JSON.stringify({ ...plugin, ipam: { type: 'kube-ovn', provider: `${name}.default` } }),
    ...(resource !== '' && { resource }),
  });
  const subnet = (name: string, cidrBlock: string, provider = `${name}.default`): AppliedSubnet => {
    const { spec, source } = appliedSubnet(name, provider);
    return { name, spec: { ...spec, cidrBlock, excludeIps: [] }, source };
  };
  /** Runs the pending checks. Returns the Subnet that overlaps with each of these. */
  const others = async (...names: string[]): Promise<(string | undefined)[]> => {
    await nextTick();
    return names.map((name) => detector.overlapOf(name)?.other.subnet);
  };
  /** Returns the Subnets whose overlap changed since the last call. */
  const changes = async (): Promise<string[]> => {
    await nextTick();
    return changed.splice(0).sort();
  };
  const configure = (...subnets: AppliedSubnet[]) =>
    detector.onEvents(subnets.map((each) => ({ kind: 'subnet-configured', subnet: each })));
  const start = () => {
    networks.put(network('a', { type: 'macvlan', master: 'eth1' }));
    networks.put(network('b', { type: 'ipvlan', master: 'eth1' }));
    configure(subnet('a', '10.0.0.0/16'), subnet('b', '10.0.7.0/24'));
  };
  return { networks, detector, network, subnet, others, changes, configure, start };
}

describe('the address overlap of Subnets in one broadcast domain', () => {
  it('the address overlap of Subnets in one broadcast domain is detected with the second Subnet, for both', async () => {
    const { others, changes, start } = world();
    start();
    expect(await changes()).to.deep.equal(['a', 'b']);
    expect(await others('a', 'b')).to.deep.equal(['b', 'a']);
  });

  it('the address overlap of Subnets is detected with the network, in any order of arrival', async () => {
    const { networks, network, subnet, others, configure } = world();
    configure(subnet('a', '10.0.0.0/16'), subnet('b', '10.0.7.0/24'));
    networks.put(network('b', { type: 'vlan', master: 'eth1', vlanId: 100 }));
    expect(await others('a', 'b')).to.deep.equal([undefined, undefined]);
    networks.put(network('a', { type: 'macvlan', master: 'eth1.100' }));
    expect(await others('a', 'b')).to.deep.equal(['b', 'a']);
  });

  it('the address overlap of Subnets is not checked if no Subnet serves the changed network', async () => {
    const { networks, network, detector, subnet, changes, configure, start } = world();
    start();
    await changes();
    let checks = 0;
    const counted = subnet('a', '10.0.0.0/16');
    const { spec } = counted;
    configure(Object.defineProperty({ ...counted }, 'spec', { get: () => ((checks += 1), spec) }));
    await changes();
    checks = 0;
    networks.put(network('c', { type: 'macvlan', master: 'eth1' }));
    networks.drop(network('c', {}));
    await changes();
    expect(checks).to.equal(0);
    expect(detector.overlapOf('a')?.other.subnet).to.equal('b');
  });

  it('the address overlap of Subnets has a message that truncates a long name of the broadcast domain', () => {
    const other = { subnet: 'b', network: 'default/b' };
    const message = overlapMessage('a', { broadcastDomain: 'e'.repeat(60_000), network: 'default/a', other });
    expect(message.length).to.be.lessThan(600);
    expect(message).to.match(/Serve both networks by one NetworkAttachmentDefinition/);
  });

  it('the address overlap of Subnets ends when a network moves to another broadcast domain, or is deleted', async () => {
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
    networks.put(network('b', { type: 'macvlan', master: 'eth1' }));
    expect(await others('a', 'b'), 'the network is created again').to.deep.equal(['b', 'a']);
  });

  it('the address overlap of Subnets ends when a Subnet is retired, gets other addresses, or serves another network', async () => {
    const { detector, subnet, others, configure, start } = world();
    for (const change of [
      () => detector.onEvents([{ kind: 'subnet-retired', subnet: 'b' }]),
      () => configure(subnet('b', '10.1.0.0/24')),
      () => configure(subnet('b', '10.0.7.0/24', 'elsewhere.default')),
    ]) {
      start();
      expect(await others('a')).to.deep.equal(['b']);
      change();
      expect(await others('a', 'b')).to.deep.equal([undefined, undefined]);
    }
  });

  it('the address overlap of Subnets is computed again from a new snapshot of the ledger', async () => {
    const { detector, subnet, others, start } = world();
    start();
    detector.onSnapshot({
      seq: 1,
      allocations: [],
      subnets: [subnet('a', '10.0.0.0/16')],
      pools: [],
      reservations: [],
    });
    expect(await others('a', 'b')).to.deep.equal([undefined, undefined]);
    const both = [subnet('a', '10.0.0.0/16'), subnet('b', '10.0.7.0/24')];
    detector.onSnapshot({ seq: 2, allocations: [], subnets: both, pools: [], reservations: [] });
    expect(await others('a', 'b')).to.deep.equal(['b', 'a']);
  });

  it('the address overlap of SR-IOV networks depends on their resource and VLAN', async () => {
    const { networks, network, subnet, others, configure } = world();
    networks.put(network('a', { type: 'sriov', vlan: 5 }, 'intel.com/sriov'));
    networks.put(network('b', { type: 'sriov', vlan: 5 }, 'intel.com/sriov'));
    networks.put(network('c', { type: 'sriov', vlan: 5 }, 'intel.com/other'));
    configure(...['a', 'b', 'c'].map((name) => subnet(name, '10.0.0.0/24')));
    expect(await others('a', 'b', 'c')).to.deep.equal(['b', 'a', undefined]);
  });

  it('the address overlap of Subnets does not change with other broadcast domains or irrelevant fields', async () => {
    const { networks, network, subnet, changes, configure, start } = world();
    start();
    await changes();
    networks.put(network('c', { type: 'macvlan', master: 'eth7' }));
    networks.put(network('a', { type: 'macvlan', master: 'eth1', mode: 'private' }));
    configure(subnet('c', '10.0.0.0/16'));
    expect(await changes()).to.deep.equal([]);
  });

  it('the address overlap of Subnets is checked once for changes that arrive together', async () => {
    const { detector, networks, network, subnet, others, configure } = world();
    let checks = 0;
    const original = detector.overlapOf.bind(detector);
    for (let index = 0; index < 1_000; index++) {
      networks.put(network(`n${index}`, { type: 'macvlan', master: 'eth1' }));
      configure(subnet(`n${index}`, `10.${index >> 8}.${index & 255}.0/24`));
      if (original(`n${index}`)) checks++;
    }
    expect(checks, 'no check before the event loop continues').to.equal(0);
    configure(subnet('n7', '10.0.0.0/8'));
    expect((await others('n0', 'n999')).every((other) => other === 'n7')).to.equal(true);
  });
});
