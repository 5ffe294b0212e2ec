import { expect } from 'chai';
import {
  allocate,
  allocateAll,
  allocated,
  bound,
  quarantined,
  released,
  reserved,
  subnetConfigured,
  transferred,
  unbound,
} from '../../testing/event-fixtures.ts';
import { foldEvents, given } from '../../testing/given-when-then.ts';
import type { Event } from '../../events/event.ts';

const macOf = (event: Event | undefined): string =>
  event?.type === 'AddressAllocated' || event?.type === 'AddressTransferred' ? event.data.mac : '(no grant)';

describe('selectMac', () => {
  it('selectMac returns no MAC for a NIC that requests none and needs none', () => {
    const { events } = given([subnetConfigured()]).when(allocate('plain'));
    expect(macOf(events[0])).to.equal('');
  });

  it('selectMac generates a locally administered unicast MAC from any random number if the NIC needs one', () => {
    for (const macSeed of [0, 1, 2 ** 40, 2 ** 47 + 12_345, 2 ** 48 - 1]) {
      const { events } = given([subnetConfigured()]).when(allocate('needy', { macSeed }));
      expect(macOf(events[0]), String(macSeed)).to.match(/^[0-9a-f][26ae](:[0-9a-f]{2}){5}$/);
    }
  });

  it('selectMac continues with the first MAC after the last one, if that is in use', () => {
    const last = allocated('one', '172.17.0.11', { mac: 'fe:ff:ff:ff:ff:ff' });
    const { events } = given([subnetConfigured(), last]).when(allocate('two', { macSeed: 2 ** 48 - 1 }));
    expect(macOf(events[0])).to.equal('02:00:00:00:00:00');
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

  it('selectMac prefers the requested MAC', () => {
    const { events } = given([subnetConfigured()]).when(allocate('picky', { mac: '02:00:00:00:00:55', macSeed: 7 }));
    expect(macOf(events[0])).to.equal('02:00:00:00:00:55');
  });

  it('selectMac keeps the generated MAC for a new Pod of the same name', () => {
    const before = [subnetConfigured(), allocated('web-0', '172.17.0.11', { mac: '02:00:00:00:00:07' })];
    const { events } = given(before).when(allocate('web-0', { macSeed: 99 }, { uid: 'uid-2' }));
    expect(events[0]?.type).to.equal('AddressTransferred');
    expect(macOf(events[0])).to.equal('02:00:00:00:00:07');
  });
});

describe('A MAC of a released address', () => {
  const mac = '02:00:00:00:00:07';
  const nextMac = '02:00:00:00:00:08';
  const [subnet, first] = [subnetConfigured(), allocated('first', '172.17.0.11', { mac })];
  const inUse = [subnet, first, bound(first, 2), released(first, 2)];
  const requests = allocate('second', { mac });
  const needsOne = allocate('second', { macSeed: 7 });
  const [cooldownMs, bindingTimeoutMs] = [60_000, 3_600_000];

  it('a MAC is refused while the container of its released Pod may still use it, and the refusal names that container', () => {
    given(inUse)
      .when(requests)
      .thenRefused(
        'MAC_IN_USE',
        /^AddressConflict: MAC 02:00:00:00:00:07 is in use with 172\.17\.0\.11 .* by container container-1 of Pod default\/first on node node-1: .* CNI DEL, when that Node is deleted, or at 2026-01-31T09:00:03\.000Z$/,
      );
    given(inUse)
      .whenAfter(bindingTimeoutMs - 1, requests)
      .thenRefused('MAC_IN_USE', 'container-1');
    expect(macOf(given(inUse).when(needsOne).events[0])).to.equal(nextMac);
  });

  it('A MAC of a released address is also refused to a new Pod of the same name, whose container may start on another node', () => {
    given(inUse)
      .when(allocate('first', { mac }, { uid: 'uid-2' }))
      .thenRefused('MAC_IN_USE', 'container-1');
  });

  it('a MAC is free after the CNI DEL of its container, and after the binding timeout', () => {
    const ended = [...inUse, unbound(first)];
    expect(macOf(given(ended).when(requests).events[0])).to.equal(mac);
    expect(macOf(given(inUse).whenAfter(bindingTimeoutMs, requests).events[0])).to.equal(mac);
  });

  it('a MAC is not generated during the cooldown of its address, but can be requested, like the address', () => {
    const cooling = [subnet, first, released(first, 2)];
    expect(macOf(given(cooling).whenAfter(cooldownMs - 1, needsOne).events[0])).to.equal(nextMac);
    expect(macOf(given(cooling).whenAfter(cooldownMs, needsOne).events[0])).to.equal(mac);
    expect(macOf(given(cooling).when(requests).events[0])).to.equal(mac);
  });

  it('a request for a MAC reads none of the idle addresses that were released with it', () => {
    const idle = Array.from({ length: 50 }, (_, index) => allocated(`p${index}`, `172.17.0.${11 + index}`, { mac }));
    const state = foldEvents([subnet, ...idle.flatMap((each, index) => [each, released(each, 2 * index + 2)])]);
    expect(state.formerMacs.get(`macvlan.default/${mac}`)).to.equal(undefined);
  });

  it('a MAC is refused while its address is quarantined, even after all timeouts', () => {
    const history = [subnet, first, released(first, 2), quarantined('172.17.0.11')];
    given(history)
      .whenAfter(10 * bindingTimeoutMs, requests)
      .thenRefused('MAC_RESERVED', /172\.17\.0\.11 .*Pod default\/first .*quarantined/);
    expect(macOf(given(history).whenAfter(10 * bindingTimeoutMs, needsOne).events[0])).to.equal(nextMac);
  });

  it('a MAC is refused after a new Pod of the name took over the address with another MAC, until the DEL of the earlier container', () => {
    const passedOn = transferred(first, 2, 'uid-2');
    const history = [subnet, first, bound(first, 2), { ...passedOn, data: { ...passedOn.data, mac: nextMac } }];
    given(history).when(requests).thenRefused('MAC_IN_USE', 'container-1');
    expect(macOf(given([...history, unbound(first)]).when(requests).events[0])).to.equal(mac);
    const back = given(history).when(allocate('first', { mac }, { uid: 'uid-3' })).events;
    expect(back.map(({ type }) => type)).to.deep.equal(['AddressTransferred']);
  });

  it('a new Pod of the name that gets another address does not keep the MAC while the earlier container may use it', () => {
    const history = [subnet, first, bound(first, 2)];
    const moves = { candidates: [['172.17.0.99']] };
    given(history)
      .when(allocate('first', { ...moves, mac }, { uid: 'uid-2' }))
      .thenRefused('MAC_IN_USE', 'container-1');
    const made = given(history).when(allocate('first', { ...moves, macSeed: 7 }, { uid: 'uid-2' })).events;
    expect(macOf(made[1])).to.equal(nextMac);
    // The timeout of the MAC begins when the Pod gives up the address, like that of the address.
    given([...history, transferred(first, 2, 'uid-2')])
      .whenAfter(2 * bindingTimeoutMs, allocate('first', { ...moves, mac }, { uid: 'uid-3' }))
      .thenRefused('MAC_IN_USE', 'container-1');
  });

  it('a MAC in use is refused in each Subnet of the network', () => {
    const overlay = subnetConfigured('overlay', { provider: 'ovn', cidrBlock: '10.9.0.0/24', gateway: '10.9.0.1' });
    given([...inUse, overlay])
      .when(allocate('second', { mac, subnets: ['overlay'] }))
      .thenRefused('MAC_IN_USE', 'container-1');
  });

  it('A MAC of a released address is reserved with an address for NICs of each network that the Subnet serves', () => {
    const overlay = subnetConfigured('overlay', { provider: 'ovn', cidrBlock: '10.9.0.0/24', gateway: '10.9.0.1' });
    given([overlay, reserved('vip/web', ['10.9.0.9'], { subnet: 'overlay', mac })])
      .when(allocate('second', { mac, subnets: ['overlay'] }))
      .thenRefused('MAC_RESERVED', 'reserved for vip/web');
  });
});
