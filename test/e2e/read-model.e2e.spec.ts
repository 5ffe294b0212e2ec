/**
 * Tests that the read model gives the same replies as the allocator, on a real etcd with a history
 * of 100,000 events. It gives them again after a kill, after the deletion of its file, and for
 * another ledger.
 */
import { rmSync } from 'node:fs';
import { expect } from 'chai';
import { call, connect, type Connection } from '../../lib/grpc/client.ts';
import type { MessageInput, Method } from '../../proto/codec.ts';
import { type Event, type HistoryRequest, IpamService, LedgerService } from '../../proto/generated/ipledger.ts';
import { type Etcd, startEtcd } from '../harness/etcd.ts';
import { openRun, type Run } from '../harness/run.ts';
import { type AllocatorServer, type ReadModelServer, startAllocator, startReadModel } from '../harness/services.ts';
import { runIpledger } from '../harness/ipledger-cli.ts';
import { testSize } from '../faults/test-size.ts';
import { buildHistory } from '../history/build-history.ts';
import { eventually } from './support/eventually.ts';

const events = testSize.historyEvents;
const timeoutMs = 120_000;

describe('The read model', function () {
  this.timeout(600_000);
  let run: Run;
  let etcd: Etcd;
  let allocator: AllocatorServer;
  let server: ReadModelServer;
  let connections: { readonly allocator: Connection; readonly readModel: Connection };

  before(async () => {
    run = openRun();
    etcd = await startEtcd(run);
    await buildHistory({ etcd, events, signal: run.signal });
    allocator = await startAllocator(run, { etcd });
    server = await startReadModel(run, { allocator });
    connections = { allocator: connect(allocator.endpoint, undefined), readModel: connect(server.endpoint, undefined) };
  });
  after(async () => {
    connections?.allocator.close();
    connections?.readModel.close();
    await run?.end();
  });

  type Server = keyof typeof connections;

  const request = <Request, Reply>(
    server: Server,
    method: Method<Request, Reply, 'unary'>,
    message: MessageInput<Request>,
  ): Promise<Reply> => call(connections[server], method, message, { timeoutMs });

  /** Reads all pages of a history, up to `maxEvents` events. */
  async function historyOf(server: Server, query: MessageInput<HistoryRequest>, maxEvents: number): Promise<Event[]> {
    const found: Event[] = [];
    let pageToken = '';
    do {
      const reply = await request(server, LedgerService.history, { ...query, pageSize: 500, pageToken });
      found.push(...reply.events);
      pageToken = reply.nextPageToken;
    } while (pageToken !== '' && found.length < maxEvents);
    return found.slice(0, maxEvents);
  }

  async function expectSame(
    query: MessageInput<HistoryRequest>,
    { maxEvents = 500, none = false } = {},
  ): Promise<void> {
    const expected = await historyOf('allocator', query, maxEvents);
    expect(expected.length === 0, `events of ${JSON.stringify(query)}`).to.equal(none);
    const found = await historyOf('readModel', query, maxEvents);
    expect(found.map(({ seq }) => seq)).to.deep.equal(expected.map(({ seq }) => seq));
    expect(found).to.deep.equal(expected);
  }

  /** Returns the time of an event. */
  async function timeOf(seq: number): Promise<string> {
    const { events: found } = await request('allocator', LedgerService.history, {
      pageSize: 1,
      pageToken: String(seq),
    });
    return found[0]?.at ?? '';
  }

  describe('gives the same replies as the allocator', () => {
    const owner = { kind: 'StatefulSet', name: 'db-10', uid: '' };
    const queries: [string, MessageInput<HistoryRequest>][] = [
      ['a Pod', { namespace: 'team-1', pod: 'web-1-1' }],
      ['all Pods of a StatefulSet member', { namespace: 'team-0', pod: 'db-0-3' }],
      ['a Pod that was refused', { namespace: 'team-0', pod: 'db-0-5-unlucky' }],
      ['a node', { node: 'node-7' }],
      ['an owner by its name', { owner }],
      ['an owner by its uid', { owner: { uid: '11111111-0000-4000-8000-000000000007' } }],
      ['an owner in a namespace', { owner, namespace: 'team-0' }],
      ['owners of a kind', { owner: { kind: 'StatefulSet' } }],
      ['a subnet', { subnet: 'wide' }],
      ['a node, in one subnet', { node: 'node-7', subnet: 'wide' }],
      ['all events', {}],
    ];
    for (const [subject, query] of queries)
      it(`The read model gives the same replies as the allocator about ${subject}`, () => expectSame(query));

    it('the read model gives the same replies as the allocator about a period', async () => {
      const [since, until] = [await timeOf(events * 0.3), await timeOf(events * 0.33)];
      for (const query of [{ node: 'node-7' }, { owner: { name: 'db-10' } }, { subnet: 'narrow' }, {}])
        await expectSame({ ...query, since, until });
      await expectSame({ node: 'node-7', until: '2020-01-01T00:00:00Z' }, { none: true });
    });

    it('the read model gives the same replies as the allocator about unknown Pods, nodes, owners and subnets', async () => {
      const since = await timeOf(events * 0.95);
      for (const query of [
        { namespace: 'team-1', pod: 'absent' },
        { node: 'nowhere' },
        { owner: { name: 'none' } },
        { subnet: 'unknown' },
      ])
        await expectSame({ ...query, since }, { none: true });
    });

    it('the read model gives the same reasons as the allocator for a living Pod and a deleted one', async () => {
      const { allocations } = await request('allocator', IpamService.listAllocations, { pageSize: 1 });
      const living = allocations[0]?.attachment;
      expect(living).to.not.equal(undefined);
      for (const { namespace, pod } of [
        living ?? { namespace: '', pod: '' },
        { namespace: 'team-1', pod: 'web-1-1' },
      ]) {
        const expected = await request('allocator', LedgerService.why, { namespace, pod, pageSize: 1_000 });
        const found = await request('readModel', LedgerService.why, { namespace, pod, pageSize: 1_000 });
        expect(found.allocations).to.deep.equal(expected.allocations);
        expect(found.events.slice(0, expected.events.length)).to.deep.equal(expected.events);
        expect(found.position).to.deep.equal(expected.position);
      }
    });

    it('the read model gives the same replies as the allocator to a request that is rejected', async () => {
      for (const query of [{ pod: 'a' }, { node: 'n', namespace: 'x' }, { since: 'yesterday' }, { pageToken: 'x' }]) {
        const [expected, found] = await Promise.all(
          (['allocator', 'readModel'] as const).map((server) =>
            request(server, LedgerService.history, query).catch((error: unknown) => error),
          ),
        );
        expect(found).to.be.instanceOf(Error);
        expect(found).to.include({ code: 'INVALID_REQUEST', message: (expected as Error).message });
      }
    });
  });

  it('The read model serves the CLI with --read-model', async () => {
    const args = ['history', 'pod', 'team-1/web-1-1', '-o', 'json'];
    const expected = await runIpledger(args, { allocator });
    const found = await runIpledger([...args, '--read-model', server.endpoint], {
      allocator: { endpoint: '127.0.0.1:1' },
    });
    expect(found.stderr).to.equal('');
    expect(found).to.deep.equal(expected);
  });

  it('The read model rejects a query about an address, and names the allocator', async () => {
    const refused: unknown = await request('readModel', LedgerService.history, { address: '10.10.0.9' }).catch(
      (error: unknown) => error,
    );
    expect(refused).to.include({ code: 'NOT_IMPLEMENTED' });
    expect((refused as Error).message).to.contain('call an allocator');
  });

  describe('follows the ledger', () => {
    it('the read model continues to follow the ledger after it was killed', async () => {
      const pod = { namespace: 'team-0', name: 'newcomer', uid: 'uid-newcomer' };
      const attachments = [{ provider: 'wide.default', subnets: ['wide'] }];
      await server.kill();
      await request('allocator', IpamService.allocate, { pod, attachments });
      await server.start();
      await eventually(() => expectSame({ namespace: 'team-0', pod: 'newcomer' }));
      const release = { namespace: 'team-0', pod: 'newcomer', podUid: 'uid-newcomer', cause: 'RELEASE_CAUSE_OPERATOR' };
      await request('allocator', IpamService.release, release as MessageInput<object>);
      await eventually(async () => {
        await expectSame({ namespace: 'team-0', pod: 'newcomer' });
        expect(await historyOf('readModel', { namespace: 'team-0', pod: 'newcomer' }, 9)).to.have.length(2);
      });
    });

    it('the read model answers nothing while the allocator is down, and starts again for another ledger', async () => {
      await allocator.kill();
      const error = await request('readModel', LedgerService.history, {}).catch((thrown: unknown) => thrown);
      expect(error).to.have.property('message').that.contains('cannot compare its events with the ledger');
      await etcd.etcdctl(['del', '--prefix', '/ipledger/']);
      await allocator.start();
      await eventually(async () => {
        expect((await request('readModel', LedgerService.history, {})).position?.seq).to.be.lessThan(10);
        await expectSame({});
      }, timeoutMs);
    });

    it('the read model has the same content after its file was deleted', async () => {
      await server.stop();
      for (const suffix of ['', '-wal', '-shm']) rmSync(server.file + suffix, { force: true });
      await server.start();
      await expectSame({});
    });
  });
});
