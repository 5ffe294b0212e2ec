import { existsSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { event, hour, life, position, temporaryFile } from '../fakes.ts';
import { firstSince, search, type Wanted } from './search.ts';
import { nowhere, remove } from './file.ts';
import { Store } from './store.ts';

describe('The file of the read model', () => {
  let place: ReturnType<typeof temporaryFile>;
  let store: Store;
  beforeEach(() => {
    place = temporaryFile();
    store = new Store(place.file);
  });
  afterEach(() => {
    store.close();
    place.remove();
  });

  const reopen = (): void => {
    store.close();
    store = new Store(place.file);
  };

  it('gives back each event as it came, also after it was closed', () => {
    const events = life(1);
    store.append(events, position(4));
    expect(events.map(({ seq }) => store.event(seq))).to.deep.equal(events);
    reopen();
    expect(events.map(({ seq }) => store.event(seq))).to.deep.equal(events);
    expect(store.position).to.deep.equal(position(4));
  });

  it('gives back each event of many, however they came', () => {
    const events = Array.from({ length: 200 }, (_, index) => event(index + 1, { subnet: `subnet-${index}` }));
    let from = 0;
    for (const count of [1, 62, 1, 1, 63, 3, 69]) {
      store.append(events.slice(from, from + count), position(from + count));
      if (count === 63) reopen();
      from += count;
    }
    for (const seqs of [[1, 200, 64, 65, 128, 129, 2, 63], Array.from({ length: 200 }, (_, index) => index + 1)])
      expect(seqs.map((seq) => store.event(seq).subnet)).to.deep.equal(seqs.map((seq) => `subnet-${seq - 1}`));
    reopen();
    expect([200, 199, 1].map((seq) => store.event(seq))).to.deep.equal([events[199], events[198], events[0]]);
  });

  it('begins at any event', () => {
    store.append([event(900), event(901)], position(901));
    reopen();
    expect([901, 900].map((seq) => store.event(seq).seq)).to.deep.equal([901, 900]);
    expect(store.firstSeq).to.equal(900);
  });

  it('knows nothing at first', () => {
    expect(store.position).to.deep.equal(nowhere);
    expect(store.firstSeq).to.equal(0);
  });

  it('takes in events with their position, or neither', () => {
    store.append([event(1)], position(1));
    expect(() => store.append([event(2), event(1)], position(2))).to.throw();
    expect(store.position).to.deep.equal(position(1));
    expect(store.rows(undefined, { first: 1, last: 9, most: 9 })).to.deep.equal([{ seq: 1, subnet: 1 }]);
  });

  it('begins anew when another version made it', () => {
    store.append([event(1)], position(1));
    store.close();
    const database = new DatabaseSync(place.file);
    database.exec('PRAGMA user_version = 99');
    database.close();
    store = new Store(place.file);
    expect(store.position).to.deep.equal(nowhere);
  });

  it('belongs to one process', () => {
    expect(() => new Store(place.file)).to.throw(
      `the read model's file ${place.file} cannot be used: database is locked: it belongs to one process, and another has it`,
    );
  });

  it('is never made of the database of something else, nor of what is none', () => {
    const foreign = `${place.file}.foreign`;
    const database = new DatabaseSync(foreign);
    database.exec("CREATE TABLE theirs (value); INSERT INTO theirs VALUES ('precious')");
    database.close();
    expect(() => new Store(foreign)).to.throw('it is the database of something else: name another file');
    const left = new DatabaseSync(foreign);
    expect(left.prepare('SELECT value FROM theirs').get()).to.include({ value: 'precious' });
    left.close();
    writeFileSync(foreign, 'no database'.repeat(1_000));
    expect(() => new Store(foreign)).to.throw('file is not a database: delete it, and it is made again from the log');
  });

  it('is gone when it is removed', () => {
    store.append([event(1)], position(1));
    store.close();
    remove(place.file);
    expect(existsSync(place.file)).to.equal(false);
    store = new Store(place.file);
    expect(store.position).to.deep.equal(nowhere);
  });

  describe('searched', () => {
    const seqs = async (wanted: Wanted, range = {}): Promise<number[]> => {
      const { events } = await search(store, wanted, { first: 1, last: store.position.seq, most: 100, ...range });
      return events.map(({ seq }) => seq);
    };
    const by = (
      column: 'pod' | 'node' | 'owner' | 'subnet',
      table: Parameters<Store['keys']>[0],
      said: object,
    ): Wanted => ({
      leads: store.keys(table, said as Record<string, string>, 10).map((key) => ({ column, key })),
    });

    beforeEach(() => {
      store.append(life(1), position(4));
      store.append(life(5, { pod: 'db', node: 'node-2', owner: 'db', subnet: 'san' }), position(8));
      store.append(life(9, { pod: 'web2', owner: 'web' }), position(12));
      store.append([event(13, { type: 'SubnetRetired', subnetRetired: {} })], position(13));
    });

    it('gives the newest first, of a Pod, a node, an owner or a subnet', async () => {
      expect(await seqs(by('pod', 'pods', { namespace: 'default', name: 'web' }))).to.deep.equal([4, 3, 2, 1]);
      // A release names no node; the end of a binding neither, and is known by its beginning
      expect(await seqs(by('node', 'nodes', { name: 'node-1' }))).to.deep.equal([12, 10, 4, 2]);
      expect(await seqs(by('owner', 'owners', { name: 'web' }))).to.deep.equal([12, 11, 10, 9, 4, 3, 2, 1]);
      expect(await seqs(by('owner', 'owners', { uid: 'uid-of-db', namespace: 'default' }))).to.deep.equal([8, 7, 6, 5]);
      expect(await seqs(by('owner', 'owners', { kind: 'StatefulSet' }))).to.deep.equal([]);
      expect(await seqs(by('subnet', 'subnets', { name: 'san' }))).to.deep.equal([8, 7, 6, 5]);
      expect(await seqs({})).to.have.length(13);
    });

    it('knows where the bindings of one container in two subnets ended', async () => {
      const both = { pod: 'both', node: 'node-3' };
      const addressUnbound = { containerId: 'container-of-both', interface: 'net1' };
      const lastEnd = event(21, { subnet: 'lan', type: 'AddressUnbound', addressUnbound });
      const notEnded = life(14, { ...both, subnet: 'lan' }).slice(0, 3);
      store.append([...notEnded, ...life(17, { ...both, subnet: 'san' }), lastEnd], position(21));
      expect(await seqs(by('node', 'nodes', { name: 'node-3' }))).to.deep.equal([21, 20, 18, 15]);
    });

    it('keeps to a subnet, and to a stretch', async () => {
      const [subnet] = store.keys('subnets', { name: 'san' }, 1);
      const ofReplicaSets = by('owner', 'owners', { kind: 'ReplicaSet' });
      expect(await seqs({ ...ofReplicaSets, ...(subnet !== undefined && { subnet }) })).to.deep.equal([8, 7, 6, 5]);
      expect(await seqs(ofReplicaSets, { first: 4, last: 9 })).to.deep.equal([9, 8, 7, 6, 5, 4]);
      expect(await seqs({ leads: [] })).to.deep.equal([]);
    });

    it('says where to go on', async () => {
      const wanted = by('owner', 'owners', { kind: 'ReplicaSet' });
      const seen: number[] = [];
      for (let last = 13, more = true; more;) {
        const found = await search(store, wanted, { first: 1, last, most: 3 });
        seen.push(...found.events.map(({ seq }) => seq));
        for (const { seq } of found.events) expect(seq).to.be.at.least(found.searched);
        last = found.searched - 1;
        more = found.more;
      }
      expect(seen).to.deep.equal([12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    });

    it('finds where a time begins', () => {
      expect(firstSince(store, Date.parse(hour(5)))).to.equal(5);
      expect(firstSince(store, Date.parse(hour(5)) + 1)).to.equal(6);
      expect(firstSince(store, 0)).to.equal(1);
      expect(firstSince(store, Date.parse(hour(99)))).to.equal(14);
    });
  });

  it('goes through many more events than a step takes', async () => {
    const subnetOf = (seq: number): string => (seq % 100 === 0 ? 'rare' : 'lan');
    const events = Array.from({ length: 1_050 }, (_, index) => event(index + 1, { subnet: subnetOf(index + 1) }));
    store.append(events, position(1_050));
    const [subnet = 0] = store.keys('subnets', { name: 'rare' }, 1);
    const { events: found, more, searched } = await search(store, { subnet }, { first: 1, last: 1_050, most: 100 });
    expect(found.map(({ seq }) => seq)).to.deep.equal([1_000, 900, 800, 700, 600, 500, 400, 300, 200, 100]);
    expect({ more, searched }).to.deep.equal({ more: false, searched: 1 });
  });
});
