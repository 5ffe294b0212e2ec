import { expect } from 'chai';
import { allocate, allocateAll, allocated, given, reserved, subnetConfigured } from '../specification.ts';
import type { Event } from '../event.ts';

const macOf = (event: Event | undefined): string =>
  event?.type === 'AddressAllocated' || event?.type === 'AddressTransferred' ? event.data.mac : '(no grant)';

describe('MACs', () => {
  it('gives none to a NIC that asks for none and needs none', () => {
    const { events } = given([subnetConfigured()]).when(allocate('plain'));
    expect(macOf(events[0])).to.equal('');
  });

  it('makes a locally administered unicast MAC where one is needed, whatever the random number', () => {
    for (const macSeed of [0, 1, 2 ** 40, 2 ** 47 + 12_345, 2 ** 48 - 1]) {
      const { events } = given([subnetConfigured()]).when(allocate('needy', { macSeed }));
      expect(macOf(events[0]), String(macSeed)).to.match(/^[0-9a-f][26ae](:[0-9a-f]{2}){5}$/);
    }
  });

  it('KO-4001 makes none that somebody in the subnet has, or is to have, or that another NIC of the Pod gets', () => {
    const before = [
      subnetConfigured(),
      allocated('one', '172.17.0.11', { mac: '02:00:00:00:00:07' }),
      reserved('vip/web', ['172.17.0.12'], { mac: '02:00:00:00:00:08' }),
    ];
    const { events } = given(before).when(allocateAll('two', [{ macSeed: 7 }, { macSeed: 7, ordinal: 1 }]));
    expect(events.map(macOf)).to.deep.equal(['02:00:00:00:00:09', '02:00:00:00:00:0a']);
  });

  it('takes the MAC that is asked for before one of its own', () => {
    const { events } = given([subnetConfigured()]).when(allocate('picky', { mac: '02:00:00:00:00:55', macSeed: 7 }));
    expect(macOf(events[0])).to.equal('02:00:00:00:00:55');
  });

  it('leaves a Pod that is made anew under its name the MAC that was made for it', () => {
    const before = [subnetConfigured(), allocated('web-0', '172.17.0.11', { mac: '02:00:00:00:00:07' })];
    const { events } = given(before).when(allocate('web-0', { macSeed: 99 }, { uid: 'uid-2' }));
    expect(events[0]?.type).to.equal('AddressTransferred');
    expect(macOf(events[0])).to.equal('02:00:00:00:00:07');
  });
});
