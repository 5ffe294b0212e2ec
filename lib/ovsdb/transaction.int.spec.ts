/** Tests transactions on a real ovsdb-server. */
import { expect } from 'chai';
import { type OvsdbServer, startOvsdbServer } from '../../test/harness/ovn/ovsdb-server.ts';
import type { Run } from '../../test/harness/run.ts';
import {
  connectClient,
  deleteItems,
  expectError,
  insertItem,
  openOvsRun,
  type RecordingClient,
  testSchema,
} from './testing/test-database.ts';
import type { Operation } from './transaction.ts';

const waitFor = (name: string, timeoutMs: number): Operation => ({
  op: 'wait',
  table: 'Item',
  where: [['name', '==', name]],
  columns: ['integer'],
  until: '==',
  rows: [{ integer: 7 }],
  timeoutMs,
});

describe('A transaction', () => {
  let run: Run;
  let server: OvsdbServer;
  let own: RecordingClient;
  let other: RecordingClient;
  before(async function () {
    run = openOvsRun(this);
    server = await startOvsdbServer(run, { name: 'test', schema: testSchema });
    own = connectClient(run, { endpoints: [server.unix] });
    other = connectClient(run, { endpoints: [server.unix] });
    await Promise.all([own.client.ready(), other.client.ready()]);
  });
  beforeEach(() => own.client.transact([deleteItems]));
  after(async () => {
    await Promise.all([own?.end(), other?.end()]);
    await run?.end();
  });

  it("the client's own replica contains a transaction when it resolves", async () => {
    await own.client.transact([insertItem({ name: 'a' })]);
    expect(own.items()).to.deep.equal(['a']);
  });

  it('A transaction returns the result of each operation', async () => {
    const [inserted, , updated, selected, deleted] = await own.client.transact([
      insertItem({ name: 'a', integer: 1 }),
      { op: 'comment', comment: 'a test' },
      { op: 'mutate', table: 'Item', where: [['name', '==', 'a']], mutations: [['integer', '+=', 6]] },
      { op: 'select', table: 'Item', where: [['integer', '==', 7]], columns: ['_uuid', 'integer', 'texts'] },
      { op: 'delete', table: 'Item', where: [['name', '==', 'unknown']] },
    ]);
    expect(updated).to.deep.equal({ count: 1 });
    expect(selected).to.deep.equal({ rows: [{ _uuid: inserted?.uuid, integer: 7, texts: new Set() }] });
    expect(deleted).to.deep.equal({ count: 0 });
  });

  it('A transaction mutates sets and maps', async () => {
    await own.client.transact([
      insertItem({
        name: 'a',
        texts: new Set(['x']),
        labels: new Map([
          ['k', 'v'],
          ['l', 'w'],
        ]),
      }),
    ]);
    await own.client.transact([
      {
        op: 'mutate',
        table: 'Item',
        where: [['texts', 'includes', new Set(['x'])]],
        mutations: [
          ['texts', 'insert', new Set(['y', 'z'])],
          ['texts', 'delete', 'x'],
          ['labels', 'delete', new Set(['k'])],
          ['labels', 'insert', new Map([['m', 'u']])],
        ],
      },
    ]);
    const [row] = own.client.replica.rows('Item').values();
    expect(row).to.deep.include({
      texts: new Set(['y', 'z']),
      labels: new Map([
        ['l', 'w'],
        ['m', 'u'],
      ]),
    });
  });

  it('A transaction refers to a row that it inserts by name', async () => {
    const [part] = await own.client.transact([
      { op: 'insert', table: 'Part', row: { name: 'p' }, uuidName: 'part_1' },
      insertItem({ name: 'a', parts: new Set([{ uuidName: 'part_1' }]) }),
    ]);
    expect([...own.client.replica.rows('Part').keys()]).to.deep.equal([part?.uuid]);
  });

  it('A transaction succeeds with an unreferenced row of a table that is not a root, and the server deletes the row', async () => {
    const [part] = await own.client.transact([{ op: 'insert', table: 'Part', row: { name: 'p' } }]);
    expect(part).to.have.property('uuid');
    expect(own.client.replica.rows('Part').size).to.equal(0);
  });

  it('A transaction fails with FENCED and changes nothing when the condition of its wait does not hold', async () => {
    const error = await expectError(own.client.transact([waitFor('a', 0), insertItem({ name: 'b' })]), 'FENCED');
    expect(error.message).to.equal('the rows of Item are not those that the transaction requires');
    expect(error.serverError).to.deep.include({ error: 'timed out', operation: 0 });
    expect(own.items()).to.deep.equal([]);
  });

  it('a transaction runs when the condition of its wait holds, immediately or in time', async () => {
    const waiting = own.client.transact([waitFor('a', 60_000), insertItem({ name: 'b' })]);
    await other.client.transact([insertItem({ name: 'a', integer: 7 })]);
    await waiting;
    expect(own.items()).to.deep.equal(['a', 'b']);
    await own.client.transact([waitFor('a', 0), insertItem({ name: 'c' })]);
  });

  it('A transaction fails with CONSTRAINT when the commit violates an index', async () => {
    const error = await expectError(
      own.client.transact([insertItem({ name: 'a' }), insertItem({ name: 'a' })]),
      'CONSTRAINT',
    );
    expect(error.message).to.match(/^the server rejected the transaction at commit: constraint violation: .*index/);
    expect(error.serverError).to.have.property('operation', undefined);
    expect(own.items()).to.deep.equal([]);
  });

  it('A transaction fails with CONSTRAINT when the commit leaves a reference to a missing row', async () => {
    const missing = new Set(['01234567-89ab-cdef-0123-456789abcdef']);
    const error = await expectError(own.client.transact([insertItem({ name: 'a', parts: missing })]), 'CONSTRAINT');
    expect(error.serverError?.error).to.equal('referential integrity violation');
  });

  it('A transaction fails with REFUSED when the server rejects an operation', async () => {
    const divide: Operation = { op: 'mutate', table: 'Item', where: [], mutations: [['integer', '/=', 0]] };
    const error = await expectError(own.client.transact([insertItem({ name: 'a' }), divide]), 'REFUSED');
    expect(error.message).to.match(/^the server rejected the transaction in operation 1, mutate: domain error/);
    expect(error.serverError).to.deep.include({ error: 'domain error', operation: 1 });
  });

  it('A transaction fails with INVALID_REQUEST, and is not sent, when it does not fit the schema', async () => {
    const invalid: Operation[] = [
      { op: 'delete', table: 'Unknown', where: [] },
      insertItem({ unknown: 1 }),
      insertItem({ name: 1 }),
      { op: 'insert', table: 'Item', row: {}, uuidName: 'with-dash' },
      { op: 'select', table: 'Item', where: [], columns: ['unknown'] },
    ];
    for (const operation of invalid) await expectError(own.client.transact([operation]), 'INVALID_REQUEST');
    expect(own.client.endpoint).to.equal(server.unix);
  });

  it('A transaction fails with OUTCOME_UNKNOWN when the caller cancels it, and the server does not execute it', async () => {
    const controller = new AbortController();
    const waiting = own.client.transact([waitFor('a', 60_000), insertItem({ name: 'b' })], {
      signal: controller.signal,
    });
    controller.abort();
    await expectError(waiting, 'OUTCOME_UNKNOWN');
    // The server handles a connection in order, so it has received the cancellation before this
    // transaction.
    await own.client.transact([insertItem({ name: 'a', integer: 7 })]);
    expect(own.items()).to.deep.equal(['a']);
  });

  it('A transaction fails with NOT_CONNECTED when the caller has cancelled it before it was sent', async () => {
    await expectError(own.client.transact([deleteItems], { signal: AbortSignal.abort() }), 'NOT_CONNECTED');
  });
});
