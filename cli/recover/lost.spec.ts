import { expect } from 'chai';
import type { GetStatusReply } from '../../proto/ipledger.ts';
import { lostStretchOf, stretchSentence } from './lost.ts';

const status = (seq: number, known?: { epoch: number; seq: number }, foundSeq?: number): GetStatusReply => ({
  position: { epoch: 1, seq, hash: 'ab' },
  ledger: 'ledger',
  at: '2026-11-17T14:05:00.000Z',
  oldestSeq: 1,
  oldestAt: '',
  liveFromSeq: 1,
  ...(known && {
    freeze: {
      known: { ...known, hash: 'cd' },
      by: 'ipledger://watcher',
      at: '2026-11-17T14:30:00.000Z',
      ...(foundSeq !== undefined && { found: { epoch: 1, seq: foundSeq, hash: 'ef' } }),
      foundAt: foundSeq === undefined ? '' : '2026-11-17T14:01:00.000Z',
    },
  }),
});

describe('The stretch of the log that a restored ledger lacks', () => {
  it('is from its last event to the last that anybody remembers', () => {
    const lost = lostStretchOf(status(33, { epoch: 1, seq: 39 }));
    expect(lost && stretchSentence(lost, 'utc')).to.equal(
      'lost: events 34 to 39 are gone, 6 at least, of the time from 2026-11-17 14:05:00Z to 2026-11-17 14:30:00Z',
    );
    const one = lostStretchOf(status(38, { epoch: 1, seq: 39 }));
    expect(one && stretchSentence(one, 'utc')).to.match(/^lost: event 39 is gone, 1 at least, of the time/);
  });

  it('goes from where it was found to end, whatever containers did while it is frozen', () => {
    for (const seq of [35, 39, 50]) {
      const lost = lostStretchOf(status(seq, { epoch: 1, seq: 39 }, 33));
      expect(lost && stretchSentence(lost, 'utc')).to.equal(
        'lost: events 34 to 39 are gone, 6 at least, of the time from 2026-11-17 14:01:00Z to 2026-11-17 14:30:00Z',
      );
    }
  });

  it('is not known where others were written in its place, where it goes on already, or was never frozen', () => {
    expect(lostStretchOf(status(40, { epoch: 1, seq: 39 }))).to.equal(undefined);
    expect(lostStretchOf({ ...status(33, { epoch: 1, seq: 39 }), position: { epoch: 2, seq: 34, hash: '' } })).to.equal(
      undefined,
    );
    expect(lostStretchOf(status(33))).to.equal(undefined);
  });
});
