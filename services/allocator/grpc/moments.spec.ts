import { expect } from 'chai';
import { stream } from '../../../lib/rpc.ts';
import type { Input } from '../../../proto/codec.ts';
import {
  type AddressRecord,
  type DiffReply,
  type DiffRequest,
  IpamService,
  LedgerService,
  type StateAtReply,
  type StateAtRequest,
  SubnetsService,
} from '../../../proto/ipledger.ts';
import { failureOf, never } from '../ledger/specification.ts';
import { ledgerHandlers } from './ledger.ts';
import { allocate, applyMacvlan, applySubnet, bind, release, type Served, serveAllocator } from './specification.ts';

const options = { silenceMs: 20_000, signal: never };
const shown = (record: AddressRecord | undefined): string =>
  `${record?.subnet} ${record?.address} ${record?.state} ${record?.allocation?.attachment?.pod ?? '-'}`;

describe('The ledger at a moment of the past', () => {
  let served: Served;
  /** When each event happened, by its number. */
  let times: string[];

  before(async () => {
    served = await serveAllocator(); // 1
    const passing = async (act: () => Promise<unknown>): Promise<void> => {
      await act();
      served.pass(1_000);
    };
    await passing(() => applyMacvlan(served)); // 2
    await passing(() => allocate(served, 'a', { candidates: [{ addresses: ['172.17.0.100'] }] })); // 3
    await passing(() => allocate(served, 'b', { candidates: [{ addresses: ['172.17.0.20'] }] })); // 4
    await passing(() => bind(served, 'b')); // 5
    await passing(() => applySubnet(served, 'storage', { cidrBlock: '10.0.0.0/24' })); // 6
    await passing(() =>
      served.call(IpamService.reserve, { subnet: 'storage', addresses: ['10.0.0.9'], reservedFor: 'vip/x' }),
    ); // 7
    await passing(() => release(served, 'b')); // 8
    await passing(() => release(served, 'a')); // 9
    await passing(() => allocate(served, 'c', { candidates: [{ addresses: ['172.17.0.21'] }] })); // 10
    await passing(() => release(served, 'c')); // 11
    await passing(() =>
      served.call(SubnetsService.applyPool, { name: 'front', spec: { subnet: 'storage', ips: ['10.0.0.50'] } }),
    ); // 12
    times = (await served.call(LedgerService.history, {})).events.toReversed().map(({ at }) => at);
  });
  after(() => served[Symbol.asyncDispose]());

  async function stateAt(request: Input<StateAtRequest>): Promise<StateAtReply[]> {
    const replies: StateAtReply[] = [];
    for await (const reply of stream(served.client, LedgerService.stateAt, request, options)) replies.push(reply);
    return replies;
  }
  const recordsAt = async (request: Input<StateAtRequest>) =>
    (await stateAt(request)).flatMap(({ records }) => records.map(shown));

  async function diff(request: Input<DiffRequest>): Promise<DiffReply[]> {
    const replies: DiffReply[] = [];
    for await (const reply of stream(served.client, LedgerService.diff, request, options)) replies.push(reply);
    return replies;
  }
  const changes = async (request: Input<DiffRequest>) =>
    (await diff(request)).flatMap(({ addresses }) =>
      addresses.map(({ before, after }) => `${shown(before)} → ${shown(after)}`),
    );

  describe('Ledger.StateAt', () => {
    it('shows who had which address after an event, in the order of the addresses', async () => {
      expect(await recordsAt({ moment: { seq: 3 } })).to.deep.equal(['macvlan 172.17.0.100 allocated a']);
      expect(await recordsAt({ moment: { seq: 7 } })).to.deep.equal([
        'macvlan 172.17.0.20 bound b',
        'macvlan 172.17.0.100 allocated a',
        'storage 10.0.0.9 reserved -',
      ]);
      // A container may still answer on it
      expect(await recordsAt({ moment: { seq: 8 }, subnet: 'macvlan' })).to.deep.equal([
        'macvlan 172.17.0.20 held -',
        'macvlan 172.17.0.100 allocated a',
      ]);
    });

    it('shows it at an instant, and between two events', async () => {
      const between = new Date(Date.parse(times[3] ?? '') + 500).toISOString();
      for (const at of [times[3] ?? '', between]) {
        const [first, ...rest] = await stateAt({ moment: { at } });
        expect(first?.position?.seq).to.equal(4);
        expect(first?.at).to.equal(times[3]);
        expect(rest.flatMap(({ records }) => records)).to.have.length(2);
      }
      const [before] = await stateAt({ moment: { at: '1999-01-01T00:00:00Z' } });
      expect(before).to.deep.include({ position: { epoch: 1, seq: 0, hash: '' }, at: '', subnets: [] });
    });

    it('shows the subnets and pools in force then, with their counts', async () => {
      const [then] = await stateAt({ moment: { seq: 5 } });
      expect(then?.subnets.map(({ name, usage }) => [name, usage[0]?.inUse])).to.deep.equal([['macvlan', '2']]);
      expect(then?.pools).to.deep.equal([]);
      const [now] = await stateAt({});
      expect(now?.subnets.map(({ name }) => name)).to.deep.equal(['macvlan', 'storage']);
      expect(now?.pools.map(({ name }) => name)).to.deep.equal(['front']);
      expect(now?.position?.seq).to.equal(12);
    });
  });

  describe('Ledger.Diff', () => {
    it('says what changed between two moments, and nothing that came and went', async () => {
      expect(await changes({ from: { seq: 4 }, to: { seq: 11 } })).to.deep.equal([
        'macvlan 172.17.0.20 allocated b → macvlan 172.17.0.20 held -',
        'macvlan 172.17.0.100 allocated a → macvlan 172.17.0.100 cooling -',
        'storage 10.0.0.9 fresh - → storage 10.0.0.9 reserved -',
      ]);
      expect(await changes({ from: { seq: 9 }, to: { seq: 11 } })).to.deep.equal([]);
      expect(await changes({ from: { seq: 4 }, to: { seq: 11 }, subnet: 'storage' })).to.have.length(1);
    });

    it('says it from one instant to another, or to now, and where these are in the ledger', async () => {
      const [first] = await diff({ from: { at: times[2] ?? '' }, to: { at: times[4] ?? '' } });
      expect([first?.from?.seq, first?.to?.seq, first?.fromAt, first?.toAt]).to.deep.equal([3, 5, times[2], times[4]]);
      const [last] = await diff({ from: { seq: 11 } });
      expect(last?.to?.seq).to.equal(12);
    });

    it('says how an address stood at the earlier instant, and not at the last event before it', async () => {
      await using quiet = await serveAllocator();
      const candidates = [{ addresses: ['172.17.0.100'] }];
      await applyMacvlan(quiet);
      await allocate(quiet, 'a', { candidates });
      await release(quiet, 'a');
      quiet.pass(120_000);
      const at = new Date(quiet.replica.clock.read().at).toISOString();
      quiet.pass(1_000);
      await allocate(quiet, 'b', { candidates });
      const found: string[] = [];
      for await (const { addresses } of stream(quiet.client, LedgerService.diff, { from: { at } }, options))
        found.push(...addresses.map(({ before, after }) => `${shown(before)} → ${shown(after)}`));
      expect(found).to.deep.equal(['macvlan 172.17.0.100 idle - → macvlan 172.17.0.100 allocated b']);
    });

    it('says which subnets and pools changed', async () => {
      const [first] = await diff({ from: { seq: 5 } });
      expect(first?.subnets.map(({ name, before, after }) => [name, before, after?.cidrBlock])).to.deep.equal([
        ['storage', undefined, '10.0.0.0/24'],
      ]);
      expect(first?.pools.map(({ name, after }) => [name, after?.ips])).to.deep.equal([['front', ['10.0.0.50']]]);
    });
  });

  it('refuses moments that are none', async () => {
    const cases: [Input<StateAtRequest>, object][] = [
      [
        { moment: { seq: 13 } },
        { code: 'POSITION_GONE', message: 'event 13 is beyond the ledger, whose last event is 12' },
      ],
      [{ moment: { seq: 1, at: times[0] ?? '' } }, { message: 'moment: an event or an instant, not both' }],
      [{ moment: { at: '2999-01-01T00:00:00Z' } }, { message: 'moment: 2999-01-01T00:00:00.000Z is yet to come' }],
      [{ moment: { at: 'noon' } }, { message: 'moment.at is no instant: "noon"; write it as 2026-11-17T14:05:00Z' }],
    ];
    for (const [request, refusal] of cases) expect(await failureOf(stateAt(request))).to.include(refusal);
    expect(await failureOf(diff({ from: { seq: 5 }, to: { seq: 4 } }))).to.include({
      code: 'INVALID_REQUEST',
      message: 'to is before from, which is event 5',
    });
    const [earlier, later] = [100, 200].map((ms) => new Date(Date.parse(times[4] ?? '') + ms).toISOString());
    expect(await failureOf(diff({ from: { at: later }, to: { at: earlier } }))).to.include({
      code: 'INVALID_REQUEST',
      message: 'to is before from, which is event 5',
    });
  });

  it('takes two such questions at a time, and refuses the third at once', async () => {
    const { stateAt: handler } = ledgerHandlers(served.allocator);
    if (!handler) throw new Error('StateAt is served');
    const asked = () => handler({ subnet: '' }, { actor: '', signal: never })[Symbol.asyncIterator]();
    const [one, two, three] = [asked(), asked(), asked()];
    await Promise.all([one.next(), two.next()]);
    expect(await failureOf(three.next())).to.deep.include({
      code: 'OVERLOADED',
      message:
        '2 questions about states of the past are being answered here already: try again later, or ask another replica',
    });
    await one.return?.();
    const four = asked();
    expect((await four.next()).done).to.equal(false);
    await Promise.all([two.return?.(), four.return?.()]);
  });
});
