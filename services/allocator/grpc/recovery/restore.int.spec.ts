import { expect } from 'chai';
import { LedgerService, type Position } from '../../../../proto/generated/ipledger.ts';
import { logOf, never } from '../../../../ledger/log/testing/running-writer.ts';
import { allocate, applyMacvlan, type ServedAllocator, serveAllocator } from '../testing/served-allocator.ts';

const reason = 'the disk of etcd was lost';
const restoredByOther =
  /^another run has recovered the ledger: event 4 of \S+Z by anonymous began epoch 2 \(the disk of etcd was lost\); the ledger is at epoch 2, event 4, and the comparison was in epoch 1\. Nothing was changed: run ipledger recover/;

/** Reads the position that an operator would compare with the cluster. */
async function readPosition(served: ServedAllocator): Promise<Position> {
  const { position } = await served.call(LedgerService.getStatus, {});
  if (!position) throw new Error('no position');
  return position;
}

/** Serves an allocator on a ledger that the pod-watcher has frozen. */
async function serveFrozen(): Promise<ServedAllocator> {
  const served = await serveAllocator();
  await applyMacvlan(served);
  await allocate(served, 'a');
  const freezeReason = { epoch: 1, seq: 99, hash: 'ab', by: 'ipledger://watcher', at: '2026-11-17T14:05:00.000Z' };
  await served.memory.freeze(freezeReason, await served.memory.head(never), never);
  return served;
}

const epochsBegun = async ({ memory }: ServedAllocator): Promise<number[]> =>
  (await logOf(memory)).flatMap(({ sequenced: { type, data } }) => (type === 'LedgerRestored' ? [data.epoch] : []));

describe('Ledger.Restore', () => {
  it('Ledger.Restore begins an epoch, and the ledger stays frozen until Unfreeze', async () => {
    await using served = await serveFrozen();
    const { position } = await served.call(LedgerService.restore, {
      reason,
      comparedPosition: await readPosition(served),
    });
    expect(position).to.include({ epoch: 2, seq: 4 });
    expect((await served.call(LedgerService.getStatus, {})).freeze).to.have.property(
      'reportedBy',
      'ipledger://watcher',
    );
    await served.call(LedgerService.unfreeze, {});
    expect((await served.call(LedgerService.getStatus, {})).freeze).to.equal(undefined);
    await allocate(served, 'b');
  });

  for (const unnoticed of [false, true])
    it(`Ledger.Restore begins one epoch for several runs that compared the same epoch${unnoticed ? ', also with freeze_first' : ''}`, async () => {
      await using served = await serveFrozen();
      if (unnoticed) await served.memory.unfreeze(never);
      const request = { reason, freezeFirst: unnoticed, comparedPosition: await readPosition(served) };
      const calls = Array.from({ length: 5 }, () => served.call(LedgerService.restore, request));
      const outcomes = await Promise.allSettled(calls);
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
      for (const outcome of outcomes)
        if (outcome.status === 'rejected') {
          expect(outcome.reason).to.have.property('code', 'POSITION_GONE');
          expect(outcome.reason).to.have.property('message').that.matches(restoredByOther);
        }
      expect(await epochsBegun(served)).to.deep.equal([2]);
    });

  it('Restore changes nothing if the comparison was made before another run', async () => {
    await using served = await serveFrozen();
    const compared = await readPosition(served);
    await served.call(LedgerService.restore, { reason, comparedPosition: compared });
    await served.call(LedgerService.unfreeze, {});
    for (const unnoticed of [false, true]) {
      const { status, code, message } = await served.refusal(LedgerService.restore, {
        reason,
        freezeFirst: unnoticed,
        comparedPosition: compared,
      });
      expect({ status, code }).to.deep.equal({ status: 'OUT_OF_RANGE', code: 'POSITION_GONE' });
      expect(message).to.match(restoredByOther);
    }
    expect((await served.call(LedgerService.getStatus, {})).freeze).to.equal(undefined);
    expect(await epochsBegun(served)).to.deep.equal([2]);
  });

  it('Restore continues the epoch of an interrupted run', async () => {
    await using served = await serveFrozen();
    await served.call(LedgerService.restore, { reason, comparedPosition: await readPosition(served) });
    await served.call(LedgerService.restore, { reason, comparedPosition: await readPosition(served) });
    await served.call(LedgerService.unfreeze, {});
    expect(await epochsBegun(served)).to.deep.equal([2]);
  });

  it('Ledger.Restore rejects a request without a position, and a ledger that is not frozen', async () => {
    await using served = await serveFrozen();
    expect(await served.refusal(LedgerService.restore, { reason })).to.include({ code: 'INVALID_REQUEST' });
    await served.memory.unfreeze(never);
    const request = { reason, comparedPosition: await readPosition(served) };
    expect(await served.refusal(LedgerService.restore, request)).to.include({ code: 'LEDGER_NOT_FROZEN' });
    expect(await epochsBegun(served)).to.deep.equal([]);
  });
});
