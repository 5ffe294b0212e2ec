import { expect } from 'chai';
import fc from 'fast-check';
import type { NodeLink } from './node-links.ts';
import {
  formatMappings,
  parseMappings,
  type PresentBridge,
  type PresentUnderlay,
  planUnderlay,
} from './underlay-plan.ts';
import { bridgeOf, type ProviderNetwork } from './provider-network.ts';
import { applyChanges } from './testing/apply-changes.ts';

const link = (name: string, fields: Partial<NodeLink> = {}): NodeLink => ({
  name,
  addresses: [],
  master: '',
  parent: '',
  isUp: true,
  ...fields,
});
const bridge = (name: string, isOurs: boolean, ...ports: string[]): PresentBridge => ({
  uuid: `bridge ${name}`,
  name,
  isOurs,
  ports: [
    { uuid: `port ${name}`, name, isOurs: false },
    // Patch ports belong to ovn-controller, other ports of the agent's bridges to the agent
    ...ports.map((port) => ({ uuid: `port ${port}`, name: port, isOurs: isOurs && !port.startsWith('patch-') })),
  ],
});
const nothing: PresentUnderlay = { bridges: [], mappings: [] };
const net1: ProviderNetwork = { name: 'net1', nic: 'eth1' };
const links = [link('eth0', { addresses: ['10.0.0.1'] }), link('eth1'), link('eth2')];
const plan = (present: PresentUnderlay, networks = [net1], ownLinks = links) =>
  planUnderlay({ networks, links: ownLinks, present });
const problemOf = (...parameters: Parameters<typeof plan>): string => {
  const { refusals, changes, served } = plan(...parameters);
  expect(changes).to.deep.equal([]);
  expect(served).to.deep.equal([]);
  return refusals[0]?.problem ?? '';
};

describe('The plan for the physical networks of a node', () => {
  it('The plan adds a bridge with the NIC, and its mapping after the mappings of others', () => {
    const mappings = [{ network: 'physnet', bridge: 'br-ex' }];
    expect(plan({ bridges: [bridge('br-ex', false, 'eth0')], mappings })).to.deep.equal({
      changes: [
        { kind: 'add bridge', bridge: 'br-net1', nic: 'eth1' },
        { kind: 'set mappings', mappings: [...mappings, { network: 'net1', bridge: 'br-net1' }] },
      ],
      refusals: [],
      served: ['net1'],
      linksDown: [],
    });
  });

  it('The plan sets up a NIC that is down', () => {
    expect(plan(nothing, [net1], [link('eth1', { isUp: false })]).linksDown).to.deep.equal(['eth1']);
  });

  it('The plan replaces the NIC when the network names another NIC', () => {
    const present = applyChanges(nothing, plan(nothing).changes);
    const { changes } = plan(present, [{ name: 'net1', nic: 'eth2' }]);
    expect(changes.map(({ kind }) => kind)).to.deep.equal(['remove port', 'add port']);
    const after = applyChanges(present, changes);
    expect(after.bridges[0]?.ports.map(({ name }) => name)).to.deep.equal(['br-net1', 'eth2']);
  });

  it('The plan removes a bridge and its mapping when the network or the node is excluded', () => {
    const present = applyChanges({ ...nothing, mappings: [{ network: 'a', bridge: 'b' }] }, plan(nothing).changes);
    for (const networks of [[], [{ name: 'net1', nic: undefined }]]) {
      const after = applyChanges(present, plan(present, networks).changes);
      expect(after.bridges).to.deep.equal([]);
      expect(after.mappings.map(({ network }) => network)).to.not.include('net1');
    }
  });

  it('The plan keeps a bridge without a network while OVN or another program has a port on it', () => {
    const mappings = [{ network: 'net1', bridge: 'br-net1' }];
    const used = { bridges: [bridge('br-net1', true, 'eth1', 'patch-localnet.lan-to-br-int')], mappings };
    expect(plan(used, []).changes).to.deep.equal([]);
  });

  it('The plan keeps the bridge of a network that was served and is now refused', () => {
    const present = applyChanges(nothing, plan(nothing).changes);
    const { changes, refusals } = plan(present, [{ name: 'net1', nic: undefined, problem: 'not supported' }]);
    expect(changes).to.deep.equal([]);
    expect(refusals).to.deep.equal([{ network: 'net1', problem: 'not supported' }]);
  });

  it('The plan refuses a NIC with an address, also on a VLAN interface above it', () => {
    expect(problemOf(nothing, [{ name: 'net1', nic: 'eth0' }])).to.equal(
      'its NIC eth0 has the address 10.0.0.1, which would not be reachable any more: remove the address, or name another NIC',
    );
    const vlan = link('eth1.10', { parent: 'eth1', addresses: ['10.9.0.1'] });
    expect(problemOf(nothing, [net1], [...links, vlan])).to.match(
      /^eth1\.10 on its NIC eth1 has the address 10\.9\.0\.1/,
    );
  });

  it('The plan refuses a NIC that is missing, or that is in use elsewhere', () => {
    expect(problemOf(nothing, [{ name: 'net1', nic: 'eth9' }])).to.contain('the node has no NIC eth9');
    expect(problemOf(nothing, [net1], [link('eth1', { master: 'bond0' })])).to.contain('is a port of bond0');
    const used = { bridges: [bridge('br-ex', false, 'eth1')], mappings: [] };
    expect(problemOf(used)).to.contain('is a port of bridge br-ex');
    const { served, refusals } = plan(nothing, [
      { name: 'b', nic: 'eth1' },
      { name: 'a', nic: 'eth1' },
    ]);
    expect(served).to.deep.equal(['a']);
    expect(refusals).to.deep.equal([
      { network: 'b', problem: 'its NIC eth1 is in use by ProviderNetwork a: name another NIC' },
    ]);
  });

  it('The plan refuses a NIC that disappeared after its bridge was made, and keeps the bridge', () => {
    const present = applyChanges(nothing, plan(nothing).changes);
    expect(problemOf(present, [net1], [])).to.contain('the node has no NIC eth1');
  });

  it('The plan refuses a bridge or a mapping of another program, unless both are as desired', () => {
    const foreign = { bridges: [bridge('br-net1', false)], mappings: [] };
    expect(problemOf(foreign)).to.contain('bridge br-net1 belongs to another program');
    const mapped = { bridges: [], mappings: [{ network: 'net1', bridge: 'br-ex' }] };
    expect(problemOf(mapped)).to.contain('another program maps the network to bridge br-ex');
    const mappings = [{ network: 'net1', bridge: 'br-net1' }];
    const asDesired = { bridges: [bridge('br-net1', false, 'eth1')], mappings };
    expect(plan(asDesired)).to.deep.include({ changes: [], refusals: [], served: ['net1'] });
  });
});

const nics = ['eth0', 'eth1', 'eth2', 'eth3'];
const networkNames = ['a', 'b', 'c', 'd'];
const network: fc.Arbitrary<ProviderNetwork> = fc.record(
  {
    name: fc.constantFrom(...networkNames),
    nic: fc.option(fc.constantFrom(...nics), { nil: undefined }),
    problem: fc.constant('p'),
  },
  { requiredKeys: ['name', 'nic'] },
);
const presentBridge = fc.record({
  name: fc.constantFrom(...networkNames.map(bridgeOf), 'br-ex', 'br-int'),
  isOurs: fc.boolean(),
  nics: fc.uniqueArray(fc.constantFrom(...nics), { maxLength: 2 }),
  isInUse: fc.boolean(),
});
const mapping = fc.record({
  network: fc.constantFrom(...networkNames, 'physnet'),
  bridge: fc.constantFrom(...networkNames.map(bridgeOf), 'br-ex', ''),
});
const input = fc.record({
  networks: fc.uniqueArray(network, { selector: ({ name }) => name, maxLength: 4 }),
  bridges: fc.uniqueArray(presentBridge, { selector: ({ name }) => name, maxLength: 5 }),
  mappings: fc.uniqueArray(mapping, { selector: ({ network: name }) => name, maxLength: 5 }),
  links: fc.uniqueArray(
    fc.record({
      name: fc.constantFrom(...nics),
      addresses: fc.constantFrom([], [], ['10.0.0.1']),
      master: fc.constantFrom('', '', 'bond0'),
      parent: fc.constant(''),
      isUp: fc.boolean(),
    }),
    { selector: ({ name }) => name },
  ),
});

/** Makes a switch from the input, in which a NIC is a port of at most one bridge. */
function presentOf({ bridges, mappings }: typeof input extends fc.Arbitrary<infer T> ? T : never): PresentUnderlay {
  const used = new Set<string>();
  return {
    mappings,
    bridges: bridges.map(({ name, isOurs, nics: own, isInUse }) => {
      const free = own.filter((nic) => !used.has(nic));
      for (const nic of free) used.add(nic);
      return bridge(name, isOurs, ...free, ...(isInUse ? [`patch-${name}`] : []));
    }),
  };
}

const foreignPart = ({ bridges, mappings }: PresentUnderlay, ofOthers: ReadonlySet<string>) => ({
  bridges: bridges.filter(({ isOurs }) => !isOurs),
  ports: bridges.flatMap(({ name, ports }) => ports.filter((port) => !port.isOurs && port.name !== name)),
  mappings: mappings.filter(({ bridge: name }) => ofOthers.has(name)),
});

/** Each network waits for the NIC that the bridge of the next one still has. */
const chain: typeof input extends fc.Arbitrary<infer T> ? T : never = {
  networks: [
    { name: 'd', nic: 'eth0' },
    { name: 'a', nic: 'eth3' },
  ],
  bridges: [
    { name: 'br-d', isOurs: true, nics: ['eth3'], isInUse: false },
    { name: 'br-c', isOurs: true, nics: ['eth0'], isInUse: false },
  ],
  mappings: [],
  links: ['eth0', 'eth3'].map((name) => ({ name, addresses: [], master: '', parent: '', isUp: true })),
};

describe('Any plan for the physical networks of a node', () => {
  // The first run frees the NICs of bridges that no network needs, and each other run that of one
  // network at least, for which another network may wait.
  it('Any plan keeps bridges, ports and mappings of other programs, and is empty after one run more than there are networks', () => {
    fc.assert(
      fc.property(input, (generated) => {
        const { networks, links: ownLinks } = generated;
        const before = presentOf(generated);
        const ours = new Set(before.bridges.filter(({ isOurs }) => isOurs).map(({ name }) => name));
        const served = new Set(networks.map(({ name }) => bridgeOf(name)));
        const ofOthers = new Set(
          before.mappings.map((each) => each.bridge).filter((name) => !ours.has(name) && !served.has(name)),
        );
        let after = before;
        for (let run = 0; run <= networks.length; run++)
          after = applyChanges(after, planUnderlay({ networks, links: ownLinks, present: after }).changes);
        expect(foreignPart(after, ofOthers)).to.deep.equal(foreignPart(before, ofOthers));
        expect(planUnderlay({ networks, links: ownLinks, present: after }).changes).to.deep.equal([]);
        const ports = after.bridges.flatMap(({ ports: own }) => own.map(({ name }) => name));
        expect(new Set(ports).size).to.equal(ports.length);
        expect(new Set(after.mappings.map((each) => each.network)).size).to.equal(after.mappings.length);
      }),
      { numRuns: 3_000, examples: [[chain]] },
    );
  });

  it('Any plan keeps the text of mappings in an unknown form', () => {
    const text = 'physnet:br-ex,odd,net1:br-net1:x';
    expect(formatMappings(parseMappings(text))).to.equal(text);
  });
});
