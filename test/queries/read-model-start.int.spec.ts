/** A read model that begins after the first event, because the events before were dropped. */
import { expect } from 'chai';
import { LedgerService } from '../../proto/generated/ipledger.ts';
import {
  allocate,
  applyMacvlan,
  bind,
  release,
  serveAllocator,
  unbind,
} from '../../services/allocator/grpc/testing/served-allocator.ts';
import { temporaryFile } from '../../services/read-model/testing/fake-events.ts';
import { expectSameMaps } from './address-maps.ts';
import { buildReadModel } from './build-read-model.ts';

describe('A read model that begins in the middle of the ledger', () => {
  it('A read model that begins in the middle of the ledger has the same address maps as the allocator, from its first event on', async () => {
    const place = temporaryFile();
    await using served = await serveAllocator();
    await applyMacvlan(served);
    for (const name of ['web', 'db', 'cache']) await allocate(served, name);
    await bind(served, 'web');
    await bind(served, 'db');
    await release(served, 'db');
    const first = served.replica.head.seq + 1;
    await release(served, 'web');
    await unbind(served, 'db');
    await allocate(served, 'late');
    await unbind(served, 'web');
    const model = await buildReadModel(served, place.file, first);
    try {
      expect([model.store.firstSeq, model.store.mapsFromSeq]).to.deep.equal([first, first]);
      const { events } = await served.call(LedgerService.history, { pageSize: 1_000 });
      await expectSameMaps(served, model, events.toReversed(), first);
    } finally {
      model.close();
      place.remove();
    }
  });
});
