import { expect } from 'chai';
import { type Fence, formatFence, readFence, writeRefusal } from './fence.ts';

const fence: Fence = { ledger: '01LEDGER', epoch: 2, seq: 40, writer: 'host_1' };
const globalWith = (ids: Record<string, string>) => ({
  uuid: '01234567-89ab-cdef-0123-456789abcdef',
  row: { external_ids: new Map(Object.entries(ids)) },
});

describe('The fence', () => {
  it('The fence is read as it was written', () => {
    expect(readFence(globalWith({ ipledger: formatFence(fence), other: 'x' }))).to.deep.equal(fence);
    expect(readFence(globalWith({ other: 'x' }))).to.equal(undefined);
    expect(readFence(undefined)).to.equal(undefined);
  });

  it('The fence permits a write at the same or a later position, and the first write to a database without a fence', () => {
    for (const present of [undefined, fence, { ...fence, seq: 39 }, { ...fence, epoch: 1, seq: 900 }])
      expect(writeRefusal(present, fence)).to.equal(undefined);
  });

  it('The fence refuses a write at an earlier position or in an earlier epoch', () => {
    expect(writeRefusal({ ...fence, seq: 41 }, fence)).to.contain('of event 41 in epoch 2');
    expect(writeRefusal({ ...fence, epoch: 3, seq: 1 }, fence)).to.contain('of event 1 in epoch 3');
  });

  for (const text of ['01OTHER/2/40/host_1', 'written by hand'])
    it(`The fence refuses each write to a database of another ledger: ${text}`, () => {
      const refusal = writeRefusal(readFence(globalWith({ ipledger: text })), fence);
      expect(refusal).to.contain('belongs to ledger').and.contain('ovn-nbctl remove NB_Global . external_ids ipledger');
    });
});
