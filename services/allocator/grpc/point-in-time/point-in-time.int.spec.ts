import { expect } from 'chai';
import { stream } from '../../../../lib/grpc/client.ts';
import type { MessageInput } from '../../../../proto/codec.ts';
import {
  type AddressRecord,
  type DiffReply,
  type DiffRequest,
  IpamService,
  LedgerService,
  type StateAtReply,
  type StateAtRequest,
  SubnetsService,
} from '../../../../proto/generated/ipledger.ts';
import { failureOf, never } from '../../../../ledger/log/testing/running-writer.ts';
import { ledgerHandlers } from '../ledger/ledger-service.ts';
import {
  allocate,
  applyMacvlan,
  applySubnet,
  bind,
  release,
  type ServedAllocator,
  serveAllocator,
} from '../testing/served-allocator.ts';

const options = { silenceMs: 20_000, signal: never };
const summary = (record: AddressRecord | undefined): string =>
  `${record?.subnet} ${record?.address} ${record?.state} ${record?.allocation?.attachment?.pod ?? '-'}`;

describe('A past state', () => {
  let served: ServedAllocator;
  /** The time of each event. */
  let times: string[];

  before(async () => {
    served = await serveAllocator(); // 1
    const step = async (run: () => Promise<unknown>): Promise<void> => {
      await run();
      served.advanceTime(1_000);
    };
    await step(() => applyMacvlan(served)); // 2
    await step(() => allocate(served, 'a', { candidates: [{ addresses: ['172.17.0.100'] }] })); // 3
    await step(() => allocate(served, 'b', { candidates: [{ addresses: ['172.17.0.20'] }] })); // 4
    await step(() => bind(served, 'b')); // 5
    await step(() => applySubnet(served, 'storage', { cidrBlock: '10.0.0.0/24' })); // 6
    await step(() =>
      served.call(IpamService.reserve, { subnet: 'storage', addresses: ['10.0.0.9'], reservedFor: 'vip/x' }),
    ); // 7
    await step(() => release(served, 'b')); // 8
    await step(() => release(served, 'a')); // 9
    await step(() => allocate(served, 'c', { candidates: [{ addresses: ['172.17.0.21'] }] })); // 10
    await step(() => release(served, 'c')); // 11
    await step(() =>
      served.call(SubnetsService.applyPool, { name: 'front', spec: { subnet: 'storage', ips: ['10.0.0.50'] } }),
    ); // 12
    times = (await served.call(LedgerService.history, {})).events.toReversed().map(({ at }) => at);
  });
  after(() => served[Symbol.asyncDispose]());

  async function stateAt(request: MessageInput<StateAtRequest>): Promise<StateAtReply[]> {
    const replies: StateAtReply[] = [];
    for await (const reply of stream(served.client, LedgerService.stateAt, request, options)) replies.push(reply);
    return replies;
  }
  const recordsAt = async (request: MessageInput<StateAtRequest>) =>
    (await stateAt(request)).flatMap(({ records }) => records.map(summary));

  async function diff(request: MessageInput<DiffRequest>): Promise<DiffReply[]> {
    const replies: DiffReply[] = [];
    for await (const reply of stream(served.client, LedgerService.diff, request, options)) replies.push(reply);
    return replies;
  }
  const changes = async (request: MessageInput<DiffRequest>) =>
    (await diff(request)).flatMap(({ addresses }) =>
      addresses.map(({ before, after }) => `${summary(before)} → ${summary(after)}`),
    );

  describe('Ledger.StateAt', () => {
    it('Ledger.StateAt returns the holders after an event, in order of the addresses', async () => {
      expect(await recordsAt({ pointInTime: { seq: 3 } })).to.deep.equal(['macvlan 172.17.0.100 allocated a']);
      expect(await recordsAt({ pointInTime: { seq: 7 } })).to.deep.equal([
        'macvlan 172.17.0.20 bound b',
        'macvlan 172.17.0.100 allocated a',
        'storage 10.0.0.9 reserved -',
      ]);
      // A container may still answer on this address.
      expect(await recordsAt({ pointInTime: { seq: 8 }, subnet: 'macvlan' })).to.deep.equal([
        'macvlan 172.17.0.20 held -',
        'macvlan 172.17.0.100 allocated a',
      ]);
    });

    it('Ledger.StateAt returns the holders at an instant, even between two events', async () => {
      const between = new Date(Date.parse(times[3] ?? '') + 500).toISOString();
      for (const at of [times[3] ?? '', between]) {
        const [first, ...rest] = await stateAt({ pointInTime: { at } });
        expect(first?.position?.seq).to.equal(4);
        expect(first?.at).to.equal(times[3]);
        expect(rest.flatMap(({ records }) => records)).to.have.length(2);
      }
      const [before] = await stateAt({ pointInTime: { at: '1999-01-01T00:00:00Z' } });
      expect(before).to.deep.include({ position: { epoch: 1, seq: 0, hash: '' }, at: '', subnets: [] });
    });

    it('Ledger.StateAt returns the Subnets and pools of that time, with their counts', async () => {
      const [then] = await stateAt({ pointInTime: { seq: 5 } });
      expect(then?.subnets.map(({ name, usage }) => [name, usage[0]?.inUse])).to.deep.equal([['macvlan', '2']]);
      expect(then?.pools).to.deep.equal([]);
      const [now] = await stateAt({});
      expect(now?.subnets.map(({ name }) => name)).to.deep.equal(['macvlan', 'storage']);
      expect(now?.pools.map(({ name }) => name)).to.deep.equal(['front']);
      expect(now?.position?.seq).to.equal(12);
    });
  });

  describe('Ledger.Diff', () => {
    it('Ledger.Diff returns the differences, without changes that were undone in between', async () => {
      expect(await changes({ from: { seq: 4 }, to: { seq: 11 } })).to.deep.equal([
        'macvlan 172.17.0.20 allocated b → macvlan 172.17.0.20 held -',
        'macvlan 172.17.0.100 allocated a → macvlan 172.17.0.100 cooldown -',
        'storage 10.0.0.9 fresh - → storage 10.0.0.9 reserved -',
      ]);
      expect(await changes({ from: { seq: 9 }, to: { seq: 11 } })).to.deep.equal([]);
      expect(await changes({ from: { seq: 4 }, to: { seq: 11 }, subnet: 'storage' })).to.have.length(1);
    });

    it('Ledger.Diff accepts instants, and returns both positions', async () => {
      const [first] = await diff({ from: { at: times[2] ?? '' }, to: { at: times[4] ?? '' } });
      expect([first?.from?.seq, first?.to?.seq, first?.fromAt, first?.toAt]).to.deep.equal([3, 5, times[2], times[4]]);
      const [last] = await diff({ from: { seq: 11 } });
      expect(last?.to?.seq).to.equal(12);
    });

    it('Ledger.Diff returns the address state at the earlier instant, not at the event before it', async () => {
      await using quiet = await serveAllocator();
      const candidates = [{ addresses: ['172.17.0.100'] }];
      await applyMacvlan(quiet);
      await allocate(quiet, 'a', { candidates });
      await release(quiet, 'a');
      quiet.advanceTime(120_000);
      const at = new Date(quiet.replica.clock.read().at).toISOString();
      quiet.advanceTime(1_000);
      await allocate(quiet, 'b', { candidates });
      const found: string[] = [];
      for await (const { addresses } of stream(quiet.client, LedgerService.diff, { from: { at } }, options))
        found.push(...addresses.map(({ before, after }) => `${summary(before)} → ${summary(after)}`));
      expect(found).to.deep.equal(['macvlan 172.17.0.100 idle - → macvlan 172.17.0.100 allocated b']);
    });

    it('Ledger.Diff returns changed Subnets and pools', async () => {
      const [first] = await diff({ from: { seq: 5 } });
      expect(first?.subnets.map(({ name, before, after }) => [name, before, after?.cidrBlock])).to.deep.equal([
        ['storage', undefined, '10.0.0.0/24'],
      ]);
      expect(first?.pools.map(({ name, after }) => [name, after?.ips])).to.deep.equal([['front', ['10.0.0.50']]]);
    });
  });

  it('A past state rejects an invalid point in time', async () => {
    const cases: [MessageInput<StateAtRequest>, object][] = [
      [
        { pointInTime: { seq: 13 } },
        { code: 'POSITION_GONE', message: 'event 13 is beyond the ledger, whose last event is 12' },
      ],
      [{ pointInTime: { seq: 1, at: times[0] ?? '' } }, { message: 'point_in_time: set seq or at, not both' }],
      [
        { pointInTime: { at: '2999-01-01T00:00:00Z' } },
        { message: 'point_in_time: 2999-01-01T00:00:00.000Z is in the future' },
      ],
      [
        { pointInTime: { at: 'noon' } },
        { message: 'point_in_time.at is no instant: "noon"; write it as 2026-11-17T14:05:00Z' },
      ],
    ];
    for (const [request, refusal] of cases) expect(await failureOf(stateAt(request))).to.include(refusal);
    expect(await failureOf(diff({ from: { seq: 5 }, to: { seq: 4 } }))).to.include({
      code: 'INVALID_REQUEST',
      message: '"to" is before "from" (event 5): exchange the two',
    });
    const [earlier, later] = [100, 200].map((ms) => new Date(Date.parse(times[4] ?? '') + ms).toISOString());
    expect(await failureOf(diff({ from: { at: later }, to: { at: earlier } }))).to.include({
      code: 'INVALID_REQUEST',
      message: '"to" is before "from" (event 5): exchange the two',
    });
  });

  it('A past state admits one query of a caller at a time, two in all, and rejects the third', async () => {
    const { stateAt: handler } = ledgerHandlers(served.allocator);
    if (!handler) throw new Error('StateAt is served');
    const query = (name: string) =>
      handler({ subnet: '' }, { actor: `ipledger://operator/${name}`, signal: never })[Symbol.asyncIterator]();
    const [one, again, two, three] = [query('one'), query('one'), query('two'), query('three')];
    await one.next();
    expect((await failureOf(again.next())).message).to.contain('already runs a query of a past state');
    await two.next();
    expect(await failureOf(three.next())).to.deep.include({
      code: 'OVERLOADED',
      message:
        'this replica already runs 2 queries of past states or verifications, and that is the limit: try again later, or call another replica',
    });
    await one.return?.();
    const four = query('one');
    expect((await four.next()).done).to.equal(false);
    await Promise.all([two.return?.(), four.return?.()]);
  });
});
