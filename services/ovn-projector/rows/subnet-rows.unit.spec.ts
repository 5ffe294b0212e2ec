import { expect } from 'chai';
import { rowInputs, settingsOf, subnetNamed, testLedger } from '../testing/row-inputs.ts';
import type { DesiredPort } from './desired-row.ts';
import { type SubnetRows, subnetRows, type SubnetSettings, type Vlan } from './subnet-rows.ts';

const vlans: Readonly<Record<string, Vlan>> = {
  tagged: { id: 7, provider: 'physnet', problems: [] },
  untagged: { id: 0, provider: 'physnet', problems: [] },
  unplugged: { id: 7, provider: 'nowhere', problems: [] },
  broken: { id: 0, provider: '', problems: ['spec.id must be a whole number from 0 to 4094'] },
};
const rowsOf = (settings: Partial<SubnetSettings>, subnet = subnetNamed('lan')): SubnetRows => {
  const inputs = rowInputs({ vlans, providerNetworks: ['physnet'] });
  return subnetRows(subnet, { ...inputs, settings: settingsOf(settings) });
};
const portNamed = ({ ports }: SubnetRows, name: string): DesiredPort | undefined =>
  ports.find((port) => port.name === name);
const namesOf = ({ containers, ports }: SubnetRows): string[] =>
  [...containers, ...ports].map(({ table, name }) => `${table} ${name}`);

describe('The rows of a Subnet', () => {
  it('The rows of a Subnet are a switch, a router and the ports that connect them', () => {
    const rows = rowsOf({});
    expect(namesOf(rows)).to.deep.equal([
      'Logical_Switch lan',
      'Logical_Router ovn-cluster',
      'Logical_Router_Port ovn-cluster-lan',
      'Logical_Switch_Port lan-ovn-cluster',
    ]);
    expect(rows.containers[0]?.externalIds).to.deep.equal(
      new Map([
        ['vendor', 'ipledger'],
        ['ipledger', testLedger],
      ]),
    );
    expect(portNamed(rows, 'lan-ovn-cluster')).to.deep.include({ parent: 'lan', router: 'ovn-cluster' });
    expect(rows.problems).to.deep.equal([]);
  });

  it('The rows of a Subnet have the gateway of each family, with its prefix length', () => {
    const dual = subnetNamed('lan', {
      cidrs: ['10.8.0.0/24', 'fd00:8::/64'],
      gateways: ['10.8.0.1', 'fd00:8::1'],
    });
    const port = portNamed(rowsOf({}, dual), 'ovn-cluster-lan');
    expect(port?.columns['networks']).to.deep.equal(new Set(['10.8.0.1/24', 'fd00:8::1/64']));
  });

  it('The rows of a Subnet have a stable router MAC, which differs between Subnets, routers and ledgers', () => {
    const macOf = (rows: SubnetRows): unknown =>
      rows.ports.find(({ table }) => table === 'Logical_Router_Port')?.columns['mac'];
    const mac = macOf(rowsOf({}));
    expect(mac).to.match(/^0e(:[0-9a-f]{2}){5}$/);
    expect(macOf(rowsOf({}))).to.equal(mac);
    const inputs = { ...rowInputs(), settings: settingsOf(), ledger: 'another' };
    const others = [rowsOf({ vpc: 'vpc1' }), rowsOf({}, subnetNamed('wan')), subnetRows(subnetNamed('lan'), inputs)];
    expect(new Set([mac, ...others.map(macOf)]).size).to.equal(4);
  });

  it('The rows of a Subnet connect it to the router that spec.vpc names', () => {
    expect(namesOf(rowsOf({ vpc: 'vpc1' })))
      .to.include('Logical_Router vpc1')
      .and.include('Logical_Switch_Port lan-vpc1');
  });

  it('The rows of an underlay Subnet are a switch with a localnet port, without a router', () => {
    const rows = rowsOf({ vlan: 'tagged' });
    expect(namesOf(rows)).to.deep.equal(['Logical_Switch lan', 'Logical_Switch_Port localnet.lan']);
    expect(portNamed(rows, 'localnet.lan')?.columns).to.deep.equal({
      type: 'localnet',
      addresses: new Set(['unknown']),
      port_security: new Set(),
      options: new Map([['network_name', 'physnet']]),
      tag: 7,
    });
    expect(portNamed(rowsOf({ vlan: 'untagged' }), 'localnet.lan')?.columns['tag']).to.equal(undefined);
  });

  it('The rows of an underlay Subnet with a logical gateway are a localnet port and a router', () => {
    expect(namesOf(rowsOf({ vlan: 'tagged', hasLogicalGateway: true })))
      .to.include('Logical_Switch_Port localnet.lan')
      .and.include('Logical_Router_Port ovn-cluster-lan');
  });

  for (const [vlan, kind, message] of [
    ['missing', 'vlan-missing', 'spec.vlan names Vlan missing, which does not exist'],
    ['unplugged', 'provider-network-missing', 'Vlan unplugged names ProviderNetwork "nowhere", which does not exist'],
    ['broken', 'invalid', 'Vlan broken: spec.id must be a whole number from 0 to 4094'],
  ] as const)
    it(`The rows of a Subnet are the switch alone, with the reason, when its physical network is ${kind}`, () => {
      const rows = rowsOf({ vlan });
      expect(namesOf(rows)).to.deep.equal(['Logical_Switch lan']);
      expect(rows.problems).to.have.length(1);
      expect(rows.problems[0]).to.include({ kind, subject: 'Subnet lan' });
      expect(rows.problems[0]?.message).to.contain(message);
    });

  it('The rows of a Subnet are complete when a field is not supported, and the field is reported', () => {
    const rows = rowsOf({ unsupported: ['spec.natOutgoing', 'spec.acls'] });
    expect(rows.ports).to.have.length(2);
    expect(rows.problems.map(({ kind, message }) => `${kind} ${message}`)).to.deep.equal([
      'unsupported spec.natOutgoing has no effect: the data path of ipledger does not have it. Remove the field',
      'unsupported spec.acls has no effect: the data path of ipledger does not have it. Remove the field',
    ]);
  });

  it('The rows of a Subnet are the switch alone when a setting cannot be parsed, because it may be an underlay', () => {
    const rows = rowsOf({ problems: ['spec.vlan must be a text of at most 253 characters'] });
    expect(namesOf(rows)).to.deep.equal(['Logical_Switch lan']);
    expect(rows.problems.map(({ kind }) => kind)).to.deep.equal(['invalid']);
  });
});
