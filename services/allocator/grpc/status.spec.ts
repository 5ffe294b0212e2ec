import { rmSync } from 'node:fs';
import { expect } from 'chai';
import { LedgerService } from '../../../proto/ipledger.ts';
import { seal } from '../archive/seal.ts';
import { ledgerWithPast, type Past } from '../archive/specification.ts';
import { parseEvent } from '../ledger/chain.ts';
import { never } from '../ledger/specification.ts';
import { serveAllocator } from './specification.ts';
import { oldestOf } from './status.ts';

describe('Ledger.GetStatus', () => {
  let past: Past;
  beforeEach(async () => {
    past = await ledgerWithPast(5);
  });
  afterEach(async () => {
    await past.working.stop();
    rmSync(past.folder, { recursive: true, force: true });
  });

  const timeOf = async (seq: number): Promise<string | undefined> => {
    const [line] = await past.ledger.readEach([seq], never);
    return line && parseEvent(line.text).envelope.at;
  };

  it('says where the ledger stands, and that all of it can be asked', async () => {
    await using served = await serveAllocator(past.memory);
    const { head } = served.replica;
    const status = await served.call(LedgerService.getStatus, {});
    expect(status).to.deep.include({
      position: { epoch: head.epoch, seq: head.seq, hash: head.hash },
      ledger: head.ledger,
      at: await timeOf(head.seq),
      oldestSeq: 1,
      oldestAt: await timeOf(1),
      liveFromSeq: 1,
    });
    expect(status).to.not.have.property('freeze');
  });

  it('says from where on it can be asked, by who has no archive', async () => {
    await seal(past.sealing, 20, never);
    await using served = await serveAllocator(past.memory);
    const { oldestSeq, oldestAt, liveFromSeq } = await served.call(LedgerService.getStatus, {});
    expect(liveFromSeq).to.be.greaterThan(20);
    expect({ oldestSeq, oldestAt }).to.deep.equal({ oldestSeq: liveFromSeq, oldestAt: await timeOf(liveFromSeq) });
  });

  it('knows its first event, by who has the archive', async () => {
    await seal(past.sealing, 20, never);
    expect(await oldestOf(past.ledger, 21, never)).to.include({ seq: 1, type: 'LedgerCreated' });
  });

  it('knows the first live one, where the archive is lost', async () => {
    await seal(past.sealing, 20, never);
    rmSync(past.folder, { recursive: true });
    expect(await oldestOf(past.ledger, 21, never)).to.include({ seq: 21 });
  });

  it('says that it is frozen', async () => {
    await using served = await serveAllocator(past.memory);
    const known = { epoch: 1, seq: 99, hash: 'ab' };
    const why = { ...known, by: 'ipledger://watcher', at: '2026-11-17T14:05:00.000Z' };
    await past.memory.freeze(why, await past.memory.head(never), never);
    const { freeze } = await served.call(LedgerService.getStatus, {});
    expect(freeze).to.deep.equal({ known, by: 'ipledger://watcher', at: '2026-11-17T14:05:00.000Z', foundAt: '' });
  });
});
