import { spawn } from 'node:child_process';
import { expect } from 'chai';
import { IpledgerError } from '../lib/errors.ts';
import type { Input } from '../proto/codec.ts';
import type { AddressRecord, DiffRequest, HistoryRequest, StateAtRequest } from '../proto/ipledger.ts';
import { allocatorThat, ask, at, attachment, environment, ipledger, owner, position } from './specification.ts';

const allocation = { attachment, podUid: 'one', node: 'node-a', owner, at: at(5), mac: '00:00:00:53:6b:bb' };
const held: Input<AddressRecord> = {
  subnet: 'macvlan',
  address: '172.17.0.100',
  state: 'bound',
  allocation,
  lastSeq: 7,
};
const kept: Input<AddressRecord> = {
  subnet: 'macvlan',
  address: '172.17.0.101',
  state: 'reserved',
  reservation: { reservedFor: 'vip/web', at: at(1) },
  lastSeq: 1,
};

const history = () => ({ position, events: [] });

/** A backup that ended with event 7 was restored; a container went while the ledger was frozen, and it went on with event 9. */
const restoredBehind7 = ({ pageToken, pageSize }: HistoryRequest) => ({
  position: { ...position, epoch: 2 },
  events: [
    { seq: 9, at: at(30), ledgerRestored: { epoch: 2, seq: 7 } },
    { seq: 8, at: at(25) },
    { seq: 7, at: at(7) },
  ]
    .filter(({ seq }) => seq <= Number(pageToken))
    .slice(0, pageSize),
});
const lostSentence =
  'what happened between 2026-11-17 14:07:00 and 2026-11-17 14:30:00 is lost: etcd was restored from a backup\n';

describe('ipledger state', () => {
  it('shows the address map as it was', async () => {
    const asked: StateAtRequest[] = [];
    const place = { position: { ...position, seq: 7 }, at: at(7) };
    const stateAt = (request: StateAtRequest) => {
      asked.push(request);
      return [
        {},
        { ...place, subnets: [{ name: 'macvlan' }] },
        { ...place, records: [held] },
        { ...place, records: [kept] },
      ];
    };
    const { status, stdout } = await ask(
      { stateAt, history },
      'state',
      '--at',
      '2026-11-17 14:20',
      '--subnet',
      'macvlan',
    );
    expect(status).to.equal(0);
    expect(stdout).to.equal(
      [
        'SUBNET   ADDRESS       STATE     FOR            NODE    SINCE',
        'macvlan  172.17.0.100  bound     default/web-0  node-a  2026-11-17 14:05:00',
        'macvlan  172.17.0.101  reserved  vip/web        -       2026-11-17 14:01:00',
        '',
        'as of event 7, which happened at 2026-11-17 14:07:00',
        '',
      ].join('\n'),
    );
    expect(asked[0]).to.deep.equal({ moment: { seq: 0, at: at(20) }, subnet: 'macvlan' });
    const json = await ask({ stateAt }, 'state', '--at', '7', '-o', 'json');
    expect(JSON.parse(json.stdout)).to.have.nested.property('records[1].address', '172.17.0.101');
    expect(asked[1]?.moment).to.deep.equal({ seq: 7, at: '' });
  });

  it('says so of a time whose events were lost when a backup was restored', async () => {
    const stateAt = () => [{ position: { ...position, seq: 7 }, at: at(7), records: [held] }];
    const answers = { stateAt, history: restoredBehind7 };
    const { stdout } = await ask(answers, 'state', '--at', '2026-11-17 14:20');
    expect(stdout).to.match(new RegExp(`\nas of event 7, .*\n${lostSentence}$`));
    const frozen = () => [{ position: { ...position, seq: 8 }, at: at(25), records: [held] }];
    const later = await ask({ ...answers, stateAt: frozen }, 'state', '--at', '2026-11-17 14:27');
    expect(later.stdout).to.match(new RegExp(`\nas of event 8, .*\n${lostSentence}$`));
    const before = () => [{ position: { ...position, seq: 6 }, at: at(6), records: [held] }];
    const earlier = await ask({ ...answers, stateAt: before }, 'state', '--at', '2026-11-17 14:06');
    expect(earlier.stdout).to.not.contain('lost');
    expect((await ask(answers, 'state', '--at', '7')).stdout).to.not.contain('lost');
  });

  it('exits with 4 when nobody had an address', async () => {
    const stateAt = () => [{ position: { ...position, seq: 1 }, at: at(1) }];
    const ended = await ask({ stateAt, history }, 'state', '--at', '2026-11-17 14:20');
    expect(ended).to.deep.equal({
      status: 4,
      stdout: 'as of event 1, which happened at 2026-11-17 14:01:00\n',
      stderr: 'nobody had an address then\n',
    });
  });

  it('does not say that nobody had one before the ledger began', async () => {
    const stateAt = () => [{ position: { epoch: 1, seq: 0, hash: '' } }];
    const getStatus = () => ({ position, oldestSeq: 1, oldestAt: at(1) });
    expect(await ask({ stateAt, getStatus }, 'state', '--at', '2020-01-01')).to.deep.equal({
      status: 1,
      stdout: '',
      stderr: 'ipledger: the ledger begins at 2026-11-17 14:01:00, and does not know who had which address before\n',
    });
  });

  it('says so of a subnet that was not there', async () => {
    const stateAt = () => [{ position, at: at(42) }];
    const { status, stderr } = await ask({ stateAt }, 'state', '--subnet', 'nosuch');
    expect({ status, stderr }).to.deep.equal({ status: 4, stderr: 'there was no subnet nosuch then\n' });
  });

  it('shows nothing when it is interrupted, rather than half of it', async () => {
    const place = { position: { ...position, seq: 7 }, at: at(7) };
    const stateAt = function* () {
      yield { ...place, records: [held] };
      child.kill('SIGINT');
    };
    await using server = await allocatorThat({ stateAt: () => stateAt(), endless: true });
    const child = spawn(ipledger, ['state'], { env: environment({ IPLEDGER_ENDPOINT: server.endpoint }) });
    let said = '';
    child.stdout.on('data', (text: Buffer) => (said += text.toString()));
    expect(await new Promise((resolve) => child.once('close', resolve))).to.equal(130);
    expect(said).to.equal('');
  });

  it('exits with 1 and the sentence of the allocator that refuses', async () => {
    const stateAt = () => {
      throw new IpledgerError('POSITION_GONE', 'event 99 is beyond the ledger, whose last event is 42');
    };
    expect(await ask({ stateAt }, 'state', '--at', '99')).to.include({
      status: 1,
      stderr: 'ipledger: event 99 is beyond the ledger, whose last event is 42\n',
    });
  });
});

describe('ipledger diff', () => {
  const places = { from: { ...position, seq: 3 }, to: position, fromAt: at(3), toAt: at(42) };

  it('shows what changed', async () => {
    let asked: DiffRequest | undefined;
    const diff = (request: DiffRequest) => {
      asked = request;
      const addresses = [{ before: { ...held, state: 'fresh', allocation: undefined }, after: held }];
      const subnets = [
        { name: 'tiny', after: { cidrBlock: '10.0.0.0/30', provider: 'tiny.default', excludeIps: ['10.0.0.1'] } },
      ];
      const pools = [{ name: 'front', before: { subnet: 'tiny', ips: ['10.0.0.2'] } }];
      return [{}, { ...places, subnets, pools }, { ...places, addresses }];
    };
    const { status, stdout } = await ask({ diff, history }, 'diff', '--from', '3', '--to', '2026-11-17 14:42');
    expect(status).to.equal(0);
    expect(stdout).to.equal(
      [
        'SUBNET   ADDRESS       BEFORE                AFTER',
        'tiny     -             no subnet             subnet 10.0.0.0/30, provider tiny.default, without 10.0.0.1',
        'tiny     -             pool front: 10.0.0.2  no pool front',
        'macvlan  172.17.0.100  fresh                 bound default/web-0 on node-a',
        '',
        'from: as of event 3, which happened at 2026-11-17 14:03:00',
        'to:   as of event 42, which happened at 2026-11-17 14:42:00',
        '',
      ].join('\n'),
    );
    expect(asked).to.deep.equal({ from: { seq: 3, at: '' }, to: { seq: 0, at: at(42) }, subnet: '' });
  });

  it('shows of a configuration what was changed, and only that', async () => {
    const spec = { cidrBlock: '10.0.0.0/24', provider: 'tiny.default', gateway: '10.0.0.1' };
    const subnets = [
      { name: 'gone', before: spec },
      { name: 'tiny', before: spec, after: { ...spec, gateway: '10.0.0.9', excludeIps: ['10.0.0.5', '10.0.0.6'] } },
    ];
    const ips = ['10.0.0.2'];
    const pools = [
      { name: 'front', before: { subnet: 'tiny', ips }, after: { subnet: 'tiny', ips, namespaces: ['a'] } },
    ];
    const { stdout } = await ask({ diff: () => [{ ...places, subnets, pools }] }, 'diff', '--from', '3');
    const rows = stdout.split('\n').slice(1, 4);
    expect(rows.map((row) => row.split(/ {2,}/).slice(2))).to.deep.equal([
      ['subnet 10.0.0.0/24, provider tiny.default', 'no subnet'],
      ['excludeIps -, gateway 10.0.0.1', 'excludeIps 10.0.0.5 10.0.0.6, gateway 10.0.0.9'],
      ['pool front: namespaces -', 'pool front: namespaces a'],
    ]);
  });

  it('says so where one of the two is a time whose events were lost', async () => {
    const diff = () => [{ ...places, to: { ...position, seq: 7 }, toAt: at(7) }];
    const { stdout } = await ask({ diff, history: restoredBehind7 }, 'diff', '--from', '3', '--to', '2026-11-17 14:20');
    expect(stdout).to.match(new RegExp(`^from: .*\nto: .*\n${lostSentence}$`));
  });

  it('exits with 4 when nothing did', async () => {
    const { status, stderr } = await ask({ diff: () => [places] }, 'diff', '--from', '3');
    expect({ status, stderr }).to.deep.equal({ status: 4, stderr: 'nothing changed\n' });
  });
});
