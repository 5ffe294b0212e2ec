import { expect } from 'chai';
import type { Reserve, Unreserve } from '../command.ts';
import type { Event } from '../event.ts';
import {
  allocate,
  allocated,
  bound,
  given,
  poolConfigured,
  quarantined,
  released,
  reserved,
  smallSubnet,
  subnetConfigured,
  type Untimed,
} from '../specification.ts';

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
/** Of the last event of an accepted command. */
const grantOf = (events: readonly Event[], asks: Untimed, afterMs?: number): unknown => {
  const when = given(events);
  const event = (afterMs === undefined ? when.when(asks) : when.whenAfter(afterMs, asks)).events.at(-1);
  return event?.type === 'AddressAllocated'
    ? { addresses: event.data.addresses.map(({ address }) => address), cause: event.data.cause, mac: event.data.mac }
    : event;
};

describe('Reserve', () => {
  it('holds the address that would be given next', () => {
    given([smallSubnet()])
      .when(reserve())
      .then([reserved(vip, ['10.0.0.2'], small)]);
  });

  it('holds one of each family of a dual subnet, or of the family asked for', () => {
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

  it('holds the named address: an excluded one too, one of a pool, and one that cools down', () => {
    const one = allocated('one', '10.0.0.2', small);
    const events = [smallSubnet(), poolConfigured('blue', ['10.0.0.3'], 'small'), one, released(one, 3)];
    for (const address of ['10.0.0.6', '10.0.0.3', '10.0.0.2'])
      given(events)
        .when(reserve({ addresses: [address] }))
        .then([reserved(vip, [address], small)]);
  });

  it('says again what is reserved for it already, and adds the family that is missing', () => {
    const events = [smallSubnet(), reserved(vip, ['10.0.0.3'], small)];
    given(events).when(reserve()).thenNothingHappens();
    given(events)
      .when(reserve({ addresses: ['10.0.0.3'], mac: '02:00:00:00:00:01' }))
      .thenNothingHappens();
    given([dual, reserved(vip, ['10.1.0.4'], { subnet: 'dual' })])
      .when(reserve({ subnet: 'dual' }))
      .then([reserved(vip, ['fd00::2'], { subnet: 'dual' })]);
  });

  it('refuses an address that is reserved for something else, held by another, or quarantined', () => {
    given([smallSubnet(), reserved('vip/db', ['10.0.0.3'], small)])
      .when(reserve({ addresses: ['10.0.0.3'] }))
      .thenRefused('ADDRESS_IN_USE', 'AddressConflict: 10.0.0.3 of subnet small is reserved for vip/db since');
    given([smallSubnet(), allocated('b', '10.0.0.3', small)])
      .when(reserve({ addresses: ['10.0.0.3'] }))
      .thenRefused('ADDRESS_IN_USE', 'AddressConflict: 10.0.0.3 of subnet small is in use by Pod default/b');
    given([smallSubnet(), quarantined('10.0.0.3', 'small')])
      .when(reserve({ addresses: ['10.0.0.3'] }))
      .thenRefused('ADDRESS_IN_USE', '10.0.0.3 of subnet small is quarantined');
  });

  it('keeps for a Pod what it holds, named or not', () => {
    const events = [smallSubnet(), allocated('a', '10.0.0.3', small)];
    for (const addresses of [[], ['10.0.0.3']])
      given(events)
        .when(reserve({ reservedFor: podA, addresses }))
        .then([reserved(podA, ['10.0.0.3'], small)]);
  });

  it('refuses the gateway, what is outside, two of a family, and what names nobody', () => {
    for (const [parts, code, message] of [
      [{ addresses: ['10.0.0.1'] }, 'ADDRESS_IN_USE', '10.0.0.1 is the gateway'],
      [{ addresses: ['10.9.0.1'] }, 'ADDRESS_OUT_OF_RANGE', 'AddressOutOfRange: 10.9.0.1'],
      [{ addresses: ['fd00::2'] }, 'ADDRESS_OUT_OF_RANGE', 'AddressOutOfRange: fd00::2'],
      [{ addresses: ['10.0.0.2', '10.0.0.3'] }, 'INVALID_REQUEST', 'at most one address of each family'],
      [{ reservedFor: 'pod/default/a' }, 'INVALID_REQUEST', 'pod/<namespace>/<pod>/<provider>'],
      [{ subnet: 'nope' }, 'SUBNET_UNKNOWN', 'NoSubnet: no subnet nope is configured'],
      [{ mac: '01:00:00:00:00:01' }, 'INVALID_REQUEST', 'is not a valid unicast MAC address'],
    ] as const)
      given([smallSubnet()]).when(reserve(parts)).thenRefused(code, message);
  });

  it('refuses when the subnet is full', () => {
    const events = [smallSubnet(), ...['2', '3', '4'].map((last) => allocated(last, `10.0.0.${last}`, small))];
    given(events).when(reserve()).thenRefused('SUBNET_FULL', 'NoAvailableAddress: subnet small');
  });
});

describe('A reserved address', () => {
  const kept = [smallSubnet(), reserved(vip, ['10.0.0.2'], { ...small, mac: '02:00:00:00:00:01' })];

  it('is never given to anybody else, neither dynamically nor by name', () => {
    expect(grantOf(kept, allocate('b', inSmall))).to.deep.include({ addresses: ['10.0.0.3'] });
    given(kept)
      .when(allocate('b', { ...inSmall, candidates: [['10.0.0.2']] }))
      .thenRefused('ADDRESS_IN_USE', 'AddressConflict: 10.0.0.2 of subnet small is reserved for vip/web since');
  });

  it('goes first to whose request says what it is reserved for, with its MAC', () => {
    expect(grantOf(kept, allocate('b', withVip))).to.deep.equal({
      addresses: ['10.0.0.2'],
      cause: 'reservation',
      mac: '02:00:00:00:00:01',
    });
  });

  it('goes to the attachment that it names without a word', () => {
    const events = [smallSubnet(), reserved(podA, ['10.0.0.4'], small)];
    expect(grantOf(events, allocate('a', inSmall))).to.deep.include({ addresses: ['10.0.0.4'], cause: 'reservation' });
    expect(grantOf(events, allocate('b', inSmall))).to.deep.include({ addresses: ['10.0.0.2'], cause: 'dynamic' });
  });

  it('may be named by whom it is reserved for', () => {
    const asks = allocate('b', { ...withVip, candidates: [['10.0.0.2']] });
    expect(grantOf(kept, asks)).to.deep.include({ addresses: ['10.0.0.2'], cause: 'reservation' });
  });

  it('goes to one Pod at a time', () => {
    given([...kept, allocated('b', '10.0.0.2', small)])
      .when(allocate('c', withVip))
      .thenRefused(
        'ADDRESS_IN_USE',
        "vip 'web' is in use by pod default/b: 10.0.0.2 of subnet small (reserved for vip/web) is in use by Pod default/b",
      );
  });

  it('is not replaced by another where nothing is reserved (any more)', () => {
    given([smallSubnet()])
      .when(allocate('b', withVip))
      .thenRefused('RESERVATION_UNKNOWN', 'nothing is reserved for vip/web in subnet small');
  });

  it('is not given while an earlier container may answer on it, and nothing else instead', () => {
    const b = allocated('b', '10.0.0.2', small);
    given([...kept, b, bound(b, 3), released(b, 3)])
      .when(allocate('c', withVip))
      .thenRefused('ADDRESS_IN_USE', 'may still answer on it');
  });

  it('outlives its holder', () => {
    const b = allocated('b', '10.0.0.2', small);
    const events = [...kept, b, released(b, 3)];
    expect(grantOf(events, allocate('c', inSmall))).to.deep.include({ addresses: ['10.0.0.3'] });
    expect(grantOf(events, allocate('c', withVip))).to.deep.include({ addresses: ['10.0.0.2'] });
  });

  it('is not passed on to a Pod of the same name that does not ask for it', () => {
    const b = allocated('b', '10.0.0.2', { ...small, uid: 'before' });
    const { events } = given([...kept, b]).when(allocate('b', inSmall));
    expect(events.map(({ type }) => type)).to.deep.equal(['AddressReleased', 'AddressAllocated']);
    expect(grantOf([...kept, b], allocate('b', inSmall))).to.deep.include({ addresses: ['10.0.0.3'] });
  });

  it('keeps its MAC from others', () => {
    given(kept)
      .when(allocate('b', { ...inSmall, mac: '02:00:00:00:00:01' }))
      .thenRefused('MAC_IN_USE', 'AddressConflict: MAC 02:00:00:00:00:01 is reserved for vip/web in subnet small');
    given(kept)
      .when(reserve({ reservedFor: 'vip/db', mac: '02:00:00:00:00:01' }))
      .thenRefused('MAC_IN_USE', 'is reserved for vip/web');
  });

  it('keeps its subnet from being retired, and from leaving it outside or for a gateway', () => {
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

  it('ends all that is reserved for it, each by an event of its own', () => {
    given(events)
      .when(unreserve())
      .then([cancelled(['10.0.0.2']), cancelled(['10.0.0.4'])]);
  });

  it('ends what is named, whatever it is reserved for', () => {
    given(events)
      .when(unreserve({ addresses: ['10.0.0.4'], reservedFor: '' }))
      .then([cancelled(['10.0.0.4'])]);
  });

  it('leaves what is reserved for something else, and what is not reserved', () => {
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

  it('refuses to end all that there are', () => {
    given(events)
      .when(unreserve({ reservedFor: '' }))
      .thenRefused('INVALID_REQUEST', 'name the addresses');
  });

  it('leaves the address with its holder', () => {
    const held = allocated('b', '10.0.0.2', small);
    const after = [...events.slice(0, 2), held, cancelled(['10.0.0.2'])];
    given(after)
      .when(allocate('c', { ...inSmall, candidates: [['10.0.0.2']] }))
      .thenRefused('ADDRESS_IN_USE', 'in use by Pod default/b');
  });

  it('lets the address rest like one that was released', () => {
    const others = ['3', '4'].map((last) => allocated(last, `10.0.0.${last}`, small));
    const after = [...events.slice(0, 2), ...others, cancelled(['10.0.0.2'])];
    given(after).when(allocate('c', inSmall)).thenRefused('SUBNET_FULL', '1 released but resting');
    expect(grantOf(after, allocate('c', inSmall), 60_000)).to.deep.include({ addresses: ['10.0.0.2'] });
  });
});
