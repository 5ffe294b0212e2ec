import { expect } from 'chai';
import fc from 'fast-check';
import { stream } from '../../../../lib/grpc/client.ts';
import { type HistoryReply, IpamService, LedgerService } from '../../../../proto/generated/ipledger.ts';
import type { Untimed } from '../../../../ledger/domain/testing/given-when-then.ts';
import { logStartKey, logKey } from '../../../../ledger/log/store/keys.ts';
import { logStartText } from '../../../../ledger/log/store/stored-values.ts';
import { requestFor, logOf, never } from '../../../../ledger/log/testing/running-writer.ts';
import {
  allocate,
  applyMacvlan,
  applySubnet,
  release,
  type ServedAllocator,
  serveAllocator,
} from '../testing/served-allocator.ts';

const address = '172.17.0.11';
const hour = 3_600_000;

async function submit(served: ServedAllocator, untimed: Untimed): Promise<void> {
  await served.allocator.writer()?.submit(requestFor(untimed));
}

const retire = (served: ServedAllocator, name: string): Promise<void> => submit(served, { type: 'RetireSubnet', name });

/** Drops the idle claims of these addresses. */
function drop(served: ServedAllocator, subnet: string, ...addresses: readonly string[]): Promise<void> {
  served.advanceTime(hour + 1);
  return submit(served, { type: 'DropClaims', subnet, addresses });
}

/** Reads all pages of the history of the address. */
async function pagesOf(served: ServedAllocator, request: object = {}): Promise<HistoryReply[]> {
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

describe('The history of an address with a dropped claim', () => {
  let served: ServedAllocator;
  const here = { candidates: [{ addresses: [address] }] };
  const elsewhere = { ...here, provider: 'other.default', subnets: ['other'] };
  beforeEach(async () => {
    served = await serveAllocator();
    await applyMacvlan(served); // 2
    await applySubnet(served, 'other', { cidrBlock: '172.17.0.0/24' }); // 3
  });
  afterEach(() => served[Symbol.asyncDispose]());

  async function allocateAndRelease(name: string, where: object = here): Promise<void> {
    await allocate(served, name, where);
    await release(served, name);
  }

  it('the history of an address contains the drop of its claim and all earlier events', async () => {
    await allocateAndRelease('a'); // 4, 5
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

  it('The history of an address with a dropped claim continues through several drops, in pages of any size', async () => {
    await allocateAndRelease('a'); // 4, 5
    await drop(served, 'macvlan', address); // 6
    await allocateAndRelease('x', { candidates: [{ addresses: ['172.17.0.99'] }] }); // 7, 8
    await drop(served, 'macvlan', '172.17.0.99'); // 9
    await allocateAndRelease('b'); // 10, 11
    await allocateAndRelease('o', elsewhere); // 12, 13
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

  it('the history of a dropped claim is complete after its Subnet was retired', async () => {
    await applySubnet(served, 'gone', { cidrBlock: '10.9.0.0/24' }); // 4
    await allocateAndRelease('a', {
      provider: 'gone.default',
      subnets: ['gone'],
      candidates: [{ addresses: ['10.9.0.2'] }],
    }); // 5, 6
    await retire(served, 'gone'); // 7
    await drop(served, 'gone', '10.9.0.2'); // 8
    expect(seqsOf(await pagesOf(served, { address: '10.9.0.2' }))).to.deep.equal([8, 6, 5]);
  });

  it('an address that was never used has no history', async () => {
    await allocateAndRelease('a');
    await drop(served, 'macvlan', address);
    expect(await served.refusal(LedgerService.history, { address: '172.17.0.12' })).to.include({
      code: 'ADDRESS_UNKNOWN',
      message: '172.17.0.12 was never used in any subnet',
    });
  });

  it('The history of an address with a dropped claim is limited to the requested period', async () => {
    await allocateAndRelease('a'); // 4, 5
    await drop(served, 'macvlan', address); // 6
    await allocateAndRelease('b'); // 7, 8
    const at = (seq: number): string => (JSON.parse(served.memory.get(logKey(seq)) ?? '') as { at: string }).at;
    expect(seqsOf(await pagesOf(served, { since: at(5), until: at(8) }))).to.deep.equal([7, 6, 5]);
    expect(seqsOf(await pagesOf(served, { since: at(7) }))).to.deep.equal([8, 7]);
  });

  it('The history of an address with a dropped claim returns the events in etcd, and then an error for sealed events without an archive', async () => {
    await allocateAndRelease('a'); // 4, 5
    await drop(served, 'macvlan', address); // 6
    await allocateAndRelease('b'); // 7, 8
    served.memory.put(logStartKey, logStartText(7));
    await served.memory.prune(new AbortController().signal);
    const { events, nextPageToken: pageToken } = await served.call(LedgerService.history, { address });
    expect(events.map(({ seq }) => seq)).to.deep.equal([8, 7]);
    expect(await served.refusal(LedgerService.history, { address, pageToken })).to.include({ code: 'POSITION_GONE' });
    expect(await served.refusal(LedgerService.history, { address: '172.17.0.99' })).to.include({
      code: 'POSITION_GONE',
    });
  });

  it('the drop of a claim does not appear in Diff, even if the Subnet no longer has the address', async () => {
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

  it('The history of an address with a dropped claim rejects a page token that is not from a reply', async () => {
    await allocateAndRelease('a'); // 4, 5
    await drop(served, 'macvlan', address); // 6
    for (const pageToken of ['macvlan=-7', 'macvlan=7', 'other=-1', 'macvlan=-', 'macvlan=0'])
      expect(await served.refusal(LedgerService.history, { address, pageToken }), pageToken).to.include({
        code: 'INVALID_REQUEST',
        message: `page_token "${pageToken}" is not from a reply to this request: omit it to read the first page`,
      });
  });

  it('The history of an address with a dropped claim fails when the chain of drops links to another event', async () => {
    await allocateAndRelease('a'); // 4, 5
    await drop(served, 'macvlan', address); // 6
    served.memory.put(logKey(6), (served.memory.get(logKey(5)) ?? '').replace('"seq":5,', '"seq":6,'));
    expect(await served.refusal(LedgerService.history, { address })).to.deep.equal({
      status: 'DATA_LOSS',
      code: 'LEDGER_DAMAGED',
      message:
        'event 6 is listed as one that dropped claims of Subnet macvlan, but it is another event. Run: ipledger verify',
    });
  });

  it('The history of an address with a dropped claim equals a scan of the log, for random command sequences', async () => {
    const addresses = ['172.17.0.11', '172.17.0.12'];
    const act = fc.record({
      action: fc.constantFrom('allocate', 'release', 'drop', 'reserve', 'unreserve'),
      which: fc.nat(1),
      subnet: fc.constantFrom('macvlan', 'other'),
    });
    type Act = typeof act extends fc.Arbitrary<infer Value> ? Value : never;
    const apply = async (to: ServedAllocator, { action, which, subnet }: Act): Promise<void> => {
      const text = addresses[which] ?? '';
      const name = `${subnet}-${which}`;
      const where = { provider: `${subnet}.default`, subnets: [subnet], candidates: [{ addresses: [text] }] };
      const reservation = { subnet, addresses: [text], reservedFor: 'vip/web' };
      const actions = {
        allocate: () => allocate(to, name, where),
        release: () => release(to, name),
        drop: () => drop(to, subnet, ...addresses),
        reserve: () => to.call(IpamService.reserve, reservation),
        unreserve: () => to.call(IpamService.unreserve, reservation),
      };
      await actions[action]().catch(() => undefined);
    };
    await fc.assert(
      fc.asyncProperty(
        fc.array(act, { maxLength: 40, size: 'max' }),
        fc.integer({ min: 1, max: 4 }),
        async (acts, pageSize) => {
          await using fresh = await serveAllocator();
          await applyMacvlan(fresh);
          await applySubnet(fresh, 'other', { cidrBlock: '172.17.0.0/24' });
          for (const each of acts) await apply(fresh, each);
          const log = await logOf(fresh.memory);
          for (const each of addresses) {
            const touching = log.filter(({ envelope }) => each in envelope.before).map(({ envelope }) => envelope.seq);
            const pages = await pagesOf(fresh, { address: each, pageSize }).catch(() => []);
            expect(seqsOf(pages)).to.deep.equal(touching.toReversed());
            const subnets = new Set(
              log.filter(({ envelope }) => each in envelope.before).map(({ envelope: { subnet } }) => subnet),
            );
            expect(pages[0]?.subnets ?? []).to.deep.equal([...subnets].toSorted());
          }
        },
      ),
      { numRuns: 20 },
    );
  });
});
