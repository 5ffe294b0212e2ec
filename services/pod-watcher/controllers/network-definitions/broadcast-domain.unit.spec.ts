import { expect } from 'chai';
import { networkLimits } from '../../limits.ts';
import { broadcastDomainOf } from './broadcast-domain.ts';

const of = (config: unknown, resource?: string) => broadcastDomainOf(JSON.stringify(config), resource);

describe('the broadcast domain of a network', () => {
  const cases: [what: string, config: object, resource: string, domain: string | undefined][] = [
    ['macvlan: its master', { type: 'macvlan', master: 'eth1' }, '', 'eth1'],
    ['macvlan without master: that of the default route', { type: 'macvlan' }, '', 'interface of the default route'],
    ['ipvlan: the same', { type: 'ipvlan', master: 'eth1', mode: 'l3' }, '', 'eth1'],
    [
      'names in another letter case and null, as Go reads them',
      { Type: 'vlan', MASTER: 'eth1', vlanID: 100, mode: null, linkInContainer: null },
      '',
      'eth1, VLAN 100',
    ],
    ['macvlan on a VLAN interface', { type: 'macvlan', master: 'eth1.100' }, '', 'eth1, VLAN 100'],
    ['vlan: its master and VLAN', { type: 'vlan', master: 'eth1', vlanId: 100 }, '', 'eth1, VLAN 100'],
    ['vlan without a VLAN', { type: 'vlan', master: 'eth1', vlanId: 0 }, '', 'eth1'],
    ['vlan of the default route', { type: 'vlan', vlanId: 7 }, '', 'interface of the default route, VLAN 7'],
    ['vlan in a VLAN', { type: 'vlan', master: 'eth1.100', vlanId: 200 }, '', 'eth1, VLAN 100.200'],
    ['bridge: the bridge and its VLAN', { type: 'bridge', bridge: 'br0', vlan: 100 }, '', 'br0, VLAN 100'],
    ['bridge without name', { type: 'bridge' }, '', 'cni0'],
    ['macvlan on a bridge', { type: 'macvlan', master: 'br0.100' }, '', 'br0, VLAN 100'],
    ['host-device: the device', { type: 'host-device', device: 'eth2' }, '', 'eth2'],
    ['host-device by PCI address: unknown', { type: 'host-device', pciBusID: '0000:00:1f.6' }, '', undefined],
    [
      'sriov: the resource and its VLAN',
      { type: 'sriov', vlan: 5 },
      'intel.com/sriov',
      'resource intel.com/sriov, VLAN 5',
    ],
    ['sriov without resource: unknown', { type: 'sriov', vlan: 5 }, '', undefined],
    [
      'a list: the plugin that makes the NIC',
      { plugins: [{ type: 'vlan', master: 'eth1', vlanId: 9 }, { type: 'tuning' }] },
      '',
      'eth1, VLAN 9',
    ],
    ['a master in the Pod: unknown', { type: 'macvlan', master: 'eth0', linkInContainer: true }, '', undefined],
    ['the highest VLAN', { type: 'macvlan', master: 'eth1.4094' }, '', 'eth1, VLAN 4094'],
    ['a dot that is not a VLAN', { type: 'macvlan', master: 'eth1.4095' }, '', 'eth1.4095'],
    ['two dots, of which one is not a VLAN', { type: 'macvlan', master: 'eth1.100.4095' }, '', 'eth1.100.4095'],
    ['an unknown plugin', { type: 'kube-ovn', master: 'eth1' }, '', undefined],
    ['a property name of JavaScript objects', { type: 'constructor' }, '', undefined],
  ];
  for (const [what, config, resource, domain] of cases)
    it(`the broadcast domain of a network is derived for ${what}`, () => expect(of(config, resource)).to.equal(domain));

  it('the broadcast domain of a network is unknown if the configuration cannot be parsed', () => {
    for (const config of ['', '{', '[]', 'null', '{"type":["macvlan"]}', '{"plugins":7}', '{"plugins":[7,null]}'])
      expect(broadcastDomainOf(config), config).to.equal(undefined);
    expect(of({ type: 'macvlan', master: ['x'], vlan: {} })).to.equal('interface of the default route');
  });

  it('the broadcast domain of a network is unknown if the configuration is over its limit', () => {
    const longest = JSON.stringify({ type: 'macvlan', master: 'eth1' }).padEnd(networkLimits.configLength);
    expect(broadcastDomainOf(longest)).to.equal('eth1');
    expect(broadcastDomainOf(`${longest} `)).to.equal(undefined);
  });
});
