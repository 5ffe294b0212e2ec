import { expect } from 'chai';
import fc from 'fast-check';
import { randomInputs } from '../testing/random-database.ts';
import { allocationOf, rowInputs, settingsOf, subnetNamed, testLedger } from '../testing/row-inputs.ts';
import { DesiredRows } from './desired-rows.ts';

const subnets = [subnetNamed('lan')];
const portName = 'a.default.net.default.ovn';

describe('The port of an allocation', () => {
  const portOf = (parts: Parameters<typeof allocationOf>[1], isSecured = false) =>
    new DesiredRows(
      rowInputs({ subnets, allocations: [allocationOf('a', parts)], secured: () => isSecured }),
    ).ports.get(portName);
  const optionsOf = (parts: Parameters<typeof allocationOf>[1]) =>
    portOf(parts)?.columns['options'] as ReadonlyMap<string, string>;
  const chassisOf = (parts: Parameters<typeof allocationOf>[1]) => optionsOf(parts).get('requested-chassis');

  it('The port of an allocation has its MAC, its addresses and the name of its Pod', () => {
    const port = portOf({ addresses: ['10.8.0.2', 'fd00:8::2'] });
    expect(port?.columns).to.deep.include({
      type: '',
      addresses: new Set(['0a:00:00:00:00:02 10.8.0.2 fd00:8::2']),
      port_security: new Set(),
    });
    expect(Object.fromEntries(port?.externalIds ?? [])).to.deep.equal({
      vendor: 'ipledger',
      ipledger: testLedger,
      pod: 'a',
      namespace: 'default',
      provider: 'net.default.ovn',
      ls: 'lan',
    });
  });

  it('The port of an allocation drops packets with other source addresses when its Pod requests port security', () => {
    expect(portOf({}, true)?.columns['port_security']).to.deep.equal(new Set(['0a:00:00:00:00:02 10.8.0.2']));
  });

  it('The port of an allocation is on the nodes of its containers, else on the Node of the Pod, else on any node', () => {
    expect(chassisOf({})).to.equal(undefined);
    expect(chassisOf({ node: 'node-1' })).to.equal('node-1');
    expect(chassisOf({ node: 'node-1', bindings: new Map([['c/net1', 'node-2']]) })).to.equal('node-2');
    expect(optionsOf({ node: 'node-1' }).has('activation-strategy')).to.equal(false);
  });

  it('The port of a machine that migrates is on its source first, and opens on its target by RARP', () => {
    const bindings = new Map([
      ['c/net1', 'node-2'],
      ['d/net1', 'node-1'],
      ['e/net1', 'node-1'],
    ]);
    expect(Object.fromEntries(optionsOf({ bindings }))).to.deep.equal({
      'requested-chassis': 'node-2,node-1',
      'activation-strategy': 'rarp',
    });
  });
});

describe('Desired rows', () => {
  it('Desired rows follow a single allocation', () => {
    const inputs = rowInputs({ subnets });
    const rows = new DesiredRows(inputs);
    inputs.allocations.set(portName, allocationOf('a'));
    rows.recomputePort(portName);
    expect([...rows.ports.keys()]).to.deep.equal([portName]);
    inputs.allocations.delete(portName);
    rows.recomputePort(portName);
    expect(rows.ports.size).to.equal(0);
  });

  it('Desired rows have the ports of a Subnet as soon as the Subnet has a switch', () => {
    const inputs = rowInputs({ allocations: [allocationOf('a')] });
    const rows = new DesiredRows(inputs);
    expect([rows.ports.size, rows.problems.length]).to.deep.equal([0, 1]);
    inputs.subnets.set('lan', subnetNamed('lan'));
    rows.recomputeSubnets();
    expect([rows.ports.size, rows.problems.length]).to.deep.equal([1, 0]);
  });

  it('Desired rows are the same after a change of Subnets as after a computation of all rows', () => {
    fc.assert(
      fc.property(randomInputs, randomInputs, (inputs, other) => {
        const rows = new DesiredRows(inputs);
        for (const kind of ['subnets', 'settings'] as const) {
          inputs[kind].clear();
          for (const [name, value] of other[kind]) inputs[kind].set(name, value as never);
        }
        rows.recomputeSubnets();
        const { ports, connections, problems } = new DesiredRows(inputs);
        expect(Object.fromEntries(rows.ports)).to.deep.equal(Object.fromEntries(ports));
        expect([...rows.connections]).to.deep.equal([...connections]);
        expect(rows.problems).to.have.deep.members(problems);
      }),
    );
  });

  it('Desired rows omit and report an allocation whose Subnet has no switch, or that has no MAC', () => {
    const allocations = [allocationOf('a', { subnet: 'other' }), allocationOf('b', { mac: '' })];
    const rows = new DesiredRows(rowInputs({ subnets, allocations }));
    expect(rows.ports.size).to.equal(0);
    expect(rows.problems.map(({ kind, subject }) => `${kind}: ${subject}`)).to.deep.equal([
      'no-port: the NIC of Pod default/a at net.default.ovn',
      'no-port: the NIC of Pod default/b at net.default.ovn',
    ]);
  });

  it('Desired rows use a name for the first of two Subnets that need it, and report the second', () => {
    const settings = {
      c: settingsOf({ vpc: 'a-b' }),
      'b-c': settingsOf({ vpc: 'a' }),
    };
    const rows = new DesiredRows(rowInputs({ subnets: [subnetNamed('c'), subnetNamed('b-c')], settings }));
    expect(rows.connections.get('Logical_Router_Port/a-b-c')?.parent).to.equal('a');
    expect(rows.problems.map(({ kind, subject }) => `${kind}: ${subject}`)).to.deep.equal(['name-in-use: Subnet c']);
  });

  it('Desired rows keep the connection of a Subnet when a Pod needs the same name, and report the Pod', () => {
    const wire = 'default.net.default.ovn';
    const rows = new DesiredRows(
      rowInputs({
        subnets: [subnetNamed('lan'), subnetNamed(wire)],
        settings: { [wire]: settingsOf({ vlan: 'v' }) },
        vlans: { v: { id: 0, provider: 'physnet', problems: [] } },
        providerNetworks: ['physnet'],
        allocations: [allocationOf('localnet')],
      }),
    );
    expect(rows.connections.get(`Logical_Switch_Port/localnet.${wire}`)?.parent).to.equal(wire);
    expect(rows.ports.size).to.equal(0);
    expect(rows.problems.map(({ kind }) => kind)).to.deep.equal(['name-in-use']);
  });
});
