import { expect } from 'chai';
import fc from 'fast-check';
import { stream } from '../../../lib/rpc.ts';
import { type HistoryReply, IpamService, LedgerService } from '../../../proto/ipledger.ts';
import type { Untimed } from '../domain/specification.ts';
import { floorKey, floorText, logKey } from '../ledger/keys.ts';
import { ask, logOf, never } from '../ledger/specification.ts';
import { allocate, applyMacvlan, applySubnet, release, type Served, serveAllocator } from './specification.ts';

const address = '172.17.0.11';
const hour = 3_600_000;

async function submit(served: Served, untimed: Untimed): Promise<void> {
  await served.allocator.writer()?.submit(ask(untimed));
}

const retire = (served: Served, name: string): Promise<void> => submit(served, { type: 'RetireSubnet', name });

/** Has the writer drop what rests of these. */
function drop(served: Served, subnet: string, ...addresses: readonly string[]): Promise<void> {
  served.pass(hour + 1);
  return submit(served, { type: 'DropClaims', subnet, addresses });
}

/** The pages of an address's history. */
async function pagesOf(served: Served, request: object = {}): Promise<HistoryReply[]> {
  const pages: HistoryReply[] = [];
  let pageToken = '';
  do {
    const reply = await served.call(LedgerService.history, { address, ...request, pageToken });
    pages.push(reply);
    pageToken = reply.nextPageToken;
  } while (pageToken !== '');
  return pages;
}

const seqsOf = (pages: readonly HistoryReply[]): number[] =>
  pages.flatMap(({ events }) => events.map(({ seq }) => seq));

describe('The history of an address whose claim was dropped', () => {
  let served: Served;
  const here = { candidates: [{ addresses: [address] }] };
  const elsewhere = { ...here, provider: 'other.default', subnets: ['other'] };
  beforeEach(async () => {
    served = await serveAllocator();
    await applyMacvlan(served); // 2
    await applySubnet(served, 'other', { cidrBlock: '172.17.0.0/24' }); // 3
  });
  afterEach(() => served[Symbol.asyncDispose]());

  async function live(name: string, where: object = here): Promise<void> {
    await allocate(served, name, where);
    await release(served, name);
  }

  it('is told as before, and says when its claim was dropped', async () => {
    await live('a'); // 4, 5
    await drop(served, 'macvlan', address); // 6
    expect(served.replica.state.claims.size).to.equal(0);
    const [page] = await pagesOf(served);
    expect(page?.events.map(({ seq, type }) => `${seq} ${type}`)).to.deep.equal([
      '6 ClaimsDropped',
      '5 AddressReleased',
      '4 AddressAllocated',
    ]);
    expect(page?.subnets).to.deep.equal(['macvlan']);
    expect(page?.events[0]?.claimsDropped).to.deep.equal({ addresses: [address], previous: [] });
  });

  it('goes on behind a later life, and through several drops, in pages of any size', async () => {
    await live('a'); // 4, 5
    await drop(served, 'macvlan', address); // 6
    await live('x', { candidates: [{ addresses: ['172.17.0.99'] }] }); // 7, 8
    await drop(served, 'macvlan', '172.17.0.99'); // 9
    await live('b'); // 10, 11
    await live('o', elsewhere); // 12, 13
    await drop(served, 'macvlan', address); // 14
    await drop(served, 'other', address); // 15
    await allocate(served, 'c', here); // 16
    for (const pageSize of [1, 2, 3, 100])
      expect(seqsOf(await pagesOf(served, { pageSize })), String(pageSize)).to.deep.equal([
        16, 15, 14, 13, 12, 11, 10, 6, 5, 4,
      ]);
    expect(seqsOf(await pagesOf(served, { subnet: 'other', pageSize: 1 }))).to.deep.equal([15, 13, 12]);
    expect((await pagesOf(served))[0]?.subnets).to.deep.equal(['macvlan', 'other']);
  });

  it('is told when its subnet is retired, and nothing else of it is kept', async () => {
    await applySubnet(served, 'gone', { cidrBlock: '10.9.0.0/24' }); // 4
    await live('a', { provider: 'gone.default', subnets: ['gone'], candidates: [{ addresses: ['10.9.0.2'] }] }); // 5, 6
    await retire(served, 'gone'); // 7
    await drop(served, 'gone', '10.9.0.2'); // 8
    expect(seqsOf(await pagesOf(served, { address: '10.9.0.2' }))).to.deep.equal([8, 6, 5]);
  });

  it('is not that of an address that was never used', async () => {
    await live('a');
    await drop(served, 'macvlan', address);
    expect(await served.refusal(LedgerService.history, { address: '172.17.0.12' })).to.include({
      code: 'ADDRESS_UNKNOWN',
      message: '172.17.0.12 was never used in any subnet',
    });
  });

  it('keeps to a period', async () => {
    await live('a'); // 4, 5
    await drop(served, 'macvlan', address); // 6
    await live('b'); // 7, 8
    const at = (seq: number): string => (JSON.parse(served.memory.get(logKey(seq)) ?? '') as { at: string }).at;
    expect(seqsOf(await pagesOf(served, { since: at(5), until: at(8) }))).to.deep.equal([7, 6, 5]);
    expect(seqsOf(await pagesOf(served, { since: at(7) }))).to.deep.equal([8, 7]);
  });

  it('ends with an error where what is older is sealed and not at hand, and tells first what is left', async () => {
    await live('a'); // 4, 5
    await drop(served, 'macvlan', address); // 6
    await live('b'); // 7, 8
    served.memory.put(floorKey, floorText(7));
    await served.memory.prune(new AbortController().signal);
    const { events, nextPageToken: pageToken } = await served.call(LedgerService.history, { address });
    expect(events.map(({ seq }) => seq)).to.deep.equal([8, 7]);
    expect(await served.refusal(LedgerService.history, { address, pageToken })).to.include({ code: 'POSITION_GONE' });
    expect(await served.refusal(LedgerService.history, { address: '172.17.0.99' })).to.include({
      code: 'POSITION_GONE',
    });
  });

  it('is no part of what differs between two moments, also when the address is none of the subnet any more', async () => {
    await allocate(served, 'a', here); // 4
    await release(served, 'a'); // 5
    await drop(served, 'macvlan', address); // 6
    await applySubnet(served, 'other', { cidrBlock: '172.17.0.0/24', excludeIps: ['172.17.0.200'] }); // 7
    const changes = async (from: number, to: number): Promise<string[]> => {
      const found: string[] = [];
      const request = { from: { seq: from }, to: { seq: to } };
      for await (const { addresses } of stream(served.client, LedgerService.diff, request, {
        silenceMs: 20_000,
        signal: never,
      }))
        found.push(...addresses.map(({ before, after }) => `${before?.state} to ${after?.state}`));
      return found;
    };
    expect(await changes(5, 7)).to.deep.equal([]);
    expect(await changes(4, 7)).to.deep.equal(['allocated to fresh']);
    expect(await changes(3, 4)).to.deep.equal(['fresh to allocated']);
    await retire(served, 'macvlan'); // 8
    expect(await changes(4, 8)).to.deep.equal(['allocated to fresh']);
  });

  it('refuses a page token that no reply gave', async () => {
    await live('a'); // 4, 5
    await drop(served, 'macvlan', address); // 6
    for (const pageToken of ['macvlan=-7', 'macvlan=7', 'other=-1', 'macvlan=-', 'macvlan=0'])
      expect(await served.refusal(LedgerService.history, { address, pageToken }), pageToken).to.include({
        code: 'INVALID_REQUEST',
        message: `page_token "${pageToken}" is not one that a reply gave to this question`,
      });
  });

  it('says so when an event of the chain of drops is another', async () => {
    await live('a'); // 4, 5
    await drop(served, 'macvlan', address); // 6
    served.memory.put(logKey(6), served.memory.get(logKey(5)) ?? '');
    expect(await served.refusal(LedgerService.history, { address })).to.deep.equal({
      status: 'DATA_LOSS',
      code: 'LEDGER_DAMAGED',
      message: 'event 6 is named as one that dropped claims of subnet macvlan, and it is not: see ipledger verify',
    });
  });

  it('is all that the log says of the address, whatever happened', async () => {
    const addresses = ['172.17.0.11', '172.17.0.12'];
    const act = fc.record({
      what: fc.constantFrom('allocate', 'release', 'drop', 'reserve', 'unreserve'),
      which: fc.nat(1),
      subnet: fc.constantFrom('macvlan', 'other'),
    });
    type Act = typeof act extends fc.Arbitrary<infer Value> ? Value : never;
    const happen = async (to: Served, { what, which, subnet }: Act): Promise<void> => {
      const text = addresses[which] ?? '';
      const name = `${subnet}-${which}`;
      const where = { provider: `${subnet}.default`, subnets: [subnet], candidates: [{ addresses: [text] }] };
      const kept = { subnet, addresses: [text], reservedFor: 'vip/web' };
      const acts = {
        allocate: () => allocate(to, name, where),
        release: () => release(to, name),
        drop: () => drop(to, subnet, ...addresses),
        reserve: () => to.call(IpamService.reserve, kept),
        unreserve: () => to.call(IpamService.unreserve, kept),
      };
      await acts[what]().catch(() => undefined);
    };
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 40 }), fc.integer({ min: 1, max: 4 }), async (acts, pageSize) => {
        await using fresh = await serveAllocator();
        await applyMacvlan(fresh);
        await applySubnet(fresh, 'other', { cidrBlock: '172.17.0.0/24' });
        for (const each of acts) await happen(fresh, each);
        const log = await logOf(fresh.memory);
        for (const each of addresses) {
          const touching = log.filter(({ envelope }) => each in envelope.before).map(({ envelope }) => envelope.seq);
          const told = await pagesOf(fresh, { address: each, pageSize }).catch(() => []);
          expect(seqsOf(told)).to.deep.equal(touching.toReversed());
          const known = new Set(
            log.filter(({ envelope }) => each in envelope.before).map(({ envelope: { subnet } }) => subnet),
          );
          expect(told[0]?.subnets ?? []).to.deep.equal([...known].toSorted());
        }
      }),
      { numRuns: 20 },
    );
  });
});
