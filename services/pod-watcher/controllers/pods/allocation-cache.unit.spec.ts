import { expect } from 'chai';
import { heldAllocation } from '../../testing/fakes.ts';
import { AllocationCache } from './allocation-cache.ts';

const [pod, uid] = ['default/a', 'uid-a'];
const allocatedEvent = (seq: number) => ({
  kind: 'allocated' as const,
  allocation: heldAllocation('a', { seq, ordinal: seq }),
});
const releasedEvent = (seq: number) => ({
  kind: 'released' as const,
  seq,
  subnet: 'macvlan',
  namespace: 'default',
  pod: 'a',
  uid,
  addresses: [],
});

function cacheAfter(seq: number, ...seqs: number[]): AllocationCache {
  const allocations = new AllocationCache();
  allocations.onSnapshot({
    seq,
    allocations: seqs.map((each) => heldAllocation('a', { seq: each, ordinal: each })),
    subnets: [],
    pools: [],
    reservations: [],
  });
  return allocations;
}

describe('the allocation cache', () => {
  it('the allocation cache has the allocations that the ledger reports', () => {
    const allocations = cacheAfter(10, 7);
    expect(allocations.isSettled(pod, uid)).to.equal(true);
    expect(allocations.uids(pod)).to.deep.equal([uid]);
    allocations.onEvents([releasedEvent(7)], 11);
    expect(allocations.uids(pod)).to.deep.equal([]);
    expect(allocations.uidCount).to.equal(0);
  });

  it('the allocation cache has seen its position, and for a single name also the position of a later reply', () => {
    const allocations = cacheAfter(10, 7);
    allocations.markAllocated(pod, uid, { allocated: [heldAllocation('a', { seq: 12 })], seq: 12 });
    expect([allocations.seenSeq(pod), allocations.seenSeq('default/b')]).to.deep.equal([12, 10]);
    allocations.onEvents([], 13);
    expect(allocations.seenSeq(pod)).to.equal(13);
  });

  it('the allocation cache has a uid until its last allocation is released, and ignores other releases', () => {
    const allocations = cacheAfter(10, 7, 8);
    allocations.onEvents([releasedEvent(7), releasedEvent(3)], 12);
    expect(allocations.isSettled(pod, uid)).to.equal(true);
    allocations.onEvents([releasedEvent(8)], 13);
    expect(allocations.isSettled(pod, uid)).to.equal(false);
  });

  it('the allocation cache has no name of a Pod whose last allocation ended after the reply to its release', () => {
    const allocations = cacheAfter(10, 7);
    allocations.markReleased(pod, uid, 12);
    expect([...allocations.podKeys()]).to.deep.equal([pod]);
    allocations.onEvents([releasedEvent(7)], 12);
    expect([...allocations.podKeys()]).to.deep.equal([]);
  });

  it('the allocation cache has a uid whose request got no reply', () => {
    const allocations = cacheAfter(10);
    allocations.markRequested(pod, uid);
    expect(allocations.isSettled(pod, uid)).to.equal(false);
    expect(allocations.uids(pod)).to.deep.equal([uid]);
    allocations.onSnapshot({ seq: 11, allocations: [], subnets: [], pools: [], reservations: [] });
    expect(allocations.uids(pod), 'a snapshot may be older than the outcome').to.deep.equal([uid]);
    allocations.markRefused(pod, uid);
    expect(allocations.uids(pod)).to.deep.equal([]);
  });

  it('the allocation cache has an allocation from the reply, before the ledger’s event', () => {
    const allocations = cacheAfter(10);
    allocations.markRequested(pod, uid);
    allocations.markAllocated(pod, uid, { allocated: [heldAllocation('a', { seq: 11, ordinal: 11 })], seq: 11 });
    expect(allocations.isSettled(pod, uid)).to.equal(true);
    allocations.onEvents([allocatedEvent(11)], 11);
    expect(allocations.uidCount).to.equal(1);
  });

  it('the allocation cache ignores a reply about an allocation that was already released', () => {
    const allocations = cacheAfter(10);
    allocations.markRequested(pod, uid);
    allocations.onEvents([allocatedEvent(11)], 11);
    allocations.onEvents([releasedEvent(11)], 12);
    allocations.markAllocated(pod, uid, { allocated: [heldAllocation('a', { seq: 11, ordinal: 11 })], seq: 11 });
    expect(allocations.uids(pod)).to.deep.equal([]);
  });

  it('the allocation cache keeps pending requests when the ledger is rewound, and accepts their replies', () => {
    const allocations = cacheAfter(100, 7, 80);
    allocations.markRequested(pod, 'requesting');
    allocations.onSnapshot({
      seq: 50,
      allocations: [heldAllocation('a', { seq: 7 })],
      subnets: [],
      pools: [],
      reservations: [],
    });
    expect(allocations.uids(pod)).to.have.members([uid, 'requesting']);
    allocations.markAllocated(pod, 'requesting', {
      allocated: [heldAllocation('a', { seq: 51, uid: 'requesting' })],
      seq: 51,
    });
    expect(allocations.isSettled(pod, 'requesting')).to.equal(true);
  });

  for (const [order, deliver] of [
    [
      'before',
      (allocations: AllocationCache) => [
        allocations.onEvents([releasedEvent(8)], 11),
        allocations.markReleased(pod, uid, 11),
      ],
    ],
    [
      'after',
      (allocations: AllocationCache) => [
        allocations.markReleased(pod, uid, 11),
        allocations.onEvents([releasedEvent(8)], 11),
      ],
    ],
  ] as const)
    it(`the allocation cache keeps what a release did not end, if the event about the rest arrives ${order} the reply`, () => {
      const allocations = cacheAfter(10, 7, 8);
      deliver(allocations);
      expect(allocations.uids(pod)).to.deep.equal([uid]);
      expect(allocations.isReleasing(pod, uid)).to.equal(false);
    });

  it('the allocation cache marks a uid as releasing from the reply until the events up to its position have arrived', () => {
    const allocations = cacheAfter(10, 7);
    allocations.markReleased(pod, uid, 12);
    allocations.onEvents([], 11);
    expect(allocations.isReleasing(pod, uid)).to.equal(true);
    allocations.onEvents([releasedEvent(7)], 12);
    expect(allocations.isReleasing(pod, uid)).to.equal(false);
    expect(allocations.uidCount).to.equal(0);
  });

  it('the allocation cache does not mark a uid as releasing after the ledger was rewound', () => {
    const allocations = cacheAfter(10, 7);
    allocations.markReleased(pod, uid, 12);
    allocations.onSnapshot({
      seq: 8,
      allocations: [heldAllocation('a', { seq: 7 })],
      subnets: [],
      pools: [],
      reservations: [],
    });
    expect(allocations.isReleasing(pod, uid)).to.equal(false);
    expect(allocations.uids(pod)).to.deep.equal([uid]);
  });

  it('the allocation cache does not mark a uid with a new request as releasing after the ledger was rewound', () => {
    const allocations = cacheAfter(10, 7);
    allocations.markReleased(pod, uid, 12);
    allocations.markRequested(pod, uid);
    allocations.onSnapshot({ seq: 0, allocations: [], subnets: [], pools: [], reservations: [] });
    expect([allocations.isUncertain(pod, uid), allocations.isReleasing(pod, uid)]).to.deep.equal([true, false]);
  });

  it('the allocation cache drops a uid without allocations after its release', () => {
    const allocations = cacheAfter(10);
    allocations.markRequested(pod, uid);
    allocations.markReleased(pod, uid, 10);
    expect(allocations.uidCount).to.equal(0);
  });

  it('the allocation cache keeps several uids of one name', () => {
    const allocations = cacheAfter(10, 7);
    allocations.markRequested(pod, 'other');
    expect(allocations.uids(pod)).to.deep.equal([uid, 'other']);
    allocations.onEvents([releasedEvent(7)], 11);
    expect(allocations.uids(pod)).to.deep.equal(['other']);
    expect([...allocations.podKeys()]).to.deep.equal([pod]);
  });

  it('the allocation cache has one allocation for each attachment of a uid, the last one', () => {
    const allocations = cacheAfter(10);
    for (const seq of [11, 12])
      allocations.onEvents([{ kind: 'allocated', allocation: heldAllocation('a', { seq }) }], seq);
    expect(allocations.allocationsOf(pod, uid).map(({ seq }) => seq)).to.deep.equal([12]);
  });

  it('the allocation cache counts each address that a namespace has of a Subnet once', () => {
    const allocations = cacheAfter(10, 7, 8);
    const count = () => allocations.addressCount('default', 'macvlan');
    expect([
      count(),
      allocations.addressCount('shop', 'macvlan'),
      allocations.addressCount('default', 'other'),
    ]).to.deep.equal([2, 0, 0]);
    allocations.onEvents([allocatedEvent(11), allocatedEvent(11)], 11);
    expect(count()).to.equal(3);
    allocations.onEvents([releasedEvent(11), releasedEvent(11), releasedEvent(7)], 12);
    expect(count()).to.equal(1);
    allocations.onEvents([releasedEvent(8)], 13);
    expect(count()).to.equal(0);
    allocations.onEvents([allocatedEvent(14)], 14);
    allocations.onSnapshot({ seq: 5, allocations: [], subnets: [], pools: [], reservations: [] });
    expect(count()).to.equal(0);
  });

  it('the allocation cache counts no uid of a namespace after its last allocation has ended', () => {
    const allocations = cacheAfter(10, 7);
    allocations.onEvents([releasedEvent(7)], 11);
    expect(allocations.uidCountOf('default')).to.equal(0);
  });

  it('the allocation cache counts the uids of a namespace, also after the ledger was rewound', () => {
    const allocations = cacheAfter(10, 7);
    allocations.markRequested(pod, 'requesting');
    const counts = () => [allocations.uidCount, allocations.uidCountOf('default'), allocations.uidCountOf('shop')];
    expect(counts()).to.deep.equal([2, 2, 0]);
    const again = [heldAllocation('a', { seq: 7 })];
    allocations.onSnapshot({ seq: 8, allocations: again, subnets: [], pools: [], reservations: [] });
    expect(counts()).to.deep.equal([2, 2, 0]);
  });

  it('the allocation cache has the last owner of a deleted Pod, or else the owner at its request', () => {
    const [requesting, adopting] = ['A', 'B'].map((owner) => ({ kind: 'StatefulSet', name: 'web', uid: owner }));
    const allocations = cacheAfter(10);
    allocations.onEvents([{ kind: 'allocated', allocation: heldAllocation('a', { seq: 11, owner: requesting }) }], 11);
    expect(allocations.lastOwner(pod, uid)).to.deep.equal(requesting);
    allocations.recordLastOwner(pod, uid, adopting);
    expect(allocations.lastOwner(pod, uid)).to.deep.equal(adopting);
    allocations.recordLastOwner(pod, uid, undefined);
    expect(allocations.lastOwner(pod, uid)).to.equal(undefined);
    allocations.recordLastOwner(pod, 'without allocations', adopting);
    expect(allocations.uids(pod)).to.deep.equal([uid]);
  });

  it('the allocation cache finds the members of a StatefulSet', () => {
    const allocations = new AllocationCache();
    const allocate = (name: string, seq: number, set?: string): void => {
      const owner = set === undefined ? undefined : { kind: 'StatefulSet', name: set, uid: `uid-${set}` };
      const allocation = heldAllocation(name, { seq, owner, ordinal: seq });
      allocations.onEvents([{ kind: 'allocated', allocation }], seq);
    };
    allocate('web-0', 1, 'web');
    allocate('web-10', 2, 'web');
    allocate('web-1', 3);
    allocate('db-0', 4, 'db');
    allocate('web-10', 5, 'web');
    expect([...allocations.membersOf('default/web')]).to.deep.equal(['default/web-0', 'default/web-10']);
    allocations.markRequested('default/web-0', 'uid-of-next-pod');
    expect([...allocations.membersOf('default/web')], 'each once').to.deep.equal(['default/web-0', 'default/web-10']);
    allocations.markRefused('default/web-0', 'uid-of-next-pod');
    const released = { ...releasedEvent(1), pod: 'web-0', uid: 'uid-web-0' };
    allocations.onEvents([released], 6);
    expect([...allocations.membersOf('default/web')]).to.deep.equal(['default/web-10']);
    for (const seq of [2, 5]) {
      expect([...allocations.membersOf('default/web')], `before the release of ${seq}`).to.deep.equal([
        'default/web-10',
      ]);
      allocations.onEvents([{ ...releasedEvent(seq), pod: 'web-10', uid: 'uid-web-10' }], 5 + seq);
    }
    for (const set of ['web', 'none']) expect([...allocations.membersOf(`default/${set}`)]).to.deep.equal([]);
  });

  it('the allocation cache finds members that the StatefulSet adopted, and members whose request has no reply', () => {
    const allocations = new AllocationCache();
    for (const [seq, name] of ['web-0', 'web-1'].entries())
      allocations.onEvents([{ kind: 'allocated', allocation: heldAllocation(name, { seq }) }], seq);
    const adopting = { kind: 'StatefulSet', name: 'web', uid: 'A' };
    allocations.recordLastOwner('default/web-0', 'uid-web-0', adopting);
    allocations.markRequested('default/web-2', 'uid-web-2');
    expect([...allocations.membersOf('default/web')]).to.deep.equal(['default/web-0', 'default/web-2']);
  });

  it('the allocation cache finds no member in a Pod without an owner once its request was granted', () => {
    const allocations = cacheAfter(10);
    allocations.markRequested('default/web-3', 'uid-web-3');
    expect([...allocations.membersOf('default/web')]).to.deep.equal(['default/web-3']);
    allocations.markAllocated('default/web-3', 'uid-web-3', {
      allocated: [heldAllocation('web-3', { seq: 11 })],
      seq: 11,
    });
    expect([...allocations.membersOf('default/web')]).to.deep.equal([]);
  });

  it('the allocation cache has no owner of a uid that holds nothing any more, while another uid of the name requests', () => {
    const allocations = cacheAfter(10, 7);
    allocations.markRequested(pod, 'next');
    allocations.recordLastOwner(pod, uid, { kind: 'StatefulSet', name: 'web', uid: 'A' });
    allocations.onEvents([releasedEvent(7)], 11);
    expect(allocations.lastOwner(pod, uid)).to.equal(undefined);
    expect(allocations.isUncertain(pod, 'next')).to.equal(true);
  });

  it('the allocation cache finds no member whose StatefulSet was replaced as the owner', () => {
    const allocations = new AllocationCache();
    for (const [seq, name] of ['old', 'new'].entries()) {
      const owner = { kind: 'StatefulSet', name, uid: `uid-${name}` };
      allocations.onEvents([{ kind: 'allocated', allocation: heldAllocation('web-0', { seq, owner }) }], seq);
    }
    expect([...allocations.membersOf('default/old')]).to.deep.equal([]);
    expect([...allocations.membersOf('default/new')]).to.deep.equal(['default/web-0']);
  });

  it('the allocation cache has seen no event and no uid before its first snapshot', () => {
    const allocations = new AllocationCache();
    expect([allocations.seenSeq(pod), allocations.uidCount]).to.deep.equal([0, 0]);
  });

  it('the allocation cache does not wait for a reply after the owner of a deleted Pod was recorded', () => {
    const allocations = cacheAfter(10, 7);
    allocations.recordLastOwner(pod, uid, { kind: 'StatefulSet', name: 'web', uid: 'A' });
    expect([allocations.isSettled(pod, uid), allocations.isReleasing(pod, uid)]).to.deep.equal([true, false]);
  });

  it('the allocation cache finds an address only in its own Subnet, among all allocations of the name', () => {
    const allocations = new AllocationCache();
    const addressesOf = (...addresses: string[]) => addresses.map((address) => ({ address, cidr: '', gateway: '' }));
    const held = [
      heldAllocation('a', { seq: 7, ordinal: 0, subnet: 'lan', addresses: addressesOf('10.0.0.2', 'fd00::2') }),
      heldAllocation('a', { seq: 8, ordinal: 1, subnet: 'wan', addresses: addressesOf('10.1.0.2') }),
    ];
    for (const allocation of held) allocations.onEvents([{ kind: 'allocated', allocation }], allocation.seq);
    expect(allocations.holdsAny(pod, 'lan', ['10.0.0.9', 'fd00::2'])).to.equal(true);
    expect(allocations.holdsAny(pod, 'wan', ['10.0.0.2'])).to.equal(false);
    expect(allocations.holdsAny(pod, 'lan', ['10.0.0.9'])).to.equal(false);
  });

  it('the allocation cache reports each allocation that the ledger ends to all listeners, and no unknown one', () => {
    const allocations = cacheAfter(10, 7);
    const reported: (readonly [listener: number, seq: number, event: unknown])[] = [];
    for (const listener of [1, 2])
      allocations.onAllocationEnded((ended, event) => void reported.push([listener, ended.seq, event]));
    const [known, unknown] = [releasedEvent(7), releasedEvent(8)];
    allocations.onEvents([unknown, known], 12);
    expect(reported).to.deep.equal([1, 2].map((listener) => [listener, 7, known]));
  });

  it('the allocation cache has no member of a StatefulSet that a rewound ledger has lost', () => {
    const allocations = new AllocationCache();
    const owner = { kind: 'StatefulSet', name: 'web', uid: 'A' };
    allocations.onEvents([{ kind: 'allocated', allocation: heldAllocation('web-0', { owner }) }], 7);
    allocations.onSnapshot({ seq: 3, allocations: [], subnets: [], pools: [], reservations: [] });
    expect([...allocations.membersOf('default/web')]).to.deep.equal([]);
  });
});
