import { expect } from 'chai';
import type { Event, Sequenced } from '../domain/event.ts';
import { allocate, allocated, fold, quarantined, start, subnetConfigured } from '../domain/specification.ts';
import type { State } from '../domain/state.ts';
import { type Head, parseEvent, type StoredEvent } from '../ledger/chain.ts';
import { MemoryLedger } from '../ledger/memory.ts';
import {
  batchOf,
  bind,
  carryOut,
  createLedger,
  logOf,
  macvlan,
  never,
  release,
  startWriter,
  unbind,
} from '../ledger/specification.ts';
import { faultOf } from './event.ts';
import { brokenRule } from './rules.ts';

describe('A rule of the ledger', () => {
  let state: State;
  let head: Head;
  let events: readonly StoredEvent[];
  before(async () => {
    const memory = new MemoryLedger();
    const { writer, replica, stop } = await startWriter(memory);
    //                     1 ledger        2 subnet  3 a gets .11   4         5 b gets .12   6 b is gone
    await carryOut(writer, createLedger(), macvlan, allocate('a'), bind('a'), allocate('b'), release('b'));
    await carryOut(writer, bind('a', 'macvlan.default', 'another'), unbind('a', 'another'));
    const seals = { from: 1, to: 3, since: '', until: '', hash: '', manifest: '', archive: '' };
    await writer.submit({
      command: (now) => ({ type: 'SealSegment', now, segment: seals }),
      answer: () => undefined,
      actor: 'spec',
      signal: never,
    });
    await carryOut(writer, {
      type: 'ApplySubnet',
      name: 'overlay',
      spec: { cidrBlock: '172.17.0.0/16', gateway: '', excludeIps: [], provider: 'ovn', protocol: '' },
    });
    await stop();
    ({ state, head } = replica);
    events = await logOf(memory);
  });

  /** What stands in the log, said again, with something changed. */
  function again(seq: number, change: object = {}): Sequenced {
    const { sequenced } = events[seq - 1] as StoredEvent;
    return { ...sequenced, seq: head.seq + 1, data: { ...sequenced.data, ...change } } as Sequenced;
  }
  const next = (event: Event): Sequenced => ({ ...event, seq: head.seq + 1, at: head.at });
  const address = '172.17.0.11';

  const broken: Record<string, [event: () => Sequenced, what: RegExp]> = {
    'gives nobody what another holds': [
      () => again(3, { attachment: { namespace: 'default', pod: 'x', provider: 'macvlan.default', ordinal: 0 } }),
      /^gives 172.17.0.11 of subnet macvlan, which attachment macvlan.default\/0 of Pod default\/a has since event 3$/,
    ],
    'gives no address that a Pod holds on the same network, from another subnet': [
      () => {
        const lent = { namespace: 'default', pod: 'x', provider: 'macvlan.default', ordinal: 0 };
        return { ...again(3, { attachment: lent }), subnet: 'overlay' };
      },
      /^gives 172.17.0.11 of subnet overlay on network macvlan.default, where attachment macvlan.default\/0 of Pod default\/a has it from subnet macvlan since event 3$/,
    ],
    'drops no claim that somebody has': [
      () => next({ type: 'ClaimsDropped', subnet: 'macvlan', data: { addresses: [address], previous: [] } }),
      /^drops the claim of 172.17.0.11 of subnet macvlan, which is not idle, or has not rested long enough$/,
    ],
    'drops no claim that rests still': [
      () => next({ type: 'ClaimsDropped', subnet: 'macvlan', data: { addresses: ['172.17.0.12'], previous: [] } }),
      /^drops the claim of 172.17.0.12 of subnet macvlan, which is not idle, or has not rested long enough$/,
    ],
    'drops no claim that is not there': [
      () => next({ type: 'ClaimsDropped', subnet: 'macvlan', data: { addresses: ['172.17.0.99'], previous: [] } }),
      /^drops the claim of 172.17.0.99 of subnet macvlan, and there is none$/,
    ],
    'drops something, and nothing twice': [
      () => next({ type: 'ClaimsDropped', subnet: 'macvlan', data: { addresses: [], previous: [] } }),
      /^drops 0 claims: 1 to 100 are allowed, each once$/,
    ],
    'names the drops before it': [
      () => next({ type: 'ClaimsDropped', subnet: 'macvlan', data: { addresses: ['172.17.0.12'], previous: [2] } }),
      /^names events 2 as the last that dropped claims of subnet macvlan, and these are none$/,
    ],
    'gives nobody twice': [() => again(3), /^gives addresses to .* default\/a, which has those of event 3$/],
    'gives nothing of a subnet that is not there': [
      () => ({ ...again(5), subnet: 'other' }),
      /^gives an address of subnet other, which is not in force$/,
    ],
    'takes back only what is held': [() => again(6), /^takes back what event 5 gave uid uid-b .*: there nobody has/],
    'binds only what is held': [
      () => again(4, { uid: 'uid-x' }),
      /^binds what .*: there uid uid-a has what event 3 gave$/,
    ],
    'unbinds only what is bound': [
      () => again(8),
      /^ends container another's use of 172.17.0.11, which did not use it$/,
    ],
    'lifts no quarantine that there is not': [
      () => next({ type: 'QuarantineLifted', subnet: 'macvlan', data: { address, reason: '' } }),
      /^finds 172.17.0.11 not quarantined$/,
    ],
    'ends no reservation that there is not': [
      () =>
        next({
          type: 'ReservationCancelled',
          subnet: 'macvlan',
          data: { addresses: [address], reservedFor: 'vip/a', reason: '' },
        }),
      /^ends the reservation of 172.17.0.11 for vip\/a, and it is not reserved$/,
    ],
    'retires no subnet that is not there': [
      () => next({ type: 'SubnetRetired', subnet: 'other', data: {} }),
      /^retires subnet other, which is not in force$/,
    ],
    'retires no pool that is not there': [
      () => next({ type: 'PoolRetired', subnet: 'macvlan', data: { pool: 'p' } }),
      /^retires pool p, which is not in force$/,
    ],
    'seals nothing twice': [() => again(9), /^seals events from 1 on, and event 3 is the last that is sealed$/],
    'seals nothing that is yet to come': [
      () => again(9, { from: 4, to: 99 }),
      /^seals events 4 to 99, which are not all before it$/,
    ],
  };
  for (const [name, [event, what]] of Object.entries(broken))
    it(name, () => {
      expect(brokenRule(state, event(), 5)).to.match(what);
    });

  describe('about networks', () => {
    const holding = { subnet: 'lan2', provider: 'lan.default', mac: '02:00:00:00:00:0a' };
    const lan = ['lan', 'lan2'].map((name) => subnetConfigured(name, { provider: 'lan.default' }));
    const retired: Event = { type: 'SubnetRetired', subnet: 'lan', data: {} };
    const given = (...events: Event[]): State => fold([...lan, ...events]);
    const grants: Record<string, [state: State, event: Event, what: RegExp]> = {
      'gives no address that is quarantined in a retired subnet': [
        given(quarantined('172.17.0.11', 'lan'), retired),
        allocated('x', '172.17.0.11', holding),
        /, where it is quarantined in subnet lan$/,
      ],
      'gives no MAC twice': [
        given(allocated('a', '172.17.0.12', { ...holding, subnet: 'lan' })),
        allocated('x', '172.17.0.11', holding),
        /^gives MAC 02:00:00:00:00:0a in subnet lan2, which /,
      ],
    };
    for (const [name, [before, event, what]] of Object.entries(grants))
      it(`${name}; before version 5 a subnet knew only its own`, () => {
        const sequenced = { ...event, seq: 9, at: start + 60_000 };
        expect(brokenRule(before, sequenced, 5)).to.match(what);
        expect(brokenRule(before, sequenced, 4)).to.equal(undefined);
      });

    it('gives no MAC twice in one subnet, nor an address that another holds on the network, in any version', () => {
      const before = given(allocated('a', '172.17.0.12', holding));
      const sameMac = { ...allocated('x', '172.17.0.11', holding), seq: 9, at: start };
      expect(brokenRule(before, sameMac, 1)).to.match(/^gives MAC /);
      const same = allocated('x', '172.17.0.12', { ...holding, subnet: 'lan', mac: '' });
      expect(brokenRule(before, { ...same, seq: 9, at: start }, 1)).to.match(/has it from subnet lan2 since event 3$/);
    });
  });

  it('breaks off no epoch, and finds no end that is yet to come', () => {
    const fault = (epoch: number, seq: number): string | undefined => {
      const data = { epoch, seq, hash: '', lostSeq: 99, reason: '' };
      const { events: lines } = batchOf(head, [{ type: 'LedgerRestored', subnet: '', data }]);
      return faultOf({ state, head, unfinished: undefined }, parseEvent(lines[0]?.text ?? ''));
    };
    expect(fault(2, head.seq)).to.equal(undefined);
    expect(fault(0, head.seq)).to.equal('begins epoch 0, and this is epoch 1');
    expect(fault(2, head.seq + 1)).to.equal(`was found to end with event ${head.seq + 1}, which is not before it`);
  });
});
