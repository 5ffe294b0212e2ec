import { expect } from 'chai';
import { call } from '../../../lib/rpc.ts';
import type { Method } from '../../../proto/codec.ts';
import { IpamService, LedgerService, SubnetsService } from '../../../proto/ipledger.ts';
import { afterAWhile, failureOf, gate, never } from '../ledger/specification.ts';
import type { Allocator } from './allocator.ts';
import { ledgerHandlers } from './ledger.ts';
import {
  allocate,
  applyMacvlan,
  applySubnet,
  bind,
  release,
  sandboxOf,
  type Served,
  serveAllocator,
  watchFrom,
} from './specification.ts';

describe('A standby', () => {
  let writer: Served;
  let standby: Served;
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

  /** Everything that can be asked, by name. */
  const questions = {
    get: () => standby.call(IpamService.get, { subnet: 'macvlan', address: '172.17.0.11' }),
    list: () => standby.call(IpamService.list, {}),
    listBindings: () => standby.call(IpamService.listBindings, {}),
    getSubnet: () => standby.call(SubnetsService.getSubnet, { name: 'macvlan' }),
    listSubnets: () => standby.call(SubnetsService.listSubnets, {}),
    history: () => standby.call(LedgerService.history, { address: '172.17.0.11' }),
    wait: () => standby.call(IpamService.wait, sandboxOf('a')),
  };

  for (const name of Object.keys(questions) as (keyof typeof questions)[])
    it(`answers ${name} with all that was acknowledged before it was asked, each time`, async () => {
      await allocate(writer, 'a');
      for (let round = 0; round < 20; round++) {
        const { position } = await applySubnet(writer, `other-${round}`, { cidrBlock: `10.${round}.0.0/16` });
        const answer = await questions[name]();
        expect(answer.position?.seq).to.be.at.least(position?.seq ?? Infinity);
        expect(answer.position?.epoch).to.equal(1);
      }
    });

  it('answers as the writer does', async () => {
    await allocate(writer, 'a');
    await bind(writer, 'a');
    for (const [method, request] of [
      [IpamService.get, { subnet: 'macvlan', address: '172.17.0.11' }],
      [IpamService.list, { pod: 'a' }],
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

  it('wakes who waits for an allocation that the writer makes', async () => {
    const waiting = questions.wait();
    await afterAWhile();
    const allocation = await allocate(writer, 'a');
    expect((await waiting).allocation).to.deep.equal(allocation);
  });

  it('cannot answer as of now while it cannot read the ledger; what it knows it tells whom that will do', async () => {
    await allocate(writer, 'a');
    await questions.list();
    standby.ledger.failingReads = Infinity;
    await allocate(writer, 'b');
    const local = { consistency: 'CONSISTENCY_LOCAL' } as const;
    const pods = async (request: object) =>
      (await standby.call(IpamService.list, request)).allocations.map(({ podUid }) => podUid);
    expect(await pods(local)).to.deep.equal(['uid-a']);
    expect((await standby.call(SubnetsService.listSubnets, local)).subnets).to.have.length(1);
    const patience = { timeoutMs: 200 };
    expect(await failureOf(call(standby.client, IpamService.list, {}, patience))).to.have.property(
      'code',
      'DEADLINE_PASSED',
    );
    const answer = pods({});
    standby.ledger.failingReads = 0;
    expect(await answer).to.deep.equal(['uid-a', 'uid-b']);
  });

  it('says how far it has come when that is not far enough within five seconds', async function () {
    this.timeout(20_000);
    await questions.list();
    standby.ledger.failingReads = Infinity;
    const { seq } = (await allocate(writer, 'a')) ?? {};
    const refusals = await Promise.all([
      standby.refusal(IpamService.list, {}),
      standby.refusal(IpamService.list, { consistency: 'CONSISTENCY_LOCAL', minSeq: seq }),
    ]);
    expect(refusals).to.deep.equal([
      {
        status: 'UNAVAILABLE',
        code: 'UNAVAILABLE',
        message:
          'this replica knows the ledger up to event 2 and could not make sure that this is all: etcd does not answer: connection lost; ask another',
      },
      {
        status: 'UNAVAILABLE',
        code: 'UNAVAILABLE',
        message:
          'this replica knows the ledger up to event 2, and event 3, which was asked for, did not come in time: ask another',
      },
    ]);
  });

  it('waits for the event that an answer must hold', async () => {
    const readable = gate();
    standby.ledger.readable = readable.opened;
    const { seq } = await allocate(writer, 'a');
    const asked = [
      standby.call(IpamService.list, { minSeq: seq, consistency: 'CONSISTENCY_LOCAL' }),
      standby.call(IpamService.list, { minSeq: seq }),
      standby.call(SubnetsService.getSubnet, { name: 'macvlan', minSeq: seq }),
      standby.call(IpamService.get, { subnet: 'macvlan', address: '172.17.0.11', minSeq: seq }),
    ];
    let answered = 0;
    for (const answer of asked) void answer.then(() => answered++);
    await afterAWhile();
    expect(answered).to.equal(0);
    readable.open();
    for (const answer of asked) expect((await answer).position?.seq).to.be.at.least(seq);
  });

  describe('streams events', () => {
    it('as they come', async () => {
      const { watch } = ledgerHandlers(standby.allocator);
      const replies = watch?.(watchFrom(3), { actor: '', signal: never });
      const first = (async () => {
        for await (const { events = [] } of replies ?? []) if (events.length > 0) return events[0];
        return undefined;
      })();
      await allocate(writer, 'a');
      expect(await first).to.include({ seq: 3, type: 'AddressAllocated' });
    });

    it('to one who knows more than it does by itself, and says nothing older', async () => {
      const readable = gate();
      const { seq } = await allocate(writer, 'a');
      await questions.list();
      standby.ledger.readable = readable.opened;
      await release(writer, 'a');
      const { watch } = ledgerHandlers(standby.allocator);
      const replies = watch?.(watchFrom(seq + 2), { actor: '', signal: never });
      const first = replies?.[Symbol.asyncIterator]().next();
      await afterAWhile();
      readable.open();
      expect((await first)?.value)
        .to.deep.include({ events: [] })
        .and.to.have.nested.property('position.seq', seq + 1);
    });

    it('and gives no sign of life when it cannot follow', async () => {
      await questions.list();
      const behind = { behindMs: 11_000 } as ReturnType<Allocator['follower']>;
      const { watch } = ledgerHandlers({ ...standby.allocator, follower: () => behind });
      const replies = watch?.(watchFrom(1), { actor: '', signal: never });
      const first = replies?.[Symbol.asyncIterator]().next() ?? Promise.resolve();
      expect(await failureOf(first)).to.include({
        code: 'UNAVAILABLE',
        message: 'this replica knows the ledger up to event 2 and could not read on for 11 s: go on at another',
      });
    });
  });
});

describe('The writer', () => {
  it('tells nobody what is not committed, also who asks for no more than what it knows', async () => {
    const writer = await serveAllocator();
    await applyMacvlan(writer);
    const held = gate();
    writer.ledger.faults.push(async () => {
      await held.opened;
      return { kind: 'unknown', reason: 'connection lost' };
    });
    const allocating = allocate(writer, 'a');
    await afterAWhile();
    const local = { consistency: 'CONSISTENCY_LOCAL' } as const;
    const asked = [writer.call(IpamService.list, {}), writer.call(IpamService.list, local)];
    let answered = 0;
    for (const answer of asked) void answer.then(() => answered++);
    await afterAWhile();
    expect(answered).to.equal(0);
    held.open();
    const allocation = await allocating;
    for (const { position, allocations } of await Promise.all(asked)) {
      expect(position?.seq).to.equal(allocation.seq);
      expect(allocations).to.deep.equal([allocation]);
    }
    await writer[Symbol.asyncDispose]();
  });
});
