import { expect } from 'chai';
import type { CallContext } from '../../../../lib/grpc/server/serve.ts';
import { IpamService } from '../../../../proto/generated/ipledger.ts';
import { failureOf, never } from '../../../../ledger/log/testing/running-writer.ts';
import { allocate } from './allocate.ts';
import { applyMacvlan, allocateRequest, type ServedAllocator, serveAllocator } from '../testing/served-allocator.ts';

describe('valid_ms of Allocate', () => {
  let served: ServedAllocator;
  beforeEach(async () => {
    served = await serveAllocator();
    await applyMacvlan(served);
  });
  afterEach(() => served[Symbol.asyncDispose]());

  /** Sends an Allocate with `valid_ms` 400. `context` has the elapsed and the remaining time. */
  function allocateIn(context: Partial<CallContext>) {
    const { requestSerialize, requestDeserialize } = IpamService.allocate;
    const request = requestDeserialize(requestSerialize({ ...allocateRequest('a'), validMs: 400 }));
    return allocate(served.allocator, request, { actor: 'watcher', signal: never, ...context });
  }

  it('valid_ms of Allocate admits a request that is decided in time', async () => {
    expect((await allocateIn({ elapsedMs: () => 399, remainingMs: () => 1 })).allocations).to.have.length(1);
  });

  it('valid_ms includes the time in the queue of the writer', async () => {
    let waited = 0;
    const answer = allocateIn({ elapsedMs: () => waited });
    waited = 401;
    expect(await failureOf(answer)).to.have.property('code', 'DEADLINE_PASSED');
  });

  it('valid_ms includes the time at a standby', async () => {
    expect(await failureOf(allocateIn({ elapsedMs: () => 401 }))).to.have.property('code', 'DEADLINE_PASSED');
  });

  it('valid_ms ends at the deadline of the call', async () => {
    let left = 100;
    const answer = allocateIn({ remainingMs: () => left });
    left = -1;
    expect(await failureOf(answer)).to.have.property('code', 'DEADLINE_PASSED');
  });

  it('valid_ms does not grow when the machine clock is set back', async () => {
    let waited = 0;
    const answer = allocateIn({ elapsedMs: () => waited });
    served.jumpClock(-4_000);
    waited = 401;
    expect(await failureOf(answer)).to.have.property('code', 'DEADLINE_PASSED');
  });
});

describe('seen_seq of Allocate', () => {
  it('Allocate with seen_seq refuses a client that has seen an event which a restored ledger lacks, and serves one that has seen the last event', async () => {
    await using served = await serveAllocator();
    await applyMacvlan(served);
    const { requestSerialize, requestDeserialize } = IpamService.allocate;
    const send = (uid: string, seenSeq: number) =>
      allocate(served.allocator, requestDeserialize(requestSerialize({ ...allocateRequest(uid), seenSeq })), {
        actor: 'watcher',
        signal: never,
      });
    const { seq } = served.allocator.replica.head;
    const refused = await failureOf(send('a', seq + 1));
    expect(refused).to.have.property('code', 'UNAVAILABLE');
    expect(refused)
      .to.have.property('message')
      .that.contains(`has seen event ${seq + 1}`);
    expect(served.allocator.replica.head.seq).to.equal(seq);
    expect((await send('a', seq)).allocations).to.have.length(1);
  });
});
