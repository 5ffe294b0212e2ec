import { rmSync } from 'node:fs';
import { expect } from 'chai';
import { LedgerService } from '../../../../proto/generated/ipledger.ts';
import { sealOldestEvents } from '../../../../ledger/archive/seal.ts';
import { ledgerWithPast, type SealedLedger } from '../../../../ledger/archive/testing/sealed-ledger.ts';
import { parseEvent } from '../../../../ledger/log/chain/chain.ts';
import { never } from '../../../../ledger/log/testing/running-writer.ts';
import { EtcdSpace } from '../../health/etcd-space.ts';
import { serveAllocator } from '../testing/served-allocator.ts';
import { readOldestEnvelope } from './status.ts';

describe('Ledger.GetStatus', () => {
  let past: SealedLedger;
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

  it('Ledger.GetStatus returns the head, and event 1 as the oldest event', async () => {
    await using served = await serveAllocator(past.memory);
    const { head } = served.replica;
    const status = await served.call(LedgerService.getStatus, {});
    expect(status).to.deep.include({
      position: { epoch: head.epoch, seq: head.seq, hash: head.hash, ledger: head.ledger },
      ledger: head.ledger,
      at: await timeOf(head.seq),
      oldestSeq: 1,
      oldestAt: await timeOf(1),
      logStartSeq: 1,
    });
    expect(status).to.not.have.property('freeze');
  });

  it('without an archive, the oldest event is the first in etcd', async () => {
    await sealOldestEvents(past.sealing, 20, never);
    await using served = await serveAllocator(past.memory);
    const { oldestSeq, oldestAt, logStartSeq } = await served.call(LedgerService.getStatus, {});
    expect(logStartSeq).to.be.greaterThan(20);
    expect({ oldestSeq, oldestAt }).to.deep.equal({ oldestSeq: logStartSeq, oldestAt: await timeOf(logStartSeq) });
  });

  it('with an archive, the oldest event is event 1', async () => {
    await sealOldestEvents(past.sealing, 20, never);
    expect(await readOldestEnvelope(past.ledger, { segments: () => [], firstLive: 21 }, never)).to.include({
      seq: 1,
      type: 'LedgerCreated',
    });
  });

  it('when the archive is lost, the oldest event is the first in etcd', async () => {
    await sealOldestEvents(past.sealing, 20, never);
    rmSync(past.folder, { recursive: true });
    expect(await readOldestEnvelope(past.ledger, { segments: () => [], firstLive: 21 }, never)).to.include({ seq: 21 });
  });

  it('Ledger.GetStatus returns the freeze', async () => {
    await using served = await serveAllocator(past.memory);
    const known = { epoch: 1, seq: 99, hash: 'ab' };
    const freezeReason = { ...known, by: 'ipledger://watcher', at: '2026-11-17T14:05:00.000Z' };
    await past.memory.freeze(freezeReason, await past.memory.head(never), never);
    const { freeze } = await served.call(LedgerService.getStatus, {});
    expect(freeze).to.deep.equal({
      known,
      reportedBy: 'ipledger://watcher',
      reportedAt: '2026-11-17T14:05:00.000Z',
      headAt: '',
    });
  });

  it('Ledger.GetStatus returns how much of its quota etcd uses, when its size was read', async () => {
    await using served = await serveAllocator(past.memory);
    expect(await served.call(LedgerService.getStatus, {})).to.not.have.property('storage');
    const space = new EtcdSpace(1_000, false);
    Object.assign(served.allocator, { space });
    space.update({ bytes: 500, inUse: 400, daysLeft: 6.9 });
    const { storage } = await served.call(LedgerService.getStatus, {});
    expect(storage).to.deep.equal({ usedBytes: 400, quotaBytes: 1_000, daysLeft: 6 });
    space.update({ bytes: 500, inUse: 400 });
    expect((await served.call(LedgerService.getStatus, {})).storage).to.not.have.property('daysLeft');
  });

  it('Ledger.GetStatus returns why nothing can be written: a freeze, or that there is no writer', async () => {
    await using served = await serveAllocator(past.memory);
    expect(await served.call(LedgerService.getStatus, {})).to.not.have.property('cannotWrite');
    const freezeReason = { epoch: 1, seq: 99, hash: 'ab', by: 'ipledger://watcher', at: '2026-11-17T14:05:00.000Z' };
    await past.memory.freeze(freezeReason, await past.memory.head(never), never);
    expect((await served.call(LedgerService.getStatus, {})).cannotWrite).to.deep.equal({
      reason: 'frozen',
      message: 'the ledger is frozen: no address can be allocated or released. Run: ipledger recover',
      since: '2026-11-17T14:05:00.000Z',
    });
    await served.stepDown('127.0.0.1:1');
    expect((await served.call(LedgerService.getStatus, {})).cannotWrite?.reason).to.equal('frozen');
    await served.stepDown(undefined);
    expect((await served.call(LedgerService.getStatus, {})).cannotWrite?.reason).to.equal('no-writer');
  });
});
