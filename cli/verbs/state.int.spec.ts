import { spawn } from 'node:child_process';
import { expect } from 'chai';
import { IpledgerError } from '../../lib/errors.ts';
import type { StateAtRequest } from '../../proto/generated/ipledger.ts';
import { at, position } from '../testing/address-events.fixture.ts';
import { boundRecord, lostPeriodLine, reservedRecord, restoredHistory } from '../testing/address-records.fixture.ts';
import { runWithFakeAllocator, startFakeAllocator } from '../testing/fake-allocator.ts';
import { cleanEnvironment, ipledgerPath } from '../testing/run-cli.ts';

const history = () => ({ position, events: [] });

describe('ipledger state', () => {
  it('ipledger state lists the addresses in use at a time', async () => {
    const requests: StateAtRequest[] = [];
    const place = { position: { ...position, seq: 7 }, at: at(7) };
    const stateAt = (request: StateAtRequest) => {
      requests.push(request);
      return [
        {},
        { ...place, subnets: [{ name: 'macvlan' }] },
        { ...place, records: [boundRecord] },
        { ...place, records: [reservedRecord] },
      ];
    };
    const { status, stdout } = await runWithFakeAllocator(
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
        'SUBNET   ADDRESS       STATE     HOLDER         NODE    SINCE',
        'macvlan  172.17.0.100  bound     default/web-0  node-a  2026-11-17 14:05:00',
        'macvlan  172.17.0.101  reserved  vip/web        -       2026-11-17 14:01:00',
        '',
        'as of event 7 at 2026-11-17 14:07:00',
        '',
      ].join('\n'),
    );
    expect(requests[0]).to.deep.equal({ pointInTime: { seq: 0, at: at(20) }, subnet: 'macvlan' });
    const json = await runWithFakeAllocator({ stateAt }, 'state', '--at', '7', '-o', 'json');
    expect(JSON.parse(json.stdout)).to.have.nested.property('records[1].address', '172.17.0.101');
    expect(requests[1]?.pointInTime).to.deep.equal({ seq: 7, at: '' });
  });

  it('ipledger state reports a lost period that contains the time', async () => {
    const stateAt = () => [{ position: { ...position, seq: 7 }, at: at(7), records: [boundRecord] }];
    const replies = { stateAt, history: restoredHistory };
    const { stdout } = await runWithFakeAllocator(replies, 'state', '--at', '2026-11-17 14:20');
    expect(stdout).to.match(new RegExp(`\nas of event 7 .*\n${lostPeriodLine}$`));
    const whileFrozen = () => [{ position: { ...position, seq: 8 }, at: at(25), records: [boundRecord] }];
    const later = await runWithFakeAllocator({ ...replies, stateAt: whileFrozen }, 'state', '--at', '2026-11-17 14:27');
    expect(later.stdout).to.match(new RegExp(`\nas of event 8 .*\n${lostPeriodLine}$`));
    const before = () => [{ position: { ...position, seq: 6 }, at: at(6), records: [boundRecord] }];
    const earlier = await runWithFakeAllocator({ ...replies, stateAt: before }, 'state', '--at', '2026-11-17 14:06');
    expect(earlier.stdout).to.not.contain('lost');
    expect((await runWithFakeAllocator(replies, 'state', '--at', '7')).stdout).to.not.contain('lost');
  });

  it('ipledger state exits with 4 when no address was in use', async () => {
    const stateAt = () => [{ position: { ...position, seq: 1 }, at: at(1) }];
    const result = await runWithFakeAllocator({ stateAt, history }, 'state', '--at', '2026-11-17 14:20');
    expect(result).to.deep.equal({
      status: 4,
      stdout: 'as of event 1 at 2026-11-17 14:01:00\n',
      stderr: 'no address was in use at that time\n',
    });
  });

  it('ipledger state rejects a time before the first event', async () => {
    const stateAt = () => [{ position: { epoch: 1, seq: 0, hash: '' } }];
    const getStatus = () => ({ position, oldestSeq: 1, oldestAt: at(1) });
    expect(await runWithFakeAllocator({ stateAt, getStatus }, 'state', '--at', '2020-01-01')).to.deep.equal({
      status: 1,
      stdout: '',
      stderr:
        'ipledger: the ledger starts at 2026-11-17 14:01:00 and has no data about earlier times: use a later --at\n',
    });
  });

  it('ipledger state reports that the subnet did not exist', async () => {
    const stateAt = () => [{ position, at: at(42) }];
    const { status, stderr } = await runWithFakeAllocator({ stateAt }, 'state', '--subnet', 'nosuch');
    expect({ status, stderr }).to.deep.equal({ status: 4, stderr: 'there was no subnet nosuch at that time\n' });
  });

  it('ipledger state prints no partial answer on Ctrl-C', async () => {
    const place = { position: { ...position, seq: 7 }, at: at(7) };
    const stateAt = function* () {
      yield { ...place, records: [boundRecord] };
      child.kill('SIGINT');
    };
    await using server = await startFakeAllocator({ stateAt: () => stateAt(), keepsStreamsOpen: true });
    const child = spawn(ipledgerPath, ['state'], { env: cleanEnvironment({ IPLEDGER_ENDPOINT: server.endpoint }) });
    let stdout = '';
    child.stdout.on('data', (text: Buffer) => (stdout += text.toString()));
    expect(await new Promise((resolve) => child.once('close', resolve))).to.equal(130);
    expect(stdout).to.equal('');
  });

  it('ipledger state exits with 1 and the message of the allocator when it rejects the request', async () => {
    const stateAt = () => {
      throw new IpledgerError('POSITION_GONE', 'event 99 is beyond the ledger, whose last event is 42');
    };
    expect(await runWithFakeAllocator({ stateAt }, 'state', '--at', '99')).to.include({
      status: 1,
      stderr: 'ipledger: event 99 is beyond the ledger, whose last event is 42\n',
    });
  });
});
