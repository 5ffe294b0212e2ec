import { expect } from 'chai';
import type { GetStatusReply } from '../../../proto/generated/ipledger.ts';
import { findLostEventRange, formatLostEventRange } from './format.ts';

const status = (seq: number, known?: { epoch: number; seq: number }, headSeq?: number): GetStatusReply => ({
  position: { epoch: 1, seq, hash: 'ab' },
  ledger: 'ledger',
  at: '2026-11-17T14:05:00.000Z',
  oldestSeq: 1,
  oldestAt: '',
  logStartSeq: 1,
  historyStartSeq: 1,
  caller: '',
  ledgerTime: '',
  ...(known && {
    freeze: {
      known: { ...known, hash: 'cd' },
      reportedBy: 'ipledger://watcher',
      reportedAt: '2026-11-17T14:30:00.000Z',
      ...(headSeq !== undefined && { head: { epoch: 1, seq: headSeq, hash: 'ef' } }),
      headAt: headSeq === undefined ? '' : '2026-11-17T14:01:00.000Z',
    },
  }),
});

describe('The lost event range of a restored ledger', () => {
  it('The lost event range of a restored ledger ends with the newest event that a client has seen', () => {
    const lost = findLostEventRange(status(33, { epoch: 1, seq: 39 }));
    expect(lost && formatLostEventRange(lost, 'utc')).to.equal(
      'lost: events 34 to 39, at least 6, of the time from 2026-11-17 14:05:00Z to 2026-11-17 14:30:00Z',
    );
    const one = findLostEventRange(status(38, { epoch: 1, seq: 39 }));
    expect(one && formatLostEventRange(one, 'utc')).to.match(/^lost: event 39, at least 1, of the time/);
  });

  it('The lost event range of a restored ledger starts after the head at the freeze, and ignores later events', () => {
    for (const seq of [35, 39, 50]) {
      const lost = findLostEventRange(status(seq, { epoch: 1, seq: 39 }, 33));
      expect(lost && formatLostEventRange(lost, 'utc')).to.equal(
        'lost: events 34 to 39, at least 6, of the time from 2026-11-17 14:01:00Z to 2026-11-17 14:30:00Z',
      );
    }
  });

  it('The lost event range of a restored ledger is undefined if the ledger has more events, was recovered, or was never frozen', () => {
    expect(findLostEventRange(status(40, { epoch: 1, seq: 39 }))).to.equal(undefined);
    expect(
      findLostEventRange({ ...status(33, { epoch: 1, seq: 39 }), position: { epoch: 2, seq: 34, hash: '' } }),
    ).to.equal(undefined);
    expect(findLostEventRange(status(33))).to.equal(undefined);
  });
});
