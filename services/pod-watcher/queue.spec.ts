import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { pino } from 'pino';
import { IpledgerError } from '../../lib/errors.ts';
import { silent, until } from './fakes.ts';
import { ApiError } from './kubernetes/api.ts';
import { type Outcome, Queue } from './queue.ts';

describe('the work queue', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  function world(work: (key: string) => Promise<Outcome>, concurrency = 2): Queue {
    return new Queue({
      concurrency,
      firstBackoffMs: 1,
      mostBackoffMs: 4,
      work,
      now: () => 0,
      log: silent,
      signal: stop.signal,
    });
  }

  it('works on each key once, however often it was added, and not before it is started', async () => {
    const worked: string[] = [];
    const queue = world((key) => (worked.push(key), Promise.resolve('done')));
    for (const key of ['a', 'b', 'a', 'c', 'a']) queue.add(key);
    expect(worked).to.deep.equal([]);
    queue.start();
    await until(() => queue.idle);
    expect(worked).to.deep.equal(['a', 'b', 'c']);
  });

  it('works on keys in the order in which they were added, also after it had nothing to do', async () => {
    const worked: string[] = [];
    const queue = world((key) => {
      worked.push(key);
      if (key === 'b') queue.add('a');
      return Promise.resolve('done');
    }, 1);
    queue.start();
    for (const key of ['a', 'b', 'c']) queue.add(key);
    await until(() => queue.idle);
    for (const key of ['c', 'd', 'a']) queue.add(key);
    await until(() => queue.idle);
    expect(worked.join('')).to.equal('abcacda');
  });

  it('lets those wait that can, until no others are ready', async () => {
    const worked: string[] = [];
    const options = { concurrency: 1, firstBackoffMs: 1, mostBackoffMs: 4, log: silent, signal: stop.signal };
    const queue = new Queue({
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
    await until(() => queue.idle);
    expect(worked).to.deep.equal(['a', 'b', 'c', 'late-1', 'd', 'late-2', 'late-1']);
  });

  it('works on as many keys at a time as it may, and never twice on one', async () => {
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
    await until(() => queue.idle);
    expect(most).to.equal(2);
  });

  it('lets all else that waits for the event loop go first after it began turns for 10 ms', async () => {
    const order: string[] = [];
    let clockMs = 0;
    let looks = 0;
    const now = () => ((looks += 1), clockMs);
    const options = { concurrency: 64, firstBackoffMs: 1, mostBackoffMs: 4, now, log: silent };
    const queue = new Queue({
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
    await until(() => queue.idle);
    expect(order).to.deep.equal(['a', 'b', 'else', 'c', 'd']);
    // With nothing to do it rests.
    await turn();
    looks = 0;
    for (let round = 0; round < 3; round++) await turn();
    expect(looks).to.equal(0);
  });

  it('tries again what failed, counts the tries, and forgets them when it worked', async () => {
    const tries: number[] = [];
    const queue: Queue = world((key) => {
      tries.push(queue.tries(key));
      if (tries.length === 1) return Promise.reject(new Error('no'));
      return Promise.resolve(tries.length < 4 ? 'again' : 'done');
    });
    queue.start();
    queue.add('a');
    await until(() => tries.length === 4 && queue.idle);
    expect(tries).to.deep.equal([0, 1, 2, 3]);
    expect(queue.tries('a')).to.equal(0);
  });

  for (const [what, error, level] of [
    ['that the allocator is away', new IpledgerError('UNAVAILABLE', 'no'), 'debug'],
    ['that the API server is away', new ApiError(503, 'no'), 'debug'],
    ['what the allocator refuses', new IpledgerError('INVALID_REQUEST', 'no'), 'warn'],
    ['what the API server refuses', new ApiError(403, 'no'), 'warn'],
    ['a bug', new Error('no'), 'error'],
  ] as const)
    it(`says ${what} as ${level}${level === 'debug' ? '' : ', at first and then now and then'}`, async () => {
      const lines: string[] = [];
      const log = pino(
        { level: 'debug', base: null, formatters: { level: (label) => ({ label }) } },
        { write: (line) => void lines.push(line) },
      );
      let tries = 0;
      const queue = new Queue({
        concurrency: 1,
        firstBackoffMs: 1,
        mostBackoffMs: 1,
        work: () => (++tries <= 41 ? Promise.reject(error) : Promise.resolve('done')),
        log,
        signal: stop.signal,
      });
      queue.start();
      queue.add('default/a');
      await until(() => tries === 42);
      const said = lines.map((line) => JSON.parse(line) as { label: string; key: string });
      expect(said.filter(({ label }) => label === level)).to.have.length(level === 'debug' ? 41 : 3);
      expect(said.every(({ key }) => key === 'default/a')).to.equal(true);
    });

  it('does not make who is added wait for his backoff', async () => {
    let worked = 0;
    const slow = { firstBackoffMs: 3_600_000, mostBackoffMs: 3_600_000, concurrency: 1 };
    const queue = new Queue({
      ...slow,
      work: () => Promise.resolve(++worked < 2 ? 'again' : 'done'),
      log: silent,
      signal: stop.signal,
    });
    queue.start();
    queue.add('a');
    await until(() => queue.tries('a') === 1);
    queue.add('a');
    await until(() => worked === 2);
  });

  it('keeps the earlier of two plans', async () => {
    const worked: string[] = [];
    const queue = world((key) => (worked.push(key), Promise.resolve('done')));
    queue.start();
    queue.addAfter('a', 3_600_000);
    queue.addAfter('a', 1);
    queue.addAfter('a', 3_600_000);
    await until(() => worked.length === 1);
  });

  it('stops with the signal', async () => {
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

  it('logs the key of a turn that takes longer than a second, and serves all that wait before it again', async () => {
    const lines: { msg: string; key?: string; tookMs?: number; otherSlowTurns?: number }[] = [];
    const log = pino({ level: 'warn', base: null }, { write: (line) => void lines.push(JSON.parse(line) as never) });
    const worked: string[] = [];
    let clockMs = 0;
    const options = { concurrency: 1, firstBackoffMs: 1, mostBackoffMs: 4, now: () => clockMs, signal: stop.signal };
    const queue: Queue = new Queue({
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
    await until(() => worked.length === 4 && queue.idle);
    expect(worked).to.deep.equal(['slow', 'a', 'b', 'slow']);
    expect(lines.map(({ key, tookMs }) => [key, tookMs])).to.deep.equal([['slow', 1_001]]);
    // One line in ten seconds speaks for all: the next says how many there were.
    clockMs += 10_000;
    queue.add('slow');
    await until(() => lines.length === 2);
    expect(lines[1]).to.include({ key: 'slow', otherSlowTurns: 1 });
  });
});
