import { expect } from 'chai';
import type { MessageInput } from '../../../../proto/codec.ts';
import { type Event, type HistoryRequest, IpamService, LedgerService } from '../../../../proto/generated/ipledger.ts';
import { logKey } from '../../../../ledger/log/store/keys.ts';
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

const summaries = (events: readonly Event[]): string[] => events.map(({ seq, type }) => `${seq} ${type}`);

describe('Ledger.History without an address', () => {
  let served: ServedAllocator;
  const web = { owner: { kind: 'ReplicaSet', name: 'web', uid: 'uid-of-web' } };

  /** Creates events, which the comments number. */
  beforeEach(async () => {
    served = await serveAllocator(); // 1
    await applyMacvlan(served); // 2
    await applySubnet(served, 'tiny', { cidrBlock: '10.0.0.0/30', gateway: '10.0.0.1' }); // 3
    await allocate(served, 'a', {}, { ...web, node: 'node-1' }); // 4
    await allocate(served, 'b', { provider: 'tiny.default', subnets: ['tiny'] }); // 5
    await bind(served, 'a'); // 6
    await allocate(served, 'c', { provider: 'tiny.default', subnets: ['tiny'] }).catch(() => undefined); // 7: refused
    served.advanceTime(60_000);
    await release(served, 'a'); // 8
    await unbind(served, 'a'); // 9
    await release(served, 'b'); // 10
  });
  afterEach(() => served[Symbol.asyncDispose]());

  const history = (request: MessageInput<HistoryRequest>) => served.call(LedgerService.history, request);
  const listEvents = async (request: MessageInput<HistoryRequest>) => summaries((await history(request)).events);

  it('Ledger.History without an address returns the events of a Pod, with its refusals', async () => {
    expect(await listEvents({ namespace: 'default', pod: 'a' })).to.deep.equal([
      '9 AddressUnbound',
      '8 AddressReleased',
      '6 AddressBound',
      '4 AddressAllocated',
    ]);
    expect(await listEvents({ namespace: 'default', pod: 'c' })).to.deep.equal(['7 AllocationRefused']);
    expect(await listEvents({ namespace: 'other', pod: 'c' })).to.deep.equal([]);
  });

  it('Ledger.History without an address returns the events of an owner, also those that do not contain the owner', async () => {
    const events = ['9 AddressUnbound', '8 AddressReleased', '6 AddressBound', '4 AddressAllocated'];
    expect(await listEvents({ owner: { uid: 'uid-of-web' } })).to.deep.equal(events);
    expect(await listEvents({ owner: { kind: 'ReplicaSet', name: 'web' }, namespace: 'default' })).to.deep.equal(
      events,
    );
    expect(await listEvents({ owner: { kind: 'StatefulSet', name: 'web' } })).to.deep.equal([]);
    expect(await listEvents({ owner: { name: 'web' }, namespace: 'other' })).to.deep.equal([]);
  });

  it('Ledger.History without an address returns the events of a node, with the ends of its bindings', async () => {
    expect(await listEvents({ node: 'node-1' })).to.deep.equal([
      '9 AddressUnbound',
      '6 AddressBound',
      '4 AddressAllocated',
    ]);
  });

  it('Ledger.History without an address returns the events of a Subnet, with the refusals of requests for only that Subnet', async () => {
    expect(await listEvents({ subnet: 'tiny' })).to.deep.equal([
      '10 AddressReleased',
      '7 AllocationRefused',
      '5 AddressAllocated',
      '3 SubnetConfigured',
    ]);
    const either = {
      provider: 'tiny.default',
      subnets: ['tiny', 'macvlan'],
      candidates: [{ addresses: ['10.9.9.9'] }],
    };
    await allocate(served, 'd', either).catch(() => undefined); // 11: refused
    expect(await listEvents({ namespace: 'default', pod: 'd' })).to.deep.equal(['11 AllocationRefused']);
    expect((await listEvents({ subnet: 'tiny' }))[0]).to.equal('10 AddressReleased');
  });

  it('Ledger.History without an address returns all events', async () => {
    const { events, searchedDownToSeq, nextPageToken, position } = await history({});
    expect(events.map(({ seq }) => seq)).to.deep.equal([10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    expect({ searchedDownToSeq, nextPageToken, seq: position?.seq }).to.deep.equal({
      searchedDownToSeq: 1,
      nextPageToken: '',
      seq: 10,
    });
  });

  it('Ledger.History without an address limits the events to a period', async () => {
    const at = (await history({})).events.find(({ seq }) => seq === 8)?.at ?? '';
    expect(await listEvents({ subnet: 'macvlan', since: at })).to.deep.equal(['9 AddressUnbound', '8 AddressReleased']);
    expect(await listEvents({ subnet: 'macvlan', until: at })).to.deep.equal([
      '6 AddressBound',
      '4 AddressAllocated',
      '2 SubnetConfigured',
    ]);
    expect(await listEvents({ since: '2999-01-01T00:00:00Z' })).to.deep.equal([]);
    expect(await listEvents({ until: '1999-01-01T00:00:00Z' })).to.deep.equal([]);
    const address = '172.17.0.11';
    expect(await listEvents({ address, since: at })).to.deep.equal(['9 AddressUnbound', '8 AddressReleased']);
    expect(await listEvents({ address, until: at })).to.deep.equal(['6 AddressBound', '4 AddressAllocated']);
  });

  it('each page continues the one before, even when new events are added', async () => {
    const listed: string[] = [];
    let pageToken = '';
    do {
      const { events, nextPageToken, searchedDownToSeq } = await history({
        subnet: 'macvlan',
        pageSize: 2,
        pageToken,
      });
      expect(events.length).to.be.at.most(2);
      for (const { seq } of events) expect(seq).to.be.at.least(searchedDownToSeq);
      listed.push(...summaries(events));
      pageToken = nextPageToken;
      if (listed.length === 2) await allocate(served, 'later');
    } while (pageToken !== '');
    expect(listed).to.deep.equal([
      '9 AddressUnbound',
      '8 AddressReleased',
      '6 AddressBound',
      '4 AddressAllocated',
      '2 SubnetConfigured',
    ]);
  });

  it('Ledger.History without an address is answered by a standby', async () => {
    await served.stepDown(undefined);
    expect(await listEvents({ namespace: 'default', pod: 'c' })).to.deep.equal(['7 AllocationRefused']);
  });

  it('Ledger.History without an address fails when an event is missing', async () => {
    served.memory.remove(logKey(5));
    expect(await served.refusal(LedgerService.history, { node: 'node-1' })).to.deep.equal({
      status: 'DATA_LOSS',
      code: 'LEDGER_DAMAGED',
      message: 'the log has a gap between event 1 and event 10. Run: ipledger verify',
    });
  });

  const rejected: [MessageInput<HistoryRequest>, string][] = [
    [{ address: '10.0.0.2', node: 'n' }, 'one thing at a time: the request names address and node'],
    [{ pod: 'a' }, 'pod a: its namespace is missing'],
    [{ namespace: 'default' }, 'namespace default: add a pod or an owner'],
    [{ since: 'yesterday' }, 'since is no instant: "yesterday"; write it as 2026-11-17T14:05:00Z'],
    [{ node: 'n', pageToken: 'x=1' }, 'page_token "x=1" is not from a reply: omit it to read the first page'],
  ];
  for (const [request, message] of rejected)
    it(`Ledger.History without an address rejects ${JSON.stringify(request)}`, async () => {
      expect(await served.refusal(LedgerService.history, request)).to.include({ code: 'INVALID_REQUEST', message });
    });
});

describe('Ledger.Why', () => {
  let served: ServedAllocator;
  before(async () => {
    served = await serveAllocator();
    await applyMacvlan(served);
    await allocate(served, 'a', { candidates: [{ addresses: ['172.17.0.99'] }] }); // 3
    await served.call(IpamService.listAllocations, {});
    await allocate(served, 'b', { candidates: [{ addresses: ['172.17.0.99'] }] }).catch(() => undefined); // 4: refused
    await release(served, 'a'); // 5
    served.advanceTime(60_000);
    await allocate(served, 'b', { candidates: [{ addresses: ['172.17.0.99'] }] }); // 6
    await bind(served, 'b'); // 7
  });
  after(() => served[Symbol.asyncDispose]());

  const why = (pod: string) => served.call(LedgerService.why, { namespace: 'default', pod });

  it('Ledger.Why returns the allocations and the events of a Pod', async () => {
    const { allocations, events, nextPageToken, position } = await why('b');
    expect(summaries(events)).to.deep.equal(['7 AddressBound', '6 AddressAllocated', '4 AllocationRefused']);
    expect(allocations).to.have.length(1);
    expect(allocations[0]).to.deep.include({ seq: 6, podUid: 'uid-b', interface: 'net1' });
    expect(allocations[0]?.bindings).to.have.length(1);
    expect({ nextPageToken, seq: position?.seq }).to.deep.equal({ nextPageToken: '', seq: 7 });
  });

  it('Ledger.Why returns the events of a deleted Pod', async () => {
    const { allocations, events } = await why('a');
    expect(summaries(events)).to.deep.equal(['5 AddressReleased', '3 AddressAllocated']);
    expect(allocations).to.deep.equal([]);
  });

  it('Ledger.Why returns nothing for an unknown Pod', async () => {
    expect(await why('unknown')).to.deep.include({ allocations: [], events: [], nextPageToken: '' });
  });

  it('Ledger.Why rejects a request without a Pod', async () => {
    expect(await served.refusal(LedgerService.why, { namespace: 'default' })).to.include({ message: 'pod is missing' });
  });
});
