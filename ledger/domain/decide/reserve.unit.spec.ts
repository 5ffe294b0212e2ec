import { expect } from 'chai';
import type { Reserve, Unreserve } from '../commands/command.ts';
import type { Event } from '../events/event.ts';
import {
  allocate,
  allocateAll,
  allocated,
  bound,
  poolConfigured,
  quarantined,
  released,
  reserved,
  smallSubnet,
  subnetConfigured,
} from '../testing/event-fixtures.ts';
import { foldEvents, given, startTime, type Untimed } from '../testing/given-when-then.ts';
import { decide } from './decide.ts';

const vip = 'vip/web';
const podA = 'pod/default/a/small.default';
const inSmall = { provider: 'small.default', subnets: ['small'] };
const withVip = { ...inSmall, reservation: vip };
const small = { subnet: 'small' };
const dual = subnetConfigured('dual', {
  cidrBlock: '10.1.0.0/29,fd00::/64',
  gateway: '10.1.0.1,fd00::1',
  excludeIps: ['10.1.0.1', 'fd00::1'],
  protocol: 'Dual',
});
const reserve = (parts: Partial<Reserve> = {}): Untimed => ({
  type: 'Reserve',
  subnet: 'small',
  addresses: [],
  reservedFor: vip,
  reason: 'kept',
  mac: '',
  ipFamily: '',
  ...parts,
});
const unreserve = (parts: Partial<Unreserve> = {}): Untimed => ({
  type: 'Unreserve',
  subnet: 'small',
  addresses: [],
  reservedFor: vip,
  reason: '',
  ...parts,
});
const cancelled = (addresses: readonly string[], reservedFor = vip, subnet = 'small'): Event => ({
  type: 'ReservationCancelled',
  subnet,
  data: { addresses, reservedFor, reason: '' },
});
/** Addresses, MAC and cause of the last event of an accepted command. */
const grantOf = (events: readonly Event[], request: Untimed, afterMs?: number): unknown => {
  const when = given(events);
  const event = (afterMs === undefined ? when.when(request) : when.whenAfter(afterMs, request)).events.at(-1);
  return event?.type === 'AddressAllocated'
    ? { addresses: event.data.addresses.map(({ address }) => address), cause: event.data.cause, mac: event.data.mac }
    : event;
};

describe('Reserve', () => {
  it('Reserve reserves the next free address', () => {
    given([smallSubnet()])
      .when(reserve())
      .then([reserved(vip, ['10.0.0.2'], small)]);
  });

  it('reserves one address of each family of a dual-stack Subnet, or of the requested family', () => {
    given([dual])
      .when(reserve({ subnet: 'dual' }))
      .then([reserved(vip, ['10.1.0.2', 'fd00::2'], { subnet: 'dual' })]);
    given([dual])
      .when(reserve({ subnet: 'dual', ipFamily: 'ipv6' }))
      .then([reserved(vip, ['fd00::2'], { subnet: 'dual' })]);
    given([smallSubnet()])
      .when(reserve({ ipFamily: 'ipv6' }))
      .thenRefused('IP_FAMILY_INVALID', 'requested ip family IPv6 does not match subnet small protocol IPv4');
  });

  it('reserves the requested address, even if it is excluded, in a pool or in cooldown', () => {
    const one = allocated('one', '10.0.0.2', small);
    const events = [smallSubnet(), poolConfigured('blue', ['10.0.0.3'], 'small'), one, released(one, 3)];
    for (const address of ['10.0.0.6', '10.0.0.3', '10.0.0.2'])
      given(events)
        .when(reserve({ addresses: [address] }))
        .then([reserved(vip, [address], small)]);
  });

  it('Reserve records nothing for an existing reservation, and adds a missing family', () => {
    const events = [smallSubnet(), reserved(vip, ['10.0.0.3'], small)];
    given(events).when(reserve()).thenNothingHappens();
    given(events)
      .when(reserve({ addresses: ['10.0.0.3'], mac: '02:00:00:00:00:01' }))
      .thenNothingHappens();
    given([dual, reserved(vip, ['10.1.0.4'], { subnet: 'dual' })])
      .when(reserve({ subnet: 'dual' }))
      .then([reserved(vip, ['fd00::2'], { subnet: 'dual' })]);
  });

  it('Reserve is refused for an address that is reserved for another owner, held by another Pod, or quarantined', () => {
    given([smallSubnet(), reserved('vip/db', ['10.0.0.3'], small)])
      .when(reserve({ addresses: ['10.0.0.3'] }))
      .thenRefused('ADDRESS_RESERVED', 'AddressConflict: 10.0.0.3 of subnet small is reserved for vip/db since');
    given([smallSubnet(), allocated('b', '10.0.0.3', small)])
      .when(reserve({ addresses: ['10.0.0.3'] }))
      .thenRefused('ADDRESS_IN_USE', 'AddressConflict: 10.0.0.3 of subnet small is in use by Pod default/b');
    given([smallSubnet(), quarantined('10.0.0.3', 'small')])
      .when(reserve({ addresses: ['10.0.0.3'] }))
      .thenRefused('ADDRESS_QUARANTINED', '10.0.0.3 of subnet small is quarantined');
  });

  it('Reserve for a Pod reserves the address that the Pod holds, whether the command names it or not', () => {
    const events = [smallSubnet(), allocated('a', '10.0.0.3', small)];
    for (const addresses of [[], ['10.0.0.3']])
      given(events)
        .when(reserve({ reservedFor: podA, addresses }))
        .then([reserved(podA, ['10.0.0.3'], small)]);
  });

  it('Reserve is refused for the gateway, an address outside the Subnet, a text that is not an address, two addresses of one family, and an owner without a name', () => {
    for (const [parts, code, message] of [
      [{ addresses: ['10.0.0.1'] }, 'ADDRESS_OUT_OF_RANGE', '10.0.0.1 is the gateway'],
      [{ addresses: ['10.9.0.1'] }, 'ADDRESS_OUT_OF_RANGE', 'AddressOutOfRange: 10.9.0.1'],
      [{ addresses: ['fd00::2'] }, 'ADDRESS_OUT_OF_RANGE', 'AddressOutOfRange: fd00::2'],
      [{ addresses: ['10.0.0.2/29'] }, 'INVALID_REQUEST', 'failed to parse IP 10.0.0.2/29: invalid IP address'],
      [{ addresses: ['10.0.0.2', '10.0.0.3'] }, 'INVALID_REQUEST', 'at most one address of each family'],
      [{ reservedFor: 'pod/default/a' }, 'INVALID_REQUEST', 'pod/<namespace>/<pod>/<provider>'],
      [{ subnet: 'nope' }, 'SUBNET_UNKNOWN', 'NoSubnet: no subnet nope is configured'],
      [{ mac: '01:00:00:00:00:01' }, 'INVALID_REQUEST', 'is not a valid unicast MAC address'],
    ] as const)
      given([smallSubnet()]).when(reserve(parts)).thenRefused(code, message);
  });

  it('Reserve is refused when the Subnet is full', () => {
    const events = [smallSubnet(), ...['2', '3', '4'].map((last) => allocated(last, `10.0.0.${last}`, small))];
    given(events).when(reserve()).thenRefused('SUBNET_FULL', 'NoAvailableAddress: subnet small');
  });
});

describe('A reserved address', () => {
  const kept = [smallSubnet(), reserved(vip, ['10.0.0.2'], { ...small, mac: '02:00:00:00:00:01' })];

  it('A reserved address is never allocated to another Pod, neither dynamically nor by name', () => {
    expect(grantOf(kept, allocate('b', inSmall))).to.deep.include({ addresses: ['10.0.0.3'] });
    given(kept)
      .when(allocate('b', { ...inSmall, candidates: [['10.0.0.2']] }))
      .thenRefused('ADDRESS_RESERVED', 'AddressConflict: 10.0.0.2 of subnet small is reserved for vip/web since');
  });

  it('A reserved address is allocated first to a request that names its owner, with its MAC', () => {
    expect(grantOf(kept, allocate('b', withVip))).to.deep.equal({
      addresses: ['10.0.0.2'],
      cause: 'reservation',
      mac: '02:00:00:00:00:01',
    });
  });

  it('a reserved address is allocated to the attachment that its owner names, even if the request does not name the owner', () => {
    const events = [smallSubnet(), reserved(podA, ['10.0.0.4'], small)];
    expect(grantOf(events, allocate('a', inSmall))).to.deep.include({ addresses: ['10.0.0.4'], cause: 'reservation' });
    expect(grantOf(events, allocate('b', inSmall))).to.deep.include({ addresses: ['10.0.0.2'], cause: 'dynamic' });
  });

  it('A reserved address is allocated to one attachment of its Pod, and another attachment gets a free address', () => {
    const first = allocated('a', '10.0.0.4', { ...small, cause: 'reservation' });
    const events = [smallSubnet(), reserved(podA, ['10.0.0.4'], small), first];
    const both = allocateAll('a', [inSmall, { ...inSmall, ordinal: 1 }]);
    expect(grantOf(events, both)).to.deep.include({ addresses: ['10.0.0.2'], cause: 'dynamic' });
  });

  it('a reserved address can be requested by address together with its owner', () => {
    const request = allocate('b', { ...withVip, candidates: [['10.0.0.2']] });
    expect(grantOf(kept, request)).to.deep.include({ addresses: ['10.0.0.2'], cause: 'reservation' });
  });

  it('A reserved address is allocated to one Pod at a time', () => {
    given([...kept, allocated('b', '10.0.0.2', small)])
      .when(allocate('c', withVip))
      .thenRefused(
        'ADDRESS_IN_USE',
        "vip 'web' is in use by pod default/b: 10.0.0.2 of subnet small (reserved for vip/web) is in use by Pod default/b",
      );
  });

  it('a request that names an owner without a reservation is refused, and gets no free address', () => {
    given([smallSubnet()])
      .when(allocate('b', withVip))
      .thenRefused('RESERVATION_UNKNOWN', 'is reserved for vip/web in subnet small');
  });

  it('a reserved address on which an earlier container may answer is neither allocated nor replaced by a free address', () => {
    const b = allocated('b', '10.0.0.2', small);
    given([...kept, b, bound(b, 3), released(b, 3)])
      .when(allocate('c', withVip))
      .thenRefused('ADDRESS_IN_USE', 'may still answer on it');
  });

  it('A reserved address stays reserved after its holder is released', () => {
    const b = allocated('b', '10.0.0.2', small);
    const events = [...kept, b, released(b, 3)];
    expect(grantOf(events, allocate('c', inSmall))).to.deep.include({ addresses: ['10.0.0.3'] });
    expect(grantOf(events, allocate('c', withVip))).to.deep.include({ addresses: ['10.0.0.2'] });
  });

  it('A reserved address is not transferred to a new Pod of the same name that does not request it', () => {
    const b = allocated('b', '10.0.0.2', { ...small, uid: 'before' });
    const { events } = given([...kept, b]).when(allocate('b', inSmall));
    expect(events.map(({ type }) => type)).to.deep.equal(['AddressReleased', 'AddressAllocated']);
    expect(grantOf([...kept, b], allocate('b', inSmall))).to.deep.include({ addresses: ['10.0.0.3'] });
  });

  it('A reserved address prevents the allocation of its MAC to other Pods', () => {
    given(kept)
      .when(allocate('b', { ...inSmall, mac: '02:00:00:00:00:01' }))
      .thenRefused('MAC_RESERVED', 'AddressConflict: MAC 02:00:00:00:00:01 is reserved for vip/web in subnet small');
    given(kept)
      .when(reserve({ reservedFor: 'vip/db', mac: '02:00:00:00:00:01' }))
      .thenRefused('MAC_RESERVED', 'is reserved for vip/web');
  });

  it('A reserved address prevents its Subnet from being retired, and from a change that leaves the address out or makes it the gateway', () => {
    given(kept)
      .when({ type: 'RetireSubnet', name: 'small' })
      .thenRefused('SUBNET_IN_USE', '1 of its addresses are reserved, the first for vip/web');
    const spec = { cidrBlock: '10.0.0.0/29', gateway: '', excludeIps: [], provider: 'small.default', protocol: '' };
    given(kept)
      .when({ type: 'ApplySubnet', name: 'small', spec: { ...spec, cidrBlock: '10.0.1.0/29' } })
      .thenRefused('SUBNET_IN_USE', '10.0.0.2 is reserved for vip/web, which would be outside');
    given(kept)
      .when({ type: 'ApplySubnet', name: 'small', spec: { ...spec, gateway: '10.0.0.2' } })
      .thenRefused('SUBNET_IN_USE', "10.0.0.2 can't become the gateway of subnet small: it is reserved for vip/web");
  });
});

describe('Unreserve', () => {
  const events = [smallSubnet(), reserved(vip, ['10.0.0.2'], small), reserved(vip, ['10.0.0.4'], small)];

  it('Unreserve ends all reservations of an owner, each by one event', () => {
    given(events)
      .when(unreserve())
      .then([cancelled(['10.0.0.2']), cancelled(['10.0.0.4'])]);
  });

  it('Unreserve ends the reservation of named addresses, for any owner', () => {
    given(events)
      .when(unreserve({ addresses: ['10.0.0.4'], reservedFor: '' }))
      .then([cancelled(['10.0.0.4'])]);
  });

  it('Unreserve keeps reservations of another owner, and skips unreserved addresses', () => {
    given(events)
      .when(unreserve({ addresses: ['10.0.0.4'], reservedFor: 'vip/db' }))
      .thenNothingHappens();
    given(events)
      .when(unreserve({ addresses: ['10.0.0.3'] }))
      .thenNothingHappens();
    given([])
      .when(unreserve({ subnet: 'nope' }))
      .thenNothingHappens();
  });

  it('Unreserve of an owner skips its fenced addresses, and is refused for a fenced address that it names', () => {
    const state = foldEvents(events);
    state.fenced.add('small/10.0.0.2');
    const decideOn = (command: Untimed) => decide(state, { ...command, now: startTime });
    expect(decideOn(unreserve())).to.deep.equal({ kind: 'accepted', events: [cancelled(['10.0.0.4'])] });
    expect(decideOn(unreserve({ addresses: ['10.0.0.2'] }))).to.have.nested.property('refusal.code', 'ADDRESS_FENCED');
  });

  it('Unreserve is refused without addresses and owner', () => {
    given(events)
      .when(unreserve({ reservedFor: '' }))
      .thenRefused('INVALID_REQUEST', 'name the addresses');
  });

  it('Unreserve lets a Pod keep its address', () => {
    const held = allocated('b', '10.0.0.2', small);
    const after = [...events.slice(0, 2), held, cancelled(['10.0.0.2'])];
    given(after)
      .when(allocate('c', { ...inSmall, candidates: [['10.0.0.2']] }))
      .thenRefused('ADDRESS_IN_USE', 'in use by Pod default/b');
  });

  it('Unreserve starts a cooldown of the address, as after a release', () => {
    const others = ['3', '4'].map((last) => allocated(last, `10.0.0.${last}`, small));
    const after = [...events.slice(0, 2), ...others, cancelled(['10.0.0.2'])];
    given(after).when(allocate('c', inSmall)).thenRefused('SUBNET_FULL', '1 released but not yet available');
    expect(grantOf(after, allocate('c', inSmall), 60_000)).to.deep.include({ addresses: ['10.0.0.2'] });
  });
});
