import { expect } from 'chai';
import type { RequestedSubnet } from '../../commands/command.ts';
import type { Event } from '../../events/event.ts';
import type { SubnetSpec } from '../../values/configuration.ts';
import {
  allocate,
  allocateAll,
  allocated,
  bound,
  quarantined,
  released,
  reserved,
  subnetConfigured,
  unbound,
} from '../../testing/event-fixtures.ts';
import { given } from '../../testing/given-when-then.ts';

const small: Partial<SubnetSpec> = {
  cidrBlock: '10.0.0.0/29',
  gateway: '10.0.0.1',
  excludeIps: ['10.0.0.1'],
};
/** The network's own subnet, and a logical switch with the same addresses. */
const lan = subnetConfigured('lan', { ...small, provider: 'net1.default' });
const overlay = subnetConfigured('overlay', { ...small, provider: 'ovn' });

const onLan = (pod: string, address: string, uid = `uid-${pod}`) =>
  allocated(pod, address, { uid, subnet: 'lan', provider: 'net1.default' });
const lent = (pod: string, address: string) => allocated(pod, address, { subnet: 'overlay', provider: 'net1.default' });

const allocateInLan = (pod: string, ...addresses: string[]) =>
  allocate(pod, { provider: 'net1.default', subnets: ['lan'], candidates: addresses.map((each) => [each]) });
const allocateInOverlay = (pod: string, ...addresses: string[]) =>
  allocate(pod, { provider: 'net1.default', subnets: ['overlay'], candidates: addresses.map((each) => [each]) });

/** A pool of the network's own subnet, for the Pods of another namespace. */
const theirs: Event = {
  type: 'PoolConfigured',
  subnet: 'lan',
  data: { pool: 'theirs', spec: { subnet: 'lan', ips: ['10.0.0.2'], namespaces: ['other'] } },
};

const hour = 3_600_000;

const requested = (event: Event): RequestedSubnet => {
  if (event.type !== 'SubnetConfigured') throw new Error(event.type);
  return event.data.spec;
};
const apply = (event: Event, change: Partial<RequestedSubnet> = {}) => ({
  type: 'ApplySubnet' as const,
  name: event.subnet,
  spec: { ...requested(event), ...change },
});
const addressesIn = (events: readonly Event[]): string[] =>
  events.flatMap((event) =>
    event.type === 'AddressAllocated' ? event.data.addresses.map(({ address }) => address) : [],
  );

describe('An address of one network has one holder:', () => {
  it('a NIC with a Subnet of a logical switch gets no address that is in use on its own network', () => {
    given([lan, overlay, onLan('first', '10.0.0.2')])
      .when(allocateInOverlay('second', '10.0.0.2'))
      .thenRefused(
        'ADDRESS_IN_USE',
        /^AddressConflict: 10\.0\.0\.2 of subnet lan, on the same network net1\.default, is in use by Pod default\/first/,
      );
  });

  it('a Subnet does not allocate an address that a NIC of its network has from a logical switch', () => {
    const history = [lan, overlay, lent('first', '10.0.0.2')];
    given(history).when(allocateInLan('second', '10.0.0.2')).thenRefused('ADDRESS_IN_USE', 'of subnet overlay');
    expect(addressesIn(given(history).when(allocateInLan('second')).events)).to.deep.equal(['10.0.0.3']);
  });

  it('a dynamic address of a logical switch is also free on the network of the NIC', () => {
    const history = [lan, overlay, onLan('first', '10.0.0.2'), onLan('second', '10.0.0.3')];
    expect(addressesIn(given(history).when(allocateInOverlay('third')).events)).to.deep.equal(['10.0.0.4']);
  });

  it('two attachments of one Pod to one network get two addresses, from any Subnets', () => {
    const both = [{ subnets: ['lan'] }, { subnets: ['overlay'], ordinal: 1 }].map((each) => ({
      provider: 'net1.default',
      ...each,
    }));
    expect(addressesIn(given([lan, overlay]).when(allocateAll('pod', both)).events)).to.deep.equal([
      '10.0.0.2',
      '10.0.0.3',
    ]);
  });

  it('Kube-OVN-type NICs of two logical switches are on two networks', () => {
    const other = subnetConfigured('other', { ...small, provider: 'switch2.default.ovn' });
    const held = allocated('first', '10.0.0.2', { subnet: 'overlay', provider: 'ovn' });
    const request = allocate('second', {
      provider: 'switch2.default.ovn',
      subnets: ['other'],
      candidates: [['10.0.0.2']],
    });
    expect(addressesIn(given([overlay, other, held]).when(request).events)).to.deep.equal(['10.0.0.2']);
  });

  it('two networks with the same addresses allocate them both', () => {
    const other = subnetConfigured('other', { ...small, provider: 'net2.default' });
    const request = allocate('second', { provider: 'net2.default', subnets: ['other'], candidates: [['10.0.0.2']] });
    expect(addressesIn(given([lan, other, onLan('first', '10.0.0.2')]).when(request).events)).to.deep.equal([
      '10.0.0.2',
    ]);
  });

  it('a binding, quarantine, reservation or cooldown of an address applies to all Subnets of the network', () => {
    const first = onLan('first', '10.0.0.2');
    const left = [lan, overlay, first, bound(first, 3), released(first, 3)];
    given(left).when(allocateInOverlay('second', '10.0.0.2')).thenRefused('ADDRESS_IN_USE', 'may still answer on it');
    given([lan, overlay, quarantined('10.0.0.2', 'lan')])
      .when(allocateInOverlay('second', '10.0.0.2'))
      .thenRefused('ADDRESS_QUARANTINED', 'is quarantined');
    given([lan, overlay, reserved('vip/web', ['10.0.0.2'], { subnet: 'lan' })])
      .when(allocateInOverlay('second', '10.0.0.2'))
      .thenRefused('ADDRESS_RESERVED', 'is reserved for vip/web');
    const cooling = given([lan, overlay, first, released(first, 3)]).when(allocateInOverlay('second'));
    expect(addressesIn(cooling.events)).to.deep.equal(['10.0.0.3']);
  });

  it('an address that a NIC of the network has from a logical switch cannot be reserved for another owner', () => {
    given([lan, overlay, lent('first', '10.0.0.2')])
      .when({
        type: 'Reserve',
        subnet: 'lan',
        addresses: ['10.0.0.2'],
        reservedFor: 'vip/web',
        reason: '',
        mac: '',
        ipFamily: '',
      })
      .thenRefused('ADDRESS_IN_USE', 'is in use by Pod default/first');
  });

  it('a NIC with a Subnet of a logical switch gets neither the gateway nor an excluded address of its own network', () => {
    const own = subnetConfigured('lan', {
      ...small,
      gateway: '10.0.0.2',
      excludeIps: ['10.0.0.2', '10.0.0.3'],
      provider: 'net1.default',
    });
    given([own, overlay])
      .when(allocateInOverlay('pod', '10.0.0.2'))
      .thenRefused('ADDRESS_OUT_OF_RANGE', '10.0.0.2 is the gateway of subnet lan');
    expect(addressesIn(given([own, overlay]).when(allocateInOverlay('pod')).events)).to.deep.equal(['10.0.0.4']);
  });

  it('a NIC with a Subnet of a logical switch gets no excluded address of its network, also beside Subnets with other addresses', () => {
    const excludeIps = ['10.0.0.1..10.0.0.3', '10.0.0.6'];
    const own = subnetConfigured('lan', { ...small, gateway: '10.0.0.3', excludeIps, provider: 'net1.default' });
    const switchOf = subnetConfigured('overlay', {
      ...small,
      gateway: '10.0.0.4',
      excludeIps: ['10.0.0.4'],
      provider: 'ovn',
    });
    for (const [cidrBlock, gateway] of [
      ['9.255.255.248/29', '9.255.255.249'],
      ['10.0.0.8/29', '10.0.0.9'],
    ] as const) {
      const beside = subnetConfigured('beside', {
        cidrBlock,
        gateway,
        excludeIps: [gateway],
        provider: 'net1.default',
      });
      const history = [own, beside, switchOf];
      expect(addressesIn(given(history).when(allocateInOverlay('first')).events)).to.deep.equal(['10.0.0.5']);
      given([...history, lent('first', '10.0.0.5')])
        .when(allocateInOverlay('second'))
        .thenRefused('SUBNET_FULL', 'overlay');
    }
  });

  it('a NIC with a dual-stack Subnet of a logical switch gets both families, also on a network with IPv4 only', () => {
    const dual = subnetConfigured('overlay', {
      cidrBlock: '10.0.0.0/29,fd00::/120',
      gateway: '10.0.0.1,fd00::1',
      excludeIps: ['10.0.0.1', 'fd00::1'],
      protocol: 'Dual',
      provider: 'ovn',
    });
    expect(addressesIn(given([lan, dual]).when(allocateInOverlay('pod')).events)).to.deep.equal([
      '10.0.0.2',
      'fd00::2',
    ]);
  });

  it('a NIC with a Subnet of a logical switch gets no address of a pool of its network for other namespaces', () => {
    given([lan, overlay, theirs])
      .when(allocateInOverlay('pod', '10.0.0.2'))
      .thenRefused('NAMESPACE_NOT_ALLOWED', 'theirs');
    expect(addressesIn(given([lan, overlay, theirs]).when(allocateInOverlay('pod')).events)).to.deep.equal([
      '10.0.0.3',
    ]);
  });

  it('an address has the cooldown of the Subnet that contains it, not of the Subnet that allocates it next', () => {
    const hasty = subnetConfigured('overlay', { ...small, provider: 'ovn', cooldownMs: 0, bindingTimeoutMs: 0 });
    for (const first of [onLan('first', '10.0.0.2'), lent('first', '10.0.0.2')]) {
      const left = [lan, hasty, first, bound(first, 3), released(first, 3)];
      given(left).when(allocateInOverlay('second', '10.0.0.2')).thenRefused('ADDRESS_IN_USE', 'may still answer on it');
      expect(addressesIn(given(left).when(allocateInOverlay('second')).events)).to.deep.equal(['10.0.0.3']);
    }
  });

  it('a MAC has one holder on the network, across all Subnets', () => {
    const mac = '02:00:00:00:00:09';
    const held = allocated('first', '10.0.0.2', { subnet: 'lan', provider: 'net1.default', mac });
    given([lan, overlay, held])
      .when(allocate('second', { provider: 'net1.default', subnets: ['overlay'], mac }))
      .thenRefused('MAC_IN_USE', mac);
  });
});

describe('The provider of a subnet', () => {
  const first = onLan('first', '10.0.0.2');
  const moved = apply(lan, { provider: 'net2.default' });

  for (const [what, history, why] of [
    ['held', [first], '10.0.0.2 is held by Pod default/first'],
    ['reserved', [reserved('vip/web', ['10.0.0.2'], { subnet: 'lan' })], '10.0.0.2 is reserved for vip/web'],
    [
      'bound',
      [first, bound(first, 2), released(first, 2)],
      'by container container-1 on node node-1: it is free after',
    ],
    ['at rest', [first, released(first, 2)], '10.0.0.2 cools down until'],
    ['quarantined', [quarantined('10.0.0.2', 'lan')], '10.0.0.2 is quarantined since'],
  ] as const)
    it(`The provider of a subnet does not change while an address is ${what}`, () => {
      given([lan, ...history])
        .when(moved)
        .thenRefused('SUBNET_IN_USE', why);
      const again = [lan, ...history, { type: 'SubnetRetired', subnet: 'lan', data: {} }] as const;
      given(again).when(moved).thenRefused('SUBNET_IN_USE', "subnet lan can't come back with provider net2.default");
    });

  it('The provider of a subnet changes when all addresses have cooled down', () => {
    const history = [lan, first, bound(first, 2), released(first, 2)];
    expect(given(history).whenAfter(hour, moved).events).to.have.length(1);
    expect(given([...history, unbound(first)]).whenAfter(60_000, moved).events).to.have.length(1);
  });
});

describe('The next subnet of a network', () => {
  const first = onLan('first', '10.0.0.2');
  const retired: Event = { type: 'SubnetRetired', subnet: 'lan', data: {} };
  const successor = subnetConfigured('successor', { ...small, provider: 'net1.default' });
  const narrowed = subnetConfigured('lan', {
    cidrBlock: '10.0.0.8/29',
    gateway: '10.0.0.9',
    excludeIps: ['10.0.0.9'],
    provider: 'net1.default',
  });
  const allocateInSuccessor = (pod: string, ...addresses: string[]) =>
    allocate(pod, { provider: 'net1.default', subnets: ['successor'], candidates: addresses.map((each) => [each]) });

  for (const [how, change] of [
    ['a retired one', retired],
    ['one that moved to other addresses', narrowed],
  ] as const) {
    it(`The next subnet of a network does not allocate an address on which a container of ${how} may still answer`, () => {
      const history = [lan, first, bound(first, 2), released(first, 2), change, successor];
      given(history)
        .when(allocateInSuccessor('second', '10.0.0.2'))
        .thenRefused(
          'ADDRESS_IN_USE',
          /10\.0\.0\.2 of subnet lan, on the same network net1\.default, was released, but/,
        );
      expect(addressesIn(given(history).when(allocateInSuccessor('second')).events)).to.deep.equal(['10.0.0.3']);
      const ended = [...history, unbound(first)];
      expect(
        addressesIn(given(ended).whenAfter(60_000, allocateInSuccessor('second', '10.0.0.2')).events),
      ).to.deep.equal(['10.0.0.2']);
    });

    it(`The next subnet of a network applies the cooldown and the quarantine of ${how}`, () => {
      const history = [lan, first, released(first, 2), quarantined('10.0.0.3', 'lan'), change, successor];
      expect(addressesIn(given(history).when(allocateInSuccessor('second')).events)).to.deep.equal(['10.0.0.4']);
      given(history)
        .when(allocateInSuccessor('second', '10.0.0.3'))
        .thenRefused('ADDRESS_QUARANTINED', 'is quarantined');
    });
  }

  it('The next subnet of a network is refused a gateway on which a container of a retired Subnet may still answer', () => {
    given([lan, first, bound(first, 2), released(first, 2), retired])
      .when(apply(successor, { gateway: '10.0.0.2' }))
      .thenRefused('SUBNET_IN_USE', 'may still answer on it');
  });
});

describe('An earlier Pod of a name', () => {
  const older = onLan('db-0', '10.0.0.2', 'uid-1');
  const recreate = (uid: string) => allocate('db-0', { provider: 'net1.default', subnets: ['lan'] }, { uid });

  it('An earlier Pod of a name gets no address back from the newer Pod after a transfer', () => {
    const transferEvents = given([lan, older]).when(recreate('uid-2')).events;
    const history = [lan, older, ...transferEvents];
    given(history)
      .when(recreate('uid-1'))
      .thenRefused('POD_SUPERSEDED', /Pod default\/db-0 \(uid uid-1\) was superseded by uid uid-2/);
    given([...history, ...given(history).when(recreate('uid-3')).events])
      .when(recreate('uid-1'))
      .thenRefused('POD_SUPERSEDED', 'uid-3');
  });

  it('An earlier Pod of a name gets no address back after the newer Pod got another address', () => {
    const elsewhere = allocate(
      'db-0',
      { provider: 'net1.default', subnets: ['lan'], candidates: [['10.0.0.5']] },
      { uid: 'uid-2' },
    );
    const history = [lan, older, ...given([lan, older]).when(elsewhere).events];
    given(history).when(recreate('uid-1')).thenRefused('POD_SUPERSEDED', 'uid-2');
  });

  for (const address of ['10.0.0.2', '10.0.0.3'])
    it(`An earlier Pod of a name gets no address back after its own release, when the newer Pod got ${address}`, () => {
      const newer = onLan('db-0', address, 'uid-2');
      given([lan, older, released(older, 2), newer])
        .when(recreate('uid-1'))
        .thenRefused('POD_SUPERSEDED', 'uid-2');
    });

  it('An earlier Pod of a name gets no address back from a Pod two generations later, which got the released address', () => {
    const passedOn = given([lan, older]).when(recreate('uid-2')).events;
    const second = onLan('db-0', '10.0.0.2', 'uid-2');
    const history = [lan, older, ...passedOn, released(second, 3), onLan('db-0', '10.0.0.2', 'uid-3')];
    given(history).when(recreate('uid-1')).thenRefused('POD_SUPERSEDED', 'uid-3');
  });

  it('An earlier Pod of a name gets no address back after another Pod used and released its address, and a newer Pod got another address', () => {
    const other = onLan('other', '10.0.0.2');
    const history = [lan, older, released(older, 2), other, released(other, 4), onLan('db-0', '10.0.0.3', 'uid-2')];
    given(history).when(recreate('uid-1')).thenRefused('POD_SUPERSEDED', 'uid-2');
  });

  it('An earlier Pod of a name gets no address after its end, also if no newer Pod of the name exists', () => {
    given([lan, older, released(older, 2)])
      .when(recreate('uid-1'))
      .thenRefused('POD_SUPERSEDED', 'has ended');
  });

  it('An earlier Pod of a name does not transfer an address that is now in a pool for other namespaces', () => {
    expect(addressesIn(given([lan, older, theirs]).when(recreate('uid-2')).events)).to.deep.equal(['10.0.0.3']);
  });

  it('An earlier Pod of a name keeps its bindings when the newer Pod requests other addresses and keeps the address', () => {
    const dual = subnetConfigured('dual', {
      cidrBlock: '10.1.0.0/29,fd00:1::/64',
      gateway: '10.1.0.1,fd00:1::1',
      excludeIps: ['10.1.0.1', 'fd00:1::1'],
      protocol: 'Dual',
      provider: 'net1.default',
    });
    const v4 = allocated('db-0', '10.1.0.2', { uid: 'uid-1', subnet: 'dual', provider: 'net1.default' });
    const both = allocate('db-0', { provider: 'net1.default', subnets: ['dual'] }, { uid: 'uid-2' });
    const history = [dual, v4, bound(v4, 2)];
    const { events } = given(history).when(both);
    expect(addressesIn(events)).to.deep.equal(['10.1.0.2', 'fd00:1::2']);
    const freed: Event = {
      type: 'AddressReleased',
      subnet: 'dual',
      data: {
        alloc: 5,
        attachment: v4.data.attachment,
        uid: 'uid-2',
        addresses: ['10.1.0.2', 'fd00:1::2'],
        cause: 'pod-deleted',
        evidence: '',
      },
    };
    const request = allocate('other', { provider: 'net1.default', subnets: ['dual'], candidates: [['10.1.0.2']] });
    given([...history, ...events, freed])
      .when(request)
      .thenRefused('ADDRESS_IN_USE', 'may still answer on it');
  });
});
