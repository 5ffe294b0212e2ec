import { expect } from 'chai';
import { MemoryLedger } from '../../../../ledger/log/testing/memory-ledger.ts';
import { Replica } from '../../../../ledger/log/reader/replica.ts';
import { createLedger, macvlan, never, startWriter, submitAll } from '../../../../ledger/log/testing/running-writer.ts';
import { announceEpochs } from './announce-epochs.ts';

describe('The connections of an allocator', () => {
  it('all connections end when the ledger begins an epoch, and at no other event', async () => {
    const replica = await Replica.load(new MemoryLedger(), never);
    const { writer, stop } = await startWriter(replica.ledger, { replica });
    await submitAll(writer, createLedger());
    let ended = 0;
    announceEpochs(replica, () => void ended++);
    await submitAll(writer, macvlan);
    expect(ended).to.equal(0);
    const { epoch, seq, hash } = replica.head;
    const restored = { epoch: epoch + 1, seq, hash, lostSeq: seq, reason: 'a backup' };
    await submitAll(writer, { type: 'RestoreLedger', restored });
    expect(replica.head.epoch).to.equal(epoch + 1);
    expect(ended).to.equal(1);
    await stop();
  });
});
