import { expect } from 'chai';
import { securedPods } from './secured-pod.ts';
import { subnetSettings, providerNetworks, vlans } from './subnet-settings.ts';

const object = (spec: object, metadata: object = {}) => ({
  metadata: { name: 'a', uid: 'u', resourceVersion: '1', ...metadata },
  spec,
});

describe('The settings of a Subnet', () => {
  it('The settings of a Subnet have its Vlan, its router and its logical gateway', () => {
    expect(subnetSettings.parse(object({ vlan: 'v', vpc: 'r', logicalGateway: true }))).to.deep.include({
      vlan: 'v',
      vpc: 'r',
      hasLogicalGateway: true,
      unsupported: [],
      problems: [],
    });
  });

  it('The settings of a Subnet list the fields that the data path does not support', () => {
    const spec = {
      natOutgoing: true,
      enableLb: true,
      private: true,
      acls: [{ action: 'drop' }],
      gatewayType: 'centralized',
    };
    expect(subnetSettings.parse(object(spec)).unsupported).to.deep.equal([
      'spec.acls',
      'spec.enableLb',
      'spec.natOutgoing',
      'spec.private',
      'spec.gatewayType: centralized',
    ]);
    const off = { natOutgoing: false, enableLb: null, acls: [], vips: [], routeTable: '', gatewayType: 'distributed' };
    expect(subnetSettings.parse(object(off)).unsupported).to.deep.equal([]);
  });

  it('The settings of a Subnet keep problems with DHCP and router advertisements apart, because they do not disconnect the Subnet', () => {
    const { guests, problems } = subnetSettings.parse(
      object({ enableDHCP: true, dhcpV4Options: 'a=b', dhcpV6Options: 'x'.repeat(1_025), enableIPv6RA: 1, mtu: 1_400 }),
    );
    expect(problems).to.deep.equal([]);
    expect(guests).to.deep.equal({
      enableDHCP: true,
      dhcpV4Options: 'a=b',
      dhcpV6Options: '',
      enableIPv6RA: false,
      ipv6RAConfigs: '',
      mtu: 1_400,
      problems: [
        'spec.dhcpV6Options must be a text of at most 1024 characters',
        'spec.enableIPv6RA must be true or false',
      ],
    });
  });

  for (const [what, spec, problem] of [
    ['too long', { vlan: 'x'.repeat(254) }, 'spec.vlan must be a text of at most 253 characters'],
    ['no text', { vpc: { name: 'r' } }, 'spec.vpc must be a text of at most 253 characters'],
    ['a text with a control character', { vlan: 'a\nb' }, 'spec.vlan must be a text of at most 253 characters'],
    ['no boolean', { logicalGateway: 'yes' }, 'spec.logicalGateway must be true or false'],
  ] as const)
    it(`The settings of a Subnet report a problem where a field is ${what}`, () => {
      expect(subnetSettings.parse(object(spec)).problems).to.deep.equal([problem]);
    });
});

describe('Vlans and ProviderNetworks', () => {
  it('Vlans and ProviderNetworks are parsed', () => {
    expect(vlans.parse(object({ id: 7, provider: 'physnet' }))).to.deep.include({
      id: 7,
      provider: 'physnet',
      problems: [],
    });
    expect(vlans.parse(object({ provider: 'physnet' }))).to.deep.include({ id: 0, problems: [] });
    expect(providerNetworks.parse(object({ defaultInterface: 'eth1' }))).to.include({ name: 'a' });
  });

  for (const id of [-1, 4_095, 1.5, '7'])
    it(`A Vlan with the VLAN id ${JSON.stringify(id)} has a problem`, () => {
      expect(vlans.parse(object({ id, provider: 'physnet' })).problems).to.deep.equal([
        'spec.id must be a whole number from 0 to 4094',
      ]);
    });
});

describe('The port security of a Pod', () => {
  const securedBy = (annotations: object): string[] => [
    ...securedPods.parse(object({}, { namespace: 'default', annotations })).secured,
  ];

  it('The port security of a Pod comes from its annotations, for at most 24 providers', () => {
    const key = (provider: string): string => `${provider}.kubernetes.io/port_security`;
    expect(
      securedBy({ [key('net.default.ovn')]: 'true', [key('other.default.ovn')]: 'false', other: 'true' }),
    ).to.deep.equal(['net.default.ovn']);
    expect(securedBy({ [key('ovn')]: 'true' })).to.deep.equal(['ovn']);
    expect(securedBy({ [key('x'.repeat(338))]: 'true' })).to.deep.equal([]);
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [key(`n${index}.default.ovn`), 'true']));
    expect(securedBy(many)).to.have.length(24);
  });

  it('The port security of a launcher Pod has the uid of its virtual machine', () => {
    const controller = {
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachineInstance',
      name: 'vm',
      uid: 'vm-uid',
      controller: true,
    };
    const launcher = { name: 'virt-launcher-vm-x', namespace: 'default', ownerReferences: [controller] };
    expect(securedPods.parse(object({}, launcher)).ledgerUid).to.equal('vm-uid');
  });
});
