import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import type { MessageInput } from '../../../proto/codec.ts';
import type { HistoryReply, HistoryRequest } from '../../../proto/generated/ipledger.ts';
import { runWithFakeAllocator } from '../../testing/fake-allocator.ts';
import { at, event, addressEvents, position } from '../../testing/address-events.fixture.ts';

const history = () => ({ position, events: addressEvents, subnets: ['macvlan'] });
const getStatus = () => ({ position, oldestSeq: 1, oldestAt: at(1) });

describe('ipledger who-had', () => {
  const whoHad = (time: string, ...args: string[]) =>
    runWithFakeAllocator({ history, getStatus }, 'who-had', '172.17.0.100', '--at', time, ...args);

  it('metallb-161 prints the holder, its node, the period, and the causes of allocation and release', async () => {
    const { status, stdout, stderr } = await whoHad('2026-11-17 14:20');
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    expect(stdout).to.equal(
      [
        '172.17.0.100 in subnet macvlan at 2026-11-17 14:20:00',
        '  Pod                default/web-0 (uid one)',
        '  owner              StatefulSet/web (uid uid-of-web)',
        '  attachment         macvlan.default, MAC 00:00:00:53:6b:bb',
        '  node               node-a',
        '  container          c0ffeec0ffee, net1, from 2026-11-17 14:07:00 until 2026-11-17 14:31:00',
        '  from               2026-11-17 14:05:00, event 5 by ipledger://watcher',
        '  allocated because  static: the Pod requested this address',
        '  until              2026-11-17 14:30:00, event 30 by ipledger://watcher',
        '  released because   owner-deleted: web was deleted',
        '',
      ].join('\n'),
    );
  });

  it('ipledger who-had exits with 4 in a gap, and prints the lingering binding and the Pods before and after', async () => {
    const { status, stdout } = await whoHad('2026-11-17T14:30:30Z', '--utc');
    expect(status).to.equal(4);
    expect(stdout).to.equal(
      [
        '172.17.0.100 in subnet macvlan at 2026-11-17 14:30:30Z: no holder',
        '  but     its last container may still have answered on it: c0ffeec0ffee, net1, from 2026-11-17 14:07:00Z until 2026-11-17 14:31:00Z on node node-a',
        '  before  default/web-0 (uid one), until 2026-11-17 14:30:00Z: owner-deleted: web was deleted',
        '  after   default/web-0 (uid two), from 2026-11-17 14:40:00Z',
        '',
      ].join('\n'),
    );
    expect((await whoHad('2026-11-17 14:02')).stdout).to.match(/before +no Pod\n +after +default\/web-0 \(uid one\)/);
  });

  it('ipledger who-had takes --at as a time of the clock here where ledger time is ahead, and states that', async () => {
    const later = (time: string): string => new Date(Date.parse(time) + 7_200_000).toISOString();
    const events = addressEvents.map((each) => {
      const clock = each.at ?? '';
      return { ...each, at: later(clock), stored: JSON.stringify({ at: later(clock), clock }) };
    });
    const ahead = {
      history: () => ({ position, events, subnets: ['macvlan'] }),
      getStatus: () => ({ ...getStatus(), ledgerTime: later(new Date().toISOString()) }),
    };
    const args = ['who-had', '172.17.0.100', '--at', '2026-11-17 14:20'];
    const { status, stdout, stderr } = await runWithFakeAllocator(ahead, ...args);
    expect([status, stdout]).to.deep.equal([0, (await whoHad('2026-11-17 14:20')).stdout]);
    expect(stderr).to.equal(
      'ledger time is 2 h ahead of the clock here: --at and the times of this answer are of the clock, and other verbs show ledger time\n',
    );
  });

  it('ipledger who-had rejects a time before the first event', async () => {
    expect(await whoHad('2020-01-01')).to.deep.equal({
      status: 1,
      stdout: '',
      stderr:
        'ipledger: the ledger starts at 2026-11-17 14:01:00 and has no data about 172.17.0.100 at 2020-01-01 00:00:00: use a later --at\n',
    });
  });

  const neverUsed = {
    getStatus,
    history: ({ address }: HistoryRequest) => {
      if (address !== '') throw new IpledgerError('ADDRESS_UNKNOWN', `${address} was never used in any subnet`);
      return { position, events: [] };
    },
  };

  it('ipledger who-had exits with 4 for an address that was never used', async () => {
    const result = await runWithFakeAllocator(neverUsed, 'who-had', '172.17.0.99', '--at', '2026-11-17 14:20');
    expect(result).to.deep.equal({
      status: 4,
      stdout: '172.17.0.99 at 2026-11-17 14:20:00: no holder\n  it was never used in any subnet\n',
      stderr: '',
    });
    const json = await runWithFakeAllocator(neverUsed, 'who-had', '172.17.0.99', '--subnet', 'lan', '-o', 'json');
    expect(json.status).to.equal(4);
    expect(JSON.parse(json.stdout)).to.deep.include({ position, address: '172.17.0.99', subnets: [] });
    const csv = await runWithFakeAllocator(neverUsed, 'who-had', '172.17.0.99', '-o', 'csv');
    expect(csv.stdout).to.match(/^subnet,address,.*\r\n$/);
    expect((await runWithFakeAllocator(neverUsed, 'who-had', '172.17.0.99', '--at', '2020-01-01')).status).to.equal(1);
  });

  it('ipledger who-had escapes control characters, so that each fact is one line', async () => {
    const reason = 'line one\nline two\u001B[2J';
    const events = [event(5, { type: 'AddressQuarantined', addressQuarantined: { reason } })];
    const replies = { getStatus, history: () => ({ position, events, subnets: ['macvlan'] }) };
    const { stdout } = await runWithFakeAllocator(replies, 'who-had', '172.17.0.100', '--at', '2026-11-17 14:20');
    expect(stdout).to.match(/^ {2}quarantined {2}line one line two \[2J, from 2026-11-17 14:05:00$/m);
  });

  it('ipledger who-had reads the complete history of the address, and prints progress', async () => {
    const reserved = event(1, { type: 'AddressReserved', addressReserved: { reservedFor: 'pod/default/web-0' } });
    const churn = (count: number) => Array.from({ length: count }, () => event(41, { addressBound: { alloc: 40 } }));
    const pages: Record<string, MessageInput<HistoryReply>> = {
      '': { position, events: addressEvents.slice(0, 1), subnets: ['macvlan'], nextPageToken: '6' },
      ...Object.fromEntries(
        Array.from({ length: 6 }, (_, page) => [
          String(page + 1),
          { events: churn(1_000), nextPageToken: String(page) },
        ]),
      ),
      '0': { events: [...addressEvents, reserved] },
    };
    const replies = { history: ({ pageToken }: HistoryRequest) => pages[pageToken] ?? {} };
    const { status, stdout, stderr } = await runWithFakeAllocator(
      replies,
      'who-had',
      '172.17.0.100',
      '--at',
      '2026-11-17 14:20',
    );
    expect(status).to.equal(0);
    expect(stdout)
      .to.contain('Pod                default/web-0 (uid one)')
      .and.to.contain('reserved           for pod/default/web-0');
    expect(stderr).to.equal('5001 events read, back to 2026-11-17 14:41:00\n');
  });

  it('ipledger who-had names the Pod that has the address since before the history, and fails for an instant before that', async () => {
    const attachment = { namespace: 'default', pod: 'db-0', provider: 'macvlan.default', ordinal: 0 };
    const binding = { containerId: 'c'.repeat(64), interface: 'net1', node: 'node-1', bootId: 'b', at: at(3) };
    const allocation = { seq: 5, attachment, podUid: 'uid-db', node: 'node-1', subnet: 'macvlan', at: at(2) };
    const replies = {
      getStatus,
      getAddress: () => ({ record: { allocation, bindings: [binding] } }),
      history: ({ pageToken }: HistoryRequest) => {
        if (pageToken === '') return { ...history(), events: [], nextPageToken: 'macvlan=5' };
        throw new IpledgerError('POSITION_GONE', 'the history begins with event 900');
      },
    };
    const runAt = (time: string) =>
      runWithFakeAllocator(replies, 'who-had', '172.17.0.100', '--at', `2026-11-17 ${time}`);
    const found = await runAt('14:05');
    expect(found.stdout)
      .to.match(/Pod +default\/db-0 \(uid uid-db\)\n/)
      .and.to.match(/container +cccccccccccc, net1, from .* and still bound\n/)
      .and.to.match(/until +now: still allocated\n/);
    expect(found.status).to.equal(0);
    expect(await runAt('14:01')).to.include({ status: 1, stderr: 'ipledger: the history begins with event 900\n' });
  });

  it('ipledger who-had reports that older events are unavailable, and fails if they decide the answer', async () => {
    const replies = {
      getStatus,
      getAddress: () => ({ record: { subnet: 'macvlan', address: '172.17.0.100' } }),
      history: ({ pageToken }: HistoryRequest) => {
        if (pageToken === '') return { ...history(), events: addressEvents.slice(0, 4), nextPageToken: 'macvlan=5' };
        throw new IpledgerError('POSITION_GONE', 'event 5 is sealed and no longer in etcd');
      },
    };
    const runAt = (time: string) =>
      runWithFakeAllocator(replies, 'who-had', '172.17.0.100', '--at', `2026-11-17 ${time}`);
    const gap = await runAt('14:35');
    expect(gap.status).to.equal(4);
    expect(gap.stdout)
      .to.match(/before +unknown\n/)
      .and.to.match(/unknown +events before 2026-11-17 14:07:00, .* sealed, and no archive is available\n$/);
    expect(await runAt('14:20')).to.deep.equal({
      status: 1,
      stdout: '',
      stderr: 'ipledger: event 5 is sealed and no longer in etcd\n',
    });
  });

  it('ipledger who-had reports a lost period that contains the time', async () => {
    const restored = {
      seq: 31,
      at: at(36),
      type: 'LedgerRestored',
      ledgerRestored: { epoch: 2, seq: 30, lostSeq: 33 },
    };
    const replies = {
      getStatus,
      history: ({ address, until, pageToken }: HistoryRequest) => {
        if (address !== '') return { ...history(), position: { ...position, epoch: 2 } };
        if (pageToken !== '') return { events: [restored] };
        return { events: [event(30, { at: until < at(36) ? at(30) : at(40) })] };
      },
    };
    const { stderr } = await runWithFakeAllocator(replies, 'who-had', '172.17.0.100', '--at', '2026-11-17 14:33');
    expect(stderr).to.equal(
      'events between 2026-11-17 14:30:00 and 2026-11-17 14:36:00 are lost: etcd was restored from a backup; another Pod may have had the address\n',
    );
    const { stdout } = await runWithFakeAllocator(
      replies,
      'who-had',
      '172.17.0.100',
      '--at',
      '2026-11-17 14:33',
      '-o',
      'json',
    );
    expect(JSON.parse(stdout)).to.have.deep.property('lostPeriod', { from: at(30), until: at(36) });
  });

  it('ipledger who-had uses the canonical spelling of an address, and exact times with -o wide', async () => {
    let requested = '';
    const replies = {
      getStatus,
      history: ({ address }: HistoryRequest) => {
        requested = address;
        return history();
      },
    };
    const { stdout } = await runWithFakeAllocator(
      replies,
      'who-had',
      '2001:DB8:0:0::A',
      '--at',
      '2026-11-17 14:20',
      '-o',
      'wide',
    );
    expect(requested).to.equal('2001:db8::a');
    expect(stdout).to.match(/^2001:db8::a in subnet macvlan at 2026-11-17 14:20:00\.000\+00:00\n/);
    expect(stdout).to.contain('until              2026-11-17 14:30:00.000+00:00, event 30');
  });

  it('ipledger who-had reports a current holder', async () => {
    const { status, stdout } = await runWithFakeAllocator({ history }, 'who-had', '172.17.0.100');
    expect(status).to.equal(0);
    expect(stdout).to.match(/Pod +default\/web-0 \(uid two\)\n/);
    expect(stdout).to.match(/until +now: still allocated\n$/);
  });

  it('ipledger who-had prints JSON and CSV', async () => {
    const json = JSON.parse((await whoHad('2026-11-17 14:20', '-o', 'json')).stdout) as {
      at: string;
      subnets: { subnet: string; holder?: { podUid: string; until: string }; after?: { podUid: string } }[];
    };
    expect(json.at).to.equal(at(20));
    expect(json.subnets).to.have.length(1);
    expect(json.subnets[0]?.holder).to.include({ podUid: 'one', until: at(30) });
    expect(json.subnets[0]?.after?.podUid).to.equal('two');
    const [header, row] = (await whoHad('2026-11-17 14:20', '-o', 'csv')).stdout.split('\r\n');
    expect(header).to.equal(
      'subnet,address,pod,uid,owner,node,containers,from,until,allocated_because,released_because',
    );
    expect(row).to.match(/^macvlan,172\.17\.0\.100,default\/web-0,one,StatefulSet\/web,node-a,/);
  });

  it('ipledger who-had searches each subnet with a record of the address, or the named subnet', async () => {
    const requested: string[] = [];
    const replies = {
      history: ({ subnet }: HistoryRequest) => {
        requested.push(subnet);
        if (subnet === '')
          return { position, events: addressEvents.slice(0, 1), subnets: ['macvlan', 'other'], nextPageToken: 'x' };
        return subnet === 'macvlan' ? history() : { position, events: [], subnets: [subnet] };
      },
    };
    const { stdout } = await runWithFakeAllocator(replies, 'who-had', '172.17.0.100', '--at', '2026-11-17 14:20');
    expect(stdout)
      .to.match(/in subnet macvlan at .*\n {2}Pod/)
      .and.to.match(/in subnet other at .*: no holder/);
    expect(requested).to.deep.equal(['', 'macvlan', 'other']);
    requested.length = 0;
    await runWithFakeAllocator({ ...replies, getStatus }, 'who-had', '172.17.0.100', '--subnet', 'other');
    expect(requested).to.deep.equal(['other', 'other']);
  });

  for (const [args, message] of [
    [['nowhere'], 'nowhere is not an IP address'],
    [['::1', '--at', 'tea time'], '"tea time" is not a time: use RFC 3339'],
    [['::1', '--at', '2999-01-01'], '--at 2999-01-01 is in the future'],
  ] as const)
    it(`ipledger who-had exits with 2 for ${args.join(' ')}`, async () => {
      const { status, stderr } = await runWithFakeAllocator({ history }, 'who-had', ...args);
      expect(status).to.equal(2);
      expect(stderr).to.contain(message);
    });
});
