import { expect } from 'chai';
import { allocate, allocateAll, allocated, reserved, subnetConfigured } from '../../testing/event-fixtures.ts';
import { given } from '../../testing/given-when-then.ts';
import type { Event } from '../../events/event.ts';

const macOf = (event: Event | undefined): string =>
  event?.type === 'AddressAllocated' || event?.type === 'AddressTransferred' ? event.data.mac : '(no grant)';

describe('selectMac', () => {
  it('returns no MAC for a NIC that requests none and needs none', () => {
    const { events } = given([subnetConfigured()]).when(allocate('plain'));
    expect(macOf(events[0])).to.equal('');
  });

  it('makes a locally administered unicast MAC from any random number if the NIC needs one', () => {
    for (const macSeed of [0, 1, 2 ** 40, 2 ** 47 + 12_345, 2 ** 48 - 1]) {
      const { events } = given([subnetConfigured()]).when(allocate('needy', { macSeed }));
      expect(macOf(events[0]), String(macSeed)).to.match(/^[0-9a-f][26ae](:[0-9a-f]{2}){5}$/);
    }
  });

  it('KO-4001 makes no MAC that is in use, reserved, or allocated to another NIC of the Pod', () => {
    const before = [
      subnetConfigured(),
      allocated('one', '172.17.0.11', { mac: '02:00:00:00:00:07' }),
      reserved('vip/web', ['172.17.0.12'], { mac: '02:00:00:00:00:08' }),
    ];
    const { events } = given(before).when(allocateAll('two', [{ macSeed: 7 }, { macSeed: 7, ordinal: 1 }]));
    expect(events.map(macOf)).to.deep.equal(['02:00:00:00:00:09', '02:00:00:00:00:0a']);
  });

  it('prefers the requested MAC', () => {
    const { events } = given([subnetConfigured()]).when(allocate('picky', { mac: '02:00:00:00:00:55', macSeed: 7 }));
    expect(macOf(events[0])).to.equal('02:00:00:00:00:55');
  });

  it('keeps the made MAC for a new Pod of the same name', () => {
    const before = [subnetConfigured(), allocated('web-0', '172.17.0.11', { mac: '02:00:00:00:00:07' })];
    const { events } = given(before).when(allocate('web-0', { macSeed: 99 }, { uid: 'uid-2' }));
    expect(events[0]?.type).to.equal('AddressTransferred');
    expect(macOf(events[0])).to.equal('02:00:00:00:00:07');
  });
});
