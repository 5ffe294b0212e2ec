import { expect } from 'chai';
import { IpledgerError } from '../lib/errors.ts';
import type { Input } from '../proto/codec.ts';
import type { HistoryReply, HistoryRequest } from '../proto/ipledger.ts';
import { ask, at, event, life, position } from './specification.ts';

const history = () => ({ position, events: life, subnets: ['macvlan'] });
const getStatus = () => ({ position, oldestSeq: 1, oldestAt: at(1) });

describe('ipledger who-had', () => {
  const whoHad = (when: string, ...args: string[]) =>
    ask({ history, getStatus }, 'who-had', '172.17.0.100', '--at', when, ...args);

  it('says who, where, from when to when, why it was given and why it was lost', async () => {
    const { status, stdout, stderr } = await whoHad('2026-11-17 14:20');
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    expect(stdout).to.equal(
      [
        '172.17.0.100 in subnet macvlan at 2026-11-17 14:20:00',
        '  Pod         default/web-0 (uid one)',
        '  owner       StatefulSet/web (uid uid-of-web)',
        '  attachment  macvlan.default, MAC 00:00:00:53:6b:bb',
        '  node        node-a',
        '  container   c0ffeec0ffee, net1, from 2026-11-17 14:07:00 until 2026-11-17 14:31:00',
        '  from        2026-11-17 14:05:00, event 5 by ipledger://watcher',
        '  why given   static: it asked for this very address',
        '  until       2026-11-17 14:30:00, event 30 by ipledger://watcher',
        '  why lost    owner-deleted: web is gone',
        '',
      ].join('\n'),
    );
  });

  it('says so when nobody had it, whose container may still have answered, and who had it before and after', async () => {
    const { status, stdout } = await whoHad('2026-11-17T14:30:30Z', '--utc');
    expect(status).to.equal(4);
    expect(stdout).to.equal(
      [
        '172.17.0.100 in subnet macvlan at 2026-11-17 14:30:30Z: nobody had it',
        '  but     its last container may still have answered on it: c0ffeec0ffee, net1, from 2026-11-17 14:07:00Z until 2026-11-17 14:31:00Z on node node-a',
        '  before  default/web-0 (uid one), until 2026-11-17 14:30:00Z: owner-deleted: web is gone',
        '  after   default/web-0 (uid two), from 2026-11-17 14:40:00Z',
        '',
      ].join('\n'),
    );
    expect((await whoHad('2026-11-17 14:02')).stdout).to.match(/before +nobody\n +after +default\/web-0 \(uid one\)/);
  });

  it('does not say that nobody had it before the ledger began', async () => {
    expect(await whoHad('2020-01-01')).to.deep.equal({
      status: 1,
      stdout: '',
      stderr:
        'ipledger: the ledger begins at 2026-11-17 14:01:00, and does not know who had 172.17.0.100 at 2020-01-01 00:00:00\n',
    });
  });

  const never = {
    getStatus,
    history: ({ address }: HistoryRequest) => {
      if (address !== '') throw new IpledgerError('ADDRESS_UNKNOWN', `${address} was never used in any subnet`);
      return { position, events: [] };
    },
  };

  it('says that nobody had an address that was never used: the strayest of all', async () => {
    const told = await ask(never, 'who-had', '172.17.0.99', '--at', '2026-11-17 14:20');
    expect(told).to.deep.equal({
      status: 4,
      stdout: '172.17.0.99 at 2026-11-17 14:20:00: nobody had it\n  it was never used in any subnet\n',
      stderr: '',
    });
    const json = await ask(never, 'who-had', '172.17.0.99', '--subnet', 'lan', '-o', 'json');
    expect(json.status).to.equal(4);
    expect(JSON.parse(json.stdout)).to.deep.include({ position, address: '172.17.0.99', subnets: [] });
    const csv = await ask(never, 'who-had', '172.17.0.99', '-o', 'csv');
    expect(csv.stdout).to.match(/^subnet,address,.*\r\n$/);
    expect((await ask(never, 'who-had', '172.17.0.99', '--at', '2020-01-01')).status).to.equal(1);
  });

  it('keeps each fact in one line whatever the ledger quotes', async () => {
    const reason = 'line one\nline two\u001B[2J';
    const events = [event(5, { type: 'AddressQuarantined', addressQuarantined: { reason } })];
    const answers = { getStatus, history: () => ({ position, events, subnets: ['macvlan'] }) };
    const { stdout } = await ask(answers, 'who-had', '172.17.0.100', '--at', '2026-11-17 14:20');
    expect(stdout).to.match(/^ {2}quarantined {2}line one line two \[2J, from 2026-11-17 14:05:00$/m);
  });

  it('reads all that is known of the address, however long that is, and says how far it is', async () => {
    const reserved = event(1, { type: 'AddressReserved', addressReserved: { reservedFor: 'pod/default/web-0' } });
    const churn = (count: number) => Array.from({ length: count }, () => event(41, { addressBound: { alloc: 40 } }));
    const pages: Record<string, Input<HistoryReply>> = {
      '': { position, events: life.slice(0, 1), subnets: ['macvlan'], nextPageToken: '6' },
      ...Object.fromEntries(
        Array.from({ length: 6 }, (_, page) => [
          String(page + 1),
          { events: churn(1_000), nextPageToken: String(page) },
        ]),
      ),
      '0': { events: [...life, reserved] },
    };
    const answers = { history: ({ pageToken }: HistoryRequest) => pages[pageToken] ?? {} };
    const { status, stdout, stderr } = await ask(answers, 'who-had', '172.17.0.100', '--at', '2026-11-17 14:20');
    expect(status).to.equal(0);
    expect(stdout)
      .to.contain('Pod         default/web-0 (uid one)')
      .and.to.contain('reserved    for pod/default/web-0');
    expect(stderr).to.equal('5001 events of it read, back to 2026-11-17 14:41:00\n');
  });

  it('says what is not known where older events are sealed and not at hand, and refuses what only they tell', async () => {
    const answers = {
      getStatus,
      history: ({ pageToken }: HistoryRequest) => {
        if (pageToken === '') return { ...history(), events: life.slice(0, 4), nextPageToken: 'macvlan=5' };
        throw new IpledgerError('POSITION_GONE', 'event 5 is sealed and not in etcd any more');
      },
    };
    const asked = (when: string) => ask(answers, 'who-had', '172.17.0.100', '--at', `2026-11-17 ${when}`);
    const told = await asked('14:35');
    expect(told.status).to.equal(4);
    expect(told.stdout)
      .to.match(/before +not known\n/)
      .and.to.match(/not known +what happened before 2026-11-17 14:07:00, .* sealed\n$/);
    expect(await asked('14:20')).to.deep.equal({
      status: 1,
      stdout: '',
      stderr: 'ipledger: event 5 is sealed and not in etcd any more\n',
    });
  });

  it('says so of a time whose events were lost when a backup was restored', async () => {
    const restored = {
      seq: 31,
      at: at(36),
      type: 'LedgerRestored',
      ledgerRestored: { epoch: 2, seq: 30, lostSeq: 33 },
    };
    const answers = {
      getStatus,
      history: ({ address, until, pageToken }: HistoryRequest) => {
        if (address !== '') return { ...history(), position: { ...position, epoch: 2 } };
        if (pageToken !== '') return { events: [restored] };
        return { events: [event(30, { at: until < at(36) ? at(30) : at(40) })] };
      },
    };
    const { stderr } = await ask(answers, 'who-had', '172.17.0.100', '--at', '2026-11-17 14:33');
    expect(stderr).to.equal(
      'what happened between 2026-11-17 14:30:00 and 2026-11-17 14:36:00 is lost: etcd was restored from a backup; others may have had it then\n',
    );
    const { stdout } = await ask(answers, 'who-had', '172.17.0.100', '--at', '2026-11-17 14:33', '-o', 'json');
    expect(JSON.parse(stdout)).to.have.deep.property('lost', { from: at(30), until: at(36) });
  });

  it('writes an address as the ledger does, and times exactly where that is asked for', async () => {
    let asked = '';
    const answers = {
      getStatus,
      history: ({ address }: HistoryRequest) => {
        asked = address;
        return history();
      },
    };
    const { stdout } = await ask(answers, 'who-had', '2001:DB8:0:0::A', '--at', '2026-11-17 14:20', '-o', 'wide');
    expect(asked).to.equal('2001:db8::a');
    expect(stdout).to.match(/^2001:db8::a in subnet macvlan at 2026-11-17 14:20:00\.000\+00:00\n/);
    expect(stdout).to.contain('until       2026-11-17 14:30:00.000+00:00, event 30');
  });

  it('says so of who has it still', async () => {
    const { status, stdout } = await ask({ history }, 'who-had', '172.17.0.100');
    expect(status).to.equal(0);
    expect(stdout).to.match(/Pod +default\/web-0 \(uid two\)\n/);
    expect(stdout).to.match(/until +now: it still has it\n$/);
  });

  it('tells a program the same', async () => {
    const json = JSON.parse((await whoHad('2026-11-17 14:20', '-o', 'json')).stdout) as {
      at: string;
      subnets: { subnet: string; holder?: { podUid: string; until: string }; after?: { podUid: string } }[];
    };
    expect(json.at).to.equal(at(20));
    expect(json.subnets).to.have.length(1);
    expect(json.subnets[0]?.holder).to.include({ podUid: 'one', until: at(30) });
    expect(json.subnets[0]?.after?.podUid).to.equal('two');
    const [head, row] = (await whoHad('2026-11-17 14:20', '-o', 'csv')).stdout.split('\r\n');
    expect(head).to.equal('subnet,address,pod,uid,owner,node,containers,from,until,given,lost');
    expect(row).to.match(/^macvlan,172\.17\.0\.100,default\/web-0,one,StatefulSet\/web,node-a,/);
  });

  it('looks in each subnet that knows the address, and in the one that is named', async () => {
    const asked: string[] = [];
    const answers = {
      history: ({ subnet }: HistoryRequest) => {
        asked.push(subnet);
        if (subnet === '')
          return { position, events: life.slice(0, 1), subnets: ['macvlan', 'other'], nextPageToken: 'x' };
        return subnet === 'macvlan' ? history() : { position, events: [], subnets: [subnet] };
      },
    };
    const { stdout } = await ask(answers, 'who-had', '172.17.0.100', '--at', '2026-11-17 14:20');
    expect(stdout)
      .to.match(/in subnet macvlan at .*\n {2}Pod/)
      .and.to.match(/in subnet other at .*: nobody had it/);
    expect(asked).to.deep.equal(['', 'macvlan', 'other']);
    asked.length = 0;
    await ask({ ...answers, getStatus }, 'who-had', '172.17.0.100', '--subnet', 'other');
    expect(asked).to.deep.equal(['other', 'other']);
  });

  for (const [args, said] of [
    [['nowhere'], 'nowhere is no IP address'],
    [['::1', '--at', 'tea time'], '"tea time" is no time: write RFC 3339'],
    [['::1', '--at', '2999-01-01'], '--at 2999-01-01 is yet to come'],
  ] as const)
    it(`exits with 2 for ${args.join(' ')}`, async () => {
      const { status, stderr } = await ask({ history }, 'who-had', ...args);
      expect(status).to.equal(2);
      expect(stderr).to.contain(said);
    });
});
