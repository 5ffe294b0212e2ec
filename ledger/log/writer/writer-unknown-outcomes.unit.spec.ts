import { syncBuiltinESMExports } from 'node:module';
import { setImmediate as turn } from 'node:timers/promises';
import timers from 'node:timers/promises';
import { expect } from 'chai';
import { describeState } from '../../domain/testing/describe-state.ts';
import { allocate } from '../../domain/testing/event-fixtures.ts';
import type { Untimed } from '../../domain/testing/given-when-then.ts';
import { LedgerClock } from '../chain/ledger-clock.ts';
import { addressKey } from '../store/keys.ts';
import { MemoryLedger } from '../testing/memory-ledger.ts';
import { Replica } from '../reader/replica.ts';
import {
  answerOf,
  newId,
  silentLog,
  waitForRetries,
  requestFor,
  bind,
  submitAll,
  createLedger,
  describeFold,
  failureOf,
  smallAttachment,
  logOf,
  macvlan,
  never,
  release,
  small,
  startUnreliableWriter,
  startWriter,
  typesOf,
  unbind,
  type RunningWriter,
} from '../testing/running-writer.ts';
import { Writer } from './writer.ts';
import { type Fault, UnreliableLedger } from '../testing/unreliable-ledger.ts';

describe('An append of unknown outcome', () => {
  let memory: MemoryLedger;
  let ledger: UnreliableLedger;
  let working: RunningWriter;
  let now: number;
  beforeEach(async () => {
    memory = new MemoryLedger();
    ledger = new UnreliableLedger(memory);
    now = Date.parse('2026-01-31T08:00:00.000Z');
    const clock = new LedgerClock({ wall: () => now, monotonic: () => now });
    working = await startWriter(ledger, { replica: await Replica.load(ledger, AbortSignal.timeout(5_000), clock) });
    await submitAll(working.writer, createLedger(), macvlan, small);
  });
  afterEach(async () => {
    await working.stop();
    const log = await logOf(memory);
    expect(describeState(working.replica.state)).to.deep.equal(describeFold(log));
    const fresh = await Replica.load(memory, AbortSignal.timeout(5_000));
    expect(describeState(fresh.state)).to.deep.equal(describeFold(log));
  });

  const submit = (...args: Parameters<typeof requestFor>) => working.writer.submit(requestFor(...args));
  const count = async (type: string): Promise<number> =>
    typesOf(await logOf(memory)).filter((each) => each === type).length;

  const outcomes: [string, (ledger: UnreliableLedger) => Fault][] = [
    ['whose request is lost', ({ lostRequest }) => lostRequest],
    ['whose reply is lost', ({ lostReply }) => lostReply],
    ['that happens immediately before the next append', ({ late }) => late],
    ['that arrives after the next append', ({ overtaken }) => overtaken],
    ['that etcd executes beyond its quota, and reports as refused', ({ executedAndRefused }) => executedAndRefused],
  ];
  for (const [what, faultOf] of outcomes)
    describe(what, () => {
      it('each command of the append is answered once, as without the failure', async () => {
        await submitAll(working.writer, allocate('old'), bind('old'));
        ledger.faults.push(faultOf(ledger));
        const [allocated, repeated, released, unbound, unboundAgain, refused] = await Promise.all([
          submit(allocate('a')),
          submit(allocate('a')),
          submit(release('old')),
          submit(unbind('old')),
          submit(unbind('old')),
          failureOf(submit(allocate('b', { candidates: [['172.17.0.12']] }))),
        ]);
        expect(allocated.answer).to.deep.equal({ events: 1, addresses: ['172.17.0.12'] });
        expect(repeated.answer).to.deep.equal({ events: 0, addresses: ['172.17.0.12'] });
        expect([released, unbound, unboundAgain].map(({ answer }) => answer.events)).to.deep.equal([1, 1, 0]);
        expect(refused).to.have.property('code', 'ADDRESS_IN_USE');
        await submit(allocate('c'));
        const once = ['AddressReleased', 'AddressUnbound', 'AllocationRefused', 'LedgerCreated'];
        expect(await Promise.all(once.map(count))).to.deep.equal([1, 1, 1, 1]);
        expect(await count('AddressAllocated')).to.equal(3);
        for (const { head } of [allocated, repeated, released]) {
          const { hash } = (await logOf(memory))[head.seq - 1] ?? {};
          expect(head.hash).to.equal(hash);
        }
      });

      it('the answer follows from the append that happened, even if the deadline of the command has passed since', async () => {
        const fault = faultOf(ledger);
        ledger.faults.push((append, batch) => {
          now += 10_000;
          return fault(append, batch);
        });
        const outcome = submit(allocate('a', {}, { deadline: now + 5_000 })).catch((error: unknown) => error);
        let answered = false;
        void outcome.then(() => (answered = true));
        await waitForRetries();
        const isInLog = (await logOf(memory)).some(({ text }) => text.includes('"pod":"a"'));
        if (!isInLog) expect(answered, 'answered while the append may still happen').to.be.false;

        await submit(allocate('b'));
        const happened = (await logOf(memory)).some(({ text }) => text.includes('"pod":"a"'));
        if (happened) expect(await outcome).to.have.nested.property('answer.events', 1);
        else expect(await outcome).to.have.property('code', 'DEADLINE_PASSED');
      });
    });

  it('failing appends delay no query', async () => {
    ledger.faults.push(...Array.from({ length: 100 }, () => ledger.lostRequest));
    const allocated = submit(allocate('a'));
    while (ledger.tried.length < 5) await waitForRetries();
    const queries = Array.from({ length: 200 }, () =>
      working.writer.submit({ answer: (state) => state.subnets.size, actor: 'anonymous', signal: never }),
    );
    for (const { answer, head } of await Promise.all(queries))
      expect([answer, head.seq]).to.deep.equal([2, working.replica.head.seq]);
    expect(ledger.faults, 'the queries were answered during the failures').to.not.have.length(0);
    ledger.faults.length = 0;
    expect((await allocated).answer.events).to.equal(1);
  });

  it('An append of unknown outcome is reported to its caller before the deadline of the call', async () => {
    ledger.faults.push(...Array.from({ length: 90 }, () => ledger.refused));
    const expiresAt = performance.now() + 100;
    const error = await failureOf(working.writer.submit({ ...requestFor(allocate('a')), expiresAt }));
    expect([error.code, error.message]).to.deep.equal(['LEDGER_NOT_WRITABLE', 'etcd is full']);
    ledger.faults.length = 0;
  });

  it('An append of unknown outcome is reported before a pause if the call ends in the pause or in the next attempt, and else retried', async () => {
    await working.stop();
    working = await startWriter(ledger, { replica: working.replica, retry: { firstMs: 40, maxMs: 40 } });
    const [clock, random] = [performance.now.bind(performance), Math.random.bind(Math)];
    performance.now = () => 0;
    Math.random = () => 1;
    try {
      ledger.faults.push(ledger.refused);
      const [early, late] = [539, 541].map((expiresAt) =>
        working.writer.submit({ ...requestFor(allocate(`pod-${expiresAt}`)), expiresAt }),
      );
      expect(await failureOf(early as Promise<unknown>)).to.have.property('code', 'LEDGER_NOT_WRITABLE');
      expect((await late)?.answer.events).to.equal(1);
    } finally {
      performance.now = clock;
      Math.random = random;
    }
  });

  it('An append of unknown outcome is followed by a pause that doubles with each failure, and a call that ends in it is reported', async () => {
    await working.stop();
    working = await startWriter(ledger, { replica: working.replica, retry: { firstMs: 4, maxMs: 64 } });
    const [clock, random] = [performance.now.bind(performance), Math.random.bind(Math)];
    performance.now = () => 0;
    Math.random = () => 1;
    try {
      ledger.faults.push(...Array.from({ length: 8 }, () => ledger.refused));
      const outcome = working.writer.submit({ ...requestFor(allocate('a')), expiresAt: 520 });
      expect(await failureOf(outcome)).to.have.property('code', 'LEDGER_NOT_WRITABLE');
      expect(ledger.faults, 'after pauses of 4, 8 and 16 ms, before one of 32 ms').to.have.length(4);
    } finally {
      ledger.faults.length = 0;
      performance.now = clock;
      Math.random = random;
    }
  });

  it('An append of unknown outcome is repeated after the pause that its place in a row of failures has', async () => {
    await working.stop();
    working = await startWriter(ledger, { replica: working.replica, retry: { firstMs: 4, maxMs: 16 } });
    const { setTimeout: sleep } = timers;
    const random = Math.random.bind(Math);
    const pausesMs: number[] = [];
    Math.random = () => 1;
    const record = (ms: number, ...rest: unknown[]): unknown => {
      if (ms > 0) pausesMs.push(ms);
      return Reflect.apply(sleep, timers, [ms, ...rest]);
    };
    Object.assign(timers, { setTimeout: record });
    syncBuiltinESMExports();
    try {
      const { lostRequest } = ledger;
      ledger.faults.push(lostRequest, lostRequest, lostRequest, lostRequest);
      await submit(allocate('a'));
      expect(pausesMs).to.deep.equal([4, 8, 16, 16]);
    } finally {
      Object.assign(timers, { setTimeout: sleep });
      syncBuiltinESMExports();
      Math.random = random;
    }
  });

  it('An append of unknown outcome is repeated by a writer with the default pauses', async () => {
    await working.stop();
    const { replica } = working;
    const writer = new Writer({ replica, newId, term: undefined, eventVersion: () => 1, log: silentLog });
    const stopping = new AbortController();
    const ended = writer.run(stopping.signal);
    ledger.faults.push(ledger.lostRequest);
    const answered = writer.submit(requestFor(allocate('a')));
    expect((await answerOf(Promise.race([answered, ended])))?.answer.events).to.equal(1);
    stopping.abort();
    await ended;
  });

  it('a request is reported as not executed if etcd refused each of its appends, but not if one may still happen', async () => {
    const errorAfter = async (...faults: readonly Fault[]): Promise<string> => {
      const leaving = new AbortController();
      ledger.faults.push(...faults, (append, batch) => {
        leaving.abort();
        return ledger.refused(append, batch);
      });
      const { code, message } = await failureOf(submit(allocate('a'), leaving.signal));
      return `${code}: ${message}`;
    };
    const { lostRequest, refused } = ledger;
    expect(await errorAfter(refused, refused)).to.equal('LEDGER_NOT_WRITABLE: etcd is full');
    expect(await errorAfter(refused, lostRequest, refused)).to.equal(
      'UNAVAILABLE: etcd accepts no writes: database space exceeded',
    );
  });

  it('An append of unknown outcome is resolved correctly 100 times of 100', async () => {
    for (let round = 0; round < 100; round++) {
      ledger.faults.push(ledger.lostReply);
      const [{ answer }, released] = await Promise.all([
        submit(allocate(`pod-${round}`, smallAttachment)),
        submit(release(`pod-${round - 1}`)),
      ]);
      expect(answer.events).to.equal(1);
      expect(released.answer.events).to.equal(round === 0 ? 0 : 1);
    }
    expect(await count('AddressAllocated')).to.equal(100);
    expect(await count('AddressReleased')).to.equal(99);
    expect(ledger.faults).to.have.length(0);
  });

  it('of several appends with unknown outcomes after each other, only one happens', async () => {
    const { lostRequest, lostReply, late, overtaken, refused, executedAndRefused } = ledger;
    for (const faults of [
      [late, late, late],
      [overtaken, overtaken, lostReply],
      [lostRequest, overtaken, late, lostReply],
      [overtaken, lostRequest, lostRequest],
      [late, overtaken],
      [refused, executedAndRefused],
      [lostRequest, refused, overtaken, refused, late, refused],
    ]) {
      ledger.faults.push(...faults);
      const pod = `pod-${faults.map(({ name }) => name).join('-')}`;
      expect((await submit(allocate(pod))).answer.events).to.equal(1);
      ledger.faults.length = 0;
    }
    await submit(allocate('last'));
    expect(await count('AddressAllocated')).to.equal(8);
  });

  it('an append that never happened does not block the next append', async () => {
    ledger.faults.push(ledger.lostRequest);
    await submit(allocate('a'));
    ledger.faults.push(ledger.lostReply);
    expect((await submit(release('a'))).answer.events).to.equal(1);
  });

  it("the event of another writer does not count as the append's own event", async () => {
    const rival = await startWriter(memory);
    ledger.faults.push(async () => {
      await submitAll(rival.writer, allocate('a', { candidates: [['172.17.0.11']] }));
      return { kind: 'unknown', reason: 'connection lost' };
    });
    const { answer } = await submit(allocate('b'));
    expect(answer.addresses).to.deep.equal(['172.17.0.12']);
    await rival.stop();
  });

  it('the writer waits until etcd is readable, and rejects callers that leave earlier with UNAVAILABLE', async () => {
    const leaving = new AbortController();
    const now = performance.now.bind(performance);
    performance.now = () => 0; // no turn is over, so both are in a batch, on any machine
    ledger.faults.push((append) => {
      ledger.failingReads = 5;
      leaving.abort();
      return ledger.lostReply(append, ledger.tried[0] as (typeof ledger.tried)[0]);
    });
    const [answered, rejected] = await Promise.all([
      submit(allocate('a')),
      failureOf(submit(allocate('b'), leaving.signal)),
    ]).finally(() => (performance.now = now));
    expect(answered.answer.addresses).to.deep.equal(['172.17.0.11']);
    expect(rejected).to.deep.include({
      code: 'UNAVAILABLE',
      message: 'etcd accepts no writes: etcd does not reply: connection lost',
    });
    expect(ledger.failingReads).to.equal(0);
  });
});

describe('A failed append', () => {
  let memory: MemoryLedger;
  let ledger: UnreliableLedger;
  let working: RunningWriter;
  beforeEach(async () => {
    ({ memory, ledger, working } = await startUnreliableWriter());
  });
  afterEach(async () => void (await working.stop()));

  const submit = (untimed: Untimed) => working.writer.submit(requestFor(untimed));

  it('a command is decided again when another writer was first', async () => {
    const rival = await startWriter(memory);
    ledger.faults.push(async (append) => {
      await submitAll(rival.writer, allocate('rival', { candidates: [['172.17.0.11']] }));
      return append();
    });
    const [a, taken] = await Promise.all([
      submit(allocate('a')),
      failureOf(submit(allocate('b', { candidates: [['172.17.0.11']] }))),
    ]);
    expect(a.answer.addresses).to.deep.equal(['172.17.0.12']);
    expect(taken.message).to.contain('is in use by Pod default/rival');
    await rival.stop();
  });

  it('an append to an edited key fences the address, and the other requests are executed', async () => {
    await submitAll(working.writer, allocate('a'), allocate('b'));
    const key = addressKey({ subnet: 'macvlan', address: '172.17.0.11' });
    memory.put(key, (memory.get(key) as string).replace('uid-a', 'uid-of-none'));
    const [fenced, other, more] = await Promise.all([
      failureOf(submit(release('a'))),
      submit(release('b')),
      submit(allocate('c')),
    ]);
    expect(fenced).to.have.property('code', 'ADDRESS_FENCED');
    expect(fenced.message).to.contain('172.17.0.11 of subnet macvlan is fenced');
    expect(other.answer.events).to.equal(1);
    expect(more.answer.addresses).to.deep.equal(['172.17.0.13']);
    expect(memory.get(key)).to.contain('uid-of-none');
  });

  it('an append to a fresh address that already has a key fences the address', async () => {
    memory.put(addressKey({ subnet: 'macvlan', address: '172.17.0.11' }), '{}');
    expect((await submit(allocate('a'))).answer.addresses).to.deep.equal(['172.17.0.12']);
    const error = await failureOf(submit(allocate('b', { candidates: [['172.17.0.11']] })));
    expect(error).to.have.property('code', 'ADDRESS_FENCED');
  });

  const rejected = () => Promise.resolve({ kind: 'rejected' as const, reason: 'duplicate key given in txn request' });

  it('an append that etcd rejects is reported as a bug, and the next request succeeds', async () => {
    ledger.faults.push(rejected);
    const error = failureOf(submit(allocate('a')));
    while (ledger.faults.length > 0) await turn();
    expect((await submit(allocate('c'))).answer.addresses).to.deep.equal(['172.17.0.11']);
    const message = 'etcd rejects the transaction: duplicate key given in txn request';
    expect(await Promise.race([error, turn()])).to.deep.include({ code: 'BUG', message });
  });

  it('the requests of a rejected batch are retried one by one', async () => {
    // A pause between the decisions makes two batches of the requests
    const rejectPodB: Fault = (append, { events }) =>
      events.some(({ text }) => text.includes('"uid-b"')) ? rejected() : append();
    ledger.faults.push(...Array.from({ length: 5 }, () => rejectPodB));
    const [first, second, third] = await Promise.all([
      submit(allocate('a')),
      failureOf(submit(allocate('b'))),
      submit(allocate('c')),
    ]);
    expect(first.answer.addresses).to.deep.equal(['172.17.0.11']);
    expect(second).to.have.property('code', 'BUG');
    expect(third.answer.addresses).to.deep.equal(['172.17.0.12']);
  });

  it('the requests of a rejected batch stay alone when the append of one of them fails', async () => {
    const now = performance.now.bind(performance);
    performance.now = () => 0; // no turn is over, so all are in a batch, on any machine
    try {
      const [tried, attempted] = [ledger.tried.length, working.writer.attemptedBatches];
      // Long enough to decide the next request during the append
      ledger.faults.push(rejected, async (...append) => {
        for (let turns = 0; turns < 5; turns++) await turn();
        return ledger.lostRequest(...append);
      });
      await Promise.all(['a', 'b', 'c'].map((pod) => submit(allocate(pod))));
      expect(ledger.tried.slice(tried).map(({ events }) => events.length)).to.deep.equal([3, 1, 1, 1, 1]);
      expect(working.writer.attemptedBatches - attempted).to.equal(5);
    } finally {
      performance.now = now;
    }
  });
});
