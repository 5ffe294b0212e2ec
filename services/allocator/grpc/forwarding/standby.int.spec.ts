import { expect } from 'chai';
import { call } from '../../../../lib/grpc/client.ts';
import type { Method } from '../../../../proto/codec.ts';
import { IpamService, LedgerService, SubnetsService } from '../../../../proto/generated/ipledger.ts';
import { waitForRetries, failureOf, createLatch, never } from '../../../../ledger/log/testing/running-writer.ts';
import type { AllocatorContext } from '../allocator-context.ts';
import { ledgerHandlers } from '../ledger/ledger-service.ts';
import {
  allocate,
  applyMacvlan,
  applySubnet,
  bind,
  release,
  sandboxOf,
  type ServedAllocator,
  serveAllocator,
  watchReply,
  watchRequest,
} from '../testing/served-allocator.ts';

describe('A standby', () => {
  let writer: ServedAllocator;
  let standby: ServedAllocator;
  beforeEach(async () => {
    writer = await serveAllocator();
    standby = await serveAllocator(writer.memory);
    await standby.stepDown(writer.endpoint);
    await applyMacvlan(writer);
  });
  afterEach(async () => {
    await standby[Symbol.asyncDispose]();
    await writer[Symbol.asyncDispose]();
  });

  /** One query of each kind, by name. */
  const queries = {
    get: () => standby.call(IpamService.getAddress, { subnet: 'macvlan', address: '172.17.0.11' }),
    list: () => standby.call(IpamService.listAllocations, {}),
    listBindings: () => standby.call(IpamService.listBindings, {}),
    getSubnet: () => standby.call(SubnetsService.getSubnet, { name: 'macvlan' }),
    listSubnets: () => standby.call(SubnetsService.listSubnets, {}),
    history: () => standby.call(LedgerService.history, { address: '172.17.0.11' }),
    wait: () => standby.call(IpamService.wait, sandboxOf('a')),
  };

  for (const name of Object.keys(queries) as (keyof typeof queries)[])
    it(`A standby answers ${name} with every event that was acknowledged before the call`, async () => {
      await allocate(writer, 'a');
      for (let round = 0; round < 20; round++) {
        const { position } = await applySubnet(writer, `other-${round}`, { cidrBlock: `10.${round}.0.0/16` });
        const reply = await queries[name]();
        expect(reply.position?.seq).to.be.at.least(position?.seq ?? Infinity);
        expect(reply.position?.epoch).to.equal(1);
      }
    });

  it('A standby answers each query as the writer does', async () => {
    await allocate(writer, 'a');
    await bind(writer, 'a');
    for (const [method, request] of [
      [IpamService.getAddress, { subnet: 'macvlan', address: '172.17.0.11' }],
      [IpamService.listAllocations, { pod: 'a' }],
      [IpamService.listBindings, {}],
      [SubnetsService.getSubnet, { name: 'macvlan' }],
      [SubnetsService.listSubnets, {}],
      [LedgerService.history, { address: '172.17.0.11' }],
      [IpamService.wait, sandboxOf('a')],
    ] as [Method<object, object, 'unary'>, object][])
      expect(await standby.call(method, request)).to.deep.equal(await writer.call(method, request));
    const unknown = { name: 'nowhere' };
    expect(await standby.refusal(SubnetsService.getSubnet, unknown)).to.deep.equal(
      await writer.refusal(SubnetsService.getSubnet, unknown),
    );
  });

  it('A standby ends a Wait when the writer allocates', async () => {
    const waiting = queries.wait();
    await waitForRetries();
    const allocation = await allocate(writer, 'a');
    expect((await waiting).allocation).to.deep.equal(allocation);
  });

  it('A standby answers only local queries while it cannot read the ledger', async () => {
    await allocate(writer, 'a');
    await queries.list();
    standby.ledger.failingReads = Infinity;
    await allocate(writer, 'b');
    const local = { consistency: 'CONSISTENCY_LOCAL' } as const;
    const pods = async (request: object) =>
      (await standby.call(IpamService.listAllocations, request)).allocations.map(({ podUid }) => podUid);
    expect(await pods(local)).to.deep.equal(['uid-a']);
    expect((await standby.call(SubnetsService.listSubnets, local)).subnets).to.have.length(1);
    const timeout = { timeoutMs: 200 };
    expect(await failureOf(call(standby.client, IpamService.listAllocations, {}, timeout))).to.have.property(
      'code',
      'DEADLINE_PASSED',
    );
    const answer = pods({});
    standby.ledger.failingReads = 0;
    expect(await answer).to.deep.equal(['uid-a', 'uid-b']);
  });

  it('A standby returns its last event in the error when it has lagged behind for five seconds', async function () {
    this.timeout(20_000);
    await queries.list();
    standby.ledger.failingReads = Infinity;
    const { seq } = (await allocate(writer, 'a')) ?? {};
    const refusals = await Promise.all([
      standby.refusal(IpamService.listAllocations, {}),
      standby.refusal(IpamService.listAllocations, { consistency: 'CONSISTENCY_LOCAL', minSeq: seq }),
    ]);
    expect(refusals).to.deep.equal([
      {
        status: 'UNAVAILABLE',
        code: 'UNAVAILABLE',
        message:
          'etcd cannot be read (etcd does not reply: connection lost): this replica has the ledger up to event 2, and cannot confirm that this is the end. Start a majority of etcd (runbook IpledgerNoWriter). If only this replica is cut off, use another one',
      },
      {
        status: 'UNAVAILABLE',
        code: 'UNAVAILABLE',
        message:
          'this replica has applied the events up to 2, and the required event 3 did not arrive in time: call another replica',
      },
    ]);
  });

  it('a query waits on a standby for the event that it requires', async () => {
    const readable = createLatch();
    standby.ledger.readable = readable.opened;
    const { seq } = await allocate(writer, 'a');
    const calls = [
      standby.call(IpamService.listAllocations, { minSeq: seq, consistency: 'CONSISTENCY_LOCAL' }),
      standby.call(IpamService.listAllocations, { minSeq: seq }),
      standby.call(SubnetsService.getSubnet, { name: 'macvlan', minSeq: seq }),
      standby.call(IpamService.getAddress, { subnet: 'macvlan', address: '172.17.0.11', minSeq: seq }),
    ];
    let answered = 0;
    for (const answer of calls) void answer.then(() => answered++);
    await waitForRetries();
    expect(answered).to.equal(0);
    readable.open();
    for (const answer of calls) expect((await answer).position?.seq).to.be.at.least(seq);
  });

  describe('streams events', () => {
    it('A standby streams events as they are committed', async () => {
      const { watch } = ledgerHandlers(standby.allocator);
      const replies = watch?.(watchRequest(3), { actor: '', signal: never });
      const first = (async () => {
        for await (const reply of replies ?? []) {
          const [event] = watchReply(reply).events ?? [];
          if (event) return event;
        }
        return undefined;
      })();
      await allocate(writer, 'a');
      expect(await first).to.include({ seq: 3, type: 'AddressAllocated' });
    });

    it('A standby streams events to a client that has seen more events, and sends no older position', async () => {
      const readable = createLatch();
      const { seq } = await allocate(writer, 'a');
      await queries.list();
      standby.ledger.readable = readable.opened;
      await release(writer, 'a');
      const { watch } = ledgerHandlers(standby.allocator);
      const replies = watch?.(watchRequest(seq + 2), { actor: '', signal: never });
      const first = replies?.[Symbol.asyncIterator]().next();
      await waitForRetries();
      readable.open();
      expect((await first)?.value)
        .to.deep.include({ events: [] })
        .and.to.have.nested.property('position.seq', seq + 1);
    });

    it('A standby streams events and sends no keepalive when it cannot follow the log', async () => {
      await queries.list();
      const behind = { lagMs: 11_000 } as ReturnType<AllocatorContext['follower']>;
      const { watch } = ledgerHandlers({ ...standby.allocator, follower: () => behind });
      const replies = watch?.(watchRequest(1), { actor: '', signal: never });
      const first = replies?.[Symbol.asyncIterator]().next() ?? Promise.resolve();
      expect(await failureOf(first)).to.include({
        code: 'UNAVAILABLE',
        message:
          'this replica has applied the events up to 2 and could not read the log for 11 s: continue at another replica',
      });
    });
  });
});

describe('The writer', () => {
  it('the writer returns nothing uncommitted, even to local queries', async () => {
    const writer = await serveAllocator();
    await applyMacvlan(writer);
    const held = createLatch();
    writer.ledger.faults.push(async () => {
      await held.opened;
      return { kind: 'unknown', reason: 'connection lost' };
    });
    const allocating = allocate(writer, 'a');
    await waitForRetries();
    const local = { consistency: 'CONSISTENCY_LOCAL' } as const;
    const calls = [writer.call(IpamService.listAllocations, {}), writer.call(IpamService.listAllocations, local)];
    let answered = 0;
    for (const answer of calls) void answer.then(() => answered++);
    await waitForRetries();
    expect(answered).to.equal(0);
    held.open();
    const { seq } = await allocating;
    for (const { position, allocations } of await Promise.all(calls))
      expect([position?.seq, allocations], 'before the append that succeeded').to.deep.equal([seq - 1, []]);
    await writer[Symbol.asyncDispose]();
  });
});
