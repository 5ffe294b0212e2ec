import { expect } from 'chai';
import { clockTimeOf, describeDifference } from './ledger-time.ts';

describe('Ledger time beside the clock of this machine', () => {
  const now = Date.parse('2026-11-17T14:00:00Z');
  const cases: [string, string, string | undefined][] = [
    ['agrees within a minute', '2026-11-17T14:01:00Z', undefined],
    ['is ahead by hours and minutes', '2026-11-17T16:05:00Z', '2 h 5 min ahead of'],
    ['is behind by hours', '2026-11-17T12:00:00Z', '2 h behind'],
    ['is ahead by minutes', '2026-11-17T14:02:00Z', '2 min ahead of'],
    ['is unknown from an allocator of an earlier version', '', undefined],
  ];
  for (const [what, ledgerTime, difference] of cases)
    it(`Ledger time ${what}`, () => {
      expect(describeDifference(ledgerTime, now)).to.equal(difference);
    });
});

describe('The time of an event for people', () => {
  const now = Date.parse('2026-11-17T14:00:00Z');
  const [at, clock, old] = ['2026-11-17T15:30:00.000Z', '2026-11-17T13:30:00.000Z', '1970-01-01T00:00:05.000Z'];
  const stored = (more: object): string => JSON.stringify({ at, ...more });
  const cases: [string, string, string, string][] = [
    ['is of the clock while ledger time is as far ahead', stored({ clock }), '2026-11-17T16:00:10Z', clock],
    ['is of the clock while ledger time is still ahead', stored({ clock }), '2026-11-17T14:10:00Z', clock],
    ['is ledger time from before ledger time was so far ahead', stored({ clock }), '2026-11-17T17:00:00Z', at],
    ['is ledger time if it is behind now', stored({ clock }), '2026-11-17T12:00:00Z', at],
    ['is ledger time if the clock was wrong, and not ledger time', stored({ clock: old }), '2026-11-17T16:00:00Z', at],
    ['is ledger time if it agrees with the clock now', stored({ clock }), '2026-11-17T14:00:10Z', at],
    ['is ledger time without a clock', stored({ data: { clock } }), '2026-11-17T16:00:00Z', at],
    ['is ledger time for an unreadable line', '{"clock":', '2026-11-17T16:00:00Z', at],
  ];
  for (const [what, line, ledgerTime, time] of cases)
    it(`The time of an event for people ${what}`, () => {
      expect(clockTimeOf({ at, stored: line }, ledgerTime, now)).to.equal(time);
    });
});
