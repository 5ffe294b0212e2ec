import { spawn } from 'node:child_process';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { IpledgerError } from '../lib/errors.ts';
import type { Input } from '../proto/codec.ts';
import {
  type Allocation,
  type Event,
  type HistoryReply,
  type HistoryRequest,
  IpamService,
  type ListReply,
  type ListRequest,
  type ListSubnetsReply,
} from '../proto/ipledger.ts';
import { serve } from '../test/grpc-server.ts';
import { allocatorThat, ask, environment, ipledger, run } from './specification.ts';

const position = { epoch: 1, seq: 42, hash: '5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9' };
const uid = '6c1d1f0a-8c5e-4d0b-9f3e-2b7f6a1c0d4e';
const attachment = { namespace: 'default', pod: 'samplepod', provider: 'macvlan.default', ordinal: 0 };

const twoSubnets = (): Input<ListSubnetsReply> => ({
  position,
  subnets: [
    {
      name: 'macvlan',
      spec: { cidrBlock: '172.17.0.0/16', gateway: '172.17.0.1', provider: 'macvlan.default', protocol: 'IPv4' },
      usage: [{ family: 4, total: '65523', inUse: '2', available: '65521' }],
    },
    {
      name: 'storage',
      spec: { cidrBlock: '10.20.0.0/24,fd00:20::/64', provider: 'storage.default', protocol: 'Dual' },
      usage: [
        { family: 4, total: '253', inUse: '253', available: '0' },
        { family: 6, total: '18446744073709551614', inUse: '1', available: '18446744073709551613' },
      ],
    },
  ],
});

describe('ipledger show', () => {
  it('shows how full the subnets are, family by family, and where the ledger stands', async () => {
    const { status, stdout, stderr } = await ask({ listSubnets: twoSubnets }, 'show');
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    expect(stdout).to.equal(
      [
        'SUBNET   PROVIDER         CIDR           IN USE  AVAILABLE',
        'macvlan  macvlan.default  172.17.0.0/16  2       65521',
        'storage  storage.default  10.20.0.0/24   253     0',
        'storage  storage.default  fd00:20::/64   1       18446744073709551613',
        '',
        'ledger at epoch 1, seq 42, hash 5feceb66ffc8',
        '',
      ].join('\n'),
    );
  });

  it('gives the reply under the names of the API as JSON, and the same as YAML', async () => {
    const json = JSON.parse((await ask({ listSubnets: twoSubnets }, 'show', '-o', 'json')).stdout) as ListSubnetsReply;
    expect(json.position).to.deep.equal(position);
    expect(json.subnets.map(({ name }) => name)).to.deep.equal(['macvlan', 'storage']);
    expect(json.subnets[0]?.usage[0]).to.include({ family: 4, inUse: '2', available: '65521' });
    expect(parse((await ask({ listSubnets: twoSubnets }, 'show', '-o', 'yaml')).stdout)).to.deep.equal(json);
  });

  it('says so when there is no subnet', async () => {
    const { status, stdout, stderr } = await ask({ listSubnets: () => ({ position }) }, 'show');
    expect(status).to.equal(0);
    expect(stdout).to.equal('ledger at epoch 1, seq 42, hash 5feceb66ffc8\n');
    expect(stderr).to.equal('no subnet is configured\n');
  });
});

const allocation: Input<Allocation> = {
  seq: 17,
  attachment,
  podUid: uid,
  node: 'node-a',
  subnet: 'macvlan',
  addresses: [{ address: '172.17.0.11', cidr: '172.17.0.0/16', gateway: '172.17.0.1' }],
  interface: 'net1',
  cause: 'ALLOCATION_CAUSE_DYNAMIC',
  at: '2026-11-17 14:05:00',
  bindings: [{ containerId: 'c0ffee', interface: 'net1', node: 'node-a' }],
};
const dualStack: Input<Allocation> = {
  seq: 18,
  attachment: { ...attachment, pod: 'other', provider: 'storage.default' },
  subnet: 'storage',
  addresses: [{ address: '10.20.0.5' }, { address: 'fd00:20::5' }],
  cause: 'ALLOCATION_CAUSE_STATIC',
  at: '2026-11-17 14:06:00',
};

describe('ipledger allocations', () => {
  it('shows who holds what', async () => {
    const list = () => ({ position, allocations: [allocation, dualStack] });
    const { status, stdout, stderr } = await ask({ list }, 'allocations');
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

  it('goes through all pages', async () => {
    const pages = new Map([
      ['', { position, allocations: [{ ...allocation, seq: 1 }], nextPageToken: 'second' }],
      ['second', { position, allocations: [{ ...allocation, seq: 2 }], nextPageToken: 'third' }],
      ['third', { position: { ...position, seq: 43 }, allocations: [{ ...allocation, seq: 3 }] }],
    ]);
    const list = ({ pageToken }: ListRequest): Input<ListReply> => pages.get(pageToken) ?? {};
    const { stdout } = await ask({ list }, 'allocations', '-o', 'json');
    const json = JSON.parse(stdout) as ListReply;
    expect(json.allocations.map(({ seq }) => seq)).to.deep.equal([1, 2, 3]);
    expect(json.position?.seq).to.equal(43);
    expect(json).to.have.all.keys('position', 'allocations');
  });

  it('asks for what the options say', async () => {
    let asked: ListRequest | undefined;
    const list = (request: ListRequest) => {
      asked = request;
      return { position };
    };
    const args = ['--subnet', 'macvlan', '-n', 'default', '--pod', 'samplepod', '--node', 'node-a'];
    const { status, stdout, stderr } = await ask({ list }, 'allocations', ...args);
    expect(asked).to.include({ subnet: 'macvlan', namespace: 'default', pod: 'samplepod', node: 'node-a' });
    expect({ status, stdout, stderr }).to.deep.equal({ status: 4, stdout: '', stderr: 'no allocations\n' });
  });

  it('ends quietly when the reader of its output has gone', async () => {
    const allocations = Array.from({ length: 1_000 }, () => allocation);
    await using server = await allocatorThat({ list: () => ({ position, allocations }) });
    const line = '{ "$0" allocations -o json; echo "status $?" >&2; } | true';
    const { stderr } = await run(['-c', line, ipledger], { IPLEDGER_ENDPOINT: server.endpoint }, '/bin/sh');
    expect(stderr).to.equal('status 0\n');
  });

  it('ends with the status of its answer also then, and says so where that cannot be written', async () => {
    await using server = await allocatorThat({ list: () => ({ position }) });
    const there = { IPLEDGER_ENDPOINT: server.endpoint };
    const none = '{ "$0" allocations -o json; echo "status $?" >&2; } | true';
    expect((await run(['-c', none, ipledger], there, '/bin/sh')).stderr).to.equal('status 4\n');
    const full = await run(['-c', '"$0" allocations -o json > /dev/full', ipledger], there, '/bin/sh');
    expect(full.status).to.equal(1);
    expect(full.stderr).to.match(/^ipledger: cannot write the answer: ENOSPC.*\n$/);
  });
});

const at = (minute: number) => `2026-11-17T14:0${minute}:00.000Z`;
const samplepod = { attachment, uid };
const lifeOfAnAddress: Input<Event>[] = [
  {
    type: 'AddressReleased',
    addressReleased: { ...samplepod, cause: 'RELEASE_CAUSE_GARBAGE_COLLECTED', evidence: 'node node-a is gone' },
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
const events = lifeOfAnAddress.map((event, index): Input<Event> => ({
  seq: 9 - index,
  at: at(9 - index),
  subnet: 'macvlan',
  actor: 'ipledger://watcher',
  ...event,
}));

/** As the allocator pages: the token is where to go on. */
const paged = ({ pageSize, pageToken }: HistoryRequest): Input<HistoryReply> => {
  const from = Number(pageToken || 0);
  const next = Math.min(from + Math.min(pageSize, 2), events.length);
  return { position, events: events.slice(from, next), nextPageToken: next < events.length ? String(next) : '' };
};

describe('ipledger history', () => {
  it('tells the life of an address, newest first', async () => {
    const { status, stdout, stderr } = await ask({ history: paged }, 'history', '172.17.0.11');
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    expect(stdout).to.equal(
      [
        'SEQ  TIME                 EVENT               POD                DETAIL                                        SUBNET',
        '9    2026-11-17 14:09:00  AddressReleased     default/samplepod  garbage-collected: node node-a is gone        macvlan',
        '8    2026-11-17 14:08:00  AddressUnbound      default/samplepod  node-deleted: net1 of container c0ffeec0ffee  macvlan',
        '7    2026-11-17 14:07:00  AddressBound        default/samplepod  net1 of container c0ffeec0ffee on node-a      macvlan',
        '6    2026-11-17 14:06:00  AddressTransferred  default/samplepod  from uid old                                  macvlan',
        '5    2026-11-17 14:05:00  AddressAllocated    default/samplepod  dynamic                                       macvlan',
        '',
      ].join('\n'),
    );
  });

  it('tells more of each event where there is room', async () => {
    const { stdout } = await ask({ history: paged }, 'history', '172.17.0.11', '-o', 'wide', '--limit', '1');
    expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).to.deep.equal([
      ['SEQ', 'TIME', 'EVENT', 'ADDRESS', 'POD', 'DETAIL', 'SUBNET', 'UID', 'PROVIDER', 'ACTOR', 'COMMAND'],
      [
        '9',
        '2026-11-17 14:09:00.000+00:00',
        'AddressReleased',
        '-',
        'default/samplepod',
        'garbage-collected: node node-a is gone',
        'macvlan',
        uid,
        'macvlan.default',
        'ipledger://watcher',
        '-',
      ],
      [''],
    ]);
  });

  it('gives CSV for programs: all columns, and times in UTC', async () => {
    const evidence = 'a "b", c';
    const released = { ...events[0], addressReleased: { ...samplepod, evidence } };
    const { stdout } = await ask({ history: () => ({ position, events: [released] }) }, 'history', '::1', '-o', 'csv');
    expect(stdout).to.equal(
      'seq,time,event,address,pod,detail,subnet,uid,provider,actor,command\r\n' +
        `9,2026-11-17T14:09:00.000Z,AddressReleased,,default/samplepod,"unspecified: a ""b"", c",macvlan,${uid},macvlan.default,ipledger://watcher,\r\n`,
    );
  });

  it('says of what happened without a Pod for whom, who was seen, and why', async () => {
    const told: Input<Event>[] = [
      { type: 'QuarantineLifted', quarantineLifted: { address: '172.17.0.11', reason: 'the printer moved' } },
      {
        type: 'AddressQuarantined',
        addressQuarantined: { seenMac: '52:54:00:00:00:01', seenAt: 'node-2', reason: 'a printer' },
      },
      { type: 'AddressQuarantined', addressQuarantined: { seenAt: 'node-2' } },
      { type: 'ReservationCancelled', reservationCancelled: { reservedFor: 'vip/web', reason: 'moved' } },
      { type: 'AddressReserved', addressReserved: { reservedFor: 'vip/web', reason: 'for the front' } },
    ];
    const { stdout } = await ask({ history: () => ({ position, events: told }) }, 'history', '172.17.0.11');
    expect(stdout).to.match(/QuarantineLifted +- +the printer moved +/);
    expect(stdout).to.match(/AddressQuarantined +- +52:54:00:00:00:01 seen at node-2: a printer +/);
    expect(stdout).to.match(/AddressQuarantined +- +somebody seen at node-2 +/);
    expect(stdout).to.match(/ReservationCancelled +- +no more for vip\/web: moved +/);
    expect(stdout).to.match(/AddressReserved +- +for vip\/web: for the front +/);
  });

  it('says what was done to the ledger itself', async () => {
    const told: Input<Event>[] = [
      { type: 'KeyRotated', keyRotated: { keyId: 'e709ebc9' } },
      { type: 'LedgerRestored', ledgerRestored: { epoch: 2, seq: 41, lostSeq: 57, reason: 'a backup' } },
      { type: 'LedgerRestored', ledgerRestored: { epoch: 3, seq: 60, reason: 'a backup' } },
      { type: 'SegmentSealed', segmentSealed: { from: 1, to: 20, archive: 'folder /archive' } },
    ];
    const { stdout } = await ask({ history: () => ({ position, events: told }) }, 'history', '172.17.0.11');
    expect(stdout).to.contain('checkpoints are signed with key e709ebc9');
    expect(stdout).to.contain('epoch 2, found to end at 41, events 42 to 57 at least are lost: a backup');
    expect(stdout).to.contain('epoch 3, found to end at 60: a backup');
    expect(stdout).to.contain('events 1 to 20 are in folder /archive');
  });

  it('asks for one subnet when told to', async () => {
    let asked: HistoryRequest | undefined;
    const history = (request: HistoryRequest) => {
      asked = request;
      return { position, events: events.slice(0, 1) };
    };
    await ask({ history }, 'history', '172.17.0.11', '--subnet', 'macvlan');
    expect(asked).to.include({ address: '172.17.0.11', subnet: 'macvlan', pageSize: 100 });
  });

  it('stops at --limit and says that there is more', async () => {
    const { stdout, stderr } = await ask({ history: paged }, 'history', '172.17.0.11', '--limit', '3');
    expect(stdout.split('\n').slice(1, -1)).to.have.length(3);
    expect(stderr).to.equal('older events are left out: --limit is 3\n');
    const json = await ask({ history: paged }, 'history', '172.17.0.11', '--limit', '3', '-o', 'json');
    expect(JSON.parse(json.stdout)).to.have.property('more', true);
    expect(json.stderr).to.equal('');
  });

  it('gives the events under the names of the API as JSON', async () => {
    const { stdout } = await ask({ history: paged }, 'history', '172.17.0.11', '-o', 'json');
    const json = JSON.parse(stdout) as HistoryReply;
    expect(json).to.include({ more: false }).and.to.have.all.keys('position', 'events', 'more');
    expect(json.events.map(({ seq }) => seq)).to.deep.equal([9, 8, 7, 6, 5]);
    expect(json.events[0]?.addressReleased?.cause).to.equal('RELEASE_CAUSE_GARBAGE_COLLECTED');
  });

  it('shows an event of a kind that it does not know', async () => {
    const history = () => ({ position, events: [{ seq: 3, type: 'AddressBlessed', at: at(3) }] });
    const { status, stdout } = await ask({ history }, 'history', '172.17.0.11');
    expect(status).to.equal(0);
    expect(stdout).to.match(/^3 +\S+ \S+ +AddressBlessed +- +- +-$/m);
  });

  it('keeps a row in one line whatever the ledger quotes', async () => {
    const evidence = 'line one\nline two\u001B[2J\u202Etxt';
    const released = { type: 'AddressReleased', addressReleased: { ...samplepod, evidence } };
    const { stdout } = await ask({ history: () => ({ position, events: [released] }) }, 'history', '172.17.0.11');
    expect(stdout.split('\n')).to.have.length(3);
    expect(stdout).to.contain('line one line two [2J txt');
  });
});

describe('ipledger, when it cannot do what it was asked,', () => {
  it('exits with 1 and the sentence of the allocator that refuses', async () => {
    const history = () => {
      throw new IpledgerError('POSITION_GONE', 'event 7 is sealed,\nand no archive is at hand\u001B[2J');
    };
    const ended = await ask({ history }, 'history', '172.17.0.99');
    expect(ended).to.deep.equal({
      status: 1,
      stdout: '',
      stderr: 'ipledger: event 7 is sealed,; and no archive is at hand [2J\n',
    });
  });

  it('exits with 1 when the allocator answers that it cannot say now', async () => {
    const list = () => {
      throw new IpledgerError('UNAVAILABLE', 'etcd does not answer');
    };
    const ended = await ask({ list }, 'allocations');
    expect(ended).to.deep.equal({ status: 1, stdout: '', stderr: 'ipledger: etcd does not answer\n' });
  });

  it('exits with 3 when no allocator is there, and says where it looked', async () => {
    const server = await serve();
    await server[Symbol.asyncDispose]();
    const ended = await run(['show'], { IPLEDGER_ENDPOINT: server.endpoint });
    expect(ended).to.deep.equal({
      status: 3,
      stdout: '',
      stderr:
        `ipledger: cannot reach the allocator at ${server.endpoint} (connect ECONNREFUSED ${server.endpoint}): ` +
        'is it running? IPLEDGER_ENDPOINT or --allocator say where\n',
    });
  });

  const somewhere = { IPLEDGER_ENDPOINT: '127.0.0.1:1' };
  const wrongUsage: [string, string[], Record<string, string>, string][] = [
    ['no verb', [], somewhere, 'Usage: ipledger [options] [command]'],
    ['a verb that does not exist', ['shw'], somewhere, "ipledger: unknown command 'shw'"],
    ['no allocator', ['show'], { IPLEDGER_ENDPOINT: '' }, 'ipledger: IPLEDGER_ENDPOINT is empty'],
    [
      'an unknown format',
      ['show', '-o', 'xml'],
      somewhere,
      "ipledger: option '-o, --output <format>' argument 'xml' is",
    ],
    ['no address', ['history'], somewhere, "ipledger: missing required argument 'subject'"],
    ['a limit that is no number', ['history', '::1', '--limit', 'all'], somewhere, "argument 'all' is invalid"],
    [
      'a time that ends before it begins',
      ['history', 'all', '--since', '2026-11-17 15:00', '--until', '2026-11-17 14:00'],
      somewhere,
      'ipledger: --until 2026-11-17 14:00 is not after --since 2026-11-17 15:00',
    ],
    ['a limit of nothing', ['history', '::1', '--limit', '0'], somewhere, 'It is a number from 1 to 1000000'],
    ['half of the TLS files', ['show'], { ...somewhere, IPLEDGER_TLS_CA: 'ca.pem' }, 'set all three for TLS'],
  ];
  for (const [what, args, added, said] of wrongUsage)
    it(`exits with 2 for ${what}`, async () => {
      const { status, stdout, stderr } = await run(args, added);
      expect({ status, stdout }).to.deep.equal({ status: 2, stdout: '' });
      expect(stderr).to.contain(said);
    });

  it('exits with 130 on Ctrl-C, without a word', async () => {
    const asked = Promise.withResolvers<void>();
    await using server = await serve([IpamService, { list: () => asked.resolve() }]);
    const child = spawn(ipledger, ['allocations'], { env: environment({ IPLEDGER_ENDPOINT: server.endpoint }) });
    let said = '';
    child.stderr.on('data', (text: Buffer) => (said += text.toString()));
    const ended = new Promise((resolve) => child.once('close', (status) => resolve(status)));
    await asked.promise;
    child.kill('SIGINT');
    expect(await ended).to.equal(130);
    expect(said).to.equal('');
  });
});

describe('the ipledger command', () => {
  it('prints its help and its version', async () => {
    const help = await run(['--help']);
    expect(help.status).to.equal(0);
    expect(help.stdout).to.contain('allocations').and.to.contain('Exit status');
    const version = await run(['--version']);
    expect(version.status).to.equal(0);
    expect(version.stdout).to.match(/^\d+\.\d+\.\d+\n$/);
  });

  it('runs through links from elsewhere, with the Node of its own folder', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ipledger-cli-'));
    try {
      await symlink(ipledger, join(folder, 'first'));
      await symlink('first', join(folder, 'second'));
      const ended = await run(['--version'], { PATH: '/usr/bin:/bin' }, join(folder, 'second'));
      expect(ended.status).to.equal(0);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
