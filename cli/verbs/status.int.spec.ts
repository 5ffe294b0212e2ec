import { expect } from 'chai';
import type { MessageInput } from '../../proto/codec.ts';
import type { GetStatusReply } from '../../proto/generated/ipledger.ts';
import { runWithFakeAllocator } from '../testing/fake-allocator.ts';
import { at, position } from '../testing/address-events.fixture.ts';

const reply: MessageInput<GetStatusReply> = {
  position: { ...position, epoch: 2, seq: 4711 },
  ledger: '01KG9AG8M00000000000000001',
  at: at(7),
  oldestSeq: 1_001,
  oldestAt: at(1),
  logStartSeq: 1_001,
};
const getStatus = () => reply;

describe('ipledger status', () => {
  it('ipledger status prints the position of the ledger and its oldest event', async () => {
    const { status, stdout, stderr } = await runWithFakeAllocator({ getStatus }, 'status');
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    expect(stdout).to.equal(
      [
        'ledger:        01KG9AG8M00000000000000001, epoch 2',
        `last:          event 4711, 2026-11-17 14:07:00, hash ${position.hash.slice(0, 12)}`,
        'history since: event 1001, 2026-11-17 14:01:00',
        'in etcd since: event 1001',
        'frozen:        no',
        '',
      ].join('\n'),
    );
  });

  it('ipledger status prints exact times with -o wide', async () => {
    const { stdout } = await runWithFakeAllocator({ getStatus }, 'status', '-o', 'wide', '--utc');
    expect(stdout).to.contain('history since: event 1001, 2026-11-17 14:01:00.000Z\n');
  });

  it('ipledger status reports a freeze with its time and its reporter', async () => {
    const freeze = { reportedBy: 'ipledger://watcher', reportedAt: at(9), known: { epoch: 2, seq: 4800, hash: 'ab' } };
    const { stdout } = await runWithFakeAllocator({ getStatus: () => ({ ...reply, freeze }) }, 'status');
    expect(stdout).to.contain(
      'frozen:        since 2026-11-17 14:09:00, by ipledger://watcher: run ipledger recover\n',
    );
  });

  it('ipledger status prints first why nothing can be written, since when, and the remedy', async () => {
    const cannotWrite = { reason: 'etcd-full', message: 'etcd is full. Run: etcdctl alarm disarm', since: at(9) };
    const replies = { getStatus: () => ({ ...reply, cannotWrite }) };
    expect((await runWithFakeAllocator(replies, 'status')).stdout).to.match(
      /^cannot write: {2}since 2026-11-17 14:09:00: etcd is full\. Run: etcdctl alarm disarm\nledger: /,
    );
    expect((await runWithFakeAllocator(replies, 'status', '-o', 'csv')).stdout).to.match(/,etcd-full,,,\r\n$/);
  });

  it('ipledger status prints ledger time, and how far it is from the clock of this machine', async () => {
    const printed = async (aheadMs: number): Promise<string> => {
      const ledgerTime = new Date(Date.now() + aheadMs).toISOString();
      return (await runWithFakeAllocator({ getStatus: () => ({ ...reply, ledgerTime }) }, 'status')).stdout;
    };
    expect(await printed(0)).to.match(/^ledger time: {3}.*, as the clock here$/m);
    expect(await printed(2.5 * 3_600_000)).to.match(/^ledger time: .*, 2 h (29|30) min ahead of the clock here: /m);
  });

  it('ipledger status prints how much of its quota etcd uses', async () => {
    const storage = { usedBytes: 2 ** 30, quotaBytes: 2 ** 31, daysLeft: 6 };
    const replies = { getStatus: () => ({ ...reply, storage }) };
    expect((await runWithFakeAllocator(replies, 'status')).stdout).to.contain(
      'etcd:          50 % of 2.0 GiB are in use, full in 6 days at the growth of the last day\n',
    );
    expect((await runWithFakeAllocator(replies, 'status', '-o', 'csv')).stdout).to.match(
      /,1073741824,2147483648,6\r\n$/,
    );
  });

  it('ipledger status prints one row of CSV', async () => {
    const { status, stdout } = await runWithFakeAllocator({ getStatus }, 'status', '-o', 'csv');
    expect(status).to.equal(0);
    expect(stdout).to.equal(
      'ledger,epoch,seq,at,hash,oldest_seq,oldest_at,log_start_seq,frozen_at,by,cannot_write,used_bytes,quota_bytes,days_left\r\n' +
        `01KG9AG8M00000000000000001,2,4711,${at(7)},${position.hash},1001,${at(1)},1001,,,,,,\r\n`,
    );
  });

  it('ipledger status prints JSON with the field names of the API', async () => {
    const { stdout } = await runWithFakeAllocator({ getStatus }, 'status', '-o', 'json');
    expect(JSON.parse(stdout)).to.include({ oldestSeq: 1_001, oldestAt: at(1), logStartSeq: 1_001 });
  });
});
