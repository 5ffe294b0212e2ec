import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import { call } from '../../../lib/grpc/client.ts';
import { IpamService, LedgerService } from '../../../proto/generated/ipledger.ts';
import { EtcdSpace } from '../health/etcd-space.ts';
import { allocateRequest, applyMacvlan, serveAllocator } from './testing/served-allocator.ts';

const used = (percent: number) => ({ bytes: 100 << 20, inUse: percent << 20 });

describe('While only the last tenth of the quota of etcd is left', () => {
  it('commands wait for more space, or fail at their deadline with the remedy, and queries are answered', async () => {
    await using served = await serveAllocator();
    await applyMacvlan(served);
    const space = new EtcdSpace(100 << 20, true);
    Object.assign(served.allocator, { space });
    space.update(used(95));
    const waiting = served.call(IpamService.allocate, allocateRequest('first'));
    const refused = await call(served.client, IpamService.allocate, allocateRequest('second'), { timeoutMs: 900 }).then(
      () => undefined,
      IpledgerError.from,
    );
    expect(refused).to.include({ code: 'LEDGER_NOT_WRITABLE' });
    const { storage } = await served.call(LedgerService.getStatus, {});
    expect(storage).to.deep.equal({ usedBytes: 95 << 20, quotaBytes: 100 << 20 });
    space.update(used(50));
    expect((await waiting).allocations).to.have.length(1);
    const { allocations } = await served.call(IpamService.listAllocations, {});
    expect(allocations.map(({ attachment }) => attachment?.pod)).to.deep.equal(['first']);
  });
});
