/** What operators do by hand, on a real ledger, each with a certificate of their own. */
import { join } from 'node:path';
import { expect } from 'chai';
import { call, connect, type Connection } from '../../lib/rpc.ts';
import { openTls } from '../../lib/tls.ts';
import type { Input, Method } from '../../proto/codec.ts';
import { IpamService, SubnetsService } from '../../proto/ipledger.ts';
import { certificateFolder, makeCertificates } from '../harness/certificates.ts';
import type { CommandResult } from '../harness/command.ts';
import type { Etcd } from '../harness/etcd.ts';
import { openRun, type Run } from '../harness/run.ts';
import { type Allocator, ipledger } from '../harness/services.ts';
import { startLedger } from '../harness/stack.ts';

describe('operations by hand', function () {
  this.timeout(120_000);
  let run: Run;
  let etcd: Etcd;
  let allocator: Allocator;
  let connection: Connection;
  /** The agent's of node-1. */
  let agent: Connection;
  let operate: (...args: string[]) => Promise<CommandResult>;

  before(async () => {
    run = openRun();
    const folder = join(run.folder, 'certificates');
    await makeCertificates({ folder, allocators: ['allocator'], nodes: ['node-1'], operators: ['anna'] });
    const certificates = certificateFolder(folder);
    [etcd, allocator] = await startLedger(run, certificates);
    operate = (...args) => ipledger(args, { allocator, tls: certificates.operator('anna') });
    connection = connect(allocator.endpoint, openTls(certificates.watcher));
    agent = connect(allocator.endpoint, openTls(certificates.agent('node-1')));
    for (const [name, cidrBlock] of Object.entries({
      lan: '10.0.0.0/24',
      lab: '10.0.0.0/16',
      dual: '10.9.0.0/24,fd00::/64',
    }))
      await ask(SubnetsService.applySubnet, { name, spec: { cidrBlock, provider: `${name}.default` } });
  });
  after(async () => {
    connection?.close();
    agent?.close();
    await run?.end();
  });

  const ask = <Request, Reply>(method: Method<Request, Reply, 'unary'>, request: Input<Request>): Promise<Reply> =>
    call(connection, method, request, { timeoutMs: 20_000 });

  async function allocate(name: string, address: string, subnet = 'lan'): Promise<void> {
    const attachments = [{ provider: `${subnet}.default`, subnets: [subnet], candidates: [{ addresses: [address] }] }];
    await ask(IpamService.allocate, { pod: { namespace: 'default', name, uid: `uid-${name}` }, attachments });
  }

  interface Stored {
    readonly type: string;
    readonly actor: string;
    readonly data: object;
  }

  /** The newest events as they stand in etcd, oldest first. */
  async function newest(count: number): Promise<Stored[]> {
    const lines = await etcd.etcdctl(['get', '--prefix', '/ipledger/v1/log/', '--print-value-only']);
    const all = lines.trimEnd().split('\n');
    return all.slice(-count).map((line) => {
      const { type, actor, data } = JSON.parse(line) as Stored;
      return { type, actor, data };
    });
  }

  const events = async (): Promise<number> => (await ask(SubnetsService.listSubnets, {})).position?.seq ?? 0;
  const stateOf = async (address: string, subnet = 'lan') =>
    (await ask(IpamService.get, { subnet, address })).record?.state;
  const actor = 'ipledger://operator/anna';
  const because = ['--reason', 'as agreed'];

  it('reserve holds an address, and the event says who and why', async () => {
    const { code, stdout } = await operate('reserve', '10.0.0.9', '--subnet', 'lan', '--for', 'vip/web', ...because);
    expect(code).to.equal(0);
    expect(stdout).to.match(/^lan +10\.0\.0\.9 +vip\/web +reserved +as agreed +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/m);
    expect(await newest(1)).to.deep.equal([
      {
        type: 'AddressReserved',
        actor,
        data: { addresses: ['10.0.0.9'], reservedFor: 'vip/web', reason: 'as agreed', mac: '' },
      },
    ]);
  });

  it('reserve takes any free address of each family, or of the one asked for', async () => {
    const both = await operate('reserve', '--subnet', 'dual', '--for', 'vip/both', ...because, '-o', 'json');
    const { records } = JSON.parse(both.stdout) as { records: { address: string }[] };
    expect(records.map(({ address }) => address)).to.deep.equal(['10.9.0.2', 'fd00::2']);
    const six = await operate('reserve', '--subnet', 'dual', '--for', 'vip/six', '--family', 'ipv6', ...because);
    expect(six.stdout).to.contain('fd00::3').and.not.contain('10.9.');
  });

  it('each gives what it did in CSV, too', async () => {
    const csv = ['--subnet', 'lan', ...because, '-o', 'csv'];
    const rows = async (...args: string[]): Promise<string[]> => {
      const { code, stdout, stderr } = await operate(...args, ...csv);
      expect([code, stderr]).to.deep.equal([0, '']);
      return stdout.split('\r\n').map((row) => row.replace(/2\d{3}-.*Z/, 'TIME'));
    };
    await allocate('csv', '10.0.0.90');
    expect(await rows('release', '10.0.0.90', '--yes')).to.deep.equal([
      'subnet,address,pod,uid,provider,released',
      'lan,10.0.0.90,default/csv,uid-csv,lan.default,yes',
      '',
    ]);
    const reservation = ['subnet,address,for,state,reason,since', 'lan,10.0.0.91,vip/csv,reserved,as agreed,TIME', ''];
    expect(await rows('reserve', '10.0.0.91', '--for', 'vip/csv')).to.deep.equal(reservation);
    expect(await rows('unreserve', '10.0.0.91', '--yes')).to.deep.equal(reservation);
    const quarantine = [
      'subnet,address,state,seen_mac,seen_at,reason,since',
      'lan,10.0.0.92,quarantined,,rack 7,as agreed,TIME',
      '',
    ];
    expect(await rows('quarantine', '10.0.0.92', '--seen-at', 'rack 7')).to.deep.equal(quarantine);
    expect(await rows('lift', '10.0.0.92', '--yes')).to.deep.equal(quarantine);
  });

  it('unreserve ends all that is reserved for something, wherever it is', async () => {
    await operate('reserve', '10.0.0.10', '--subnet', 'lan', '--for', 'vip/both', ...because);
    const { code, stdout } = await operate('unreserve', '--for', 'vip/both', ...because, '--yes');
    expect(code).to.equal(0);
    expect(stdout.trimEnd().split('\n')).to.have.length(3);
    // What was reserved together ends together
    const ended = (await newest(2)).map(({ type, actor: who, data }) => ({ type, who, ...data }));
    const cancelled = { type: 'ReservationCancelled', who: actor, reservedFor: 'vip/both', reason: 'as agreed' };
    expect(ended).to.have.deep.members([
      { ...cancelled, addresses: ['10.9.0.2', 'fd00::2'] },
      { ...cancelled, addresses: ['10.0.0.10'] },
    ]);
    expect(await stateOf('10.0.0.9')).to.equal('reserved');
  });

  it('release takes back what an address is held by, with the reason as evidence', async () => {
    await allocate('web', '10.0.0.20');
    const { code, stdout } = await operate('release', '10.0.0.20', '--subnet', 'lan', ...because, '--yes');
    expect({ code, stdout }).to.deep.equal({
      code: 0,
      stdout: '10.0.0.20 of subnet lan taken back from Pod default/web\n',
    });
    const [event] = await newest(1);
    expect(event).to.include({ type: 'AddressReleased', actor });
    expect(event?.data).to.include({ uid: 'uid-web', cause: 'operator', evidence: 'as agreed' });
    expect(await stateOf('10.0.0.20')).to.equal('cooling');
  });

  it('release of what is kept back for a container says why, and what frees it', async () => {
    await allocate('lost', '10.0.0.25');
    const pod = { namespace: 'default', pod: 'lost', podUid: 'uid-lost' };
    const container = { provider: 'lan.default', containerId: 'c0ffee', interface: 'net1', node: 'node-1' };
    await call(agent, IpamService.bind, { ...pod, ...container }, { timeoutMs: 20_000 });
    await operate('release', 'default/lost', ...because, '--yes');
    const { code, stderr } = await operate('release', '10.0.0.25', '--subnet', 'lan', ...because, '--yes');
    expect(code).to.equal(1);
    expect(stderr).to.match(
      /is held by nobody: it is kept back until 2\S+Z, since container c0ffee on node node-1 may still answer on it; .* kubectl delete node node-1 frees/,
    );
  });

  it('release takes back all that a Pod holds', async () => {
    const attachments = ['lan', 'dual'].map((subnet) => ({ provider: `${subnet}.default`, subnets: [subnet] }));
    await ask(IpamService.allocate, { pod: { namespace: 'default', name: 'both', uid: 'uid-both' }, attachments });
    const { code, stdout } = await operate('release', 'default/both', ...because, '--yes');
    expect(code).to.equal(0);
    expect(stdout.trimEnd().split('\n')).to.have.length(2);
    const [left] = (await ask(IpamService.list, { namespace: 'default', pod: 'both' })).allocations;
    expect(left).to.equal(undefined);
  });

  it('quarantine takes an address out of use, its holder keeps it, and lift gives it back', async () => {
    await allocate('held', '10.0.0.30');
    const seen = ['--seen-mac', '52:54:00:00:00:01', '--seen-at', 'node-2'];
    const held = await operate('quarantine', '10.0.0.30', '--subnet', 'lan', ...seen, '--reason', 'a printer');
    expect(held.stdout).to.match(
      /^10\.0\.0\.30 of subnet lan is quarantined since \S+ \S+: 52:54:00:00:00:01 answers on it, seen at node-2, a printer\n$/,
    );
    expect(held.stderr).to.equal('Pod default/held holds it, and keeps it until it is gone or `ipledger release`\n');
    await operate('release', 'default/held', ...because, '--yes');
    expect(await stateOf('10.0.0.30')).to.equal('quarantined');
    const lifted = await operate('lift', '10.0.0.30', '--subnet', 'lan', '--reason', 'it moved', '--yes');
    expect(lifted.stdout).to.equal('10.0.0.30 of subnet lan is no longer quarantined\n');
    const [last] = await newest(1);
    expect(last).to.deep.equal({
      type: 'QuarantineLifted',
      actor,
      data: { address: '10.0.0.30', reason: 'it moved' },
    });
  });

  it('nothing is taken away without a word where nobody can be asked', async () => {
    await allocate('stays', '10.0.0.40');
    await operate('reserve', '10.0.0.41', '--subnet', 'lan', '--for', 'vip/stays', ...because);
    await operate('quarantine', '10.0.0.42', '--subnet', 'lan', ...because);
    const before = await events();
    for (const [args, what] of [
      [['release', '10.0.0.40'], 'Pod default/stays holds 10.0.0.40 of subnet lan (lan.default, uid uid-stays, '],
      [['unreserve', '10.0.0.41'], '10.0.0.41 of subnet lan is reserved for vip/stays since '],
      [['lift', '10.0.0.42'], '10.0.0.42 of subnet lan is quarantined since '],
    ] as const) {
      const { code, stdout, stderr } = await operate(...args, '--subnet', 'lan', ...because);
      expect({ code, stdout }, stderr).to.deep.equal({ code: 2, stdout: '' });
      expect(stderr)
        .to.match(/^ipledger: .*: say --yes to go ahead, .* nothing was changed\n$/)
        .and.contain(what);
    }
    expect(await events()).to.equal(before);
  });

  it('the subnet goes without saying where one alone holds the address', async () => {
    await allocate('alone', '10.0.7.7', 'lab');
    expect((await operate('release', '10.0.7.7', ...because, '--yes')).code).to.equal(0);
    const both = await operate('release', '10.0.0.40', ...because, '--yes');
    expect(both).to.include({ code: 2, stdout: '' });
    expect(both.stderr).to.equal('ipledger: 10.0.0.40: in the subnets lab and lan; choose by --subnet\n');
  });

  const refusals: [string, string[], number, string][] = [
    [
      'what is held by nobody',
      ['release', '10.0.9.9', '--yes'],
      1,
      '10.0.9.9 of subnet lab is held by nobody: it is fresh',
    ],
    ['a Pod that holds nothing', ['release', 'default/nobody', '--yes'], 1, 'Pod default/nobody holds no address'],
    ['what is not reserved', ['unreserve', '10.0.9.9', '--yes'], 1, '10.0.9.9 of subnet lab is not reserved'],
    ['what is not quarantined', ['lift', '10.0.9.9', '--yes'], 1, '10.0.9.9 of subnet lab is not quarantined'],
    ['an address in no subnet', ['lift', '192.0.2.1', '--yes'], 1, '192.0.2.1: in no subnet'],
    ['what is no address', ['quarantine', '10.0.0'], 2, '10.0.0 is no IP address'],
    [
      'a reservation for somebody else',
      ['unreserve', '10.0.0.9', '--subnet', 'lan', '--for', 'vip/x', '--yes'],
      1,
      'is reserved for vip/web',
    ],
    [
      'a reservation of what is reserved',
      ['reserve', '10.0.0.9', '--subnet', 'lan', '--for', 'vip/x'],
      1,
      'is reserved for vip/web',
    ],
    ['a reservation of nothing at all', ['reserve', '--for', 'vip/x'], 2, 'name the addresses, or by --subnet'],
  ];
  for (const [what, args, status, sentence] of refusals)
    it(`refuses ${what}`, async () => {
      const before = await events();
      const { code, stdout, stderr } = await operate(...args, ...because);
      expect({ code, stdout }, stderr).to.deep.equal({ code: status, stdout: '' });
      expect(stderr)
        .to.match(/^ipledger: .*\n$/)
        .and.contain(sentence);
      expect(await events()).to.equal(before);
    });

  it('none of them goes without a reason', async () => {
    for (const verb of ['reserve', 'unreserve', 'release', 'quarantine', 'lift']) {
      const { code, stderr } = await operate(verb, '10.0.0.9');
      expect(code).to.equal(2);
      expect(stderr).to.contain("required option '--reason <text>' not specified");
      const blank = await operate(verb, '10.0.0.9', '--reason', ' ');
      expect(blank.code).to.equal(2);
      expect(blank.stderr).to.contain("option '--reason <text>' argument ' ' is invalid");
    }
  });
});
