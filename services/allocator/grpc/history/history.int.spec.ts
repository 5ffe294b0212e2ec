import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { LedgerService } from '../../../../proto/generated/ipledger.ts';
import { logStartKey, logKey } from '../../../../ledger/log/store/keys.ts';
import { logStartText } from '../../../../ledger/log/store/stored-values.ts';
import {
  allocate,
  applyMacvlan,
  applySubnet,
  bind,
  release,
  type ServedAllocator,
  serveAllocator,
  unbind,
} from '../testing/served-allocator.ts';

describe('Ledger.History', () => {
  let served: ServedAllocator;
  const address = '172.17.0.11';
  const here = { candidates: [{ addresses: [address] }] };
  beforeEach(async () => {
    served = await serveAllocator();
    await applyMacvlan(served);
    await applySubnet(served, 'other', { cidrBlock: '172.17.0.0/24' });
  });
  afterEach(() => served[Symbol.asyncDispose]());

  const history = (request: object = {}) => served.call(LedgerService.history, { address, ...request });
  const listEvents = async (request: object = {}) => {
    const { events, nextPageToken } = await history(request);
    return [events.map(({ seq, type }) => `${seq} ${type}`), nextPageToken];
  };

  /** Two Pods in macvlan use the address, and between them a Pod in `other`. */
  async function usePods(): Promise<void> {
    await allocate(served, 'a', here); // 4
    await bind(served, 'a'); // 5
    await allocate(served, 'x', { ...here, provider: 'other.default', subnets: ['other'] }); // 6
    await allocate(served, 'unrelated', { candidates: [{ addresses: ['172.17.0.99'] }] }); // 7
    await release(served, 'a'); // 8
    await unbind(served, 'a'); // 9
    await release(served, 'x'); // 10
    await allocate(served, 'b', here); // 11
  }

  it('Ledger.History returns the events of an address, newest first, of all Subnets', async () => {
    await usePods();
    expect(await listEvents()).to.deep.equal([
      [
        '11 AddressAllocated',
        '10 AddressReleased',
        '9 AddressUnbound',
        '8 AddressReleased',
        '6 AddressAllocated',
        '5 AddressBound',
        '4 AddressAllocated',
      ],
      '',
    ]);
    expect((await history()).position).to.deep.include({ epoch: 1, seq: 11 });
  });

  it('Ledger.History returns the events of one Subnet', async () => {
    await usePods();
    expect((await listEvents({ subnet: 'other' }))[0]).to.deep.equal(['10 AddressReleased', '6 AddressAllocated']);
  });

  it('Ledger.History begins with the event of the address that the request names', async () => {
    await usePods();
    const found = await listEvents({ subnet: 'macvlan', newestSeq: 8, pageSize: 2 });
    expect(found).to.deep.equal([['8 AddressReleased', '5 AddressBound'], 'macvlan=4']);
    expect(await listEvents({ subnet: 'macvlan', newestSeq: 8, pageToken: 'macvlan=4' })).to.deep.equal([
      ['4 AddressAllocated'],
      '',
    ]);
  });

  it('Ledger.History rejects a named event without the address, and a named event without a Subnet', async () => {
    await usePods();
    for (const request of [{ subnet: 'macvlan', newestSeq: 7 }, { subnet: 'macvlan', newestSeq: 12 }, { newestSeq: 8 }])
      expect(await history(request).catch((error: unknown) => error)).to.include({ code: 'INVALID_REQUEST' });
  });

  it('each page continues the one before, even when new events are added', async () => {
    await usePods();
    const seqs: string[] = [];
    let pageToken = '';
    do {
      const { events, nextPageToken } = await history({ pageSize: 2, pageToken });
      expect(events.length).to.be.at.most(2);
      seqs.push(...events.map(({ seq }) => String(seq)));
      pageToken = nextPageToken;
      if (seqs.length === 2) await release(served, 'b');
    } while (pageToken !== '');
    expect(seqs.join(' ')).to.equal('11 10 9 8 6 5 4');
  });

  it('Ledger.History returns smaller pages when etcd is slow', async () => {
    await usePods();
    const { ledger } = served;
    const readEach = ledger.readEach.bind(ledger);
    const now = performance.now.bind(performance);
    let elapsedMs = 0;
    ledger.readEach = (seqs, signal) => {
      elapsedMs += 2_000;
      return readEach(seqs, signal);
    };
    performance.now = () => now() + elapsedMs;
    const pages: string[] = [];
    try {
      let pageToken = '';
      do {
        const { events, nextPageToken } = await history({ pageToken });
        pages.push(events.map(({ seq }) => seq).join(' '));
        pageToken = nextPageToken;
      } while (pageToken !== '');
    } finally {
      performance.now = now;
    }
    expect(pages.join(' ')).to.equal('11 10 9 8 6 5 4');
    expect(pages.length).to.be.at.least(2);
  });

  it('Ledger.History returns the stored line and its parsed fields', async () => {
    await usePods();
    const { events } = await history();
    const [given, released] = events;
    expect(given?.stored).to.equal(served.memory.get(logKey(11)));
    expect(given?.hash).to.equal(
      createHash('sha256')
        .update(given?.stored ?? '')
        .digest('hex'),
    );
    expect(given).to.deep.include({
      seq: 11,
      type: 'AddressAllocated',
      subnet: 'macvlan',
      actor: 'anonymous',
      part: 1,
      parts: 1,
      before: [{ address, seq: 9 }],
    });
    expect(given?.addressAllocated).to.deep.include({ uid: 'uid-b', cause: 'ALLOCATION_CAUSE_STATIC' });
    expect(released?.addressReleased).to.deep.include({
      cause: 'RELEASE_CAUSE_POD_DELETED',
      addresses: [address],
      alloc: 6,
    });
    const [stored] = events.map((event) => JSON.parse(event.stored) as object);
    expect(stored).to.include({ id: given?.id, cmd: given?.command, at: given?.at, prev: given?.prev });
  });

  it('Ledger.History returns the events in etcd, and then an error for sealed events', async () => {
    await usePods();
    served.memory.put(logStartKey, logStartText(6));
    await served.memory.prune(new AbortController().signal);
    const { events, nextPageToken: pageToken } = await history({ subnet: 'macvlan' });
    expect(events.map(({ seq }) => seq)).to.deep.equal([11, 9, 8]);
    const refused = await served.refusal(LedgerService.history, { address, subnet: 'macvlan', pageToken });
    expect(refused).to.include({ status: 'OUT_OF_RANGE', code: 'POSITION_GONE' });
    expect(refused.message).to.contain('event 5 is sealed and no longer in etcd. The first event in etcd is 6');
  });

  it('Ledger.History returns the events of a retired Subnet', async () => {
    await applySubnet(served, 'gone', { cidrBlock: '10.9.0.0/24' });
    await allocate(served, 'a', { provider: 'gone.default', subnets: ['gone'] });
    await release(served, 'a');
    const { events } = await served.call(LedgerService.history, { address: '10.9.0.2' });
    expect(events).to.have.length(2);
  });

  const rejected: [object, object][] = [
    [
      { address: '10.0.0.0/8' },
      {
        status: 'INVALID_ARGUMENT',
        code: 'INVALID_REQUEST',
        message: 'failed to parse IP 10.0.0.0/8: invalid IP address "10.0.0.0/8": write it without a mask, "10.0.0.0"',
      },
    ],
    [
      { address: '10.9.9.9' },
      { status: 'NOT_FOUND', code: 'ADDRESS_UNKNOWN', message: '10.9.9.9 was never used in any subnet' },
    ],
    [
      { address: '10.9.9.9', subnet: 'macvlan' },
      { status: 'NOT_FOUND', code: 'ADDRESS_UNKNOWN', message: '10.9.9.9 was never used in subnet macvlan' },
    ],
    [
      { pageToken: 'macvlan' },
      {
        status: 'INVALID_ARGUMENT',
        code: 'INVALID_REQUEST',
        message: 'page_token "macvlan" is not from a reply to this request: omit it to read the first page',
      },
    ],
    ...['macvlan=3', 'macvlan=99', 'other=4', 'macvlan=4,macvlan', '=4'].map((pageToken): [object, object] => [
      { pageToken },
      {
        status: 'INVALID_ARGUMENT',
        code: 'INVALID_REQUEST',
        message: `page_token "${pageToken}" is not from a reply to this request: omit it to read the first page`,
      },
    ]),
  ];
  for (const [request, refusal] of rejected)
    it(`Ledger.History rejects ${JSON.stringify(request)}`, async () => {
      await allocate(served, 'a', here);
      expect(await served.refusal(LedgerService.history, { address, ...request })).to.deep.equal(refusal);
    });

  it('Ledger.History fails when an event is missing or is not readable', async () => {
    await usePods();
    served.memory.put(logKey(8), 'oops');
    expect(await served.refusal(LedgerService.history, { address })).to.deep.equal({
      status: 'DATA_LOSS',
      code: 'LEDGER_DAMAGED',
      message: `${logKey(8)}: a line of the log is not JSON: oops. Another program wrote this key. Run: ipledger verify --etcd URLS`,
    });
    served.memory.put(logKey(8), served.memory.get(logKey(7)) ?? '');
    expect(await served.refusal(LedgerService.history, { address })).to.include({
      code: 'LEDGER_DAMAGED',
      message: `${logKey(8)}: its value is event 7, whose key is ${logKey(7)}. Another program wrote this key. Run: ipledger verify --etcd URLS`,
    });
    served.memory.put(logKey(8), (served.memory.get(logKey(7)) ?? '').replace('"seq":7,', '"seq":8,'));
    expect(await served.refusal(LedgerService.history, { address })).to.include({
      code: 'LEDGER_DAMAGED',
      message: `the history of ${address} contains event 8, which is not about that address: run ipledger verify`,
    });
    served.memory.remove(logKey(8));
    expect(await served.refusal(LedgerService.history, { address })).to.deep.equal({
      status: 'DATA_LOSS',
      code: 'LEDGER_DAMAGED',
      message: `the history of ${address} contains event 8, which is not in the log: run ipledger verify`,
    });
  });
});
