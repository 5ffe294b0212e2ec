import { expect } from 'chai';
import { describeState } from '../testing/describe-state.ts';
import type { Event } from '../events/event.ts';
import { evolve } from '../events/registry.ts';
import { UndoLog } from '../state/undo-log.ts';
import {
  allocate,
  allocated,
  bound,
  quarantined,
  released,
  reserved,
  subnetConfigured,
} from '../testing/event-fixtures.ts';
import { foldEvents, given, startTime } from '../testing/given-when-then.ts';
import { noBindingTimeoutMs } from '../commands/command.ts';
import { decide } from './decide.ts';
import { maxClaimsPerDrop } from '../events/claims-dropped.ts';

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

/** The address that a Pod gets for a request of any address. */
function nextFor(events: readonly Event[]): string {
  const [event] = given(events).whenAfter(24 * hour, allocate('next')).events;
  return event?.type === 'AddressAllocated' ? (event.data.addresses[0]?.address ?? '') : '';
}

describe('DropClaims', () => {
  it('DropClaims drops a claim that is idle for longer than the cooldown and the binding timeout', () => {
    given(used)
      .whenAfter(hour + 1, drop('172.17.0.11'))
      .then([dropped(['172.17.0.11'])]);
  });

  it('DropClaims keeps a claim that is idle for less than the cooldown or the binding timeout', () => {
    given(used).whenAfter(hour, drop('172.17.0.11')).thenNothingHappens();
    const cools = subnetConfigured('macvlan', { cooldownMs: 2 * hour });
    given([cools, ...used.slice(1)])
      .whenAfter(2 * hour, drop('172.17.0.11'))
      .thenNothingHappens();
  });

  it('DropClaims drops an idle claim of a Subnet without a binding timeout, and never a claim that a container holds', () => {
    const patient = subnetConfigured('macvlan', { bindingTimeoutMs: noBindingTimeoutMs });
    given([patient, ...used.slice(1)])
      .whenAfter(hour + 1, drop('172.17.0.11'))
      .then([dropped(['172.17.0.11'])]);
    const held = allocated('a', '172.17.0.11');
    given([patient, held, bound(held, 2), released(held, 2)])
      .whenAfter(365 * 24 * hour, drop('172.17.0.11'))
      .thenNothingHappens();
  });

  it('DropClaims keeps a claim with a Pod, a container, a reservation or a quarantine', () => {
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

  it('DropClaims drops claims of a retired Subnet after the default times', () => {
    const retired: Event = { type: 'SubnetRetired', subnet: 'macvlan', data: {} };
    const history = [...used, retired];
    given(history)
      .whenAfter(hour - 60_000, drop('172.17.0.11'))
      .thenNothingHappens();
    given(history)
      .whenAfter(hour, drop('172.17.0.11'))
      .then([dropped(['172.17.0.11'])]);
  });

  it('ClaimsDropped names the previous drops of the Subnet, and each claim once', () => {
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

  it('DropClaims is refused for more claims than fit one event', () => {
    const many = Array.from({ length: maxClaimsPerDrop + 1 }, (_, index) => `172.17.1.${index}`);
    given(used)
      .whenAfter(24 * hour, drop(...many))
      .thenRefused('INVALID_REQUEST', 'request at most 100');
  });

  it('DropClaims keeps a fenced claim', () => {
    const state = foldEvents(used);
    state.fenced.add('macvlan/172.17.0.11');
    expect(decide(state, { ...drop('172.17.0.11'), now: startTime + 24 * hour })).to.deep.equal({
      kind: 'accepted',
      events: [],
    });
  });

  it('DropClaims makes the address fresh', () => {
    expect(nextFor(used)).to.equal('172.17.0.12');
    expect(nextFor([...used, dropped(['172.17.0.11'])])).to.equal('172.17.0.11');
  });

  it('DropClaims leads to the same state as if the address was never used, for any claim', () => {
    const held = allocated('a', '172.17.0.11');
    const state = foldEvents([subnetConfigured(), held, bound(held, 2), released(held, 2), dropped(['172.17.0.11'])]);
    const { dropped: chain, ended, ...rest } = describeState(state) as { dropped: unknown; ended: unknown[] };
    expect(chain).to.deep.equal([['macvlan', [5]]]);
    expect(ended).to.have.length(1);
    expect({ ...rest, dropped: [], ended: [] }).to.deep.equal(describeState(foldEvents([subnetConfigured()])));
  });

  it('DropClaims keeps the last 64 drops in the state', () => {
    const state = foldEvents(used);
    for (let seq = 10; seq < 110; seq++) {
      const event = dropped(['172.17.0.200'], state.dropped.get('macvlan') ?? []);
      evolve(state, { ...event, seq, at: startTime }, new UndoLog());
    }
    const expected = Array.from({ length: 64 }, (_, index) => 109 - index);
    expect(state.dropped.get('macvlan')).to.deep.equal(expected);
  });
});
