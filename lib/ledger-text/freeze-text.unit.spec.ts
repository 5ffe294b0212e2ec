import { expect } from 'chai';
import { describeFreeze } from './freeze-text.ts';

const position = (epoch: number, seq: number) => ({ epoch, seq, hash: 'ab' });
const freeze = { reportedBy: 'ipledger://watcher', reportedAt: '', headAt: '' };

describe('The reason of a freeze', () => {
  it('The reason of a freeze is the event that a client has seen, if the ledger lacks it', () => {
    const seen = 'ipledger://watcher has seen event 5 of epoch 2, which the ledger lacks';
    for (const head of [undefined, position(2, 4), position(1, 9)])
      expect(describeFreeze({ ...freeze, known: position(2, 5), ...(head && { head }) })).to.equal(seen);
  });

  it('The reason of a freeze names no event if its reporter has seen the restore only', () => {
    expect(describeFreeze({ ...freeze, known: position(2, 5), head: position(2, 5) })).to.equal(
      'ipledger://watcher has noticed the restore, and no client has reported a later event yet',
    );
  });
});
