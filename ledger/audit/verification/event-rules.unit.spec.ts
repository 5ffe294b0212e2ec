import { expect } from 'chai';
import type { Event, Sequenced } from '../../domain/events/event.ts';
import { allocate, allocated, quarantined, subnetConfigured } from '../../domain/testing/event-fixtures.ts';
import { foldEvents, startTime } from '../../domain/testing/given-when-then.ts';
import type { State } from '../../domain/state/state.ts';
import { type Head, parseEvent, type StoredEvent } from '../../log/chain/chain.ts';
import { MemoryLedger } from '../../log/testing/memory-ledger.ts';
import {
  batchOf,
  bind,
  submitAll,
  createLedger,
  logOf,
  macvlan,
  never,
  release,
  startWriter,
  unbind,
} from '../../log/testing/running-writer.ts';
import { faultOf } from './event-verifier.ts';
import { brokenRule } from '../../domain/events/registry.ts';

describe('Verification of the event rules', () => {
  let state: State;
  let head: Head;
  let events: readonly StoredEvent[];
  before(async () => {
    const memory = new MemoryLedger();
    const { writer, replica, stop } = await startWriter(memory);
    // Events:             1 ledger        2 Subnet  3 a gets .11   4         5 b gets .12   6 b is released
    await submitAll(writer, createLedger(), macvlan, allocate('a'), bind('a'), allocate('b'), release('b'));
    await submitAll(writer, bind('a', 'macvlan.default', 'another'), unbind('a', 'another'));
    const seals = { from: 1, to: 3, since: '', until: '', hash: '', manifest: '', archive: '' };
    await writer.submit({
      command: (now) => ({ type: 'SealSegment', now, segment: seals }),
      answer: () => undefined,
      actor: 'spec',
      signal: never,
    });
    await submitAll(writer, {
      type: 'ApplySubnet',
      name: 'overlay',
      spec: { cidrBlock: '172.17.0.0/16', gateway: '', excludeIps: [], provider: 'ovn', protocol: '' },
    });
    await stop();
    ({ state, head } = replica);
    events = await logOf(memory);
  });

  /** Repeats an event of the log with changed data. */
  function repeat(seq: number, change: object = {}): Sequenced {
    const { sequenced } = events[seq - 1] as StoredEvent;
    return { ...sequenced, seq: head.seq + 1, data: { ...sequenced.data, ...change } } as Sequenced;
  }
  const bindingOf = (seq: number) =>
    events[seq - 1]?.sequenced.data as Extract<Event, { type: 'AddressBound' }>['data'];
  const next = (event: Event): Sequenced => ({ ...event, seq: head.seq + 1, at: head.at });
  const address = '172.17.0.11';

  const broken: Record<string, [event: () => Sequenced, what: RegExp]> = {
    'an allocation of an address that another Pod holds': [
      () => repeat(3, { attachment: { namespace: 'default', pod: 'x', provider: 'macvlan.default', ordinal: 0 } }),
      /^allocates 172.17.0.11 of subnet macvlan, which attachment macvlan.default\/0 of Pod default\/a holds since event 3$/,
    ],
    'an allocation of an address that another Pod holds on the network, from another Subnet': [
      () => {
        const lent = { namespace: 'default', pod: 'x', provider: 'macvlan.default', ordinal: 0 };
        return { ...repeat(3, { attachment: lent }), subnet: 'overlay' };
      },
      /^allocates 172.17.0.11 of subnet overlay on network macvlan.default, where attachment macvlan.default\/0 of Pod default\/a holds it from subnet macvlan since event 3$/,
    ],
    'a drop of a claim with a holder': [
      () => next({ type: 'ClaimsDropped', subnet: 'macvlan', data: { addresses: [address], previous: [] } }),
      /^drops the claim of 172.17.0.11 of subnet macvlan, which is not idle for long enough$/,
    ],
    'a drop of a claim in its cooldown': [
      () => next({ type: 'ClaimsDropped', subnet: 'macvlan', data: { addresses: ['172.17.0.12'], previous: [] } }),
      /^drops the claim of 172.17.0.12 of subnet macvlan, which is not idle for long enough$/,
    ],
    'a drop of a missing claim': [
      () => next({ type: 'ClaimsDropped', subnet: 'macvlan', data: { addresses: ['172.17.0.99'], previous: [] } }),
      /^drops the claim of 172.17.0.99 of subnet macvlan, which does not exist$/,
    ],
    'a drop without addresses or with a repeated address': [
      () => next({ type: 'ClaimsDropped', subnet: 'macvlan', data: { addresses: [], previous: [] } }),
      /^drops 0 claims: 1 to 100 are allowed, each once$/,
    ],
    'a drop that does not name the previous drops': [
      () => next({ type: 'ClaimsDropped', subnet: 'macvlan', data: { addresses: ['172.17.0.12'], previous: [2] } }),
      /^names events 2 as the last that dropped claims of subnet macvlan; they are none$/,
    ],
    'a second allocation of an attachment': [
      () => repeat(3),
      /^allocates addresses to .* default\/a, which holds those of event 3$/,
    ],
    'an allocation in a missing Subnet': [
      () => ({ ...repeat(5), subnet: 'other' }),
      /^allocates an address of subnet other, which is not in force$/,
    ],
    'a release of an address that is not held': [
      () => repeat(6),
      /^releases the allocation of event 5 to uid uid-b .*, which holds nothing$/,
    ],
    'a binding of an address that is not held': [
      () => repeat(4, { uid: 'uid-x' }),
      /^binds the allocation .*, which holds the allocation of event 3 to uid uid-a$/,
    ],
    'the end of a missing binding': [
      () => repeat(8),
      /^ends container another's use of 172.17.0.11, which did not use it$/,
    ],
    'the end of the binding of another interface': [
      () => repeat(8, { containerId: bindingOf(4).containerId, interface: 'other' }),
      /^ends container \S+'s use of 172.17.0.11, which did not use it$/,
    ],
    'the end of a missing quarantine': [
      () => next({ type: 'QuarantineLifted', subnet: 'macvlan', data: { address, reason: '' } }),
      /^ends the quarantine of 172.17.0.11, which is not quarantined$/,
    ],
    'the end of a missing reservation': [
      () =>
        next({
          type: 'ReservationCancelled',
          subnet: 'macvlan',
          data: { addresses: [address], reservedFor: 'vip/a', reason: '' },
        }),
      /^ends the reservation of 172.17.0.11 for vip\/a, which is not reserved$/,
    ],
    'the retirement of a missing Subnet': [
      () => next({ type: 'SubnetRetired', subnet: 'other', data: {} }),
      /^retires subnet other, which is not in force$/,
    ],
    'the retirement of a missing pool': [
      () => next({ type: 'PoolRetired', subnet: 'macvlan', data: { pool: 'p' } }),
      /^retires pool p, which is not in force$/,
    ],
    'a second seal of an event': [() => repeat(9), /^seals events from 1 on; the last sealed event is 3$/],
    'a seal of itself, and of later events': [
      () => repeat(9, { from: 4, to: head.seq + 1 }),
      /^seals events 4 to 11, which are not all before it$/,
    ],
    'a seal without events': [
      () => repeat(9, { from: 4, to: 3 }),
      /^seals events 4 to 3, which are not all before it$/,
    ],
  };
  for (const [name, [event, what]] of Object.entries(broken))
    it(`Verification of the event rules rejects ${name}`, () => {
      expect(brokenRule(state, event(), 5)).to.match(what);
    });

  it('Verification of the event rules accepts a seal of one event, and of all events before it', () => {
    for (const to of [4, head.seq]) expect(brokenRule(state, repeat(9, { from: 4, to }), 5)).to.equal(undefined);
  });

  it('Verification of the event rules rejects a drop of history that ends no sealed segment, or with another hash or time than the segment', () => {
    const sealed = (from: number, to: number): Event => ({
      type: 'SegmentSealed',
      subnet: '',
      data: { from, to, since: 's', until: `until-${to}`, hash: `hash-${to}`, manifest: '', archive: '' },
    });
    const drop = (to: number, change: object = {}): Event => ({
      type: 'HistoryDropped',
      subnet: '',
      data: { to, until: `until-${to}`, hash: `hash-${to}`, reason: '', ...change },
    });
    const fault = (before: readonly Event[], event: Event): string | undefined =>
      brokenRule(foldEvents(before), { ...event, seq: 9, at: startTime }, 8);
    const segments = [sealed(1, 2), sealed(3, 4)];
    for (const to of [2, 4]) expect(fault(segments, drop(to))).to.equal(undefined);
    const nowhere = (to: number): string => `drops events up to ${to}, where no sealed segment ends`;
    expect(fault(segments, drop(3))).to.equal(nowhere(3));
    expect(fault([], drop(2))).to.equal(nowhere(2));
    for (const to of [2, 4])
      expect(fault([...segments, drop(4)], drop(to)), 'of a dropped segment').to.equal(nowhere(to));
    for (const change of [{ hash: 'other' }, { until: 'other' }])
      expect(fault(segments, drop(2, change))).to.equal(
        'drops events up to 2 with a hash or a time that differs from that of the sealed segment',
      );
    const state = foldEvents([...segments, drop(3)]);
    expect(state.segments, 'and drops no segment for it').to.deep.equal(foldEvents(segments).segments);
  });

  describe('on networks', () => {
    const holding = { subnet: 'lan2', provider: 'lan.default', mac: '02:00:00:00:00:0a' };
    const lan = ['lan', 'lan2'].map((name) => subnetConfigured(name, { provider: 'lan.default' }));
    const retired: Event = { type: 'SubnetRetired', subnet: 'lan', data: {} };
    const stateAfter = (...events: Event[]): State => foldEvents([...lan, ...events]);
    const grants: Record<string, [state: State, event: Event, what: RegExp]> = {
      'an allocation of an address with a quarantine in a retired Subnet': [
        stateAfter(quarantined('172.17.0.11', 'lan'), retired),
        allocated('x', '172.17.0.11', holding),
        /, where it is quarantined in subnet lan$/,
      ],
      'an allocation of a MAC of another Subnet': [
        stateAfter(allocated('a', '172.17.0.12', { ...holding, subnet: 'lan' })),
        allocated('x', '172.17.0.11', holding),
        /^allocates MAC 02:00:00:00:00:0a in subnet lan2, which /,
      ],
    };
    it('Verification of the event rules rejects a reservation of a reserved address, and no other one', () => {
      const data = { addresses: ['172.17.0.11'], reservedFor: 'vip/a', reason: '', mac: '' };
      const reserve = { type: 'AddressReserved', subnet: 'lan2', data, seq: 9, at: startTime } as const;
      expect(brokenRule(stateAfter(), reserve, 5)).to.equal(undefined);
      expect(brokenRule(stateAfter({ type: 'AddressReserved', subnet: 'lan2', data }), reserve, 5)).to.equal(
        'reserves 172.17.0.11, which is reserved for vip/a',
      );
    });

    it('Verification of the event rules rejects the end of a reservation for another owner than that of the reservation', () => {
      const data = { addresses: ['172.17.0.11'], reservedFor: 'vip/a', reason: '', mac: '' };
      const before = stateAfter({ type: 'AddressReserved', subnet: 'lan2', data });
      const ends = (reservedFor: string): string | undefined =>
        brokenRule(
          before,
          {
            type: 'ReservationCancelled',
            subnet: 'lan2',
            data: { addresses: ['172.17.0.11'], reservedFor, reason: '' },
            seq: 9,
            at: startTime,
          },
          5,
        );
      expect(ends('vip/a')).to.equal(undefined);
      expect(ends('vip/b')).to.equal('ends the reservation of 172.17.0.11 for vip/b, which is reserved for vip/a');
    });

    it('Verification of the event rules rejects a second quarantine and an allocation of a quarantined address', () => {
      const before = stateAfter(quarantined('172.17.0.11', 'lan2'));
      const fault = (event: Event): string | undefined => brokenRule(before, { ...event, seq: 9, at: startTime }, 5);
      const grantOf = (address: string): Event => allocated('x', address, { subnet: 'lan2', provider: 'lan.default' });
      expect(fault(quarantined('172.17.0.11', 'lan2'))).to.equal(
        'quarantines 172.17.0.11, which is quarantined already',
      );
      expect(fault(quarantined('172.17.0.12', 'lan2'))).to.equal(undefined);
      expect(fault(grantOf('172.17.0.11'))).to.equal('allocates 172.17.0.11 of subnet lan2, which is quarantined');
      expect(fault(grantOf('172.17.0.12'))).to.equal(undefined);
    });

    it('Verification of the event rules rejects an allocation of a reserved address whose cause is not the reservation', () => {
      const data = { addresses: ['172.17.0.11'], reservedFor: 'vip/a', reason: '', mac: '' };
      const before = stateAfter({ type: 'AddressReserved', subnet: 'lan2', data });
      const event = allocated('x', '172.17.0.11', { subnet: 'lan2', provider: 'lan.default' });
      const broken = (cause: 'static' | 'reservation' | 'import'): string | undefined => {
        const sequenced = { ...event, data: { ...event.data, cause }, seq: 9, at: startTime + 60_000 };
        return brokenRule(before, sequenced, 5);
      };
      expect(broken('static')).to.equal(
        'allocates 172.17.0.11 of subnet lan2 with cause static, which is reserved for vip/a',
      );
      expect([broken('reservation'), broken('import')]).to.deep.equal([undefined, undefined]);
    });
    for (const [name, [before, event, what]] of Object.entries(grants))
      it(`Verification of the event rules on networks rejects ${name} from event version 5 on`, () => {
        const sequenced = { ...event, seq: 9, at: startTime + 60_000 };
        expect(brokenRule(before, sequenced, 5)).to.match(what);
        expect(brokenRule(before, sequenced, 4)).to.equal(undefined);
      });

    it('Verification of the event rules rejects a MAC twice in one Subnet, and an address twice on a network, in any event version', () => {
      const before = stateAfter(allocated('a', '172.17.0.12', holding));
      const sameMac = { ...allocated('x', '172.17.0.11', holding), seq: 9, at: startTime };
      expect(brokenRule(before, sameMac, 1)).to.match(/^allocates MAC /);
      const same = allocated('x', '172.17.0.12', { ...holding, subnet: 'lan', mac: '' });
      expect(brokenRule(before, { ...same, seq: 9, at: startTime }, 1)).to.match(
        /holds it from subnet lan2 since event 3$/,
      );
    });
  });

  it('Verification of the event rules rejects a restore into an earlier epoch, and a restore whose last lost event is newer than itself', () => {
    const fault = (epoch: number, seq: number): string | undefined => {
      const data = { epoch, seq, hash: '', lostSeq: 99, reason: '' };
      const { events: lines } = batchOf(head, [{ type: 'LedgerRestored', subnet: '', data }]);
      return faultOf({ state, head, openCommand: undefined }, parseEvent(lines[0]?.text ?? ''));
    };
    expect(fault(2, head.seq)).to.equal(undefined);
    expect(fault(0, head.seq)).to.equal('begins epoch 0, but the log is in epoch 1');
    expect(fault(2, head.seq + 1)).to.equal(
      `records a ledger that ends with event ${head.seq + 1}, which is not before it`,
    );
  });
});
