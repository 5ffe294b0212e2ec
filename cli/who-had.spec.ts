import { expect } from 'chai';
import type { HistoryRequest } from '../proto/ipledger.ts';
import { ask, at, life, position } from './specification.ts';

const history = () => ({ position, events: life, subnets: ['macvlan'] });

describe('ipledger who-had', () => {
  const whoHad = (when: string, ...args: string[]) =>
    ask({ history }, 'who-had', '172.17.0.100', '--at', when, ...args);

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
    expect((await whoHad('2020-01-01')).stdout).to.match(/before +nobody\n +after +default\/web-0 \(uid one\)/);
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
        return subnet === 'macvlan' ? history() : { position, events: [] };
      },
    };
    const { stdout } = await ask(answers, 'who-had', '172.17.0.100', '--at', '2026-11-17 14:20');
    expect(stdout)
      .to.match(/in subnet macvlan at .*\n {2}Pod/)
      .and.to.match(/in subnet other at .*: nobody had it/);
    expect(asked).to.deep.equal(['', 'macvlan', 'other']);
    asked.length = 0;
    await ask(answers, 'who-had', '172.17.0.100', '--subnet', 'other');
    expect(asked).to.deep.equal(['other']);
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
