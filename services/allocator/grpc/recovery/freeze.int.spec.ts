import { expect } from 'chai';
import { IpamService, LedgerService } from '../../../../proto/generated/ipledger.ts';
import { allocate } from '../../../../ledger/domain/testing/event-fixtures.ts';
import { parseEvent } from '../../../../ledger/log/chain/chain.ts';
import { MemoryLedger } from '../../../../ledger/log/testing/memory-ledger.ts';
import { submitAll, createLedger, macvlan, never, startWriter } from '../../../../ledger/log/testing/running-writer.ts';
import { freezeIfRewound } from '../../../../ledger/log/reader/rollback-detection.ts';
import { serveAllocator } from '../testing/served-allocator.ts';

describe('A rewound ledger', () => {
  let memory: MemoryLedger;
  beforeEach(async () => {
    memory = new MemoryLedger();
    const { writer, stop } = await startWriter(memory);
    await submitAll(writer, createLedger(), macvlan, allocate('a'));
    await stop();
  });

  it('a rewound ledger reports its head at the time of the freeze, even after later events', async () => {
    await using served = await serveAllocator(memory);
    const { epoch, seq, hash, at } = served.replica.head;
    const head = { ...served.replica.head, seq: seq + 5, hash: 'of a lost event' };
    expect(await freezeIfRewound(memory, memory, { head, by: 'ipledger://watcher' }, never)).to.equal(true);
    const addresses = ['172.17.0.50'];
    await served.call(IpamService.reserve, { subnet: 'macvlan', addresses, reservedFor: 'vip/web', reason: 'floor 3' });
    const { position, freeze } = await served.call(LedgerService.getStatus, {});
    expect(position?.seq).to.equal(seq + 1);
    expect(freeze).to.deep.include({ head: { epoch, seq, hash }, headAt: new Date(at).toISOString() });
    await served.call(LedgerService.restore, { reason: 'a backup', ...(position && { comparedPosition: position }) });
    const [restored] = await memory.readEach([seq + 2], never);
    expect(restored && parseEvent(restored.text).sequenced).to.deep.include({
      type: 'LedgerRestored',
      data: { epoch: epoch + 1, seq, hash, lostSeq: seq + 5, reason: 'a backup' },
    });
  });
});
