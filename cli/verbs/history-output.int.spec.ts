import { expect } from 'chai';
import type { MessageInput } from '../../proto/codec.ts';
import type { Event, HistoryReply, HistoryRequest } from '../../proto/generated/ipledger.ts';
import { position } from '../testing/address-events.fixture.ts';
import { runWithFakeAllocator } from '../testing/fake-allocator.ts';

const uid = '6c1d1f0a-8c5e-4d0b-9f3e-2b7f6a1c0d4e';
const attachment = { namespace: 'default', pod: 'samplepod', provider: 'macvlan.default', ordinal: 0 };
const at = (minute: number) => `2026-11-17T14:0${minute}:00.000Z`;
const samplepod = { attachment, uid };
const eventData: MessageInput<Event>[] = [
  {
    type: 'AddressReleased',
    addressReleased: { ...samplepod, cause: 'RELEASE_CAUSE_GARBAGE_COLLECTED', evidence: 'node node-a was deleted' },
  },
  {
    type: 'AddressUnbound',
    addressUnbound: {
      attachment,
      containerId: 'c0ffee'.repeat(8),
      interface: 'net1',
      cause: 'UNBIND_CAUSE_NODE_DELETED',
    },
  },
  {
    type: 'AddressBound',
    addressBound: { ...samplepod, containerId: 'c0ffee'.repeat(8), interface: 'net1', node: 'node-a' },
  },
  {
    type: 'AddressTransferred',
    addressTransferred: { ...samplepod, fromUid: 'old', cause: 'ALLOCATION_CAUSE_DYNAMIC' },
  },
  { type: 'AddressAllocated', addressAllocated: { attachment, uid: 'old', cause: 'ALLOCATION_CAUSE_DYNAMIC' } },
];
const events = eventData.map((event, index): MessageInput<Event> => ({
  seq: 9 - index,
  at: at(9 - index),
  subnet: 'macvlan',
  actor: 'ipledger://watcher',
  ...event,
}));

/** Pages of two events, as the allocator sends them: the token is the start of the next page. */
const readPage = ({ pageSize, pageToken }: HistoryRequest): MessageInput<HistoryReply> => {
  const from = Number(pageToken || 0);
  const next = Math.min(from + Math.min(pageSize, 2), events.length);
  return { position, events: events.slice(from, next), nextPageToken: next < events.length ? String(next) : '' };
};

describe('The output of ipledger history', () => {
  it('The output of ipledger history lists the events of an address, newest first', async () => {
    const { status, stdout, stderr } = await runWithFakeAllocator({ history: readPage }, 'history', '172.17.0.11');
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    expect(stdout).to.equal(
      [
        'SEQ  TIME                 EVENT               POD                DETAIL                                        SUBNET',
        '9    2026-11-17 14:09:00  AddressReleased     default/samplepod  garbage-collected: node node-a was deleted    macvlan',
        '8    2026-11-17 14:08:00  AddressUnbound      default/samplepod  node-deleted: net1 of container c0ffeec0ffee  macvlan',
        '7    2026-11-17 14:07:00  AddressBound        default/samplepod  net1 of container c0ffeec0ffee on node-a      macvlan',
        '6    2026-11-17 14:06:00  AddressTransferred  default/samplepod  from uid old                                  macvlan',
        '5    2026-11-17 14:05:00  AddressAllocated    default/samplepod  dynamic                                       macvlan',
        '',
      ].join('\n'),
    );
  });

  it('The output of ipledger history has more columns with -o wide', async () => {
    const { stdout } = await runWithFakeAllocator(
      { history: readPage },
      'history',
      '172.17.0.11',
      '-o',
      'wide',
      '--limit',
      '1',
    );
    expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).to.deep.equal([
      ['SEQ', 'TIME', 'EVENT', 'ADDRESS', 'POD', 'DETAIL', 'SUBNET', 'UID', 'PROVIDER', 'ACTOR', 'COMMAND'],
      [
        '9',
        '2026-11-17 14:09:00.000+00:00',
        'AddressReleased',
        '-',
        'default/samplepod',
        'garbage-collected: node node-a was deleted',
        'macvlan',
        uid,
        'macvlan.default',
        'ipledger://watcher',
        '-',
      ],
      [''],
    ]);
  });

  it('The output of ipledger history has all columns, and times in UTC, with -o csv', async () => {
    const evidence = 'a "b", c';
    const released = { ...events[0], addressReleased: { ...samplepod, evidence } };
    const { stdout } = await runWithFakeAllocator(
      { history: () => ({ position, events: [released] }) },
      'history',
      '::1',
      '-o',
      'csv',
    );
    expect(stdout).to.equal(
      'seq,time,event,address,pod,detail,subnet,uid,provider,actor,command\r\n' +
        `9,2026-11-17T14:09:00.000Z,AddressReleased,,default/samplepod,"unspecified: a ""b"", c",macvlan,${uid},macvlan.default,ipledger://watcher,\r\n`,
    );
  });

  it('The output of ipledger history describes reservations, quarantines and deleted claims', async () => {
    const ofAddress: MessageInput<Event>[] = [
      { type: 'QuarantineLifted', quarantineLifted: { address: '172.17.0.11', reason: 'the printer moved' } },
      {
        type: 'AddressQuarantined',
        addressQuarantined: { seenMac: '52:54:00:00:00:01', seenAt: 'node-2', reason: 'a printer' },
      },
      { type: 'AddressQuarantined', addressQuarantined: { seenAt: 'node-2' } },
      { type: 'ReservationCancelled', reservationCancelled: { reservedFor: 'vip/web', reason: 'moved' } },
      { type: 'AddressReserved', addressReserved: { reservedFor: 'vip/web', reason: 'for the front' } },
      { type: 'ClaimsDropped', claimsDropped: { addresses: ['172.17.0.11', '172.17.0.12'] } },
    ];
    const { stdout } = await runWithFakeAllocator(
      { history: () => ({ position, events: ofAddress }) },
      'history',
      '172.17.0.11',
    );
    expect(stdout).to.match(/QuarantineLifted +- +the printer moved +/);
    expect(stdout).to.match(/AddressQuarantined +- +52:54:00:00:00:01 seen on node-2: a printer +/);
    expect(stdout).to.match(/AddressQuarantined +- +a device seen on node-2 +/);
    expect(stdout).to.match(/ReservationCancelled +- +no longer for vip\/web: moved +/);
    expect(stdout).to.match(/AddressReserved +- +for vip\/web: for the front +/);
    expect(stdout).to.match(/ClaimsDropped +- +idle for long, 2 keys deleted +/);
  });

  it('The output of ipledger history describes events about the ledger itself', async () => {
    const ofLedger: MessageInput<Event>[] = [
      { type: 'KeyRotated', keyRotated: { keyId: 'e709ebc9' } },
      { type: 'LedgerRestored', ledgerRestored: { epoch: 2, seq: 41, lostSeq: 57, reason: 'a backup' } },
      { type: 'LedgerRestored', ledgerRestored: { epoch: 3, seq: 60, reason: 'a backup' } },
      { type: 'SegmentSealed', segmentSealed: { from: 1, to: 20, archive: 'folder /archive' } },
    ];
    const { stdout } = await runWithFakeAllocator(
      { history: () => ({ position, events: ofLedger }) },
      'history',
      '172.17.0.11',
    );
    expect(stdout).to.contain('checkpoints are signed with key e709ebc9');
    expect(stdout).to.contain('epoch 2, restored up to event 41, at least events 42 to 57 are lost: a backup');
    expect(stdout).to.contain('epoch 3, restored up to event 60: a backup');
    expect(stdout).to.contain('events 1 to 20 are in folder /archive');
  });

  it('The output of ipledger history has only the events of one subnet with --subnet', async () => {
    let received: HistoryRequest | undefined;
    const history = (request: HistoryRequest) => {
      received = request;
      return { position, events: events.slice(0, 1) };
    };
    await runWithFakeAllocator({ history }, 'history', '172.17.0.11', '--subnet', 'macvlan');
    expect(received).to.include({ address: '172.17.0.11', subnet: 'macvlan', pageSize: 100 });
  });

  it('The output of ipledger history ends at --limit, and reports that older events are left out', async () => {
    const { stdout, stderr } = await runWithFakeAllocator(
      { history: readPage },
      'history',
      '172.17.0.11',
      '--limit',
      '3',
    );
    expect(stdout.split('\n').slice(1, -1)).to.have.length(3);
    expect(stderr).to.equal('older events are left out: raise --limit (3)\n');
    const json = await runWithFakeAllocator(
      { history: readPage },
      'history',
      '172.17.0.11',
      '--limit',
      '3',
      '-o',
      'json',
    );
    expect(JSON.parse(json.stdout)).to.have.property('more', true);
    expect(json.stderr).to.equal('');
  });

  it('The output of ipledger history has the field names of the API with -o json', async () => {
    const { stdout } = await runWithFakeAllocator({ history: readPage }, 'history', '172.17.0.11', '-o', 'json');
    const json = JSON.parse(stdout) as HistoryReply;
    expect(json).to.include({ more: false }).and.to.have.all.keys('position', 'events', 'more');
    expect(json.events.map(({ seq }) => seq)).to.deep.equal([9, 8, 7, 6, 5]);
    expect(json.events[0]?.addressReleased?.cause).to.equal('RELEASE_CAUSE_GARBAGE_COLLECTED');
  });

  it('The output of ipledger history has a row for an event of an unknown type', async () => {
    const history = () => ({ position, events: [{ seq: 3, type: 'AddressBlessed', at: at(3) }] });
    const { status, stdout } = await runWithFakeAllocator({ history }, 'history', '172.17.0.11');
    expect(status).to.equal(0);
    expect(stdout).to.match(/^3 +\S+ \S+ +AddressBlessed +- +- +-$/m);
  });

  it('The output of ipledger history escapes control characters, so that each row is one line', async () => {
    const evidence = 'line one\nline two\u001B[2J\u202Etxt';
    const released = { type: 'AddressReleased', addressReleased: { ...samplepod, evidence } };
    const { stdout } = await runWithFakeAllocator(
      { history: () => ({ position, events: [released] }) },
      'history',
      '172.17.0.11',
    );
    expect(stdout.split('\n')).to.have.length(3);
    expect(stdout).to.contain('line one line two [2J txt');
  });
});
