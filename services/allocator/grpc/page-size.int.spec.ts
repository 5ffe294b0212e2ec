import { expect } from 'chai';
import { stream } from '../../../lib/grpc/client.ts';
import { type Allocation, IpamService, LedgerService } from '../../../proto/generated/ipledger.ts';
import { allocate } from '../../../ledger/domain/testing/event-fixtures.ts';
import { submitAll, never } from '../../../ledger/log/testing/running-writer.ts';
import { applyMacvlan, type ServedAllocator, serveAllocator } from './testing/served-allocator.ts';

const limit = 4 << 20;
const pods = 950;
const options = { silenceMs: 20_000, signal: never };
/** Routes of about 7 KB. */
const routes = Array.from({ length: 64 }, (_, index) => ({
  dst: `fd00:1111:2222:3333:4444:5555:6666:${(index + 4_096).toString(16)}/128`,
  gw: 'fd00:1111:2222:3333:4444:5555:6666:7777',
}));

describe('A page of large items', function () {
  this.timeout(60_000);
  let served: ServedAllocator;
  before(async () => {
    served = await serveAllocator();
    await applyMacvlan(served);
    const writer = served.allocator.writer();
    const commands = Array.from({ length: pods }, (_, index) => allocate(`pod-${index}`, { routes }));
    if (writer) await submitAll(writer, ...commands);
  });
  after(() => served[Symbol.asyncDispose]());

  it('a page of large items of ListAllocations stays below 4 MiB, and the pages contain every allocation', async () => {
    const found: Allocation[] = [];
    for (let pageToken = ''; ;) {
      const reply = await served.call(IpamService.listAllocations, { pageSize: 1_000, pageToken });
      expect(IpamService.listAllocations.responseSerialize(reply).length).to.be.below(limit);
      found.push(...reply.allocations);
      pageToken = reply.nextPageToken;
      if (pageToken === '') break;
    }
    expect(new Set(found.map(({ podUid }) => podUid)).size).to.equal(pods);
    expect(found).to.have.length(pods);
  });

  it('a page of large items of History stays below 4 MiB, and the pages contain every event', async () => {
    const seqs: number[] = [];
    for (let pageToken = ''; ;) {
      const reply = await served.call(LedgerService.history, { subnet: 'macvlan', pageSize: 1_000, pageToken });
      expect(LedgerService.history.responseSerialize(reply).length).to.be.below(limit);
      seqs.push(...reply.events.map(({ seq }) => seq));
      pageToken = reply.nextPageToken;
      if (pageToken === '') break;
    }
    expect(seqs).to.deep.equal(Array.from({ length: pods + 1 }, (_, index) => pods + 2 - index));
  });

  it('a page of large items of Watch, Export and StateAt stays below 4 MiB', async () => {
    const last = pods + 2;
    for await (const reply of stream(served.client, LedgerService.watch, { fromSeq: 1 }, options)) {
      expect(LedgerService.watch.responseSerialize(reply).length).to.be.below(limit);
      if (reply.events.at(-1)?.seq === last) break;
    }
    let lines = 0;
    for await (const reply of stream(served.client, LedgerService.export, {}, options)) {
      expect(LedgerService.export.responseSerialize(reply).length).to.be.below(limit);
      lines += reply.lines.length;
    }
    expect(lines).to.equal(last);
    let records = 0;
    for await (const reply of stream(served.client, LedgerService.stateAt, {}, options)) {
      expect(LedgerService.stateAt.responseSerialize(reply).length).to.be.below(limit);
      records += reply.records.length;
    }
    expect(records).to.equal(pods);
  });
});
