import { expect } from 'chai';
import { IpamService } from '../../../../proto/generated/ipledger.ts';
import { never } from '../../../../ledger/log/testing/running-writer.ts';
import { unbind as endBinding } from '../ipam/bind.ts';
import {
  allocate,
  allocateRequest,
  applyMacvlan,
  bind,
  release,
  sandboxOf,
  serveAllocator,
} from '../testing/served-allocator.ts';

describe('A live binding', () => {
  for (const actor of ['ipledger://operator/anna', 'kubernetes:anna'])
    it(`a live binding is not ended by ${actor} while the Pod holds the address`, async () => {
      await using served = await serveAllocator();
      await applyMacvlan(served);
      await allocate(served, 'a');
      await bind(served, 'a');
      const { containerId, interface: name } = sandboxOf('a');
      const end = (cause: 'UNBIND_CAUSE_GARBAGE_COLLECTED' | 'UNBIND_CAUSE_NODE_DELETED') => {
        const request = { containerId, interface: name, cause, evidence: '' };
        return endBinding(served.allocator, request as never, { actor, signal: never });
      };
      for (const cause of ['UNBIND_CAUSE_GARBAGE_COLLECTED', 'UNBIND_CAUSE_NODE_DELETED'] as const)
        expect(await end(cause).catch((error: unknown) => error)).to.have.property('code', 'ADDRESS_IN_USE');
      expect((await served.call(IpamService.listBindings, {})).bindings).to.have.length(1);
      await release(served, 'a');
      expect(await end('UNBIND_CAUSE_GARBAGE_COLLECTED')).to.include({ unbound: 1 });
    });

  it('an import does not get the address of a live binding, even after the release of its Pod', async () => {
    await using served = await serveAllocator();
    await applyMacvlan(served);
    const allocation = await allocate(served, 'a');
    await bind(served, 'a');
    const addresses = allocation.addresses.map(({ address }) => address);
    const { pod, attachments = [] } = allocateRequest('thief');
    const thief = {
      ...(pod && { pod }),
      attachments: attachments.map((each) => ({ ...each, candidates: [{ addresses }] })),
      import: true,
    };
    for (const released of [false, true]) {
      if (released) await release(served, 'a');
      expect(await served.refusal(IpamService.allocate, thief)).to.include({ code: 'ADDRESS_IN_USE' });
    }
  });
});
