import { expect } from 'chai';
import type { RequestedSubnet } from '../commands/command.ts';
import { allocate, allocated, bound, released, smallSubnet, subnetConfigured } from '../testing/event-fixtures.ts';
import { given, type Untimed } from '../testing/given-when-then.ts';

const one = allocated('one', '172.17.0.11');
const apply = (spec: Partial<RequestedSubnet> = {}, name = 'macvlan'): Untimed => ({
  type: 'ApplySubnet',
  name,
  spec: {
    cidrBlock: '172.17.0.0/16',
    gateway: '172.17.0.1',
    excludeIps: ['172.17.0.0..172.17.0.10'],
    provider: 'macvlan.default',
    protocol: 'IPv4',
    bindingTimeoutMs: 3_600_000,
    ...spec,
  },
});
const retire: Untimed = { type: 'RetireSubnet', name: 'macvlan' };

describe('ApplySubnet', () => {
  it('ApplySubnet records the normalised spec', () => {
    given([]).when(apply()).then([subnetConfigured()]);
  });

  it('ApplySubnet records nothing when the spec is unchanged', () => {
    given([subnetConfigured()]).when(apply()).thenNothingHappens();
  });

  it('ApplySubnet is refused for a spec that breaks rules, and names each', () => {
    given([])
      .when(apply({ cidrBlock: '172.17.0.0/33', excludeIps: ['a'] }))
      .thenRefused('SUBNET_INVALID', /cidr 172\.17\.0\.0\/33 is invalid: .*; ip a in excludeIps/);
  });

  it('ApplySubnet is refused for a Subnet that overlaps another Subnet of the same network', () => {
    given([subnetConfigured()])
      .when(apply({ cidrBlock: '172.17.128.0/24', gateway: '', excludeIps: [] }, 'other'))
      .thenRefused(
        'SUBNET_OVERLAP',
        'subnet other cidr 172.17.128.0/24 is conflict with subnet macvlan cidr 172.17.0.0/16',
      );
  });

  it('ApplySubnet accepts the same CIDR on another network', () => {
    const { events } = given([subnetConfigured()]).when(apply({ provider: 'other.default' }, 'other'));
    expect(events).to.have.length(1);
  });

  it('ApplySubnet is refused for a change of the CIDR that leaves out the address of a Pod', () => {
    given([subnetConfigured(), one])
      .when(apply({ cidrBlock: '172.18.0.0/16', gateway: '', excludeIps: [] }))
      .thenRefused('SUBNET_IN_USE', 'Pod default/one holds 172.17.0.11, which would be outside');
  });

  it('ApplySubnet is refused for a gateway that a Pod holds, or on which its container may still answer', () => {
    given([subnetConfigured(), one])
      .when(apply({ gateway: '172.17.0.11' }))
      .thenRefused('SUBNET_IN_USE', "172.17.0.11 can't become the gateway of subnet macvlan: Pod default/one holds it");
    given([subnetConfigured(), one, bound(one, 2), released(one, 2)])
      .when(apply({ gateway: '172.17.0.11' }))
      .thenRefused('SUBNET_IN_USE', 'Pod default/one may still answer on it');
  });

  it('KO-5522 accepts excludes that cover addresses in use, and Pods keep those addresses', () => {
    const { events } = given([subnetConfigured(), one]).when(apply({ excludeIps: ['172.17.0.0..172.17.0.20'] }));
    expect(events).to.deep.equal([subnetConfigured('macvlan', { excludeIps: ['172.17.0.0..172.17.0.20'] })]);
  });

  it('ApplySubnet lets Pods keep an address that becomes excluded, and allocates it after its release only by name', () => {
    const two = allocated('two', '10.0.0.2', { subnet: 'small' });
    const excluding = smallSubnet({ excludeIps: ['10.0.0.1..10.0.0.2', '10.0.0.5..10.0.0.6'] });
    const inSmall = { provider: 'small.default', subnets: ['small'] };
    const events = [smallSubnet(), two, excluding];
    given(events).when(allocate('two', inSmall)).thenNothingHappens();
    const recreated = given(events).when(allocate('two', inSmall, { uid: 'uid-again' })).events;
    expect(
      recreated.map(({ type }) => type),
      'a re-created Pod keeps it',
    ).to.deep.equal(['AddressTransferred']);
    const others = ['3', '4'].map((last) => allocated(last, `10.0.0.${last}`, { subnet: 'small' }));
    const after = [...events, released(two, 2), ...others];
    given(after)
      .whenAfter(3_600_000, allocate('a', inSmall))
      .thenRefused('SUBNET_FULL', '2 of 2 addresses in use. Delete');
    const named = given(after).when(allocate('a', { ...inSmall, candidates: [['10.0.0.2']] })).events;
    expect(named).to.have.length(1);
  });

  it('ApplySubnet accepts a wider CIDR, and a narrower CIDR that contains all addresses of Pods', () => {
    for (const cidrBlock of ['172.16.0.0/12', '172.17.0.0/24'])
      expect(given([subnetConfigured(), one]).when(apply({ cidrBlock })).events).to.have.length(1);
  });

  it('ApplySubnet is refused for the removal of a family in which Pods hold addresses', () => {
    const spec = { cidrBlock: '172.17.0.0/16,fd00::/64', gateway: '172.17.0.1,fd00::1', protocol: 'Dual' as const };
    const six = { address: 'fd00::5', cidr: 'fd00::/64', gateway: 'fd00::1' };
    const holder = { ...one, data: { ...one.data, addresses: [...one.data.addresses, six] } };
    given([subnetConfigured('macvlan', spec), holder])
      .when(apply())
      .thenRefused('SUBNET_IN_USE', 'Pod default/one holds fd00::5, which would be outside');
  });

  it('ApplySubnet is refused for another network while a Pod holds an address, and accepted while none does', () => {
    const moved = apply({ provider: 'other.default' });
    given([subnetConfigured(), one])
      .when(moved)
      .thenRefused(
        'SUBNET_IN_USE',
        "subnet macvlan can't change its provider from macvlan.default to other.default: 1 of its addresses are in use on another network, the first: 172.17.0.11 is held by Pod default/one",
      );
    expect(given([subnetConfigured()]).when(moved).events).to.have.length(1);
  });

  it('ApplySubnet is refused for an invalid name', () => {
    given([]).when(apply({}, 'a/b')).thenRefused('SUBNET_INVALID', '"a/b" is not a valid subnet name');
  });

  it("ApplySubnet is refused for a provider that cannot be a network, for example the name of another Subnet's logical switch", () => {
    for (const provider of ['switch/lan', 'a/b', '__proto__', 'Lan.default', 'a..b', 'lan.', 'a b', 'a\u202eb'])
      given([])
        .when(apply({ provider }))
        .thenRefused('SUBNET_INVALID', /is not a valid provider: write <network>\.<namespace>/);
    for (const provider of ['', 'ovn', 'lan.default', 'a.b.c.ovn', 'ovn4nfv.kube-system.ovn'])
      expect(given([]).when(apply({ provider })).events, provider).to.have.length(1);
  });

  it('ApplySubnet accepts an unchanged spec whose provider only an earlier version accepted', () => {
    given([subnetConfigured('macvlan', { provider: 'A_B' })])
      .when(apply({ provider: 'A_B' }))
      .thenNothingHappens();
  });
});

describe('RetireSubnet', () => {
  it('RetireSubnet retires a Subnet in which no Pod holds an address', () => {
    given([subnetConfigured(), one, released(one, 2)])
      .when(retire)
      .then([{ type: 'SubnetRetired', subnet: 'macvlan', data: {} }]);
  });

  it('RetireSubnet is refused while Pods hold addresses, with the first Pod', () => {
    given([subnetConfigured(), one])
      .when(retire)
      .thenRefused('SUBNET_IN_USE', '1 of its addresses are held, the first by Pod default/one');
  });

  it('RetireSubnet does nothing for an unknown Subnet', () => {
    given([]).when(retire).thenNothingHappens();
  });
});
