import { expect } from 'chai';
import type { Input } from '../proto/codec.ts';
import type { GetStatusReply } from '../proto/ipledger.ts';
import { ask, at, position } from './specification.ts';

const reply: Input<GetStatusReply> = {
  position: { ...position, epoch: 2, seq: 4711 },
  ledger: '01KG9AG8M00000000000000001',
  at: at(7),
  oldestSeq: 1_001,
  oldestAt: at(1),
  liveFromSeq: 1_001,
};
const getStatus = () => reply;

describe('ipledger status', () => {
  it('says where the ledger stands, and how far back it can be asked', async () => {
    const { status, stdout, stderr } = await ask({ getStatus }, 'status');
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

  it('says when exactly, where that is asked for', async () => {
    const { stdout } = await ask({ getStatus }, 'status', '-o', 'wide', '--utc');
    expect(stdout).to.contain('history since: event 1001, 2026-11-17 14:01:00.000Z\n');
  });

  it('says that it is frozen, since when and by whose word', async () => {
    const freeze = { by: 'ipledger://watcher', at: at(9), known: { epoch: 2, seq: 4800, hash: 'ab' } };
    const { stdout } = await ask({ getStatus: () => ({ ...reply, freeze }) }, 'status');
    expect(stdout).to.contain(
      'frozen:        since 2026-11-17 14:09:00, by ipledger://watcher: see ipledger recover\n',
    );
  });

  it('gives all of it in one row of CSV', async () => {
    const { status, stdout } = await ask({ getStatus }, 'status', '-o', 'csv');
    expect(status).to.equal(0);
    expect(stdout).to.equal(
      'ledger,epoch,seq,at,hash,oldest_seq,oldest_at,live_from_seq,frozen_at,by\r\n' +
        `01KG9AG8M00000000000000001,2,4711,${at(7)},${position.hash},1001,${at(1)},1001,,\r\n`,
    );
  });

  it('gives all of it as JSON', async () => {
    const { stdout } = await ask({ getStatus }, 'status', '-o', 'json');
    expect(JSON.parse(stdout)).to.include({ oldestSeq: 1_001, oldestAt: at(1), liveFromSeq: 1_001 });
  });
});
