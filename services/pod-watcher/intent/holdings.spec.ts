import { expect } from 'chai';
import { holding } from '../fakes.ts';
import { Holdings } from './holdings.ts';

const [pod, uid] = ['default/a', 'uid-a'];
const given = (seq: number) => ({ kind: 'given' as const, holding: holding('a', { seq, ordinal: seq }) });
const ended = (seq: number) => ({
  kind: 'ended' as const,
  seq,
  subnet: 'macvlan',
  namespace: 'default',
  pod: 'a',
  uid,
  addresses: [],
});

function after(seq: number, ...seqs: number[]): Holdings {
  const holdings = new Holdings();
  holdings.snapshot({
    seq,
    holdings: seqs.map((each) => holding('a', { seq: each, ordinal: each })),
    subnets: [],
    pools: [],
    reservations: [],
  });
  return holdings;
}

describe('who holds addresses, or may', () => {
  it('is what the ledger says', () => {
    const holdings = after(10, 7);
    expect(holdings.settled(pod, uid)).to.equal(true);
    expect(holdings.uids(pod)).to.deep.equal([uid]);
    holdings.facts([ended(7)], 11);
    expect(holdings.uids(pod)).to.deep.equal([]);
    expect(holdings.count).to.equal(0);
  });

  it('holds until the last of its allocations ended, and ignores the end of others', () => {
    const holdings = after(10, 7, 8);
    holdings.facts([ended(7), ended(3)], 12);
    expect(holdings.settled(pod, uid)).to.equal(true);
    holdings.facts([ended(8)], 13);
    expect(holdings.settled(pod, uid)).to.equal(false);
  });

  it('counts who asked and was not answered among those to be released', () => {
    const holdings = after(10);
    holdings.begin(pod, uid);
    expect(holdings.settled(pod, uid)).to.equal(false);
    expect(holdings.uids(pod)).to.deep.equal([uid]);
    holdings.snapshot({ seq: 11, holdings: [], subnets: [], pools: [], reservations: [] });
    expect(holdings.uids(pod), 'a snapshot may be older than the outcome').to.deep.equal([uid]);
    holdings.refused(pod, uid);
    expect(holdings.uids(pod)).to.deep.equal([]);
  });

  it('knows a grant before the ledger tells of it', () => {
    const holdings = after(10);
    holdings.begin(pod, uid);
    holdings.granted(pod, uid, { given: [holding('a', { seq: 11, ordinal: 11 })], seq: 11 });
    expect(holdings.settled(pod, uid)).to.equal(true);
    holdings.facts([given(11)], 11);
    expect(holdings.count).to.equal(1);
  });

  it('does not revive what the ledger has told the end of already', () => {
    const holdings = after(10);
    holdings.begin(pod, uid);
    holdings.facts([given(11)], 11);
    holdings.facts([ended(11)], 12);
    holdings.granted(pod, uid, { given: [holding('a', { seq: 11, ordinal: 11 })], seq: 11 });
    expect(holdings.uids(pod)).to.deep.equal([]);
  });

  it('keeps what is asked for when the ledger is rewound, and knows what is granted thereafter', () => {
    const holdings = after(100, 7, 80);
    holdings.begin(pod, 'asking');
    holdings.snapshot({ seq: 50, holdings: [holding('a', { seq: 7 })], subnets: [], pools: [], reservations: [] });
    expect(holdings.uids(pod)).to.have.members([uid, 'asking']);
    holdings.granted(pod, 'asking', { given: [holding('a', { seq: 51, uid: 'asking' })], seq: 51 });
    expect(holdings.settled(pod, 'asking')).to.equal(true);
  });

  for (const [order, tell] of [
    ['before', (holdings: Holdings) => [holdings.facts([ended(8)], 11), holdings.released(pod, uid, 11)]],
    ['after', (holdings: Holdings) => [holdings.released(pod, uid, 11), holdings.facts([ended(8)], 11)]],
  ] as const)
    it(`holds what a release left, be the end of the rest told ${order} its answer`, () => {
      const holdings = after(10, 7, 8);
      tell(holdings);
      expect(holdings.uids(pod)).to.deep.equal([uid]);
      expect(holdings.releasing(pod, uid)).to.equal(false);
    });

  it('is being released from the answer on until the ledger has told of all that was before it', () => {
    const holdings = after(10, 7);
    holdings.released(pod, uid, 12);
    holdings.facts([], 11);
    expect(holdings.releasing(pod, uid)).to.equal(true);
    holdings.facts([ended(7)], 12);
    expect(holdings.releasing(pod, uid)).to.equal(false);
    expect(holdings.count).to.equal(0);
  });

  it('is not being released any more by what a rewound ledger has forgotten', () => {
    const holdings = after(10, 7);
    holdings.released(pod, uid, 12);
    holdings.snapshot({ seq: 8, holdings: [holding('a', { seq: 7 })], subnets: [], pools: [], reservations: [] });
    expect(holdings.releasing(pod, uid)).to.equal(false);
    expect(holdings.uids(pod)).to.deep.equal([uid]);
  });

  it('forgets who asked and was not answered when there was nothing to release', () => {
    const holdings = after(10);
    holdings.begin(pod, uid);
    holdings.released(pod, uid, 10);
    expect(holdings.count).to.equal(0);
  });

  it('keeps the uids of one name apart', () => {
    const holdings = after(10, 7);
    holdings.begin(pod, 'other');
    expect(holdings.uids(pod)).to.deep.equal([uid, 'other']);
    holdings.facts([ended(7)], 11);
    expect(holdings.uids(pod)).to.deep.equal(['other']);
    expect([...holdings.pods()]).to.deep.equal([pod]);
  });

  it('has one allocation for each attachment of a uid: what was told last', () => {
    const holdings = after(10);
    for (const seq of [11, 12]) holdings.facts([{ kind: 'given', holding: holding('a', { seq }) }], seq);
    expect(holdings.of(pod, uid).map(({ seq }) => seq)).to.deep.equal([12]);
  });

  it('knows who controlled a Pod when it was seen last, else when it asked', () => {
    const [asked, adopted] = ['A', 'B'].map((owner) => ({ kind: 'StatefulSet', name: 'web', uid: owner }));
    const holdings = after(10);
    holdings.facts([{ kind: 'given', holding: holding('a', { seq: 11, owner: asked }) }], 11);
    expect(holdings.owner(pod, uid)).to.equal(asked);
    holdings.leaves(pod, uid, adopted);
    expect(holdings.owner(pod, uid)).to.equal(adopted);
    holdings.leaves(pod, uid, undefined);
    expect(holdings.owner(pod, uid)).to.equal(undefined);
    holdings.leaves(pod, 'who holds nothing', adopted);
    expect(holdings.uids(pod)).to.deep.equal([uid]);
  });

  it('is found by StatefulSet, without a look at the others', () => {
    const holdings = new Holdings();
    const named = (name: string, seq: number) => ({ kind: 'given' as const, holding: holding(name, { seq }) });
    holdings.facts([named('web-0', 1), named('web-10', 2), named('web-a', 3), named('web', 4), named('db-0', 5)], 5);
    expect([...holdings.membersOf('default/web')]).to.deep.equal(['default/web-0', 'default/web-10']);
    const gone = { ...ended(1), pod: 'web-0', uid: 'uid-web-0' };
    holdings.facts([gone], 6);
    expect([...holdings.membersOf('default/web')]).to.deep.equal(['default/web-10']);
    expect([...holdings.membersOf('default/none')]).to.deep.equal([]);
  });
});
