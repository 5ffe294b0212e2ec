import { expect } from 'chai';
import type { DiffRequest } from '../../proto/generated/ipledger.ts';
import { at, position } from '../testing/address-events.fixture.ts';
import { boundRecord, lostPeriodLine, restoredHistory } from '../testing/address-records.fixture.ts';
import { runWithFakeAllocator } from '../testing/fake-allocator.ts';

const history = () => ({ position, events: [] });

describe('ipledger diff', () => {
  const range = { from: { ...position, seq: 3 }, to: position, fromAt: at(3), toAt: at(42) };

  it('ipledger diff lists changed subnets, pools and addresses', async () => {
    let received: DiffRequest | undefined;
    const diff = (request: DiffRequest) => {
      received = request;
      const addresses = [{ before: { ...boundRecord, state: 'fresh', allocation: undefined }, after: boundRecord }];
      const subnets = [
        { name: 'tiny', after: { cidrBlock: '10.0.0.0/30', provider: 'tiny.default', excludeIps: ['10.0.0.1'] } },
      ];
      const pools = [{ name: 'front', before: { subnet: 'tiny', ips: ['10.0.0.2'] } }];
      return [{}, { ...range, subnets, pools }, { ...range, addresses }];
    };
    const { status, stdout } = await runWithFakeAllocator(
      { diff, history },
      'diff',
      '--from',
      '3',
      '--to',
      '2026-11-17 14:42',
    );
    expect(status).to.equal(0);
    expect(stdout).to.equal(
      [
        'SUBNET   ADDRESS       BEFORE                AFTER',
        'tiny     -             no subnet             subnet 10.0.0.0/30, provider tiny.default, without 10.0.0.1',
        'tiny     -             pool front: 10.0.0.2  no pool front',
        'macvlan  172.17.0.100  fresh                 bound default/web-0 on node-a',
        '',
        'from: as of event 3 at 2026-11-17 14:03:00',
        'to:   as of event 42 at 2026-11-17 14:42:00',
        '',
      ].join('\n'),
    );
    expect(received).to.deep.equal({ from: { seq: 3, at: '' }, to: { seq: 0, at: at(42) }, subnet: '' });
  });

  it('ipledger diff lists only the changed fields of a configuration', async () => {
    const spec = { cidrBlock: '10.0.0.0/24', provider: 'tiny.default', gateway: '10.0.0.1' };
    const subnets = [
      { name: 'deleted', before: spec },
      { name: 'tiny', before: spec, after: { ...spec, gateway: '10.0.0.9', excludeIps: ['10.0.0.5', '10.0.0.6'] } },
    ];
    const ips = ['10.0.0.2'];
    const pools = [
      { name: 'front', before: { subnet: 'tiny', ips }, after: { subnet: 'tiny', ips, namespaces: ['a'] } },
    ];
    const { stdout } = await runWithFakeAllocator(
      { diff: () => [{ ...range, subnets, pools }] },
      'diff',
      '--from',
      '3',
    );
    const rows = stdout.split('\n').slice(1, 4);
    expect(rows.map((row) => row.split(/ {2,}/).slice(2))).to.deep.equal([
      ['subnet 10.0.0.0/24, provider tiny.default', 'no subnet'],
      ['gateway 10.0.0.1, excludeIps -', 'gateway 10.0.0.9, excludeIps 10.0.0.5 10.0.0.6'],
      ['pool front: namespaces -', 'pool front: namespaces a'],
    ]);
  });

  it('ipledger diff reports a lost period that contains one of the times', async () => {
    const diff = () => [{ ...range, to: { ...position, seq: 7 }, toAt: at(7) }];
    const { stdout } = await runWithFakeAllocator(
      { diff, history: restoredHistory },
      'diff',
      '--from',
      '3',
      '--to',
      '2026-11-17 14:20',
    );
    expect(stdout).to.match(new RegExp(`^from: .*\nto: .*\n${lostPeriodLine}$`));
  });

  it('ipledger diff exits with 4 without differences', async () => {
    const { status, stderr } = await runWithFakeAllocator({ diff: () => [range] }, 'diff', '--from', '3');
    expect({ status, stderr }).to.deep.equal({ status: 4, stderr: 'no differences\n' });
  });
});
