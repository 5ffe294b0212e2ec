/** Tests decoding and encoding of values, and replicas, on a real ovsdb-server. */
import { expect } from 'chai';
import fc from 'fast-check';
import { type OvsdbServer, startOvsdbServer } from '../../test/harness/ovn/ovsdb-server.ts';
import type { Run } from '../../test/harness/run.ts';
import type { RowChange } from './replica.ts';
import {
  connectClient,
  deleteItems,
  insertItem,
  itemColumns,
  itemOf,
  openOvsRun,
  type RecordingClient,
  testSchema,
  updateItem,
} from './testing/test-database.ts';
import { startTcpProxy } from '../../test/harness/network/tcp-proxy.ts';
import type { Atom, NewRow } from './values.ts';

/** Values that a server stores unchanged. It writes reals with 15 digits. */
const text = fc.string({ unit: 'binary', maxLength: 20 }).filter((each) => each.isWellFormed() && !each.includes('\0'));
const integer = fc.oneof(fc.maxSafeInteger(), fc.integer({ min: -3, max: 3 }));
const real = fc.double({ min: -1e300, max: 1e300, noNaN: true }).map((each) => {
  const short = Number(each.toPrecision(15));
  return Math.abs(short) < 1e-300 ? 0 : short;
});
const setOf = (atom: fc.Arbitrary<Atom>): fc.Arbitrary<ReadonlySet<Atom>> =>
  fc.array(atom, { maxLength: 6 }).map((atoms) => new Set(atoms));
const mapOf = (value: fc.Arbitrary<Atom>, maxLength = 6): fc.Arbitrary<ReadonlyMap<Atom, Atom>> =>
  fc.array(fc.tuple(text, value), { maxLength }).map((pairs) => new Map(pairs));

/** Few distinct values, so that two rows share a part of their sets and maps. */
const few = fc.constantFrom('a', 'b', 'c', 'd');

const item: fc.Arbitrary<NewRow> = fc.record({
  integer,
  real,
  flag: fc.boolean(),
  reference: fc.uuid(),
  optional: fc.option(text, { nil: undefined }),
  texts: setOf(fc.oneof(text, few)),
  integers: setOf(integer),
  labels: fc.oneof(
    mapOf(text),
    fc.array(fc.tuple(few, few), { maxLength: 4 }).map((pairs) => new Map(pairs)),
  ),
  limits: mapOf(integer),
  onePair: mapOf(text, 1),
});

describe('A replica', () => {
  let run: Run;
  let server: OvsdbServer;
  let writer: RecordingClient;
  let reader: RecordingClient;
  before(async function () {
    run = openOvsRun(this);
    server = await startOvsdbServer(run, { name: 'test', schema: testSchema });
    writer = connectClient(run, { endpoints: [server.unix], columns: {} });
    reader = connectClient(run, { endpoints: [server.tcp] });
    await Promise.all([writer.client.ready(), reader.client.ready()]);
  });
  beforeEach(async () => {
    await writer.client.transact([deleteItems]);
    await reader.until(() => reader.items().length === 0);
  });
  after(async () => {
    await Promise.all([writer?.end(), reader?.end()]);
    await run?.end();
  });

  /** Returns the changes of the next update that `write` causes. */
  async function changesOf(write: Promise<unknown>): Promise<readonly RowChange[]> {
    const known = reader.updates.length;
    await write;
    await reader.until(() => reader.updates.length > known);
    expect(reader.updates).to.have.lengthOf(known + 1);
    return reader.updates[known]?.changes ?? [];
  }

  it('a replica contains inserted and changed values of each type', async () => {
    let count = 0;
    await fc.assert(
      fc.asyncProperty(item, item, async (first, second) => {
        const name = `item-${++count}`;
        await writer.client.transact([insertItem({ name, ...first })]);
        await reader.until(() => itemOf(reader, name) !== undefined);
        expect(itemOf(reader, name)).to.deep.include(first);

        const [, selection] = await writer.client.transact([
          updateItem(name, second),
          { op: 'select', table: 'Item', where: [['name', '==', name]], columns: itemColumns },
          insertItem({ name: `${name}-end` }),
        ]);
        expect(selection?.rows?.[0]).to.deep.include(second);
        await reader.until(() => itemOf(reader, `${name}-end`) !== undefined);
        expect(itemOf(reader, name)).to.deep.include(second);
      }),
      { numRuns: 60 },
    );
  });

  it('A replica has the defaults in columns that the server does not send', async () => {
    const [change] = await changesOf(writer.client.transact([insertItem({ name: 'a' })]));
    expect(change?.after).to.deep.equal({
      name: 'a',
      integer: 0,
      real: 0,
      flag: false,
      reference: '00000000-0000-0000-0000-000000000000',
      optional: undefined,
      texts: new Set(),
      integers: new Set(),
      labels: new Map(),
      limits: new Map(),
      onePair: new Map(),
      parts: new Set(),
    });
  });

  it('A replica reports one transaction as one update, with each row before and after', async () => {
    const inserted = await changesOf(
      writer.client.transact([
        insertItem({ name: 'a', texts: new Set(['x', 'y']) }),
        insertItem({ name: 'b', labels: new Map([['k', 'v']]), parts: new Set([{ uuidName: 'p' }]) }),
        { op: 'insert', table: 'Part', row: { name: 'p' }, uuidName: 'p' },
      ]),
    );
    expect(inserted.map(({ table, before, after }) => [table, before, after?.['name']])).to.have.deep.members([
      ['Item', undefined, 'a'],
      ['Item', undefined, 'b'],
      ['Part', undefined, 'p'],
    ]);

    const changed = await changesOf(
      writer.client.transact([
        updateItem('a', { texts: new Set(['y', 'z']) }),
        { op: 'delete', table: 'Item', where: [['name', '==', 'b']] },
      ]),
    );
    const of = (table: string, name: string): RowChange | undefined =>
      changed.find((change) => change.table === table && change.before?.['name'] === name);
    expect(changed).to.have.lengthOf(3);
    expect(of('Item', 'a')?.before?.['texts']).to.deep.equal(new Set(['x', 'y']));
    expect(of('Item', 'a')?.after?.['texts']).to.deep.equal(new Set(['y', 'z']));
    expect(of('Item', 'b')).to.have.property('after', undefined);
    expect(of('Part', 'p')).to.have.property('after', undefined);
  });

  it('A replica contains only the tables and columns that the client requested', async () => {
    await writer.client.transact([insertItem({ name: 'a', integer: 1, flag: true })]);
    const narrow = connectClient(run, { endpoints: [server.unix], columns: { Item: ['name', 'integer'] } });
    await narrow.client.ready();
    expect(itemOf(narrow, 'a')).to.deep.equal({ name: 'a', integer: 1 });
    expect(() => narrow.client.replica.rows('Part')).to.throw('the replica does not contain table Part');
    await narrow.end();
  });

  it('A replica does not start when the schema lacks a column, and the error names the column', async () => {
    const wrong = connectClient(run, { endpoints: [server.unix], columns: { Item: ['missing'] } });
    await wrong.until(() => wrong.statuses.length > 0);
    expect(wrong.statuses[0]).to.have.nested.property(
      'error.message',
      'table Item of Test 1.0.0 has no column missing',
    );
    await wrong.end();
  });

  it('A replica ends the connection when it would exceed its limit of rows', async () => {
    await writer.client.transact(['a', 'b', 'c'].map((name) => insertItem({ name })));
    const small = connectClient(run, { endpoints: [server.unix], limits: { maxRows: 2 } });
    await small.until(() => small.statuses.length > 0);
    expect(small.statuses[0]).to.have.nested.property('error.message', 'the database has more than 2 rows');
    await small.end();
  });

  it('A replica follows a server that does not know monitor_cond_since', async () => {
    const change = (sent: string): string => sent.replaceAll('monitor_cond_since', 'monitor_unknown');
    const proxy = await startTcpProxy(run, server.unix, { change });
    await writer.client.transact([insertItem({ name: 'a', texts: new Set(['x', 'y']) })]);
    const old = connectClient(run, { endpoints: [`tcp:${proxy.endpoint}`] });
    await old.client.ready();
    expect(old.items()).to.deep.equal(['a']);
    await writer.client.transact([updateItem('a', { texts: new Set(['y', 'z']) }), insertItem({ name: 'b' })]);
    await old.until(() => old.items().length === 2);
    expect(itemOf(old, 'a')?.['texts']).to.deep.equal(new Set(['y', 'z']));
    await old.end();
  });

  it('A replica reads the schema again when the database is converted, and then knows its new columns', async () => {
    await writer.client.transact([insertItem({ name: 'a' })]);
    const known = writer.statuses.length;
    const { Item, Part } = testSchema.tables;
    const added = { ...Item, columns: { ...Item.columns, added: { type: 'string' } } };
    await server.convert({ ...testSchema, version: '1.1.0', tables: { Item: added, Part } });
    await writer.until(() => writer.statuses.slice(known).some(({ isConnected }) => isConnected));
    expect(writer.client.schema.version).to.equal('1.1.0');
    await writer.client.transact([insertItem({ name: 'b', added: 'value' })]);
    await reader.until(() => reader.items().join() === 'a,b');
  });
});
