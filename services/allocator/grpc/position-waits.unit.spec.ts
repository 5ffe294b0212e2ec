import { expect } from 'chai';
import { allocate } from '../../../ledger/domain/testing/event-fixtures.ts';
import { MemoryLedger } from '../../../ledger/log/testing/memory-ledger.ts';
import {
  createLedger,
  failureOf,
  macvlan,
  never,
  requestFor,
  type RunningWriter,
  startWriter,
  submitAll,
} from '../../../ledger/log/testing/running-writer.ts';
import { PositionWaits } from './position-waits.ts';

describe('A read with min_seq', () => {
  let working: RunningWriter;
  let waits: PositionWaits;
  let head: number;
  beforeEach(async () => {
    working = await startWriter(new MemoryLedger());
    await submitAll(working.writer, createLedger(), macvlan);
    waits = new PositionWaits(working.replica);
    head = working.replica.head.seq;
  });
  afterEach(async () => void (await working.stop()));

  it('A read with min_seq waits for the next events, and not for an event far ahead', async () => {
    const next = waits.until(head + 1, 'a', never);
    await working.writer.submit(requestFor(allocate('a')));
    await next;
    for (const seq of [head + 1_000_000, Number.MAX_SAFE_INTEGER])
      expect(await failureOf(waits.until(seq, 'a', never))).to.have.property('code', 'UNAVAILABLE');
  });

  it('a caller can have 64 reads that wait, and all callers together 1,024', async () => {
    const left = new AbortController();
    const waiting = (count: number, caller: string): Promise<unknown>[] =>
      Array.from({ length: count }, () => failureOf(waits.until(head + 1, caller, left.signal)));
    const all = waiting(64, 'a');
    const refused = await failureOf(waits.until(head + 1, 'a', never));
    expect(refused).to.include({ code: 'OVERLOADED', kind: 'transient' });
    expect(refused.message).to.match(/^a has 64 reads that wait/);
    for (let caller = 0; caller < 15; caller++) all.push(...waiting(64, `caller-${caller}`));
    expect((await failureOf(waits.until(head + 1, 'b', never))).message).to.match(/^callers have 1024 reads/);
    await waits.until(head, 'b', never);
    left.abort();
    for (const ended of await Promise.all(all)) expect(ended).to.have.property('code', 'UNAVAILABLE');
    const again = waits.until(head + 1, 'a', never);
    await working.writer.submit(requestFor(allocate('b')));
    await again;
  });
});
