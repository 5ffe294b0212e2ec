import { expect } from 'chai';
import type { CallContext } from '../../../lib/serving/serve.ts';
import { IpamService } from '../../../proto/ipledger.ts';
import { failureOf, never } from '../ledger/specification.ts';
import { allocate } from './allocate.ts';
import { applyMacvlan, podAsks, type Served, serveAllocator } from './specification.ts';

describe('valid_ms of Allocate', () => {
  let served: Served;
  beforeEach(async () => {
    served = await serveAllocator();
    await applyMacvlan(served);
  });
  afterEach(() => served[Symbol.asyncDispose]());

  /** What an Allocate with 400 ms of validity is answered in a call whose time passes as it is told. */
  function answerTo(context: Partial<CallContext>) {
    const { requestSerialize, requestDeserialize } = IpamService.allocate;
    const request = requestDeserialize(requestSerialize({ ...podAsks('a'), validMs: 400 }));
    return allocate(served.allocator, request, { actor: 'watcher', signal: never, ...context });
  }

  it('is no limit to a request that is decided at once', async () => {
    expect((await answerTo({ elapsedMs: () => 399, remainingMs: () => 1 })).allocations).to.have.length(1);
  });

  it('counts what the request waited in the queue of the writer', async () => {
    let waited = 0;
    const answer = answerTo({ elapsedMs: () => waited });
    waited = 401;
    expect(await failureOf(answer)).to.have.property('code', 'DEADLINE_PASSED');
  });

  it('counts what the request waited at a standby', async () => {
    expect(await failureOf(answerTo({ elapsedMs: () => 401 }))).to.have.property('code', 'DEADLINE_PASSED');
  });

  it('ends with the deadline of the call, which counts from when the caller sent', async () => {
    let left = 100;
    const answer = answerTo({ remainingMs: () => left });
    left = -1;
    expect(await failureOf(answer)).to.have.property('code', 'DEADLINE_PASSED');
  });

  it('is not longer where the machine’s clock is set back meanwhile', async () => {
    let waited = 0;
    const answer = answerTo({ elapsedMs: () => waited });
    served.jump(-4_000);
    waited = 401;
    expect(await failureOf(answer)).to.have.property('code', 'DEADLINE_PASSED');
  });
});
