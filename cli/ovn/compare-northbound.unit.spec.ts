import { expect } from 'chai';
import { compareNorthbound, type Northbound } from './northbound.ts';
import { allocation, northboundWith, portName, portWith, subnetOf } from './testing/ovn-rows.fixture.ts';

const subnets = [subnetOf('net', 'net.default.ovn'), subnetOf('lan', 'lan.default')];

const describeDrift = (northbound: Northbound, allocations = [allocation]): string[] =>
  compareNorthbound({ allocations, subnets }, northbound, 'ipledger-system').map(
    ({ kind, where, what }) => `${kind}: ${where}: ${what}`,
  );

describe('The northbound database of OVN', () => {
  it('The northbound database of OVN agrees with the ledger if it has the switch of each OVN Subnet and the port of each allocation', () => {
    expect(describeDrift(northboundWith(portWith()))).to.deep.equal([]);
  });

  it('The northbound database of OVN agrees with the ledger in any order of addresses and nodes, and any case of the MAC', () => {
    const other = { ...allocation.bindings[0], node: 'node-2' } as (typeof allocation.bindings)[number];
    const migrating = { ...allocation, bindings: [...allocation.bindings, other] };
    const port = portWith({ addresses: ['02:00:00:00:00:0A fd00::2 10.0.0.2'], requestedChassis: 'node-2,node-1' });
    expect(describeDrift(northboundWith(port), [migrating])).to.deep.equal([]);
  });

  it('The northbound database of OVN has the node of the Pod as requested-chassis before the first binding', () => {
    const unbound = { ...allocation, bindings: [] };
    expect(describeDrift(northboundWith(portWith()), [unbound])).to.deep.equal([]);
    const earlier = { ...allocation.bindings[0], node: 'node-9', at: '2026-01-31T07:00:00.000Z' };
    const transferred = { ...allocation, bindings: [earlier as (typeof allocation.bindings)[number]] };
    expect(describeDrift(northboundWith(portWith()), [transferred])).to.deep.equal([]);
    const unscheduled = { ...unbound, node: '' };
    expect(describeDrift(northboundWith(portWith({ requestedChassis: '' })), [unscheduled])).to.deep.equal([]);
    expect(describeDrift(northboundWith(portWith()), [unscheduled])).to.deep.equal([
      `OVN port differs: port ${portName}: its requested-chassis is node-1; the ledger has none`,
    ]);
  });

  it('The northbound database of OVN has a difference for a missing switch and for a missing port', () => {
    expect(describeDrift({ switches: [], ports: [] })).to.deep.equal([
      'OVN switch missing: switch net: it does not exist; the ledger has subnet net',
      `OVN port missing: port ${portName}: it does not exist; the ledger has 02:00:00:00:00:0a 10.0.0.2 fd00::2 of subnet net for Pod default/web`,
    ]);
  });

  it('The northbound database of OVN has a difference for each field of a port that the ledger contradicts', () => {
    const port = portWith({ switch: 'other', addresses: ['02:00:00:00:00:0a 10.0.0.9'], requestedChassis: 'node-2' });
    expect(describeDrift(northboundWith(port))).to.deep.equal([
      `OVN port differs: port ${portName}: its switch is other; the ledger has net`,
      `OVN port differs: port ${portName}: its addresses is 02:00:00:00:00:0a 10.0.0.9; the ledger has 02:00:00:00:00:0a 10.0.0.2 fd00::2`,
      `OVN port differs: port ${portName}: its requested-chassis is node-2; the ledger has node-1`,
    ]);
  });

  it('The northbound database of OVN has a port too many if ipledger owns a port without an allocation', () => {
    const ports = [
      portWith(),
      portWith({ name: 'gone.default.net.default.ovn' }),
      portWith({ name: 'net-ovn-cluster', type: 'router' }),
      portWith({ name: 'foreign', isOurs: false }),
    ];
    expect(describeDrift(northboundWith(...ports))).to.deep.equal([
      'OVN port without allocation: port gone.default.net.default.ovn: it has 02:00:00:00:00:0a 10.0.0.2 fd00::2; the ledger has no such allocation',
    ]);
  });

  it('The northbound database of OVN has a conflict if another program owns a row with our name', () => {
    const northbound = { switches: [{ name: 'net', isOurs: false }], ports: [portWith({ isOurs: false })] };
    expect(describeDrift(northbound)).to.deep.equal([
      'OVN name conflict: switch net: another program owns it; the ledger has subnet net',
      `OVN name conflict: port ${portName}: another program owns it; the ledger has it for Pod default/web`,
    ]);
  });

  it('The northbound database of OVN has no port for an allocation of another network', () => {
    const macvlan = {
      ...allocation,
      attachment: { namespace: 'default', pod: 'web', provider: 'lan.default', ordinal: 0 },
    };
    expect(describeDrift(northboundWith(), [macvlan])).to.deep.equal([]);
  });

  it('The northbound database of OVN has a command for each difference', () => {
    for (const { remedy } of compareNorthbound(
      { allocations: [allocation], subnets },
      { switches: [], ports: [] },
      'ipam',
    ))
      expect(remedy).to.match(/^kubectl rollout restart -n ipam deployment\/ipledger-ovn-projector {2}# /);
  });
});
