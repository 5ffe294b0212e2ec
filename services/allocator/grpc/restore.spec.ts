import { expect } from 'chai';
import { LedgerService, type Position } from '../../../proto/ipledger.ts';
import { logOf, never } from '../ledger/specification.ts';
import { allocate, applyMacvlan, type Served, serveAllocator } from './specification.ts';

const reason = 'the disk of etcd was lost';
const meanwhile =
  /^the ledger was recovered meanwhile: event 4 of \S+Z by anonymous began epoch 2 \(the disk of etcd was lost\); it is at epoch 2, event 4, and epoch 1 was compared\. Nothing was done now: ipledger recover shows/;

/** The place of the ledger, as an operator compares it with the cluster. */
async function placeOf(served: Served): Promise<Position> {
  const { position } = await served.call(LedgerService.getStatus, {});
  if (!position) throw new Error('no position');
  return position;
}

/** An allocator on a ledger of which somebody remembers more. */
async function rewound(): Promise<Served> {
  const served = await serveAllocator();
  await applyMacvlan(served);
  await allocate(served, 'a');
  const why = { epoch: 1, seq: 99, hash: 'ab', by: 'ipledger://watcher', at: '2026-11-17T14:05:00.000Z' };
  await served.memory.freeze(why, await served.memory.head(never), never);
  return served;
}

const epochsBegun = async ({ memory }: Served): Promise<number[]> =>
  (await logOf(memory)).flatMap(({ sequenced: { type, data } }) => (type === 'LedgerRestored' ? [data.epoch] : []));

describe('Ledger.Restore', () => {
  it('begins an epoch, in which it stays frozen until Thaw', async () => {
    await using served = await rewound();
    const { position } = await served.call(LedgerService.restore, { reason, compared: await placeOf(served) });
    expect(position).to.include({ epoch: 2, seq: 4 });
    expect((await served.call(LedgerService.getStatus, {})).freeze).to.have.property('by', 'ipledger://watcher');
    await served.call(LedgerService.thaw, {});
    expect((await served.call(LedgerService.getStatus, {})).freeze).to.equal(undefined);
    await allocate(served, 'b');
  });

  for (const unnoticed of [false, true])
    it(`lets one of many who compared the same epoch begin the next, and tells the others${unnoticed ? ': also where nobody noticed' : ''}`, async () => {
      await using served = await rewound();
      if (unnoticed) await served.memory.thaw(never);
      const request = { reason, unnoticed, compared: await placeOf(served) };
      const asked = Array.from({ length: 5 }, () => served.call(LedgerService.restore, request));
      const outcomes = await Promise.allSettled(asked);
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
      for (const outcome of outcomes)
        if (outcome.status === 'rejected') {
          expect(outcome.reason).to.have.property('code', 'POSITION_GONE');
          expect(outcome.reason).to.have.property('message').that.matches(meanwhile);
        }
      expect(await epochsBegun(served)).to.deep.equal([2]);
    });

  it('does nothing for who compared it before somebody else has let it go on', async () => {
    await using served = await rewound();
    const compared = await placeOf(served);
    await served.call(LedgerService.restore, { reason, compared });
    await served.call(LedgerService.thaw, {});
    for (const unnoticed of [false, true]) {
      const { status, code, message } = await served.refusal(LedgerService.restore, { reason, unnoticed, compared });
      expect({ status, code }).to.deep.equal({ status: 'OUT_OF_RANGE', code: 'POSITION_GONE' });
      expect(message).to.match(meanwhile);
    }
    expect((await served.call(LedgerService.getStatus, {})).freeze).to.equal(undefined);
    expect(await epochsBegun(served)).to.deep.equal([2]);
  });

  it('goes on in the epoch that a run began which broke off', async () => {
    await using served = await rewound();
    await served.call(LedgerService.restore, { reason, compared: await placeOf(served) });
    await served.call(LedgerService.restore, { reason, compared: await placeOf(served) });
    await served.call(LedgerService.thaw, {});
    expect(await epochsBegun(served)).to.deep.equal([2]);
  });

  it('refuses who does not say what was compared, and a ledger that nobody remembers more of', async () => {
    await using served = await rewound();
    expect(await served.refusal(LedgerService.restore, { reason })).to.include({ code: 'INVALID_REQUEST' });
    await served.memory.thaw(never);
    const request = { reason, compared: await placeOf(served) };
    expect(await served.refusal(LedgerService.restore, request)).to.include({ code: 'LEDGER_NOT_FROZEN' });
    expect(await epochsBegun(served)).to.deep.equal([]);
  });
});
