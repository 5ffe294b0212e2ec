import { setImmediate as nextIteration } from 'node:timers/promises';
import { expect } from 'chai';
import { pino } from 'pino';
import { IpledgerError } from '../../../lib/errors.ts';
import { silentLogger, until } from '../testing/fakes.ts';
import { ApiError } from '../../../lib/kubernetes/client/api-error.ts';
import { type Outcome, WorkQueue } from './work-queue.ts';

describe('WorkQueue', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  function world(work: (key: string) => Promise<Outcome>, concurrency = 2): WorkQueue {
    return new WorkQueue({
      concurrency,
      firstBackoffMs: 1,
      maxBackoffMs: 4,
      work,
      now: () => 0,
      log: silentLogger,
      signal: stop.signal,
    });
  }

  it('WorkQueue processes a key once that was added several times before the start', async () => {
    const worked: string[] = [];
    const queue = world((key) => (worked.push(key), Promise.resolve('done')));
    for (const key of ['a', 'b', 'a', 'c', 'a']) queue.add(key);
    expect(worked).to.deep.equal([]);
    queue.start();
    await until(() => queue.isIdle);
    expect(worked).to.deep.equal(['a', 'b', 'c']);
  });

  it('WorkQueue processes a key that lets another one go first once, while that one is in work, and again at its end', async () => {
    const worked: string[] = [];
    let hasEnded = false;
    const end = Promise.withResolvers<Outcome>();
    const queue = world((key) => {
      worked.push(key);
      if (key === 'first') return end.promise;
      if (worked.length > 100) stop.abort();
      if (key === 'second' && !hasEnded) queue.addBefore(key, ['first', 'other']);
      return Promise.resolve('done');
    }, 3);
    queue.start();
    queue.add('first');
    queue.add('second');
    for (let turn = 0; turn < 20; turn++) await nextIteration();
    expect(worked).to.deep.equal(['first', 'second', 'other']);
    hasEnded = true;
    end.resolve('done');
    await until(() => queue.isIdle);
    expect(worked.slice(3)).to.deep.equal(['second']);
  });

  it('WorkQueue lets a key wait whose predecessor waits for a key in work, and does not process the two in turns without a pause', async () => {
    const worked: string[] = [];
    const end = Promise.withResolvers<'done'>();
    let hasEnded = false;
    const queue = world((key) => {
      worked.push(key);
      if (key === 'first') return end.promise;
      if (worked.length > 100) stop.abort();
      if (!hasEnded) queue.addBefore(key, [key === 'third' ? 'second' : 'first']);
      return Promise.resolve('done');
    }, 3);
    queue.start();
    for (const key of ['first', 'second', 'third']) queue.add(key);
    for (let turn = 0; turn < 20; turn++) await nextIteration();
    // The third one waits for the end of the second one, and then for that of the first one
    expect(worked).to.deep.equal(['first', 'second', 'third', 'third']);
    hasEnded = true;
    end.resolve('done');
    await until(() => queue.isIdle);
    expect(worked.slice(4)).to.deep.equal(['second', 'third']);
  });

  it('WorkQueue processes keys in the order of arrival, also after it was idle', async () => {
    const worked: string[] = [];
    const queue = world((key) => {
      worked.push(key);
      if (key === 'b') queue.add('a');
      return Promise.resolve('done');
    }, 1);
    queue.start();
    for (const key of ['a', 'b', 'c']) queue.add(key);
    await until(() => queue.isIdle);
    for (const key of ['c', 'd', 'a']) queue.add(key);
    await until(() => queue.isIdle);
    expect(worked.join('')).to.equal('abcacda');
  });

  it('WorkQueue processes a key of another namespace next, however many keys of one namespace fail and are repeated', async () => {
    const worked: string[] = [];
    const queue = world((key) => {
      worked.push(key);
      if (key === 'busy/0') queue.add('quiet/vm');
      if (worked.length < 5_000 && key !== 'quiet/vm') queue.add(key);
      return Promise.resolve('done');
    }, 1);
    for (let index = 0; index < 1_200; index++) queue.add(`busy/${index}`);
    queue.start();
    await until(() => queue.isIdle);
    expect(worked.indexOf('quiet/vm')).to.equal(2);
  });

  it('WorkQueue processes no key twice at a time when its namespace becomes known while it waits', async () => {
    const running = new Map<string, () => void>();
    let namespace = '';
    const queue = new WorkQueue({
      concurrency: 2,
      firstBackoffMs: 1,
      maxBackoffMs: 4,
      namespaceOf: () => namespace,
      work: (key) => {
        expect(running.has(key)).to.equal(false);
        return new Promise((resolve) => running.set(key, () => (running.delete(key), resolve('done'))));
      },
      log: silentLogger,
      signal: stop.signal,
    });
    queue.add('a');
    namespace = 'known';
    queue.add('a');
    queue.start();
    await nextIteration();
    expect([...running.keys()]).to.deep.equal(['a']);
    running.get('a')?.();
    await until(() => running.size === 1);
    running.get('a')?.();
    await until(() => queue.isIdle);
  });

  it('WorkQueue processes low-priority keys when no other key is ready', async () => {
    const worked: string[] = [];
    const options = { concurrency: 1, firstBackoffMs: 1, maxBackoffMs: 4, log: silentLogger, signal: stop.signal };
    const queue = new WorkQueue({
      ...options,
      canWait: (key) => key.startsWith('late'),
      work: (key) => {
        worked.push(key);
        if (key === 'late-1' && worked.length < 5) for (const more of ['late-1', 'd']) queue.add(more);
        return Promise.resolve('done');
      },
    });
    for (const key of ['late-1', 'a', 'late-2', 'b', 'late-1', 'c']) queue.add(key);
    queue.start();
    await until(() => queue.isIdle);
    expect(worked).to.deep.equal(['a', 'b', 'c', 'late-1', 'd', 'late-2', 'late-1']);
  });

  it('WorkQueue gives keys of low priority one turn in nine while others are ready', async () => {
    const worked: string[] = [];
    const options = { concurrency: 1, firstBackoffMs: 1, maxBackoffMs: 4, log: silentLogger, signal: stop.signal };
    const queue = new WorkQueue({
      ...options,
      canWait: (key) => key.startsWith('late'),
      work: (key) => Promise.resolve((worked.push(key), 'done')),
    });
    for (const key of ['late-1', 'late-2', ...Array.from({ length: 20 }, (_, index) => `key-${index}`)]) queue.add(key);
    queue.start();
    await until(() => queue.isIdle);
    expect([worked.indexOf('late-1'), worked.indexOf('late-2')]).to.deep.equal([8, 17]);
  });

  it('WorkQueue processes a key once if its priority changes while it waits', async () => {
    const worked: string[] = [];
    const low = new Set(['rises']);
    const options = { concurrency: 1, firstBackoffMs: 1, maxBackoffMs: 4, log: silentLogger, signal: stop.signal };
    const queue = new WorkQueue({
      ...options,
      canWait: (key) => low.has(key),
      work: (key) => Promise.resolve((worked.push(key), 'done')),
    });
    for (const key of ['rises', 'falls', 'other']) queue.add(key);
    low.delete('rises');
    low.add('falls');
    for (const key of ['rises', 'falls']) queue.add(key);
    queue.start();
    await until(() => queue.isIdle);
    expect(worked).to.deep.equal(['other', 'rises', 'falls']);
  });

  it('WorkQueue processes keys up to the concurrency limit, and no key twice at a time', async () => {
    const running = new Map<string, () => void>();
    let most = 0;
    const queue = world((key) => {
      expect(running.has(key)).to.equal(false);
      return new Promise((resolve) => {
        running.set(key, () => (running.delete(key), resolve('done')));
        most = Math.max(most, running.size);
      });
    });
    queue.start();
    for (const key of ['a', 'b', 'c', 'a']) queue.add(key);
    expect([...running.keys()]).to.deep.equal(['a', 'b']);
    running.get('b')?.();
    await until(() => running.has('c'));
    running.get('a')?.();
    await until(() => running.has('a'));
    for (const end of running.values()) end();
    await until(() => queue.isIdle);
    expect(most).to.equal(2);
  });

  it('WorkQueue yields to the event loop after 10 ms of work', async () => {
    const order: string[] = [];
    let clockMs = 0;
    let clockReads = 0;
    const now = () => ((clockReads += 1), clockMs);
    const options = { concurrency: 64, firstBackoffMs: 1, maxBackoffMs: 4, now, log: silentLogger };
    const queue = new WorkQueue({
      ...options,
      signal: stop.signal,
      work: (key) => {
        order.push(key);
        clockMs += 6;
        return Promise.resolve('done');
      },
    });
    setImmediate(() => order.push('else'));
    for (const key of ['a', 'b', 'c', 'd']) queue.add(key);
    queue.start();
    await until(() => queue.isIdle);
    expect(order).to.deep.equal(['a', 'b', 'else', 'c', 'd']);
    // Reads the clock only when there is work.
    await nextIteration();
    clockReads = 0;
    for (let round = 0; round < 3; round++) await nextIteration();
    expect(clockReads).to.equal(0);
  });

  it('WorkQueue retries a failed key, and resets its count of attempts after success', async () => {
    const tries: number[] = [];
    const queue: WorkQueue = world((key) => {
      tries.push(queue.tries(key));
      if (tries.length === 1) return Promise.reject(new Error('no'));
      return Promise.resolve(tries.length < 4 ? 'again' : 'done');
    });
    queue.start();
    queue.add('a');
    await until(() => tries.length === 4 && queue.isIdle);
    expect(tries).to.deep.equal([0, 1, 2, 3]);
    expect(queue.tries('a')).to.equal(0);
  });

  for (const [what, error, level] of [
    ['that the allocator is away', new IpledgerError('UNAVAILABLE', 'no'), 'debug'],
    ['an unavailable API server', new ApiError(503, 'no'), 'debug'],
    ['what the allocator refuses', new IpledgerError('INVALID_REQUEST', 'no'), 'warn'],
    ['a rejected request', new ApiError(403, 'no'), 'warn'],
    ['a bug', new Error('no'), 'error'],
  ] as const)
    it(`WorkQueue logs ${what} with level ${level}${level === 'debug' ? '' : ', at the first and then every 20th attempt'}`, async () => {
      const lines: string[] = [];
      const log = pino(
        { level: 'debug', base: null, formatters: { level: (label) => ({ label }) } },
        { write: (line) => void lines.push(line) },
      );
      let tries = 0;
      const queue = new WorkQueue({
        concurrency: 1,
        firstBackoffMs: 1,
        maxBackoffMs: 1,
        work: () => (++tries <= 41 ? Promise.reject(error) : Promise.resolve('done')),
        log,
        signal: stop.signal,
      });
      queue.start();
      queue.add('default/a');
      await until(() => tries === 42);
      const logged = lines.map((line) => JSON.parse(line) as { label: string; key: string });
      expect(logged.filter(({ label }) => label === level)).to.have.length(level === 'debug' ? 41 : 3);
      expect(logged.every(({ key }) => key === 'default/a')).to.equal(true);
    });

  it('WorkQueue processes a key that is added again without the rest of its backoff', async () => {
    let worked = 0;
    const slow = { firstBackoffMs: 3_600_000, maxBackoffMs: 3_600_000, concurrency: 1 };
    const queue = new WorkQueue({
      ...slow,
      work: () => Promise.resolve(++worked < 2 ? 'again' : 'done'),
      log: silentLogger,
      signal: stop.signal,
    });
    queue.start();
    queue.add('a');
    await until(() => queue.tries('a') === 1);
    queue.add('a');
    await until(() => worked === 2);
  });

  it('WorkQueue processes a delayed key at the earlier of two times', async () => {
    const worked: string[] = [];
    const queue = world((key) => (worked.push(key), Promise.resolve('done')));
    queue.start();
    queue.addAfter('a', 3_600_000);
    queue.addAfter('a', 1);
    queue.addAfter('a', 3_600_000);
    await until(() => worked.length === 1);
  });

  it('WorkQueue stops when it is aborted', async () => {
    const worked: string[] = [];
    const queue = world((key) => (worked.push(key), Promise.resolve('again')));
    queue.start();
    queue.add('a');
    await until(() => worked.length > 0);
    stop.abort();
    await new Promise((resolve) => setTimeout(resolve, 10));
    const count = worked.length;
    queue.add('b');
    queue.addAfter('c', 0);
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(worked).to.have.length(count);
  });

  it('WorkQueue logs the key of work that takes longer than a second, and processes all waiting keys before that key', async () => {
    const lines: { msg: string; key?: string; tookMs?: number; otherSlowWork?: number }[] = [];
    const log = pino({ level: 'warn', base: null }, { write: (line) => void lines.push(JSON.parse(line) as never) });
    const worked: string[] = [];
    let clockMs = 0;
    const options = { concurrency: 1, firstBackoffMs: 1, maxBackoffMs: 4, now: () => clockMs, signal: stop.signal };
    const queue: WorkQueue = new WorkQueue({
      ...options,
      log,
      work: (key) => {
        worked.push(key);
        clockMs += key === 'slow' ? 1_001 : 1_000;
        if (worked.length === 1) queue.add('slow');
        return Promise.resolve('done');
      },
    });
    for (const key of ['slow', 'a', 'b']) queue.add(key);
    queue.start();
    await until(() => worked.length === 4 && queue.isIdle);
    expect(worked).to.deep.equal(['slow', 'a', 'b', 'slow']);
    expect(lines.map(({ key, tookMs }) => [key, tookMs])).to.deep.equal([['slow', 1_001]]);
    // Expects one line in ten seconds: the next line has the number of suppressed ones.
    clockMs += 10_000;
    queue.add('slow');
    await until(() => lines.length === 2);
    expect(lines[1]).to.include({ key: 'slow', otherSlowWork: 1 });
  });
});
