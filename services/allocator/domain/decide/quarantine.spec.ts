import { expect } from 'chai';
import type { Event } from '../event.ts';
import { addressRecord } from '../questions.ts';
import {
  allocate,
  allocated,
  fold,
  given,
  quarantined,
  released,
  reserved,
  smallSubnet,
  start,
  type Untimed,
} from '../specification.ts';

const inSmall = { provider: 'small.default', subnets: ['small'] };
const small = { subnet: 'small' };
const quarantine = (address: string, subnet = 'small'): Untimed => ({
  type: 'Quarantine',
  subnet,
  address,
  seenMac: '52:54:00:00:00:01',
  seenAt: 'node-1',
  reason: 'a printer',
});
const lift = (address: string): Untimed => ({ type: 'Lift', subnet: 'small', address, reason: 'gone' });
const lifted = (address: string): Event => ({ type: 'QuarantineLifted', ...small, data: { address, reason: 'gone' } });
const addressesOf = (events: readonly Event[]): string[] =>
  events.flatMap((event) =>
    event.type === 'AddressAllocated' ? event.data.addresses.map(({ address }) => address) : [],
  );

describe('Quarantine', () => {
  it('takes an address out of use, once', () => {
    given([smallSubnet()])
      .when(quarantine('10.0.0.2'))
      .then([quarantined('10.0.0.2', 'small')]);
    given([smallSubnet(), quarantined('10.0.0.2', 'small')])
      .when(quarantine('10.0.0.2'))
      .thenNothingHappens();
  });

  it('refuses the gateway, what is no host of the subnet, and a subnet that is not there', () => {
    given([smallSubnet()]).when(quarantine('10.0.0.1')).thenRefused('ADDRESS_IN_USE', 'is the gateway');
    given([smallSubnet()]).when(quarantine('10.0.0.7')).thenRefused('ADDRESS_OUT_OF_RANGE', 'AddressOutOfRange');
    given([smallSubnet()]).when(quarantine('10.0.0.2', 'nope')).thenRefused('SUBNET_UNKNOWN', 'NoSubnet');
  });

  it('SP-3081 keeps the address from everybody, whom it is reserved for too', () => {
    const events = [smallSubnet(), reserved('vip/web', ['10.0.0.2'], small), quarantined('10.0.0.2', 'small')];
    expect(addressesOf(given(events).when(allocate('a', inSmall)).events)).to.deep.equal(['10.0.0.3']);
    for (const asks of [{ candidates: [['10.0.0.2']] }, { reservation: 'vip/web' }])
      given(events)
        .when(allocate('a', { ...inSmall, ...asks }))
        .thenRefused(
          'ADDRESS_IN_USE',
          'AddressConflict: 10.0.0.2 of subnet small is quarantined since 2026-01-31T08:00:02.000Z: 52:54:00:00:00:01 answers on it (seen at node-1)',
        );
  });

  it('leaves the address with its holder, and nobody gets it after', () => {
    const a = allocated('a', '10.0.0.2', small);
    const events = [smallSubnet(), a, quarantined('10.0.0.2', 'small')];
    given(events).when(allocate('a', inSmall)).thenNothingHappens();
    const { events: next } = given([...events, released(a, 2)]).whenAfter(3_600_000, allocate('b', inSmall));
    expect(addressesOf(next)).to.deep.equal(['10.0.0.3']);
  });

  it('keeps the address from a re-created Pod of the same name', () => {
    const a = allocated('a', '10.0.0.2', { ...small, uid: 'before' });
    const { events } = given([smallSubnet(), a, quarantined('10.0.0.2', 'small')]).when(allocate('a', inSmall));
    expect(addressesOf(events)).to.deep.equal(['10.0.0.3']);
  });

  it('shows on the address', () => {
    const state = fold([smallSubnet(), quarantined('10.0.0.2', 'small'), reserved('vip/web', ['10.0.0.3'], small)]);
    const stateOf = (address: string): string => addressRecord(state, 'small', address, start).state;
    expect(['10.0.0.2', '10.0.0.3', '10.0.0.4'].map(stateOf)).to.deep.equal(['quarantined', 'reserved', 'fresh']);
  });
});

describe('Lift', () => {
  it('ends a quarantine; the address then rests like one that was released', () => {
    const events = [smallSubnet(), quarantined('10.0.0.2', 'small')];
    given(events)
      .when(lift('10.0.0.2'))
      .then([lifted('10.0.0.2')]);
    const state = fold([...events, lifted('10.0.0.2')]);
    expect(addressRecord(state, 'small', '10.0.0.2', start + 3_000).state).to.equal('cooling');
  });

  it('of what is not quarantined is done already', () => {
    given([smallSubnet()]).when(lift('10.0.0.2')).thenNothingHappens();
  });
});
