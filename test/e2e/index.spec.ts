/**
 * The read model answers as the allocator does: the same questions to both, on a real etcd with a history of 100,000 events; and it
 * comes to the same again whatever becomes of its file, of itself or of its allocator.
 */
import { rmSync } from 'node:fs';
import { expect } from 'chai';
import { call, connect, type Connection } from '../../lib/rpc.ts';
import type { Input, Method } from '../../proto/codec.ts';
import { type Event, type HistoryRequest, IpamService, LedgerService } from '../../proto/ipledger.ts';
import { type Etcd, startEtcd } from '../harness/etcd.ts';
import { openRun, type Run } from '../harness/run.ts';
import { type Allocator, type Index, ipledger, startAllocator, startIndex } from '../harness/services.ts';
import { buildHistory } from '../history/build.ts';
import { eventually } from './eventually.ts';

const events = 100_000;
const patienceMs = 120_000;

describe('The read model', function () {
  this.timeout(600_000);
  let run: Run;
  let etcd: Etcd;
  let allocator: Allocator;
  let index: Index;
  let connections: { readonly allocator: Connection; readonly index: Connection };

  before(async () => {
    run = openRun();
    etcd = await startEtcd(run);
    await buildHistory({ etcd, events, signal: run.signal });
    allocator = await startAllocator(run, { etcd });
    index = await startIndex(run, { allocator });
    connections = { allocator: connect(allocator.endpoint, undefined), index: connect(index.endpoint, undefined) };
  });
  after(async () => {
    connections?.allocator.close();
    connections?.index.close();
    await run?.end();
  });

  type Server = keyof typeof connections;

  const ask = <Request, Reply>(
    server: Server,
    method: Method<Request, Reply, 'unary'>,
    request: Input<Request>,
  ): Promise<Reply> => call(connections[server], method, request, { timeoutMs: patienceMs });

  /** All pages of a history, up to `most` events. */
  async function historyOf(server: Server, request: Input<HistoryRequest>, most: number): Promise<Event[]> {
    const found: Event[] = [];
    let pageToken = '';
    do {
      const reply = await ask(server, LedgerService.history, { ...request, pageSize: 500, pageToken });
      found.push(...reply.events);
      pageToken = reply.nextPageToken;
    } while (pageToken !== '' && found.length < most);
    return found.slice(0, most);
  }

  async function expectSame(request: Input<HistoryRequest>, { most = 500, none = false } = {}): Promise<void> {
    const known = await historyOf('allocator', request, most);
    expect(known.length === 0, `events of ${JSON.stringify(request)}`).to.equal(none);
    const found = await historyOf('index', request, most);
    expect(found.map(({ seq }) => seq)).to.deep.equal(known.map(({ seq }) => seq));
    expect(found).to.deep.equal(known);
  }

  /** When an event happened. */
  async function timeOf(seq: number): Promise<string> {
    const { events: found } = await ask('allocator', LedgerService.history, { pageSize: 1, pageToken: String(seq) });
    return found[0]?.at ?? '';
  }

  describe('answers as the allocator', () => {
    const owner = { kind: 'StatefulSet', name: 'db-10', uid: '' };
    const questions: [string, Input<HistoryRequest>][] = [
      ['a Pod', { namespace: 'team-1', pod: 'web-1-1' }],
      ['a member of a StatefulSet, whoever it was', { namespace: 'team-0', pod: 'db-0-3' }],
      ['a Pod that was refused', { namespace: 'team-0', pod: 'db-0-5-unlucky' }],
      ['a node', { node: 'node-7' }],
      ['an owner by its name', { owner }],
      ['an owner by its uid', { owner: { uid: '11111111-0000-4000-8000-000000000007' } }],
      ['an owner in a namespace', { owner, namespace: 'team-0' }],
      ['owners of a kind', { owner: { kind: 'StatefulSet' } }],
      ['a subnet', { subnet: 'wide' }],
      ['a node, in one subnet', { node: 'node-7', subnet: 'wide' }],
      ['everything', {}],
    ];
    for (const [what, request] of questions) it(`about ${what}`, () => expectSame(request));

    it('about a time', async () => {
      const [since, until] = [await timeOf(30_000), await timeOf(33_000)];
      for (const request of [{ node: 'node-7' }, { owner: { name: 'db-10' } }, { subnet: 'narrow' }, {}])
        await expectSame({ ...request, since, until });
      await expectSame({ node: 'node-7', until: '2020-01-01T00:00:00Z' }, { none: true });
    });

    it('about what never was', async () => {
      const since = await timeOf(95_000);
      for (const request of [
        { namespace: 'team-1', pod: 'nobody' },
        { node: 'nowhere' },
        { owner: { name: 'none' } },
        { subnet: 'unknown' },
      ])
        await expectSame({ ...request, since }, { none: true });
    });

    it('why a Pod is as it is, to one that lives and one that is gone', async () => {
      const { allocations } = await ask('allocator', IpamService.list, { pageSize: 1 });
      const living = allocations[0]?.attachment;
      expect(living).to.not.equal(undefined);
      for (const { namespace, pod } of [
        living ?? { namespace: '', pod: '' },
        { namespace: 'team-1', pod: 'web-1-1' },
      ]) {
        const known = await ask('allocator', LedgerService.why, { namespace, pod, pageSize: 1_000 });
        const found = await ask('index', LedgerService.why, { namespace, pod, pageSize: 1_000 });
        expect(found.allocations).to.deep.equal(known.allocations);
        expect(found.events.slice(0, known.events.length)).to.deep.equal(known.events);
        expect(found.position).to.deep.equal(known.position);
      }
    });

    it('and refuses as it does', async () => {
      for (const request of [{ pod: 'a' }, { node: 'n', namespace: 'x' }, { since: 'yesterday' }, { pageToken: 'x' }]) {
        const [known, found] = await Promise.all(
          (['allocator', 'index'] as const).map((server) =>
            ask(server, LedgerService.history, request).catch((error: unknown) => error),
          ),
        );
        expect(found).to.be.instanceOf(Error);
        expect(found).to.include({ code: 'INVALID_REQUEST', message: (known as Error).message });
      }
    });
  });

  it('is asked by the command line where it is told so', async () => {
    const args = ['history', 'pod', 'team-1/web-1-1', '-o', 'json'];
    const known = await ipledger(args, { allocator });
    const found = await ipledger([...args, '--index', index.endpoint], { allocator: { endpoint: '127.0.0.1:1' } });
    expect(found.stderr).to.equal('');
    expect(found).to.deep.equal(known);
  });

  it('sends who asks about an address to the allocator', async () => {
    const refused: unknown = await ask('index', LedgerService.history, { address: '10.10.0.9' }).catch(
      (error: unknown) => error,
    );
    expect(refused).to.include({ code: 'NOT_IMPLEMENTED' });
    expect((refused as Error).message).to.contain('ask an allocator');
  });

  describe('keeps up', () => {
    it('learns what happens, and takes it up again after it was killed', async () => {
      const pod = { namespace: 'team-0', name: 'newcomer', uid: 'uid-newcomer' };
      const attachments = [{ provider: 'wide.default', subnets: ['wide'] }];
      await index.kill();
      await ask('allocator', IpamService.allocate, { pod, attachments });
      await index.start();
      await eventually(() => expectSame({ namespace: 'team-0', pod: 'newcomer' }));
      const release = { namespace: 'team-0', pod: 'newcomer', podUid: 'uid-newcomer', cause: 'RELEASE_CAUSE_OPERATOR' };
      await ask('allocator', IpamService.release, release as Input<object>);
      await eventually(async () => {
        await expectSame({ namespace: 'team-0', pod: 'newcomer' });
        expect(await historyOf('index', { namespace: 'team-0', pod: 'newcomer' }, 9)).to.have.length(2);
      });
    });

    it('answers while the allocator is away, and begins anew when it follows another ledger', async () => {
      await allocator.kill();
      expect(await historyOf('index', { node: 'node-3' }, 9)).to.have.length(9);
      await etcd.etcdctl(['del', '--prefix', '/ipledger/']);
      await allocator.start();
      await eventually(async () => {
        expect((await ask('index', LedgerService.history, {})).position?.seq).to.be.lessThan(10);
        await expectSame({});
      }, patienceMs);
    });

    it('comes to the same when its file was deleted', async () => {
      await index.stop();
      for (const suffix of ['', '-wal', '-shm']) rmSync(index.file + suffix, { force: true });
      await index.start();
      await expectSame({});
    });
  });
});
