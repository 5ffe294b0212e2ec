import { expect } from 'chai';
import { IpamService, LedgerService } from '../../../proto/ipledger.ts';
import { allocate } from '../domain/specification.ts';
import { parseEvent } from '../ledger/chain.ts';
import { MemoryLedger } from '../ledger/memory.ts';
import { carryOut, createLedger, macvlan, never, startWriter } from '../ledger/specification.ts';
import { freezeIfRewound } from './freeze.ts';
import { serveAllocator } from './specification.ts';

describe('A ledger that was rewound', () => {
  let memory: MemoryLedger;
  beforeEach(async () => {
    memory = new MemoryLedger();
    const { writer, stop } = await startWriter(memory);
    await carryOut(writer, createLedger(), macvlan, allocate('a'));
    await stop();
  });

  it('is told to end where it did when it was frozen, whatever is written since', async () => {
    await using served = await serveAllocator(memory);
    const { epoch, seq, hash, at } = served.replica.head;
    const head = { ...served.replica.head, seq: seq + 5, hash: 'of what is lost' };
    expect(await freezeIfRewound(memory, memory, { head, by: 'ipledger://watcher' }, never)).to.equal(true);
    const addresses = ['172.17.0.50'];
    await served.call(IpamService.reserve, { subnet: 'macvlan', addresses, reservedFor: 'vip/web', reason: 'floor 3' });
    const { position, freeze } = await served.call(LedgerService.getStatus, {});
    expect(position?.seq).to.equal(seq + 1);
    expect(freeze).to.deep.include({ found: { epoch, seq, hash }, foundAt: new Date(at).toISOString() });
    await served.call(LedgerService.restore, { reason: 'a backup', ...(position && { compared: position }) });
    const [restored] = await memory.readEach([seq + 2], never);
    expect(restored && parseEvent(restored.text).sequenced).to.deep.include({
      type: 'LedgerRestored',
      data: { epoch: epoch + 1, seq, hash, lostSeq: seq + 5, reason: 'a backup' },
    });
  });
});
