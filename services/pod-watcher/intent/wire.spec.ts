import { expect } from 'chai';
import { networkLimits } from '../limits.ts';
import { wireOf } from './wire.ts';

const of = (config: unknown, resource?: string) => wireOf(JSON.stringify(config), resource);

describe('the wire of a network', () => {
  const cases: [what: string, config: object, resource: string, wire: string | undefined][] = [
    ['macvlan: its master', { type: 'macvlan', master: 'eth1' }, '', 'eth1'],
    ['macvlan without master: that of the default route', { type: 'macvlan' }, '', 'interface of the default route'],
    ['ipvlan: the same', { type: 'ipvlan', master: 'eth1', mode: 'l3' }, '', 'eth1'],
    ['macvlan on a VLAN interface', { type: 'macvlan', master: 'eth1.100' }, '', 'eth1, VLAN 100'],
    ['vlan: its master and VLAN', { type: 'vlan', master: 'eth1', vlanId: 100 }, '', 'eth1, VLAN 100'],
    ['vlan without a VLAN', { type: 'vlan', master: 'eth1', vlanId: 0 }, '', 'eth1'],
    ['vlan of the default route', { type: 'vlan', vlanId: 7 }, '', 'interface of the default route, VLAN 7'],
    ['vlan in a VLAN', { type: 'vlan', master: 'eth1.100', vlanId: 200 }, '', 'eth1, VLAN 100.200'],
    ['bridge: the bridge and its VLAN', { type: 'bridge', bridge: 'br0', vlan: 100 }, '', 'br0, VLAN 100'],
    ['bridge without name', { type: 'bridge' }, '', 'cni0'],
    ['macvlan on a bridge', { type: 'macvlan', master: 'br0.100' }, '', 'br0, VLAN 100'],
    ['host-device: the device', { type: 'host-device', device: 'eth2' }, '', 'eth2'],
    ['host-device by PCI address: not known', { type: 'host-device', pciBusID: '0000:00:1f.6' }, '', undefined],
    [
      'sriov: the resource and its VLAN',
      { type: 'sriov', vlan: 5 },
      'intel.com/sriov',
      'resource intel.com/sriov, VLAN 5',
    ],
    ['sriov without resource: not known', { type: 'sriov', vlan: 5 }, '', undefined],
    [
      'a list: the plugin that makes the NIC',
      { plugins: [{ type: 'vlan', master: 'eth1', vlanId: 9 }, { type: 'tuning' }] },
      '',
      'eth1, VLAN 9',
    ],
    ['a master in the Pod: not known', { type: 'macvlan', master: 'eth0', linkInContainer: true }, '', undefined],
    ['a dot that is no VLAN', { type: 'macvlan', master: 'eth1.5000' }, '', 'eth1.5000'],
    ['a plugin that is not known', { type: 'kube-ovn', master: 'eth1' }, '', undefined],
    ['a name of JavaScript', { type: 'constructor' }, '', undefined],
  ];
  for (const [what, config, resource, wire] of cases) it(what, () => expect(of(config, resource)).to.equal(wire));

  it('is unknown where the configuration cannot be read', () => {
    for (const config of ['', '{', '[]', 'null', '{"type":["macvlan"]}', '{"plugins":7}', '{"plugins":[7,null]}'])
      expect(wireOf(config), config).to.equal(undefined);
    expect(of({ type: 'macvlan', master: ['x'], vlan: {} })).to.equal('interface of the default route');
  });

  it('is not read of a configuration beyond the limit', () => {
    const config = JSON.stringify({ type: 'macvlan', master: 'eth1', pad: 'x'.repeat(networkLimits.configLength) });
    expect(wireOf(config)).to.equal(undefined);
  });
});
