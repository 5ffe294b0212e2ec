/** Tests the operator verbs on a real ledger, with an operator's certificate. */
import { join } from 'node:path';
import { expect } from 'chai';
import { call, connect, type Connection } from '../../../lib/grpc/client.ts';
import { loadTls } from '../../../lib/tls/credentials.ts';
import type { MessageInput, Method } from '../../../proto/codec.ts';
import { IpamService, SubnetsService } from '../../../proto/generated/ipledger.ts';
import { certificateFolder, makeCertificates } from '../../harness/certificates/certificates.ts';
import type { CommandResult } from '../../harness/processes/command.ts';
import type { Etcd } from '../../harness/etcd.ts';
import { openRun, type Run } from '../../harness/run.ts';
import { type AllocatorServer } from '../../harness/services.ts';
import { runIpledger } from '../../harness/ipledger-cli.ts';
import { startLedger } from '../../harness/stack.ts';

describe('The operator verbs', function () {
  this.timeout(180_000);
  let run: Run;
  let etcd: Etcd;
  let allocator: AllocatorServer;
  let connection: Connection;
  /** A connection with the certificate of the agent on node-1. */
  let agent: Connection;
  let operate: (...args: string[]) => Promise<CommandResult>;

  before(async () => {
    run = openRun();
    const folder = join(run.folder, 'certificates');
    await makeCertificates({ folder, allocators: ['allocator'], nodes: ['node-1'], operators: ['anna'] });
    const certificates = certificateFolder(folder);
    [etcd, allocator] = await startLedger(run, certificates);
    operate = (...args) => runIpledger(args, { allocator, tls: certificates.operator('anna') });
    connection = connect(allocator.endpoint, loadTls(certificates.watcher));
    agent = connect(allocator.endpoint, loadTls(certificates.agent('node-1')));
    for (const [name, cidrBlock] of Object.entries({
      lan: '10.0.0.0/24',
      lab: '10.0.0.0/16',
      dual: '10.9.0.0/24,fd00::/64',
    }))
      await request(SubnetsService.applySubnet, { name, spec: { cidrBlock, provider: `${name}.default` } });
  });
  after(async () => {
    connection?.close();
    agent?.close();
    await run?.end();
  });

  const request = <Request, Reply>(
    method: Method<Request, Reply, 'unary'>,
    message: MessageInput<Request>,
  ): Promise<Reply> => call(connection, method, message, { timeoutMs: 20_000 });

  async function allocate(name: string, address: string, subnet = 'lan'): Promise<void> {
    const attachments = [{ provider: `${subnet}.default`, subnets: [subnet], candidates: [{ addresses: [address] }] }];
    await request(IpamService.allocate, { pod: { namespace: 'default', name, uid: `uid-${name}` }, attachments });
  }

  interface StoredEvent {
    readonly type: string;
    readonly actor: string;
    readonly data: object;
  }

  /** Reads the newest events in etcd, oldest first. */
  async function readNewest(count: number): Promise<StoredEvent[]> {
    const lines = await etcd.etcdctl(['get', '--prefix', '/ipledger/v1/log/', '--print-value-only']);
    const all = lines.trimEnd().split('\n');
    return all.slice(-count).map((line) => {
      const { type, actor, data } = JSON.parse(line) as StoredEvent;
      return { type, actor, data };
    });
  }

  const lastSeq = async (): Promise<number> => (await request(SubnetsService.listSubnets, {})).position?.seq ?? 0;
  const stateOf = async (address: string, subnet = 'lan') =>
    (await request(IpamService.getAddress, { subnet, address })).record?.state;
  const actor = 'ipledger://operator/anna';
  const reason = ['--reason', 'as agreed'];

  it('ipledger reserve reserves an address, and records the operator and the reason', async () => {
    const { code, stdout } = await operate('reserve', '10.0.0.9', '--subnet', 'lan', '--for', 'vip/web', ...reason);
    expect(code).to.equal(0);
    expect(stdout).to.match(/^lan +10\.0\.0\.9 +vip\/web +reserved +as agreed +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/m);
    expect(await readNewest(1)).to.deep.equal([
      {
        type: 'AddressReserved',
        actor,
        data: { addresses: ['10.0.0.9'], reservedFor: 'vip/web', reason: 'as agreed', mac: '' },
      },
    ]);
  });

  it('ipledger reserve reserves a free address of each family, or of --family', async () => {
    const both = await operate('reserve', '--subnet', 'dual', '--for', 'vip/both', ...reason, '-o', 'json');
    const { records } = JSON.parse(both.stdout) as { records: { address: string }[] };
    expect(records.map(({ address }) => address)).to.deep.equal(['10.9.0.2', 'fd00::2']);
    const six = await operate('reserve', '--subnet', 'dual', '--for', 'vip/six', '--family', 'ipv6', ...reason);
    expect(six.stdout).to.contain('fd00::3').and.not.contain('10.9.');
  });

  it('The operator verbs print CSV', async () => {
    const options = ['--subnet', 'lan', ...reason, '-o', 'csv'];
    const rows = async (...args: string[]): Promise<string[]> => {
      const { code, stdout, stderr } = await operate(...args, ...options);
      expect([code, stderr]).to.deep.equal([0, '']);
      return stdout.split('\r\n').map((row) => row.replace(/2\d{3}-.*Z/, 'TIME'));
    };
    await allocate('csv', '10.0.0.90');
    expect(await rows('release', '10.0.0.90', '--yes')).to.deep.equal([
      'subnet,address,pod,uid,provider,released',
      'lan,10.0.0.90,default/csv,uid-csv,lan.default,yes',
      '',
    ]);
    const reservation = [
      'subnet,address,owner,state,reason,since',
      'lan,10.0.0.91,vip/csv,reserved,as agreed,TIME',
      '',
    ];
    expect(await rows('reserve', '10.0.0.91', '--for', 'vip/csv')).to.deep.equal(reservation);
    expect(await rows('unreserve', '10.0.0.91', '--yes')).to.deep.equal(reservation);
    const quarantine = [
      'subnet,address,state,seen_mac,seen_on,reason,since',
      'lan,10.0.0.92,quarantined,,rack 7,as agreed,TIME',
      '',
    ];
    expect(await rows('quarantine', '10.0.0.92', '--seen-on', 'rack 7')).to.deep.equal(quarantine);
    expect(await rows('unquarantine', '10.0.0.92', '--yes')).to.deep.equal(quarantine);
  });

  it('ipledger unreserve frees all addresses of an owner, in every subnet', async () => {
    await operate('reserve', '10.0.0.10', '--subnet', 'lan', '--for', 'vip/both', ...reason);
    const { code, stdout } = await operate('unreserve', '--for', 'vip/both', ...reason, '--yes');
    expect(code).to.equal(0);
    expect(stdout.trimEnd().split('\n')).to.have.length(3);
    // Expects one event: addresses of one reservation end together.
    const ended = (await readNewest(2)).map(({ type, actor: who, data }) => ({ type, who, ...data }));
    const cancelled = { type: 'ReservationCancelled', who: actor, reservedFor: 'vip/both', reason: 'as agreed' };
    expect(ended).to.have.deep.members([
      { ...cancelled, addresses: ['10.9.0.2', 'fd00::2'] },
      { ...cancelled, addresses: ['10.0.0.10'] },
    ]);
    expect(await stateOf('10.0.0.9')).to.equal('reserved');
  });

  it('ipledger release ends the allocation of an address, with the reason as evidence', async () => {
    await allocate('web', '10.0.0.20');
    const { code, stdout } = await operate('release', '10.0.0.20', '--subnet', 'lan', ...reason, '--yes');
    expect({ code, stdout }).to.deep.equal({
      code: 0,
      stdout: '10.0.0.20 of subnet lan released from Pod default/web\n',
    });
    const [event] = await readNewest(1);
    expect(event).to.include({ type: 'AddressReleased', actor });
    expect(event?.data).to.include({ uid: 'uid-web', cause: 'operator', evidence: 'as agreed' });
    expect(await stateOf('10.0.0.20')).to.equal('cooldown');
  });

  it('ipledger release explains which binding holds a released address, and what frees it', async () => {
    await allocate('lost', '10.0.0.25');
    const pod = { namespace: 'default', pod: 'lost', podUid: 'uid-lost' };
    const container = { provider: 'lan.default', containerId: 'c0ffee', interface: 'net1', node: 'node-1' };
    await call(agent, IpamService.bind, { ...pod, ...container }, { timeoutMs: 20_000 });
    await operate('release', 'default/lost', ...reason, '--yes');
    const { code, stderr } = await operate('release', '10.0.0.25', '--subnet', 'lan', ...reason, '--yes');
    expect(code).to.equal(1);
    expect(stderr).to.match(
      /is not allocated: it is held, because container c0ffee on node node-1 may still answer on it; .* `kubectl delete node node-1` frees/,
    );
    const again = await operate('unbind', 'node-1', ...reason, '--yes');
    expect(again).to.include({ code: 0, stdout: '10.0.0.25 of subnet lan is no longer held\n' });
    const [event] = await readNewest(1);
    expect(event).to.include({ type: 'AddressUnbound', actor });
    expect(event?.data).to.include({ cause: 'garbage-collected', evidence: 'as agreed' });
    expect(await stateOf('10.0.0.25')).to.equal('cooldown');
  });

  it('ipledger release ends all allocations of a Pod', async () => {
    const attachments = ['lan', 'dual'].map((subnet) => ({ provider: `${subnet}.default`, subnets: [subnet] }));
    await request(IpamService.allocate, { pod: { namespace: 'default', name: 'both', uid: 'uid-both' }, attachments });
    const { code, stdout } = await operate('release', 'default/both', ...reason, '--yes');
    expect(code).to.equal(0);
    expect(stdout.trimEnd().split('\n')).to.have.length(2);
    const [remaining] = (await request(IpamService.listAllocations, { namespace: 'default', pod: 'both' })).allocations;
    expect(remaining).to.equal(undefined);
  });

  it('ipledger quarantine takes an address out of use, which its Pod keeps, and unquarantine puts it back', async () => {
    await allocate('held', '10.0.0.30');
    const sighting = ['--seen-mac', '52:54:00:00:00:01', '--seen-on', 'node-2'];
    const quarantined = await operate(
      'quarantine',
      '10.0.0.30',
      '--subnet',
      'lan',
      ...sighting,
      '--reason',
      'a printer',
    );
    expect(quarantined.stdout).to.match(
      /^10\.0\.0\.30 of subnet lan is quarantined since \S+ \S+: 52:54:00:00:00:01 answers on it, seen on node-2, a printer\n$/,
    );
    expect(quarantined.stderr).to.equal(
      'Pod default/held holds the address, and keeps it until the Pod ends or `ipledger release`\n',
    );
    await operate('release', 'default/held', ...reason, '--yes');
    expect(await stateOf('10.0.0.30')).to.equal('quarantined');
    const unquarantined = await operate(
      'unquarantine',
      '10.0.0.30',
      '--subnet',
      'lan',
      '--reason',
      'it moved',
      '--yes',
    );
    expect(unquarantined.stdout).to.equal('10.0.0.30 of subnet lan is no longer quarantined\n');
    const [last] = await readNewest(1);
    expect(last).to.deep.equal({
      type: 'QuarantineLifted',
      actor,
      data: { address: '10.0.0.30', reason: 'it moved' },
    });
  });

  it('ipledger unquarantine ends several quarantines, or all of a subnet', async () => {
    const addresses = ['10.0.0.31', '10.0.0.32', '10.0.0.33'];
    for (const address of addresses) await operate('quarantine', address, '--subnet', 'lan', ...reason);
    const texts = addresses.map((address) => `${address} of subnet lan is no longer quarantined\n`);
    const two = await operate('unquarantine', ...addresses.slice(0, 2), '--subnet', 'lan', ...reason, '--yes');
    expect(two.stdout).to.equal(texts.slice(0, 2).join(''));
    const rest = await operate('unquarantine', '--subnet', 'lan', ...reason, '--yes');
    expect(rest.stdout).to.contain(texts[2]);
    for (const address of addresses) expect(await stateOf(address)).not.to.equal('quarantined');
    const none = await operate('unquarantine', '--subnet', 'lan', ...reason, '--yes');
    expect(none.stderr).to.equal('ipledger: no address of subnet lan is quarantined\n');
    const unnamed = await operate('unquarantine', ...reason, '--yes');
    expect(unnamed.stderr).to.contain('no quarantine is named: name addresses, or a subnet with --subnet');
  });

  it('The operator verbs change nothing without a terminal and without --yes', async () => {
    await allocate('stays', '10.0.0.40');
    await operate('reserve', '10.0.0.41', '--subnet', 'lan', '--for', 'vip/stays', ...reason);
    await operate('quarantine', '10.0.0.42', '--subnet', 'lan', ...reason);
    const before = await lastSeq();
    for (const [args, what] of [
      [['release', '10.0.0.40'], 'Pod default/stays holds 10.0.0.40 of subnet lan (lan.default, uid uid-stays, '],
      [['unreserve', '10.0.0.41'], '10.0.0.41 of subnet lan is reserved for vip/stays since '],
      [['unquarantine', '10.0.0.42'], '10.0.0.42 of subnet lan is quarantined since '],
    ] as const) {
      const { code, stdout, stderr } = await operate(...args, '--subnet', 'lan', ...reason);
      expect({ code, stdout }, stderr).to.deep.equal({ code: 2, stdout: '' });
      expect(stderr)
        .to.match(/^ipledger: .*: nothing was changed, because there is no terminal .*: add --yes\n$/)
        .and.contain(what);
    }
    expect(await lastSeq()).to.equal(before);
  });

  it('The operator verbs find the subnet of an address, unless several subnets contain it', async () => {
    await allocate('alone', '10.0.7.7', 'lab');
    expect((await operate('release', '10.0.7.7', ...reason, '--yes')).code).to.equal(0);
    const both = await operate('release', '10.0.0.40', ...reason, '--yes');
    expect(both).to.include({ code: 2, stdout: '' });
    expect(both.stderr).to.equal('ipledger: 10.0.0.40: the subnets lab and lan contain this; name one with --subnet\n');
  });

  const rejections: [string, string[], number, string][] = [
    [
      'an address that is not allocated',
      ['release', '10.0.9.9', '--yes'],
      1,
      '10.0.9.9 of subnet lab is not allocated: it is fresh',
    ],
    ['a Pod without an address', ['release', 'default/none', '--yes'], 1, 'Pod default/none has no address'],
    [
      'an address that is not reserved',
      ['unreserve', '10.0.9.9', '--yes'],
      1,
      '10.0.9.9 of subnet lab is not reserved',
    ],
    [
      'an address that is not quarantined',
      ['unquarantine', '10.0.9.9', '--yes'],
      1,
      '10.0.9.9 of subnet lab is not quarantined',
    ],
    ['an address in no subnet', ['unquarantine', '192.0.2.1', '--yes'], 1, '192.0.2.1: no subnet contains this'],
    ['an invalid address', ['quarantine', '10.0.0'], 2, '10.0.0 is not an IP address'],
    [
      'a reservation of another owner',
      ['unreserve', '10.0.0.9', '--subnet', 'lan', '--for', 'vip/x', '--yes'],
      1,
      'is reserved for vip/web',
    ],
    ['a reserved address', ['reserve', '10.0.0.9', '--subnet', 'lan', '--for', 'vip/x'], 1, 'is reserved for vip/web'],
    [
      'a reservation without address and subnet',
      ['reserve', '--for', 'vip/x'],
      2,
      'name addresses, or a subnet with --subnet',
    ],
  ];
  for (const [what, args, status, message] of rejections)
    it(`The operator verbs reject ${what}`, async () => {
      const before = await lastSeq();
      const { code, stdout, stderr } = await operate(...args, ...reason);
      expect({ code, stdout }, stderr).to.deep.equal({ code: status, stdout: '' });
      expect(stderr)
        .to.match(/^ipledger: .*\n$/)
        .and.contain(message);
      expect(await lastSeq()).to.equal(before);
    });

  it('The operator verbs require a reason', async () => {
    for (const verb of ['reserve', 'unreserve', 'release', 'quarantine', 'unquarantine']) {
      const { code, stderr } = await operate(verb, '10.0.0.9');
      expect(code).to.equal(2);
      expect(stderr).to.contain("required option '--reason <text>' not specified");
      const blank = await operate(verb, '10.0.0.9', '--reason', ' ');
      expect(blank.code).to.equal(2);
      expect(blank.stderr).to.contain("option '--reason <text>' argument ' ' is invalid");
    }
  });
});
