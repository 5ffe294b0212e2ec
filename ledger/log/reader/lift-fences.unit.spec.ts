import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { expect } from 'chai';
import { allocate } from '../../domain/testing/event-fixtures.ts';
import { addressKey } from '../store/keys.ts';
import { MemoryLedger } from '../testing/memory-ledger.ts';
import {
  createLedger,
  failureOf,
  macvlan,
  never,
  release,
  requestFor,
  type RunningWriter,
  silentLog,
  startWriter,
  submitAll,
} from '../testing/running-writer.ts';
import { liftFences } from './lift-fences.ts';
import { Replica } from './replica.ts';

const address = '172.17.0.11';
const key = addressKey({ subnet: 'macvlan', address });

describe('The fence of an address', () => {
  let memory: MemoryLedger;
  let working: RunningWriter;
  let stop: AbortController;
  beforeEach(async () => {
    stop = new AbortController();
    memory = new MemoryLedger();
    working = await startWriter(memory);
    await submitAll(working.writer, createLedger(), macvlan, allocate('a'));
  });
  afterEach(async () => {
    stop.abort();
    await working.stop();
  });

  const text = (): string => memory.get(key) as string;
  /** Resolves after this many rounds through all fences. */
  async function rounds(count: number, replica: Replica): Promise<void> {
    const done = AbortSignal.any([stop.signal, untilRead(count)]);
    await liftFences({ replica, log: silentLog, intervalMs: 1 }, done);
  }
  function untilRead(count: number): AbortSignal {
    const enough = new AbortController();
    const keys = memory.keys.bind(memory);
    let reads = 0;
    memory.keys = async function* (...args) {
      try {
        yield* keys(...args);
      } finally {
        if (++reads === count) setImmediate(() => enough.abort());
      }
    };
    return enough.signal;
  }

  for (const [how, edit] of Object.entries({
    'was edited and restored': () => {
      const before = text();
      memory.put(key, before.replace('uid-a', 'uid-of-none'));
      return () => memory.put(key, before);
    },
    'was written again as it is': () => {
      memory.put(key, text());
      return () => 0n;
    },
    'was restored in another layout': () => {
      const before = text();
      memory.put(key, '{}');
      return () => memory.put(key, JSON.stringify(JSON.parse(before), undefined, 1));
    },
  }))
    it(`The fence of an address ends without a restart when its key ${how}`, async () => {
      const restore = edit();
      expect(await failureOf(working.writer.submit(requestFor(release('a'))))).to.have.property(
        'code',
        'ADDRESS_FENCED',
      );
      restore();
      await rounds(1, working.replica);
      expect(working.replica.state.fenced.size).to.equal(0);
      expect((await working.writer.submit(requestFor(release('a')))).answer.events).to.equal(1);
    });

  it('The fence of an address stays while the key has another value, or is deleted', async () => {
    const before = text();
    memory.put(key, before.replace('uid-a', 'uid-of-none'));
    await failureOf(working.writer.submit(requestFor(release('a'))));
    await rounds(1, working.replica);
    expect([...working.replica.state.fenced]).to.deep.equal([`macvlan/${address}`]);
    await rounds(2, working.replica);
    memory.remove(key);
    await rounds(2, working.replica);
    expect([...working.replica.state.fenced]).to.deep.equal([`macvlan/${address}`]);
  });

  it('The fence of an address ends when the key of a fresh address, which another program wrote, is deleted', async () => {
    const stray = addressKey({ subnet: 'macvlan', address: '172.17.0.12' });
    memory.put(stray, '{}');
    const request = allocate('b', { candidates: [['172.17.0.12']] });
    expect(await failureOf(working.writer.submit(requestFor(request)))).to.have.property('code', 'ADDRESS_FENCED');
    memory.remove(stray);
    await rounds(1, working.replica);
    expect((await working.writer.submit(requestFor(request))).answer.addresses).to.deep.equal(['172.17.0.12']);
  });

  it('The fence of an address ends although a thousand others stay: each round reads a thousand keys, and they take turns', async () => {
    const { replica } = working;
    for (let index = 0; index < 1_000; index++) {
      replica.state.fenced.add(`macvlan/172.17.1.${index}`);
      memory.put(addressKey({ subnet: 'macvlan', address: `172.17.1.${index}` }), '{}');
    }
    replica.state.fenced.add(`macvlan/${address}`);
    await rounds(1_000, replica);
    expect(replica.state.fenced.has(`macvlan/${address}`), 'after one round').to.equal(true);
    await rounds(1, replica);
    expect(replica.state.fenced.has(`macvlan/${address}`), 'in the second round').to.equal(false);
    expect(replica.state.fenced.size).to.equal(1_000);
  });

  it('The fence of an address ends although the key of another address has a value that is not JSON', async () => {
    await submitAll(working.writer, allocate('b'));
    const other = addressKey({ subnet: 'macvlan', address: '172.17.0.12' });
    const before = memory.get(other) as string;
    for (const [pod, each] of [
      ['a', key],
      ['b', other],
    ] as const) {
      memory.put(each, 'garbage');
      await failureOf(working.writer.submit(requestFor(release(pod))));
    }
    expect(working.replica.state.fenced.size).to.equal(2);
    memory.put(other, before);
    await rounds(4, working.replica);
    expect([...working.replica.state.fenced]).to.deep.equal([`macvlan/${address}`]);
  });

  it('The fence of an address ends on a replica that reads a later event of the address', async () => {
    const standby = await Replica.load(memory, never);
    standby.state.fenced.add(`macvlan/${address}`);
    await submitAll(working.writer, release('a'));
    await standby.catchUp(never);
    expect(standby.state.fenced.size).to.equal(0);
  });

  it('a replica that could not read a key at its start stops when the key or a later event can be read', async () => {
    const before = text();
    memory.put(key, '{"last":1');
    const started = await Replica.load(memory, never);
    await rounds(2, started);
    expect([...started.state.fenced]).to.deep.equal([`macvlan/${address}`]);
    memory.put(key, before);
    const ended = await liftFences({ replica: started, log: silentLog, intervalMs: 1 }, stop.signal).catch(String);
    expect(ended).to.match(/could not be read when this allocator started, and can be read now: it ends, to load/);
    expect([...started.state.fenced]).to.deep.equal([`macvlan/${address}`]);
    await failureOf(working.writer.submit(requestFor(release('a'))));
    await rounds(1, working.replica);
    await submitAll(working.writer, release('a'));
    expect(await started.catchUp(never).catch(String)).to.match(/it ends, to load the ledger again/);
  });

  it('The fence of an address is checked every five seconds', async () => {
    const { setTimeout: sleep } = timers;
    const pauses: number[] = [];
    Object.assign(timers, { setTimeout: async (ms: number) => (pauses.push(ms) === 2 ? stop.abort() : undefined) });
    syncBuiltinESMExports();
    try {
      await liftFences({ replica: working.replica, log: silentLog }, stop.signal);
    } finally {
      Object.assign(timers, { setTimeout: sleep });
      syncBuiltinESMExports();
    }
    expect(pauses).to.deep.equal([5_000, 5_000]);
  });
});
