import { expect } from 'chai';
import type { Input } from '../../../proto/codec.ts';
import { type Event, type HistoryRequest, IpamService, LedgerService } from '../../../proto/ipledger.ts';
import { logKey } from '../ledger/keys.ts';
import {
  allocate,
  applyMacvlan,
  applySubnet,
  bind,
  release,
  type Served,
  serveAllocator,
  unbind,
} from './specification.ts';

const told = (events: readonly Event[]): string[] => events.map(({ seq, type }) => `${seq} ${type}`);

describe('Ledger.History of what has no index', () => {
  let served: Served;
  const web = { owner: { kind: 'ReplicaSet', name: 'web', uid: 'uid-of-web' } };

  /** Every event that follows is numbered. */
  beforeEach(async () => {
    served = await serveAllocator(); // 1
    await applyMacvlan(served); // 2
    await applySubnet(served, 'tiny', { cidrBlock: '10.0.0.0/30', gateway: '10.0.0.1' }); // 3
    await allocate(served, 'a', {}, { ...web, node: 'node-1' }); // 4
    await allocate(served, 'b', { provider: 'tiny.default', subnets: ['tiny'] }); // 5
    await bind(served, 'a'); // 6
    await allocate(served, 'c', { provider: 'tiny.default', subnets: ['tiny'] }).catch(() => undefined); // 7: refused
    served.pass(60_000);
    await release(served, 'a'); // 8
    await unbind(served, 'a'); // 9
    await release(served, 'b'); // 10
  });
  afterEach(() => served[Symbol.asyncDispose]());

  const history = (request: Input<HistoryRequest>) => served.call(LedgerService.history, request);
  const story = async (request: Input<HistoryRequest>) => told((await history(request)).events);

  it('tells it of a Pod, with its refusals', async () => {
    expect(await story({ namespace: 'default', pod: 'a' })).to.deep.equal([
      '9 AddressUnbound',
      '8 AddressReleased',
      '6 AddressBound',
      '4 AddressAllocated',
    ]);
    expect(await story({ namespace: 'default', pod: 'c' })).to.deep.equal(['7 AllocationRefused']);
    expect(await story({ namespace: 'other', pod: 'c' })).to.deep.equal([]);
  });

  it('tells it of an owner, though only the allocation names it', async () => {
    const events = ['9 AddressUnbound', '8 AddressReleased', '6 AddressBound', '4 AddressAllocated'];
    expect(await story({ owner: { uid: 'uid-of-web' } })).to.deep.equal(events);
    expect(await story({ owner: { kind: 'ReplicaSet', name: 'web' }, namespace: 'default' })).to.deep.equal(events);
    expect(await story({ owner: { kind: 'StatefulSet', name: 'web' } })).to.deep.equal([]);
    expect(await story({ owner: { name: 'web' }, namespace: 'other' })).to.deep.equal([]);
  });

  it('tells it of a node, with the ends of its bindings', async () => {
    expect(await story({ node: 'node-1' })).to.deep.equal(['9 AddressUnbound', '6 AddressBound', '4 AddressAllocated']);
  });

  it('tells it of a subnet, with what was asked of it alone and refused', async () => {
    expect(await story({ subnet: 'tiny' })).to.deep.equal([
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
    expect(await story({ namespace: 'default', pod: 'd' })).to.deep.equal(['11 AllocationRefused']);
    expect((await story({ subnet: 'tiny' }))[0]).to.equal('10 AddressReleased');
  });

  it('tells everything', async () => {
    const { events, searchedSeq, nextPageToken, position } = await history({});
    expect(events.map(({ seq }) => seq)).to.deep.equal([10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    expect({ searchedSeq, nextPageToken, seq: position?.seq }).to.deep.equal({
      searchedSeq: 1,
      nextPageToken: '',
      seq: 10,
    });
  });

  it('tells it of a time: from an instant on, and before another', async () => {
    const at = (await history({})).events.find(({ seq }) => seq === 8)?.at ?? '';
    expect(await story({ subnet: 'macvlan', since: at })).to.deep.equal(['9 AddressUnbound', '8 AddressReleased']);
    expect(await story({ subnet: 'macvlan', until: at })).to.deep.equal([
      '6 AddressBound',
      '4 AddressAllocated',
      '2 SubnetConfigured',
    ]);
    expect(await story({ since: '2999-01-01T00:00:00Z' })).to.deep.equal([]);
    expect(await story({ until: '1999-01-01T00:00:00Z' })).to.deep.equal([]);
    const address = '172.17.0.11';
    expect(await story({ address, since: at })).to.deep.equal(['9 AddressUnbound', '8 AddressReleased']);
    expect(await story({ address, until: at })).to.deep.equal(['6 AddressBound', '4 AddressAllocated']);
  });

  it('tells it in pages, each going on where the last one ended, whatever happens meanwhile', async () => {
    const seen: string[] = [];
    let pageToken = '';
    do {
      const { events, nextPageToken, searchedSeq } = await history({ subnet: 'macvlan', pageSize: 2, pageToken });
      expect(events.length).to.be.at.most(2);
      for (const { seq } of events) expect(seq).to.be.at.least(searchedSeq);
      seen.push(...told(events));
      pageToken = nextPageToken;
      if (seen.length === 2) await allocate(served, 'later');
    } while (pageToken !== '');
    expect(seen).to.deep.equal([
      '9 AddressUnbound',
      '8 AddressReleased',
      '6 AddressBound',
      '4 AddressAllocated',
      '2 SubnetConfigured',
    ]);
  });

  it('answers at a standby as well', async () => {
    await served.stepDown(undefined);
    expect(await story({ namespace: 'default', pod: 'c' })).to.deep.equal(['7 AllocationRefused']);
  });

  it('says so when the log has a hole', async () => {
    served.memory.remove(logKey(5));
    expect(await served.refusal(LedgerService.history, { node: 'node-1' })).to.deep.equal({
      status: 'DATA_LOSS',
      code: 'LEDGER_DAMAGED',
      message: 'the log is not dense between event 1 and event 10',
    });
  });

  const refused: [Input<HistoryRequest>, string][] = [
    [{ address: '10.0.0.2', node: 'n' }, 'one thing at a time: it names address and node'],
    [{ pod: 'a' }, 'pod a: its namespace is missing'],
    [{ namespace: 'default' }, 'namespace default: it goes with a pod or an owner'],
    [{ since: 'yesterday' }, 'since is no instant: "yesterday"; write it as 2026-11-17T14:05:00Z'],
    [{ node: 'n', pageToken: 'x=1' }, 'page_token "x=1" is not one that a reply gave'],
  ];
  for (const [request, message] of refused)
    it(`refuses ${JSON.stringify(request)}`, async () => {
      expect(await served.refusal(LedgerService.history, request)).to.include({ code: 'INVALID_REQUEST', message });
    });
});

describe('Ledger.Why', () => {
  let served: Served;
  before(async () => {
    served = await serveAllocator();
    await applyMacvlan(served);
    await allocate(served, 'a', { candidates: [{ addresses: ['172.17.0.99'] }] }); // 3
    await served.call(IpamService.list, {});
    await allocate(served, 'b', { candidates: [{ addresses: ['172.17.0.99'] }] }).catch(() => undefined); // 4: refused
    await release(served, 'a'); // 5
    served.pass(60_000);
    await allocate(served, 'b', { candidates: [{ addresses: ['172.17.0.99'] }] }); // 6
    await bind(served, 'b'); // 7
  });
  after(() => served[Symbol.asyncDispose]());

  const why = (pod: string) => served.call(LedgerService.why, { namespace: 'default', pod });

  it('tells what a Pod holds, and what happened to it before', async () => {
    const { allocations, events, nextPageToken, position } = await why('b');
    expect(told(events)).to.deep.equal(['7 AddressBound', '6 AddressAllocated', '4 AllocationRefused']);
    expect(allocations).to.have.length(1);
    expect(allocations[0]).to.deep.include({ seq: 6, podUid: 'uid-b', interface: 'net1' });
    expect(allocations[0]?.bindings).to.have.length(1);
    expect({ nextPageToken, seq: position?.seq }).to.deep.equal({ nextPageToken: '', seq: 7 });
  });

  it('tells it of a Pod that is gone', async () => {
    const { allocations, events } = await why('a');
    expect(told(events)).to.deep.equal(['5 AddressReleased', '3 AddressAllocated']);
    expect(allocations).to.deep.equal([]);
  });

  it('knows nothing of a Pod that never asked', async () => {
    expect(await why('nobody')).to.deep.include({ allocations: [], events: [], nextPageToken: '' });
  });

  it('wants to know which Pod', async () => {
    expect(await served.refusal(LedgerService.why, { namespace: 'default' })).to.include({ message: 'pod is missing' });
  });
});
