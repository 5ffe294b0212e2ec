import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import { failTimes, FakeBindingClient, neverAborted, rejectionOf } from '../testing/fakes.ts';
import { status } from './request-handler.ts';

describe('STATUS', () => {
  it('succeeds when the writer answers an Unbind of a container that cannot exist', async () => {
    const allocator = new FakeBindingClient();
    await status(allocator, 'node-a', neverAborted());
    expect(allocator.unbinds.map(({ containerId }) => containerId)).to.deep.equal(['status-of-node-a']);
  });

  it('retries while a standby takes over', async () => {
    const allocator = new FakeBindingClient({ unbind: failTimes(new IpledgerError('NOT_WRITER', 'standby'), 3) });
    await status(allocator, 'node-a', neverAborted());
    expect(allocator.unbinds).to.have.length(4);
  });

  it('returns the allocator’s error', async () => {
    const damaged = new FakeBindingClient({ unbind: failTimes(new IpledgerError('LEDGER_DAMAGED', 'a gap')) });
    const error = await rejectionOf(status(damaged, 'node-a', neverAborted()));
    expect(error).to.include({ code: 'LEDGER_DAMAGED', message: 'the allocator is unavailable: a gap' });
  });
});
