import { expect } from 'chai';
import type { Event } from '../../domain/events/event.ts';
import {
  allocated,
  bound,
  poolConfigured,
  quarantined,
  released,
  subnetConfigured,
  transferred,
  unbound,
} from '../../domain/testing/event-fixtures.ts';
import type { Seq } from '../../domain/values/ledger.ts';
import { linkedLog } from '../testing/linked-log.ts';
import { never } from '../testing/running-writer.ts';
import { type EventFilter, matchAllEvents, selectEvents, textPrefilter } from './event-filter.ts';

const ownedBy = (name: string, event: ReturnType<typeof allocated>): ReturnType<typeof allocated> => ({
  ...event,
  data: { ...event.data, owner: { kind: 'ReplicaSet', name, uid: `uid-${name}` } },
});

const web = ownedBy('web-7d', allocated('web-1', '172.17.0.11', { node: 'node-1' }));
const db = ownedBy('db-5c', allocated('db-1', '10.0.0.2', { subnet: 'small', node: 'node-2' }));
const bare = allocated('bare', '172.17.0.12', { node: 'node-1' });
const refused: Event = {
  type: 'AllocationRefused',
  subnet: 'macvlan',
  data: { attachment: web.data.attachment, uid: 'uid-web-2', reason: 'POOL_EXHAUSTED', message: 'no address is free' },
};

/** What happens to three Pods. The number of an event is its place, from 1. */
const history: readonly Event[] = [
  subnetConfigured(), // 1
  web, // 2
  bound(web, 2, { containerId: 'c-web', node: 'node-1' }), // 3
  db, // 4
  bound(db, 4, { containerId: 'c-db', node: 'node-2' }), // 5
  refused, // 6
  quarantined('172.17.0.11'), // 7
  unbound(web, 'c-web'), // 8
  unbound(db, 'c-db'), // 9
  released(web, 2), // 10
  bare, // 11
  bound(bare, 11, { containerId: 'c-bare', node: 'node-1' }), // 12
  unbound(bare, 'c-bare'), // 13
  poolConfigured('few', ['172.17.1.0']), // 14
];

async function select(events: readonly Event[], filter: Partial<EventFilter>): Promise<Seq[]> {
  const log = linkedLog(events);
  const found = await selectEvents(log.reader, log.events, { ...matchAllEvents, ...filter }, never);
  return found.map(({ envelope }) => envelope.seq);
}

const owner = { kind: '', name: '', uid: '' };

describe('selectEvents', () => {
  for (const [title, filter, expected] of [
    ['returns all events, in their order, without a filter', {}, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]],
    ['finds the events of a Subnet', { subnet: 'small' }, [4, 5, 9]],
    ['finds the events of a Pod, also the refusals', { namespace: 'default', pod: 'web-1' }, [2, 3, 6, 8, 10]],
    ['finds no Pod of another namespace', { namespace: 'other', pod: 'web-1' }, []],
    [
      'finds the events of a namespace, and none without a Pod',
      { namespace: 'default' },
      [2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13],
    ],
    ['finds the events of an address, also those without a Pod', { address: '172.17.0.11' }, [2, 3, 7, 8, 10]],
    ['finds the events of one of several types', { types: ['AddressBound', 'SubnetConfigured'] }, [1, 3, 5, 12]],
    ['finds only events that match each field', { subnet: 'small', types: ['AddressBound', 'SubnetConfigured'] }, [5]],
    [
      'finds what a node had, also the ends of its bindings, which do not name it',
      { node: 'node-1' },
      [2, 3, 8, 11, 12, 13],
    ],
    ['finds what another node had', { node: 'node-2' }, [4, 5, 9]],
    ['finds nothing of a node without Pods', { node: 'node-3' }, []],
    [
      'finds what the Pods of an owner had, from the allocation to the release',
      { owner: { ...owner, name: 'web-7d' } },
      [2, 3, 8, 10],
    ],
    ['finds an owner by its uid alone', { owner: { ...owner, uid: 'uid-db-5c' } }, [4, 5, 9]],
    [
      'finds owners by their kind alone, and no Pod without an owner',
      { owner: { ...owner, kind: 'ReplicaSet' } },
      [2, 3, 4, 5, 8, 9, 10],
    ],
    ['finds no owner of another kind', { owner: { ...owner, kind: 'Job', name: 'web-7d' } }, []],
    ['finds no owner of another name', { owner: { kind: 'ReplicaSet', name: 'db-5c', uid: 'uid-web-7d' } }, []],
    ['finds no owner of another uid', { owner: { kind: 'ReplicaSet', name: 'web-7d', uid: 'uid-db-5c' } }, []],
    ['finds what an owner had on a node', { node: 'node-1', owner: { ...owner, kind: 'ReplicaSet' } }, [2, 3, 8]],
  ] as const)
    it(`selectEvents ${title}`, async () => {
      expect(await select(history, filter)).to.deep.equal(expected);
    });

  it('selectEvents finds the events of an owner after a transfer to the next Pod of the name', async () => {
    const next = transferred(web, 2, 'uid-next');
    const binding = bound({ subnet: next.subnet, data: next.data }, 3, { containerId: 'c-next' });
    const events = [subnetConfigured(), web, next, binding, unbound(web, 'c-next')];
    expect(await select(events, { owner: { ...owner, name: 'web-7d' } })).to.deep.equal([2, 3, 4, 5]);
  });

  it('selectEvents tells the two nodes of a live migration apart by container and interface', async () => {
    const events = [
      web, // 1
      bound(web, 1, { containerId: 'source', node: 'node-1' }), // 2
      bound(web, 1, { containerId: 'target', node: 'node-2' }), // 3
      bound(web, 1, { containerId: 'target', interface: 'net2', node: 'node-3' }), // 4
      unbound(web, 'source'), // 5
      unbound(web, 'target'), // 6
    ];
    expect(await select(events, { node: 'node-1', types: ['AddressUnbound'] })).to.deep.equal([5]);
    expect(await select(events, { node: 'node-2', types: ['AddressUnbound'] })).to.deep.equal([6]);
  });

  it('selectEvents takes the last start of a container that was bound twice', async () => {
    const events = [
      web,
      bound(web, 1, { node: 'node-1' }),
      unbound(web),
      bound(web, 1, { node: 'node-2' }),
      unbound(web),
    ];
    expect(await select(events, { node: 'node-2' })).to.deep.equal([4, 5]);
  });

  it('selectEvents omits the end of a binding whose start the log lacks', async () => {
    const events = [web, unbound(web)];
    expect(await select(events, { node: 'node-1' })).to.deep.equal([1]);
    expect(await select(events, { owner: { ...owner, name: 'web-7d' } })).to.deep.equal([1]);
  });

  describe('reads of earlier events', () => {
    const readsOf = async (events: readonly Event[], filter: Partial<EventFilter>): Promise<readonly unknown[]> => {
      const log = linkedLog(events);
      await selectEvents(log.reader, log.events, { ...matchAllEvents, ...filter }, never);
      return log.reads;
    };

    it('selectEvents reads no earlier event without a filter by node or owner', async () => {
      expect(await readsOf(history, { namespace: 'default', pod: 'web-1' })).to.deep.equal([]);
    });

    it('selectEvents follows all bindings of a page at once, one event further by each read', async () => {
      const reads = await readsOf(history, { node: 'node-1' });
      expect(reads).to.deep.equal([[7, 5, 12], [3]]);
    });

    it('selectEvents reads the event that allocated several addresses once, and never event 0', async () => {
      const reads = await readsOf(history, { owner: { ...owner, name: 'web-7d' } });
      expect(reads).to.deep.equal([[7, 5, 12], [3], [2, 4, 11]]);
    });

    it('selectEvents follows a binding with two addresses to its start once', async () => {
      const both = allocated('web-1', '172.17.0.11', { node: 'node-1' });
      const dual = { ...both, data: { ...both.data, addresses: [...both.data.addresses, ipv6] } };
      const events = [dual, bound(dual, 1), unbound(dual)];
      expect(await readsOf(events, { node: 'node-1' })).to.deep.equal([[2]]);
      expect(await select(events, { node: 'node-1' })).to.deep.equal([1, 2, 3]);
    });

    it('selectEvents follows a binding over at most 100 events', async () => {
      const between = (count: number): Event[] => Array.from({ length: count }, () => quarantined('172.17.0.11'));
      const events = (count: number): Event[] => [
        web,
        bound(web, 1, { node: 'node-1' }),
        ...between(count),
        unbound(web),
      ];
      expect(await select(events(99), { node: 'node-1' })).to.deep.equal([1, 2, 102]);
      expect(await readsOf(events(99), { node: 'node-1' })).to.have.length(100);
      expect(await select(events(100), { node: 'node-1' })).to.deep.equal([1, 2]);
    });
  });
});

const ipv6 = { address: 'fd00::11', cidr: 'fd00::/64', gateway: 'fd00::1' };

describe('textPrefilter', () => {
  const { events } = linkedLog(history);
  const passing = (filter: Partial<EventFilter>): Seq[] =>
    events
      .filter(({ text }) => textPrefilter({ ...matchAllEvents, ...filter })(text))
      .map(({ envelope }) => envelope.seq);

  for (const [title, filter, expected] of [
    ['passes all lines without a filter', {}, events.map(({ envelope }) => envelope.seq)],
    ['passes the lines of a Subnet', { subnet: 'small' }, [4, 5, 9]],
    ['passes the lines of a Pod', { namespace: 'default', pod: 'web-1' }, [2, 3, 6, 8, 10]],
    ['passes no line of another namespace', { namespace: 'other' }, []],
    ['passes the lines of an address', { address: '172.17.0.11' }, [2, 3, 7, 8, 10]],
    ['passes the lines with a whole address, and none with a longer one', { address: '172.17.0.1' }, [1, 2, 11]],
    ['passes the lines of a node, and each end of a binding', { node: 'node-2' }, [4, 5, 8, 9, 13]],
    ['passes the end of a binding only if its Pod matches', { node: 'node-2', pod: 'db-1' }, [4, 5, 9]],
  ] as const)
    it(`textPrefilter ${title}`, () => {
      expect(passing(filter)).to.deep.equal(expected);
    });
});
