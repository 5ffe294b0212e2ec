import { expect } from 'chai';
import type { RequestedSubnet } from '../command.ts';
import { describeState } from '../describe.ts';
import type { Event, SubnetSpec } from '../event.ts';
import { evolve } from '../evolve.ts';
import { Journal } from '../journal.ts';
import { restore } from '../restore.ts';
import {
  allocate,
  allocateAll,
  allocated,
  bound,
  fold,
  given,
  quarantined,
  released,
  reserved,
  snapshotOf,
  start,
  subnetConfigured,
  unbound,
} from '../specification.ts';

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

const askLan = (pod: string, ...addresses: string[]) =>
  allocate(pod, { provider: 'net1.default', subnets: ['lan'], candidates: addresses.map((each) => [each]) });
const askOverlay = (pod: string, ...addresses: string[]) =>
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

describe('One network has one holder of an address', () => {
  it('a NIC that draws from a logical switch gets no address that its own network holds', () => {
    given([lan, overlay, onLan('first', '10.0.0.2')])
      .when(askOverlay('second', '10.0.0.2'))
      .thenRefused(
        'ADDRESS_IN_USE',
        /^AddressConflict: 10\.0\.0\.2 of subnet lan, on the same network net1\.default, is in use by Pod default\/first/,
      );
  });

  it('a subnet does not give an address that a NIC of its network drew from a logical switch', () => {
    const history = [lan, overlay, lent('first', '10.0.0.2')];
    given(history).when(askLan('second', '10.0.0.2')).thenRefused('ADDRESS_IN_USE', 'of subnet overlay');
    expect(addressesIn(given(history).when(askLan('second')).events)).to.deep.equal(['10.0.0.3']);
  });

  it('any free address of a logical switch is one that is free on the network of the NIC, too', () => {
    const history = [lan, overlay, onLan('first', '10.0.0.2'), onLan('second', '10.0.0.3')];
    expect(addressesIn(given(history).when(askOverlay('third')).events)).to.deep.equal(['10.0.0.4']);
  });

  it('two attachments of one Pod to one network get two addresses, from whichever subnets', () => {
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
    const asked = allocate('second', {
      provider: 'switch2.default.ovn',
      subnets: ['other'],
      candidates: [['10.0.0.2']],
    });
    expect(addressesIn(given([overlay, other, held]).when(asked).events)).to.deep.equal(['10.0.0.2']);
  });

  it('two networks with the same addresses give them both', () => {
    const other = subnetConfigured('other', { ...small, provider: 'net2.default' });
    const asked = allocate('second', { provider: 'net2.default', subnets: ['other'], candidates: [['10.0.0.2']] });
    expect(addressesIn(given([lan, other, onLan('first', '10.0.0.2')]).when(asked).events)).to.deep.equal(['10.0.0.2']);
  });

  it('an address that a container may still answer on, that is quarantined, reserved or at rest is kept back on all the network', () => {
    const first = onLan('first', '10.0.0.2');
    const left = [lan, overlay, first, bound(first, 3), released(first, 3)];
    given(left).when(askOverlay('second', '10.0.0.2')).thenRefused('ADDRESS_IN_USE', 'may still answer on it');
    given([lan, overlay, quarantined('10.0.0.2', 'lan')])
      .when(askOverlay('second', '10.0.0.2'))
      .thenRefused('ADDRESS_IN_USE', 'is quarantined');
    given([lan, overlay, reserved('vip/web', ['10.0.0.2'], { subnet: 'lan' })])
      .when(askOverlay('second', '10.0.0.2'))
      .thenRefused('ADDRESS_IN_USE', 'is reserved for vip/web');
    const cooling = given([lan, overlay, first, released(first, 3)]).when(askOverlay('second'));
    expect(addressesIn(cooling.events)).to.deep.equal(['10.0.0.3']);
  });

  it('an address that a NIC of the network drew from a logical switch is not reserved for others in its own subnet', () => {
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

  it('a NIC that draws from a logical switch gets neither the gateway nor an excluded address of its own network', () => {
    const own = subnetConfigured('lan', {
      ...small,
      gateway: '10.0.0.2',
      excludeIps: ['10.0.0.2', '10.0.0.3'],
      provider: 'net1.default',
    });
    given([own, overlay])
      .when(askOverlay('pod', '10.0.0.2'))
      .thenRefused('ADDRESS_IN_USE', '10.0.0.2 is the gateway of subnet lan');
    expect(addressesIn(given([own, overlay]).when(askOverlay('pod')).events)).to.deep.equal(['10.0.0.4']);
  });

  it('a NIC that draws from a logical switch gets no address of a pool of its network that is for other namespaces', () => {
    given([lan, overlay, theirs]).when(askOverlay('pod', '10.0.0.2')).thenRefused('NAMESPACE_NOT_ALLOWED', 'theirs');
    expect(addressesIn(given([lan, overlay, theirs]).when(askOverlay('pod')).events)).to.deep.equal(['10.0.0.3']);
  });

  it('an address rests as long as the subnet says that has it, not as the one that gives it next', () => {
    const hasty = subnetConfigured('overlay', { ...small, provider: 'ovn', cooldownMs: 0, bindingTimeoutMs: 0 });
    for (const first of [onLan('first', '10.0.0.2'), lent('first', '10.0.0.2')]) {
      const left = [lan, hasty, first, bound(first, 3), released(first, 3)];
      given(left).when(askOverlay('second', '10.0.0.2')).thenRefused('ADDRESS_IN_USE', 'may still answer on it');
      expect(addressesIn(given(left).when(askOverlay('second')).events)).to.deep.equal(['10.0.0.3']);
    }
  });

  it('a claim that is dropped makes no subnet of the network anew', () => {
    const heir = subnetConfigured('heir', { ...small, provider: 'net1.default' });
    const [first, second] = [onLan('first', '10.0.0.2'), onLan('second', '10.0.0.3')];
    const retired: Event = { type: 'SubnetRetired', subnet: 'lan', data: {} };
    const again = allocated('third', '10.0.0.2', { subnet: 'heir', provider: 'net1.default' });
    const state = fold([lan, first, second, released(first, 2), released(second, 3), retired, heir, again]);
    const before = state.subnets.get('heir');
    const addresses = ['10.0.0.2', '10.0.0.3'];
    const drop: Event = { type: 'ClaimsDropped', subnet: 'lan', data: { addresses, previous: [] } };
    evolve(state, { ...drop, seq: 9, at: start + 2 * hour }, new Journal());
    expect(state.subnets.get('heir')).to.equal(before);
    expect(describeState({ ...state, dropped: new Map() })).to.deep.equal(
      describeState(restore({ ...snapshotOf(state), dropped: [] })),
    );
  });

  it('a MAC has one holder on the network, whichever subnet its address is from', () => {
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
    ['bound', [first, bound(first, 2), released(first, 2)], 'by container container-1 on node node-1, until'],
    ['at rest', [first, released(first, 2)], '10.0.0.2 cools down until'],
    ['quarantined', [quarantined('10.0.0.2', 'lan')], '10.0.0.2 is quarantined since'],
  ] as const)
    it(`does not change while an address is ${what}`, () => {
      given([lan, ...history])
        .when(moved)
        .thenRefused('SUBNET_IN_USE', why);
      const again = [lan, ...history, { type: 'SubnetRetired', subnet: 'lan', data: {} }] as const;
      given(again).when(moved).thenRefused('SUBNET_IN_USE', "subnet lan can't come back with provider net2.default");
    });

  it('changes once all addresses have rested', () => {
    const history = [lan, first, bound(first, 2), released(first, 2)];
    expect(given(history).whenAfter(hour, moved).events).to.have.length(1);
    expect(given([...history, unbound(first)]).whenAfter(60_000, moved).events).to.have.length(1);
  });
});

describe('The next subnet of a network', () => {
  const first = onLan('first', '10.0.0.2');
  const retired: Event = { type: 'SubnetRetired', subnet: 'lan', data: {} };
  const heir = subnetConfigured('heir', { ...small, provider: 'net1.default' });
  const narrowed = subnetConfigured('lan', {
    cidrBlock: '10.0.0.8/29',
    gateway: '10.0.0.9',
    excludeIps: ['10.0.0.9'],
    provider: 'net1.default',
  });
  const askHeir = (pod: string, ...addresses: string[]) =>
    allocate(pod, { provider: 'net1.default', subnets: ['heir'], candidates: addresses.map((each) => [each]) });

  for (const [how, change] of [
    ['a retired one', retired],
    ['one that moved to other addresses', narrowed],
  ] as const) {
    it(`gives no address on which a container of ${how} may still answer`, () => {
      const history = [lan, first, bound(first, 2), released(first, 2), change, heir];
      given(history)
        .when(askHeir('second', '10.0.0.2'))
        .thenRefused(
          'ADDRESS_IN_USE',
          /10\.0\.0\.2 of subnet lan, on the same network net1\.default, was released, but/,
        );
      expect(addressesIn(given(history).when(askHeir('second')).events)).to.deep.equal(['10.0.0.3']);
      const ended = [...history, unbound(first)];
      expect(addressesIn(given(ended).whenAfter(60_000, askHeir('second', '10.0.0.2')).events)).to.deep.equal([
        '10.0.0.2',
      ]);
    });

    it(`keeps the cooldown and the quarantine of ${how}`, () => {
      const history = [lan, first, released(first, 2), quarantined('10.0.0.3', 'lan'), change, heir];
      expect(addressesIn(given(history).when(askHeir('second')).events)).to.deep.equal(['10.0.0.4']);
      given(history).when(askHeir('second', '10.0.0.3')).thenRefused('ADDRESS_IN_USE', 'is quarantined');
    });
  }

  it('takes no gateway that a container of a retired one may still answer on', () => {
    given([lan, first, bound(first, 2), released(first, 2), retired])
      .when(apply(heir, { gateway: '10.0.0.2' }))
      .thenRefused('SUBNET_IN_USE', 'may still answer on it');
  });
});

describe('An older Pod of a name', () => {
  const older = onLan('db-0', '10.0.0.2', 'uid-1');
  const ask = (uid: string) => allocate('db-0', { provider: 'net1.default', subnets: ['lan'] }, { uid });

  it('takes nothing back from the newer one that its addresses were passed on to', () => {
    const passedOn = given([lan, older]).when(ask('uid-2')).events;
    const history = [lan, older, ...passedOn];
    given(history)
      .when(ask('uid-1'))
      .thenRefused('POD_SUPERSEDED', /Pod default\/db-0 \(uid uid-1\) was superseded by uid uid-2/);
    given([...history, ...given(history).when(ask('uid-3')).events])
      .when(ask('uid-1'))
      .thenRefused('POD_SUPERSEDED', 'uid-3');
  });

  it('takes nothing back where the newer one was given another address', () => {
    const elsewhere = allocate(
      'db-0',
      { provider: 'net1.default', subnets: ['lan'], candidates: [['10.0.0.5']] },
      { uid: 'uid-2' },
    );
    const history = [lan, older, ...given([lan, older]).when(elsewhere).events];
    given(history).when(ask('uid-1')).thenRefused('POD_SUPERSEDED', 'uid-2');
  });

  for (const address of ['10.0.0.2', '10.0.0.3'])
    it(`takes nothing back after its release was recorded first, and the newer one got ${address}`, () => {
      const newer = onLan('db-0', address, 'uid-2');
      given([lan, older, released(older, 2), newer])
        .when(ask('uid-1'))
        .thenRefused('POD_SUPERSEDED', 'uid-2');
    });

  it('leaves an address that is in a pool for other namespaces by now', () => {
    expect(addressesIn(given([lan, older, theirs]).when(ask('uid-2')).events)).to.deep.equal(['10.0.0.3']);
  });

  it('keeps its containers on record when the newer one asks for something else and keeps the address', () => {
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
    const asked = allocate('other', { provider: 'net1.default', subnets: ['dual'], candidates: [['10.1.0.2']] });
    given([...history, ...events, freed])
      .when(asked)
      .thenRefused('ADDRESS_IN_USE', 'may still answer on it');
  });
});
