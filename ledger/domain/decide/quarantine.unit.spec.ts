import { expect } from 'chai';
import type { Event } from '../events/event.ts';
import { addressRecord } from '../queries/queries.ts';
import { allocate, allocated, quarantined, released, reserved, smallSubnet } from '../testing/event-fixtures.ts';
import { foldEvents, given, startTime, type Untimed } from '../testing/given-when-then.ts';

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
const unquarantine = (address: string): Untimed => ({
  type: 'Unquarantine',
  subnet: 'small',
  address,
  reason: 'host removed',
});
const lifted = (address: string): Event => ({
  type: 'QuarantineLifted',
  ...small,
  data: { address, reason: 'host removed' },
});
const addressesOf = (events: readonly Event[]): string[] =>
  events.flatMap((event) =>
    event.type === 'AddressAllocated' ? event.data.addresses.map(({ address }) => address) : [],
  );

describe('Quarantine', () => {
  it('Quarantine takes an address out of use, and records nothing when repeated', () => {
    given([smallSubnet()])
      .when(quarantine('10.0.0.2'))
      .then([quarantined('10.0.0.2', 'small')]);
    given([smallSubnet(), quarantined('10.0.0.2', 'small')])
      .when(quarantine('10.0.0.2'))
      .thenNothingHappens();
  });

  it('Quarantine is refused for the gateway, an address outside the hosts, and an unknown Subnet', () => {
    given([smallSubnet()]).when(quarantine('10.0.0.1')).thenRefused('ADDRESS_OUT_OF_RANGE', 'is the gateway');
    given([smallSubnet()]).when(quarantine('10.0.0.7')).thenRefused('ADDRESS_OUT_OF_RANGE', 'AddressOutOfRange');
    given([smallSubnet()]).when(quarantine('10.0.0.2', 'nope')).thenRefused('SUBNET_UNKNOWN', 'NoSubnet');
  });

  it('Quarantine is refused for a text that is not an address, and for an address of a family that the Subnet does not have', () => {
    given([smallSubnet()])
      .when(quarantine('10.0.0.2/29'))
      .thenRefused('INVALID_REQUEST', 'failed to parse IP 10.0.0.2/29: invalid IP address "10.0.0.2/29"');
    given([smallSubnet()])
      .when(quarantine('fd00::2'))
      .thenRefused('ADDRESS_OUT_OF_RANGE', 'AddressOutOfRange: fd00::2');
  });

  it('SP-3081 prevents every allocation of the address, also to the owner of a reservation', () => {
    const events = [smallSubnet(), reserved('vip/web', ['10.0.0.2'], small), quarantined('10.0.0.2', 'small')];
    expect(addressesOf(given(events).when(allocate('a', inSmall)).events)).to.deep.equal(['10.0.0.3']);
    for (const request of [{ candidates: [['10.0.0.2']] }, { reservation: 'vip/web' }])
      given(events)
        .when(allocate('a', { ...inSmall, ...request }))
        .thenRefused(
          'ADDRESS_QUARANTINED',
          'AddressConflict: 10.0.0.2 of subnet small is quarantined since 2026-01-31T08:00:02.000Z: 52:54:00:00:00:01 answers on it (seen at node-1)',
        );
  });

  it('Quarantine lets a Pod keep its address, which is not allocated after its release', () => {
    const a = allocated('a', '10.0.0.2', small);
    const events = [smallSubnet(), a, quarantined('10.0.0.2', 'small')];
    given(events).when(allocate('a', inSmall)).thenNothingHappens();
    const { events: next } = given([...events, released(a, 2)]).whenAfter(3_600_000, allocate('b', inSmall));
    expect(addressesOf(next)).to.deep.equal(['10.0.0.3']);
  });

  it('Quarantine prevents the transfer of the address to a new Pod of the same name', () => {
    const a = allocated('a', '10.0.0.2', { ...small, uid: 'before' });
    const { events } = given([smallSubnet(), a, quarantined('10.0.0.2', 'small')]).when(allocate('a', inSmall));
    expect(addressesOf(events)).to.deep.equal(['10.0.0.3']);
  });

  it('a quarantine is part of the address record', () => {
    const state = foldEvents([
      smallSubnet(),
      quarantined('10.0.0.2', 'small'),
      reserved('vip/web', ['10.0.0.3'], small),
    ]);
    const stateOf = (address: string): string => addressRecord(state, 'small', address, startTime).state;
    expect(['10.0.0.2', '10.0.0.3', '10.0.0.4'].map(stateOf)).to.deep.equal(['quarantined', 'reserved', 'fresh']);
  });
});

describe('Unquarantine', () => {
  it('Unquarantine ends a quarantine, after which the address cools down like a released address', () => {
    const events = [smallSubnet(), quarantined('10.0.0.2', 'small')];
    given(events)
      .when(unquarantine('10.0.0.2'))
      .then([lifted('10.0.0.2')]);
    const state = foldEvents([...events, lifted('10.0.0.2')]);
    expect(addressRecord(state, 'small', '10.0.0.2', startTime + 3_000).state).to.equal('cooldown');
  });

  it('Unquarantine does nothing for an address that is not quarantined', () => {
    given([smallSubnet()]).when(unquarantine('10.0.0.2')).thenNothingHappens();
  });
});
