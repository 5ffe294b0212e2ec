import { expect } from 'chai';
import { rowInputs, settingsOf, subnetNamed, testLedger } from '../testing/row-inputs.ts';
import { guestOptions, type GuestSettings, noGuestSettings, parseOptions, routerMac } from './dhcp-options.ts';
import { subnetRows } from './subnet-rows.ts';

const dual = subnetNamed('lan', { cidrs: ['10.8.0.0/24', 'fd00:8::/64'], gateways: ['10.8.0.1', 'fd00:8::1'] });
const mac = routerMac(testLedger, 'dhcp', 'lan');
const optionsOf = (settings: Partial<GuestSettings>, subnet = dual) =>
  guestOptions(subnet, { ...noGuestSettings, ...settings }, testLedger);
const dhcpOf = (settings: Partial<GuestSettings>, subnet = dual): unknown =>
  optionsOf({ enableDHCP: true, ...settings }, subnet).dhcp.map(({ name, columns }) => [
    name,
    columns['cidr'],
    Object.fromEntries(columns['options'] as ReadonlyMap<string, string>),
  ]);

describe('The DHCP options of a Subnet', () => {
  it('The DHCP options of a Subnet have defaults for each family, and a MAC that stays the same', () => {
    const v4 = { lease_time: '3600', router: '10.8.0.1', server_id: '169.254.0.254', server_mac: mac };
    expect(dhcpOf({})).to.deep.equal([
      ['lan/IPv4', '10.8.0.0/24', v4],
      ['lan/IPv6', 'fd00:8::/64', { server_id: mac }],
    ]);
    expect(dhcpOf({ mtu: 1_400 }, subnetNamed('lan'))).to.deep.equal([
      ['lan/IPv4', '10.8.0.0/24', { ...v4, mtu: '1400' }],
    ]);
    expect(optionsOf({ dhcpV4Options: 'lease_time=60' }).dhcp).to.deep.equal([]);
  });

  it('The DHCP options of a Subnet take the values of its fields instead of the defaults', () => {
    const settings = {
      dhcpV4Options: 'lease_time=60, server_mac = 00:00:00:2E:2F:B8',
      dhcpV6Options: 'ia_addr=fd00::9',
    };
    const server = { server_id: '169.254.0.254', server_mac: '00:00:00:2E:2F:B8' };
    expect(dhcpOf(settings)).to.deep.equal([
      ['lan/IPv4', '10.8.0.0/24', { lease_time: '60', router: '10.8.0.1', ...server }],
      ['lan/IPv6', 'fd00:8::/64', { server_id: mac, ia_addr: 'fd00::9' }],
    ]);
  });

  for (const [text, value] of [
    ['dns_server=10.0.0.2', '10.0.0.2'],
    ['dns_server=10.0.0.2;10.0.0.3', '{10.0.0.2, 10.0.0.3}'],
    ['dns_server={10.0.0.2; 10.0.0.3}', '{10.0.0.2, 10.0.0.3}'],
    ['dns_server={10.0.0.2}', '{10.0.0.2}'],
    ['domain_name="lan.example"', '"lan.example"'],
  ] as const)
    it(`The DHCP options of a Subnet are parsed from ${text}`, () => {
      const options = parseOptions(text);
      expect('problem' in options ? options : [...options.values()]).to.deep.equal([value]);
    });

  for (const text of [
    'lease_time',
    '=3600',
    'lease_time=',
    'a=1,,b=2',
    'a=1,',
    'Lease Time=1',
    'mtu=1); drop; (',
    'domain_name="a"); output; "',
    'domain_name="a\\"b"',
    'dns_server={10.0.0.2',
    'dns_server=10.0.0.2}',
    'mtu=$set',
    'a=1,a=2',
    `${'k'.repeat(33)}=1`,
  ])
    it(`The DHCP options of a Subnet reject ${text}, because OVN copies options into the actions of a flow`, () => {
      expect(parseOptions(text)).to.have.property('problem');
      expect(optionsOf({ enableDHCP: true, dhcpV4Options: text }).dhcp).to.deep.equal([]);
    });

  it('Invalid DHCP options of a Subnet are reported and do not disconnect it', () => {
    const guests = { ...noGuestSettings, enableDHCP: true, dhcpV4Options: 'mtu' };
    const { dhcp, ports, problems } = subnetRows(dual, { ...rowInputs(), settings: settingsOf({ guests }) });
    expect([dhcp.length, ports.length]).to.deep.equal([0, 2]);
    expect(problems).to.have.length(1);
    expect(problems[0]).to.include({ kind: 'invalid', subject: 'Subnet lan' });
    expect(problems[0]?.message).to.match(/^spec.dhcpV4Options: "mtu" must be key=value/);
  });
});

describe('The router advertisements of a Subnet', () => {
  const raOf = (settings: Partial<GuestSettings>, subnet = dual): unknown =>
    Object.fromEntries(optionsOf({ enableIPv6RA: true, ...settings }, subnet).ra);

  it('Router advertisements have the defaults or the configuration of the Subnet, and are off without an IPv6 gateway', () => {
    expect(raOf({})).to.deep.equal({
      address_mode: 'dhcpv6_stateful',
      max_interval: '30',
      min_interval: '5',
      send_periodic: 'true',
    });
    expect(raOf({ ipv6RAConfigs: 'address_mode=slaac' })).to.deep.equal({ address_mode: 'slaac' });
    expect(raOf({}, subnetNamed('lan'))).to.deep.equal({});
    expect(raOf({ enableIPv6RA: false })).to.deep.equal({});
  });

  it('Router advertisements need a router; a Subnet without one is reported', () => {
    const guests = { ...noGuestSettings, enableIPv6RA: true };
    const settings = settingsOf({ vlan: 'v', guests });
    const vlans = { v: { id: 7, provider: 'physnet', problems: [] } };
    const inputs = rowInputs({ vlans, providerNetworks: ['physnet'] });
    expect(
      subnetRows(dual, { ...inputs, settings }).problems.map(({ kind, message }) => `${kind} ${message}`),
    ).to.deep.equal(['unsupported spec.enableIPv6RA has no effect: the Subnet has no router. Set spec.logicalGateway']);
  });
});
