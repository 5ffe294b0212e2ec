import { getPriority, setPriority } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { failureOf, never, silentLog } from '../../../ledger/log/testing/running-writer.ts';
import { counts, fails, fillsMemory, loops, priority } from './testing/thread-program.ts';
import { WorkerThreads } from './worker-threads.ts';

describe('WorkerThreads', () => {
  const crashes: string[] = [];
  const threads = new WorkerThreads({
    program: join(import.meta.dirname, 'testing/thread-program.ts'),
    etcd: 'http://127.0.0.1:1',
    archive: '',
    archiveMaxBytes: 0,
    log: silentLog,
    onCrash: (task) => crashes.push(task),
    heapMb: 32,
  });
  beforeEach(() => void (crashes.length = 0));

  const sharedNumber = (): Int32Array => new Int32Array(new SharedArrayBuffer(4));

  it('WorkerThreads yields the replies in order, and a thread waits for a slow receiver', async () => {
    const sent = sharedNumber();
    const found: number[] = [];
    for await (const number of threads.run(counts, { to: 40, sent }, never)) {
      found.push(number);
      for (let turns = 0; turns < 50; turns++) await turn();
      expect(Atomics.load(sent, 0), 'sent').to.be.at.most(number + 3);
    }
    expect(found).to.deep.equal(Array.from({ length: 40 }, (_, index) => index + 1));
    expect(crashes).to.deep.equal([]);
  });

  it('WorkerThreads ends a cancelled task that never yields', async () => {
    const turns = sharedNumber();
    const cancelled = new AbortController();
    const running = threads.run(loops, turns, cancelled.signal).next();
    while (Atomics.load(turns, 0) === 0) await turn();
    cancelled.abort();
    expect((await failureOf(running)).name).to.equal('AbortError');
    const atEnd = Atomics.load(turns, 0);
    for (let more = 0; more < 1_000; more++) await turn();
    expect(Atomics.load(turns, 0)).to.equal(atEnd);
    expect(crashes).to.deep.equal([]);
  });

  it('WorkerThreads ends a task whose receiver takes no more replies', async () => {
    const sent = sharedNumber();
    const replies = threads.run(counts, { to: 1_000_000, sent }, never);
    await replies.next();
    await replies.return(undefined);
    const atEnd = Atomics.load(sent, 0);
    for (let more = 0; more < 1_000; more++) await turn();
    expect(Atomics.load(sent, 0)).to.equal(atEnd);
  });

  it('WorkerThreads fails with UNAVAILABLE when the thread has no memory left, and reports the crash', async () => {
    const { code, message } = await failureOf(threads.run(fillsMemory, undefined, never).next());
    expect(code).to.equal('UNAVAILABLE');
    expect(message).to.match(/^the thread of this request ended: .*memory/);
    expect(crashes).to.deep.equal(['fills-memory']);
  });

  it('a run fails with the error of its task', async () => {
    const error = await failureOf(threads.run(fails, undefined, never).next());
    expect(error).to.include({ code: 'POSITION_GONE', message: 'event 7 is sealed' });
    expect(crashes).to.deep.equal([]);
  });

  it('WorkerThreads runs tasks after the work of the thread that answers calls', async () => {
    const before = getPriority();
    const found: number[] = [];
    for await (const reply of threads.run(priority, undefined, never)) found.push(reply);
    expect(found).to.have.length(1);
    expect(found[0]).to.be.above(before);
    expect(getPriority()).to.equal(before);
  });

  it('WorkerThreads runs tasks after that thread also in an allocator that was started with a low priority', async () => {
    const before = getPriority();
    const found: number[] = [];
    try {
      for (const started of [before + 7, 19]) {
        setPriority(started);
        for await (const reply of threads.run(priority, undefined, never)) found.push(reply);
      }
    } finally {
      setPriority(before);
    }
    expect(found).to.deep.equal([Math.min(before + 12, 19), 19]);
  });
});
