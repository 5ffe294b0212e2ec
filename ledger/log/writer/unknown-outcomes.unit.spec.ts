import { expect } from 'chai';
import type { StoredEvent } from '../chain/chain.ts';
import type { DecidedRequest, QueuedRequest } from '../pending-request.ts';
import { UnknownOutcomes } from './unknown-outcomes.ts';

describe('The appends of unknown outcome', () => {
  const eventOf = (id: string): StoredEvent => ({ envelope: { seq: 7, id } }) as StoredEvent;
  const [first, second, query] = ['first', 'second', 'query'].map((actor) => ({ request: { actor } }) as QueuedRequest);
  const decided = (queued: QueuedRequest | undefined, writes = true): DecidedRequest =>
    ({ queued, writes }) as DecidedRequest;
  let outcomes: UnknownOutcomes;
  beforeEach(() => {
    outcomes = new UnknownOutcomes();
    outcomes.add(eventOf('a'), [decided(first), decided(query, false)], false);
    outcomes.add(eventOf('b'), [decided(second)], true);
  });
  const writing = (): boolean[] => [first, second, query].map((each) => outcomes.mayStillWrite(each as QueuedRequest));

  it('The appends of unknown outcome may still write the events of each of them, and nothing for a query', () => {
    expect([outcomes.count, writing()]).to.deep.equal([2, [true, true, false]]);
  });

  it('The appends of unknown outcome are resolved by the event that the log has at their number', () => {
    const happened = outcomes.resolve((seq) => (seq === 7 ? eventOf('b') : undefined));
    expect(happened.map(({ queued }) => queued)).to.deep.equal([second]);
    expect([outcomes.count, writing()]).to.deep.equal([0, [false, false, false]]);
    expect(
      outcomes.resolve(() => eventOf('b')),
      'without appends',
    ).to.deep.equal([]);
  });

  it('The appends of unknown outcome did not happen if the log has the event of another writer', () => {
    expect(outcomes.resolve(() => eventOf('c'))).to.deep.equal([]);
    expect(outcomes.count).to.equal(0);
  });

  it('The appends of unknown outcome stay unknown while the log has no such event, except one that etcd refused', () => {
    expect(outcomes.resolve(() => undefined)).to.deep.equal([]);
    expect([outcomes.count, writing()]).to.deep.equal([1, [true, false, false]]);
    outcomes.clear();
    expect(outcomes.count).to.equal(0);
  });
});
