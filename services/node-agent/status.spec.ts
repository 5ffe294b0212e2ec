import { expect } from 'chai';
import { IpledgerError } from '../../lib/errors.ts';
import { failing, FakeAllocator, never, refusal } from './fakes.ts';
import { status } from './status.ts';

describe('STATUS', () => {
  it('is well when the allocator answers as to a Bind, for a container that there can’t be', async () => {
    const allocator = new FakeAllocator();
    await status(allocator, 'node-a', never());
    expect(allocator.unbinds.map(({ containerId }) => containerId)).to.deep.equal(['status-of-node-a']);
  });

  it('waits for a standby that takes over', async () => {
    const allocator = new FakeAllocator({ unbind: failing(new IpledgerError('NOT_WRITER', 'standby'), 3) });
    await status(allocator, 'node-a', never());
    expect(allocator.unbinds).to.have.length(4);
  });

  it('says why not', async () => {
    const damaged = new FakeAllocator({ unbind: failing(new IpledgerError('LEDGER_DAMAGED', 'a gap')) });
    const error = await refusal(status(damaged, 'node-a', never()));
    expect(error).to.include({ code: 'LEDGER_DAMAGED', message: 'the allocator could not be asked: a gap' });
  });
});
