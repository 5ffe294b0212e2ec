import { expect } from 'chai';
import { stream } from '../../../../lib/grpc/client.ts';
import { IpamService, LedgerService, type Position } from '../../../../proto/generated/ipledger.ts';
import { allocate } from '../../../../ledger/domain/testing/event-fixtures.ts';
import { parseEvent } from '../../../../ledger/log/chain/chain.ts';
import { MemoryLedger } from '../../../../ledger/log/testing/memory-ledger.ts';
import {
  createLedger,
  failureOf,
  macvlan,
  never,
  startWriter,
  submitAll,
} from '../../../../ledger/log/testing/running-writer.ts';
import { freezeIfRewound } from '../../../../ledger/log/reader/rollback-detection.ts';
import { serveAllocator, watchRequest } from '../testing/served-allocator.ts';

describe('A rewound ledger', () => {
  let memory: MemoryLedger;
  beforeEach(async () => {
    memory = new MemoryLedger();
    const { writer, stop } = await startWriter(memory);
    await submitAll(writer, createLedger(), macvlan, allocate('a'));
    await stop();
  });

  it('A rewound ledger is not reported by a position whose epoch no ledger had, because the next epoch follows from it', async () => {
    await using served = await serveAllocator(memory);
    const { epoch, seq, hash } = served.replica.head;
    const watch = (after: Position) => {
      const request = { ...watchRequest(1), after };
      const replies = stream(served.client, LedgerService.watch, request, { silenceMs: 20_000, signal: never });
      return failureOf(replies.next());
    };
    expect(await watch({ epoch: Number.MAX_SAFE_INTEGER, seq, hash })).to.include({ code: 'INVALID_REQUEST' });
    expect((await served.call(LedgerService.getStatus, {})).freeze).to.equal(undefined);
    expect(await watch({ epoch: epoch + 1, seq, hash })).to.include({ code: 'LEDGER_FROZEN' });
    expect((await served.call(LedgerService.getStatus, {})).freeze?.known?.epoch).to.equal(epoch + 1);
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
