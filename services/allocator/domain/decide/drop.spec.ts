import { expect } from 'chai';
import { describeState } from '../describe.ts';
import type { Event } from '../event.ts';
import { evolve } from '../evolve.ts';
import { Journal } from '../journal.ts';
import {
  allocate,
  allocated,
  bound,
  fold,
  given,
  quarantined,
  released,
  reserved,
  start,
  subnetConfigured,
} from '../specification.ts';
import { decide } from '../decide.ts';
import { mostClaimsADrop } from './drop.ts';

const hour = 3_600_000;
const drop = (...addresses: string[]) => ({ type: 'DropClaims', subnet: 'macvlan', addresses }) as const;
const dropped = (addresses: readonly string[], previous: readonly number[] = []): Event => ({
  type: 'ClaimsDropped',
  subnet: 'macvlan',
  data: { addresses, previous },
});
const used: readonly Event[] = [
  subnetConfigured(),
  allocated('a', '172.17.0.11'),
  released(allocated('a', '172.17.0.11'), 2),
];

/** The address that a Pod is given that asks for any. */
function nextFor(events: readonly Event[]): string {
  const [event] = given(events).whenAfter(24 * hour, allocate('next')).events;
  return event?.type === 'AddressAllocated' ? (event.data.addresses[0]?.address ?? '') : '';
}

describe('Dropping claims', () => {
  it('drops an idle claim that has rested longer than the cooldown and the binding timeout', () => {
    given(used)
      .whenAfter(hour + 1, drop('172.17.0.11'))
      .then([dropped(['172.17.0.11'])]);
  });

  it('leaves a claim that still rests, also by the longer of the two times', () => {
    given(used).whenAfter(hour, drop('172.17.0.11')).thenNothingHappens();
    const cools = subnetConfigured('macvlan', { cooldownMs: 2 * hour });
    given([cools, ...used.slice(1)])
      .whenAfter(2 * hour, drop('172.17.0.11'))
      .thenNothingHappens();
  });

  it('leaves what a Pod, a container, a reservation or a quarantine still says something about', () => {
    const held = allocated('a', '172.17.0.11');
    for (const events of [
      [subnetConfigured(), held],
      [subnetConfigured(), held, bound(held, 2), released(held, 2)],
      [...used, reserved('vip/web', ['172.17.0.11'])],
      [...used, quarantined('172.17.0.11')],
    ])
      given(events)
        .whenAfter(24 * hour, drop('172.17.0.11', '172.17.0.99'))
        .thenNothingHappens();
  });

  it('drops claims of a retired subnet after the usual times', () => {
    const retired: Event = { type: 'SubnetRetired', subnet: 'macvlan', data: {} };
    given([...used, retired])
      .whenAfter(hour, drop('172.17.0.11'))
      .then([dropped(['172.17.0.11'])]);
  });

  it('names the events that dropped claims of the subnet before, and each claim once', () => {
    const again = [
      ...used,
      allocated('b', '172.17.0.12'),
      released(allocated('b', '172.17.0.12'), 4),
      dropped(['172.17.0.11']),
    ];
    given(again)
      .whenAfter(2 * hour, drop('172.17.0.12', '172.17.0.12', '172.17.0.11'))
      .then([dropped(['172.17.0.12'], [6])]);
  });

  it('refuses more claims than fit one event', () => {
    const many = Array.from({ length: mostClaimsADrop + 1 }, (_, index) => `172.17.1.${index}`);
    given(used)
      .whenAfter(24 * hour, drop(...many))
      .thenRefused('INVALID_REQUEST', 'at most 100 are allowed, name fewer');
  });

  it('never drops a claim that is fenced', () => {
    const state = fold(used);
    state.fenced.add('macvlan/172.17.0.11');
    expect(decide(state, { ...drop('172.17.0.11'), now: start + 24 * hour })).to.deep.equal({
      kind: 'accepted',
      events: [],
    });
  });

  it('makes the address fresh: it is the lowest again', () => {
    expect(nextFor(used)).to.equal('172.17.0.12');
    expect(nextFor([...used, dropped(['172.17.0.11'])])).to.equal('172.17.0.11');
  });

  it('leaves a state as if the address was never used, whatever stood in the claim', () => {
    const held = allocated('a', '172.17.0.11');
    const state = fold([subnetConfigured(), held, bound(held, 2), released(held, 2), dropped(['172.17.0.11'])]);
    const { dropped: chain, ...rest } = describeState(state) as { dropped: unknown };
    expect(chain).to.deep.equal([['macvlan', [5]]]);
    expect({ ...rest, dropped: [] }).to.deep.equal(describeState(fold([subnetConfigured()])));
  });

  it('keeps the last 64 events that dropped claims at hand', () => {
    const state = fold(used);
    for (let seq = 10; seq < 110; seq++) {
      const event = dropped(['172.17.0.200'], state.dropped.get('macvlan') ?? []);
      evolve(state, { ...event, seq, at: start }, new Journal());
    }
    const expected = Array.from({ length: 64 }, (_, index) => 109 - index);
    expect(state.dropped.get('macvlan')).to.deep.equal(expected);
  });
});
