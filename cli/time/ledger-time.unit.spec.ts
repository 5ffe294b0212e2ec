import { expect } from 'chai';
import { describeDifference } from './ledger-time.ts';

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
    it(what, () => {
      expect(describeDifference(ledgerTime, now)).to.equal(difference);
    });
});
