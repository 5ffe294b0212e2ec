import { existsSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { fakeEvent, hourInstant, podLifeEvents, fakePosition, temporaryFile } from '../testing/fake-events.ts';
import { firstSeqSince, searchEvents, type SearchCriteria } from './event-search.ts';
import { emptyPosition, removeDatabase } from './database-file.ts';
import { EventStore } from './event-store.ts';

describe('The event store', () => {
  let place: ReturnType<typeof temporaryFile>;
  let store: EventStore;
  beforeEach(() => {
    place = temporaryFile();
    store = new EventStore(place.file);
  });
  afterEach(() => {
    store.close();
    place.remove();
  });

  const reopen = (): void => {
    store.close();
    store = new EventStore(place.file);
  };

  it('The event store returns each event unchanged, even after it was reopened', () => {
    const events = podLifeEvents(1);
    store.append(events, fakePosition(4));
    expect(events.map(({ seq }) => store.event(seq))).to.deep.equal(events);
    reopen();
    expect(events.map(({ seq }) => store.event(seq))).to.deep.equal(events);
    expect(store.position).to.deep.equal(fakePosition(4));
  });

  it('The event store returns each of many events, for any page size', () => {
    const events = Array.from({ length: 200 }, (_, index) => fakeEvent(index + 1, { subnet: `subnet-${index}` }));
    let from = 0;
    for (const count of [1, 62, 1, 1, 63, 3, 69]) {
      store.append(events.slice(from, from + count), fakePosition(from + count));
      if (count === 63) reopen();
      from += count;
    }
    for (const seqs of [[1, 200, 64, 65, 128, 129, 2, 63], Array.from({ length: 200 }, (_, index) => index + 1)])
      expect(seqs.map((seq) => store.event(seq).subnet)).to.deep.equal(seqs.map((seq) => `subnet-${seq - 1}`));
    reopen();
    expect([200, 199, 1].map((seq) => store.event(seq))).to.deep.equal([events[199], events[198], events[0]]);
  });

  it('the event store can begin with any event', () => {
    store.append([fakeEvent(900), fakeEvent(901)], fakePosition(901));
    reopen();
    expect([901, 900].map((seq) => store.event(seq).seq)).to.deep.equal([901, 900]);
    expect(store.firstSeq).to.equal(900);
  });

  it('The event store is empty at first', () => {
    expect(store.position).to.deep.equal(emptyPosition);
    expect(store.firstSeq).to.equal(0);
  });

  it('The event store appends events and position in one transaction', () => {
    store.append([fakeEvent(1)], fakePosition(1));
    expect(() => store.append([fakeEvent(2), fakeEvent(1)], fakePosition(2))).to.throw();
    expect(store.position).to.deep.equal(fakePosition(1));
    expect(store.rows(undefined, { first: 1, last: 9, limit: 9 })).to.deep.equal([{ seq: 1, subnet: 1 }]);
  });

  it('The event store forgets the Subnets of a transaction that failed', () => {
    store.append([fakeEvent(1)], fakePosition(1));
    const another = fakeEvent(2, { subnet: 'another' });
    expect(() => store.append([another, fakeEvent(1)], fakePosition(2))).to.throw();
    store.append([fakeEvent(2, { subnet: 'third' }), { ...another, seq: 3 }], fakePosition(3));
    const found = ['third', 'another'].map((name) => store.findKeys('subnets', { name }, 2));
    expect(store.rows(undefined, { first: 2, last: 3, limit: 9 }).map(({ subnet }) => [subnet])).to.deep.equal(
      found.toReversed(),
    );
  });

  it('a file of another version is rebuilt', () => {
    store.append([fakeEvent(1)], fakePosition(1));
    store.close();
    const database = new DatabaseSync(place.file);
    database.exec('PRAGMA user_version = 99');
    database.close();
    store = new EventStore(place.file);
    expect(store.position).to.deep.equal(emptyPosition);
  });

  it('only one process can use the event store', () => {
    expect(() => new EventStore(place.file)).to.throw(
      `the read model's file ${place.file} cannot be used: database is locked: another process uses it. Stop that process, or choose another file`,
    );
  });

  it('The event store rejects another database, and a file that is not a database', () => {
    const foreign = `${place.file}.foreign`;
    const database = new DatabaseSync(foreign);
    database.exec("CREATE TABLE foreign_table (value); INSERT INTO foreign_table VALUES ('precious')");
    database.close();
    expect(() => new EventStore(foreign)).to.throw('it contains another database: choose another file');
    const left = new DatabaseSync(foreign);
    expect(left.prepare('SELECT value FROM foreign_table').get()).to.include({ value: 'precious' });
    left.close();
    writeFileSync(foreign, 'no database'.repeat(1_000));
    expect(() => new EventStore(foreign)).to.throw(
      'file is not a database: delete it. The read model rebuilds it from the log',
    );
  });

  it('The event store is empty after the file was removed', () => {
    store.append([fakeEvent(1)], fakePosition(1));
    store.close();
    removeDatabase(place.file);
    expect(existsSync(place.file)).to.equal(false);
    store = new EventStore(place.file);
    expect(store.position).to.deep.equal(emptyPosition);
  });

  it('The event store finds the next allocations of an address', () => {
    const allocated = (seq: number, subnet: string, address: string) =>
      fakeEvent(seq, { subnet, type: 'AddressAllocated', addressAllocated: { addresses: [{ address }] } });
    store.append(
      [
        allocated(1, 'lan', '10.0.0.2'),
        allocated(2, 'san', '10.0.0.2'),
        allocated(3, 'lan', '10.0.0.3'),
        allocated(4, 'lan', '10.0.0.2'),
        allocated(5, 'lan', '10.0.0.2'),
      ],
      fakePosition(5),
    );
    const place = { subnet: 'lan', address: '10.0.0.2' };
    expect(store.allocationsFrom(place, 1, 2)).to.deep.equal([1, 4]);
    expect(store.allocationsFrom(place, 2, 2)).to.deep.equal([4, 5]);
    expect(store.allocationsFrom(place, 6, 2)).to.deep.equal([]);
    expect(store.allocationsFrom({ ...place, subnet: 'unknown' }, 1, 2)).to.deep.equal([]);
  });

  describe('searchEvents', () => {
    const seqs = async (criteria: SearchCriteria, range = {}): Promise<number[]> => {
      const { events } = await searchEvents(store, criteria, {
        first: 1,
        last: store.position.seq,
        limit: 100,
        ...range,
      });
      return events.map(({ seq }) => seq);
    };
    const by = (
      column: 'pod' | 'node' | 'owner' | 'subnet',
      table: Parameters<EventStore['findKeys']>[0],
      values: object,
    ): SearchCriteria => ({
      anyOf: store.findKeys(table, values as Record<string, string>, 10).map((key) => ({ column, key })),
    });

    beforeEach(() => {
      store.append(podLifeEvents(1), fakePosition(4));
      store.append(podLifeEvents(5, { pod: 'db', node: 'node-2', owner: 'db', subnet: 'san' }), fakePosition(8));
      store.append(podLifeEvents(9, { pod: 'web2', owner: 'web' }), fakePosition(12));
      store.append([fakeEvent(13, { type: 'SubnetRetired', subnetRetired: {} })], fakePosition(13));
    });

    it('searchEvents returns the newest events first, of a Pod, a node, an owner or a Subnet', async () => {
      expect(await seqs(by('pod', 'pods', { namespace: 'default', name: 'web' }))).to.deep.equal([4, 3, 2, 1]);
      // A release names no node. The end of a binding has the node of its Bind.
      expect(await seqs(by('node', 'nodes', { name: 'node-1' }))).to.deep.equal([12, 10, 4, 2]);
      expect(await seqs(by('owner', 'owners', { name: 'web' }))).to.deep.equal([12, 11, 10, 9, 4, 3, 2, 1]);
      expect(await seqs(by('owner', 'owners', { uid: 'uid-of-db', namespace: 'default' }))).to.deep.equal([8, 7, 6, 5]);
      expect(await seqs(by('owner', 'owners', { kind: 'StatefulSet' }))).to.deep.equal([]);
      expect(await seqs(by('subnet', 'subnets', { name: 'san' }))).to.deep.equal([8, 7, 6, 5]);
      expect(await seqs({})).to.have.length(13);
    });

    it('searchEvents finds the ends of bindings of one container in two Subnets', async () => {
      const both = { pod: 'both', node: 'node-3' };
      const addressUnbound = { containerId: 'container-of-both', interface: 'net1' };
      const lastEnd = fakeEvent(21, { subnet: 'lan', type: 'AddressUnbound', addressUnbound });
      const notEnded = podLifeEvents(14, { ...both, subnet: 'lan' }).slice(0, 3);
      store.append([...notEnded, ...podLifeEvents(17, { ...both, subnet: 'san' }), lastEnd], fakePosition(21));
      expect(await seqs(by('node', 'nodes', { name: 'node-3' }))).to.deep.equal([21, 20, 18, 15]);
    });

    it('searchEvents returns only events of the Subnet and the range', async () => {
      const [subnet] = store.findKeys('subnets', { name: 'san' }, 1);
      const ofReplicaSets = by('owner', 'owners', { kind: 'ReplicaSet' });
      expect(await seqs({ ...ofReplicaSets, ...(subnet !== undefined && { subnet }) })).to.deep.equal([8, 7, 6, 5]);
      expect(await seqs(ofReplicaSets, { first: 4, last: 9 })).to.deep.equal([9, 8, 7, 6, 5, 4]);
      expect(await seqs({ anyOf: [] })).to.deep.equal([]);
    });

    it('searchEvents returns where to continue', async () => {
      const criteria = by('owner', 'owners', { kind: 'ReplicaSet' });
      const seqsFound: number[] = [];
      for (let last = 13, more = true; more;) {
        const found = await searchEvents(store, criteria, { first: 1, last, limit: 3 });
        seqsFound.push(...found.events.map(({ seq }) => seq));
        for (const { seq } of found.events) expect(seq).to.be.at.least(found.searched);
        last = found.searched - 1;
        more = found.more;
      }
      expect(seqsFound).to.deep.equal([12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    });

    it('searchEvents finds the first event of a period', () => {
      expect(firstSeqSince(store, Date.parse(hourInstant(5)))).to.equal(5);
      expect(firstSeqSince(store, Date.parse(hourInstant(5)) + 1)).to.equal(6);
      expect(firstSeqSince(store, 0)).to.equal(1);
      expect(firstSeqSince(store, Date.parse(hourInstant(99)))).to.equal(14);
    });
  });

  describe('searchEvents by many owners', () => {
    const owners = 50;
    let criteria: SearchCriteria;
    /** The rows that the search reads, also those that it does not return. */
    let looked: number;
    beforeEach(() => {
      const events = Array.from({ length: 10 * owners }, (_, index) =>
        podLifeEvents(4 * index + 1, { owner: `owner-${index % owners}` }),
      );
      store.append(events.flat(), fakePosition(40 * owners));
      criteria = {
        anyOf: store.findKeys('owners', { kind: 'ReplicaSet' }, owners).map((key) => ({ column: 'owner', key })),
      };
      looked = 0;
      const rows = store.rows.bind(store);
      store.rows = (...args) => {
        const found = rows(...args);
        looked += found.length;
        return found;
      };
    });

    it('searchEvents by many owners reads about as many rows as it returns, and each one once', async () => {
      const { events } = await searchEvents(store, criteria, { first: 1, last: 40 * owners, limit: 500 });
      expect(events.map(({ seq }) => seq)).to.deep.equal(
        Array.from({ length: 500 }, (_, index) => 40 * owners - index),
      );
      expect(looked).to.be.below(1_000);
    });

    it('searchEvents by many owners ends when the caller has gone', async () => {
      const leaving = new AbortController();
      const search = searchEvents(store, criteria, { first: 1, last: 40 * owners, limit: 500 }, leaving.signal);
      leaving.abort(new Error('gone'));
      expect(await search.catch((error: unknown) => (error as Error).message)).to.equal('gone');
      expect(looked).to.be.below(500);
    });
  });

  it('The event store searches more events than one step reads', async () => {
    const subnetOf = (seq: number): string => (seq % 100 === 0 ? 'rare' : 'lan');
    const events = Array.from({ length: 1_050 }, (_, index) => fakeEvent(index + 1, { subnet: subnetOf(index + 1) }));
    store.append(events, fakePosition(1_050));
    const [subnet = 0] = store.findKeys('subnets', { name: 'rare' }, 1);
    const {
      events: found,
      more,
      searched,
    } = await searchEvents(store, { subnet }, { first: 1, last: 1_050, limit: 100 });
    expect(found.map(({ seq }) => seq)).to.deep.equal([1_000, 900, 800, 700, 600, 500, 400, 300, 200, 100]);
    expect({ more, searched }).to.deep.equal({ more: false, searched: 1 });
  });
});
