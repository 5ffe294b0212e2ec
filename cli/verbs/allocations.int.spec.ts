import { expect } from 'chai';
import type { MessageInput } from '../../proto/codec.ts';
import type { Allocation, ListAllocationsReply, ListAllocationsRequest } from '../../proto/generated/ipledger.ts';
import { position } from '../testing/address-events.fixture.ts';
import { runWithFakeAllocator } from '../testing/fake-allocator.ts';

const attachment = { namespace: 'default', pod: 'samplepod', provider: 'macvlan.default', ordinal: 0 };

const allocation: MessageInput<Allocation> = {
  seq: 17,
  attachment,
  podUid: '6c1d1f0a-8c5e-4d0b-9f3e-2b7f6a1c0d4e',
  node: 'node-a',
  subnet: 'macvlan',
  addresses: [{ address: '172.17.0.11', cidr: '172.17.0.0/16', gateway: '172.17.0.1' }],
  interface: 'net1',
  cause: 'ALLOCATION_CAUSE_DYNAMIC',
  at: '2026-11-17 14:05:00',
  bindings: [{ containerId: 'c0ffee', interface: 'net1', node: 'node-a' }],
};
const dualStack: MessageInput<Allocation> = {
  seq: 18,
  attachment: { ...attachment, pod: 'other', provider: 'storage.default' },
  subnet: 'storage',
  addresses: [{ address: '10.20.0.5' }, { address: 'fd00:20::5' }],
  cause: 'ALLOCATION_CAUSE_STATIC',
  at: '2026-11-17 14:06:00',
};

describe('ipledger allocations', () => {
  it('ipledger allocations lists the current allocations', async () => {
    const list = () => ({ position, allocations: [allocation, dualStack] });
    const { status, stdout, stderr } = await runWithFakeAllocator({ list }, 'allocations');
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    expect(stdout).to.equal(
      [
        'SUBNET   ADDRESS               POD                PROVIDER         INTERFACE  NODE    BOUND  CAUSE    SINCE',
        'macvlan  172.17.0.11           default/samplepod  macvlan.default  net1       node-a  yes    dynamic  2026-11-17 14:05:00',
        'storage  10.20.0.5,fd00:20::5  default/other      storage.default  -          -       no     static   2026-11-17 14:06:00',
        '',
      ].join('\n'),
    );
  });

  it('ipledger allocations reads all pages', async () => {
    const pages = new Map([
      ['', { position, allocations: [{ ...allocation, seq: 1 }], nextPageToken: 'second' }],
      ['second', { position, allocations: [{ ...allocation, seq: 2 }], nextPageToken: 'third' }],
      ['third', { position: { ...position, seq: 43 }, allocations: [{ ...allocation, seq: 3 }] }],
    ]);
    const list = ({ pageToken }: ListAllocationsRequest): MessageInput<ListAllocationsReply> =>
      pages.get(pageToken) ?? {};
    const { stdout } = await runWithFakeAllocator({ list }, 'allocations', '-o', 'json');
    const json = JSON.parse(stdout) as ListAllocationsReply;
    expect(json.allocations.map(({ seq }) => seq)).to.deep.equal([1, 2, 3]);
    expect(json.position?.seq).to.equal(43);
    expect(json).to.have.all.keys('position', 'allocations');
  });

  it('ipledger allocations sends the filter of its options, and exits with 4 if nothing matches', async () => {
    let received: ListAllocationsRequest | undefined;
    const list = (request: ListAllocationsRequest) => {
      received = request;
      return { position };
    };
    const args = ['--subnet', 'macvlan', '-n', 'default', '--pod', 'samplepod', '--node', 'node-a'];
    const { status, stdout, stderr } = await runWithFakeAllocator({ list }, 'allocations', ...args);
    expect(received).to.include({ subnet: 'macvlan', namespace: 'default', pod: 'samplepod', node: 'node-a' });
    expect({ status, stdout, stderr }).to.deep.equal({ status: 4, stdout: '', stderr: 'no allocations\n' });
  });
});
