import { getEventListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { allocate } from '../../domain/testing/event-fixtures.ts';
import { Refused } from '../../domain/commands/refusal.ts';
import { allocationsOfPod } from '../../domain/queries/queries.ts';
import { Follower, type StateRead } from './follower.ts';
import { headKey, logKey } from '../store/keys.ts';
import { MemoryLedger } from '../testing/memory-ledger.ts';
import { Replica } from './replica.ts';
import {
  answerOf,
  countTurns,
  waitForRetries,
  submitAll,
  createLedger,
  failureOf,
  createLatch,
  macvlan,
  never,
  release,
  silentLog,
  startWriter,
  waitUntil,
  watchAnswers,
  type RunningWriter,
} from '../testing/running-writer.ts';
import { sealLines, UnreliableLedger } from '../testing/unreliable-ledger.ts';

/** Reads the number of addresses of a Pod. */
const held =
  (pod: string): StateRead<number> =>
  (state) =>
    allocationsOfPod(state, 'default', pod, `uid-${pod}`).length;

const withoutDeadline = { until: Infinity, signal: never };

describe('Follower', () => {
  let memory: MemoryLedger;
  let ledger: UnreliableLedger;
  let writing: RunningWriter;
  let replica: Replica;
  let follower: Follower;
  let stopping: AbortController;
  let ended: Promise<unknown>;
  let heads: number;
  let watchesHead: boolean;
  beforeEach(async () => {
    memory = new MemoryLedger();
    ledger = new UnreliableLedger(memory);
    writing = await startWriter(memory);
    await submitAll(writing.writer, createLedger(), macvlan);
    replica = await Replica.load(ledger, never);
    [heads, watchesHead] = [0, false];
    const { head, watchHead } = ledger;
    ledger.head = (signal) => {
      heads++;
      return head.call(ledger, signal);
    };
    ledger.watchHead = async function* (signal) {
      if (watchesHead) yield* watchHead.call(ledger, signal);
    };
    begin();
  });
  afterEach(async () => {
    stopping.abort();
    await ended;
    await writing.stop();
  });

  function begin(): void {
    stopping = new AbortController();
    follower = new Follower(replica, silentLog);
    ended = follower.run(stopping.signal).catch((error: unknown) => error);
    const silent = Promise.withResolvers<never>();
    silent.promise.catch(() => undefined); // a follower without reads may fail
    const answering = watchAnswers(silent.reject);
    const read = follower.readLinearizable.bind(follower);
    follower.readLinearizable = (...args) => Promise.race([answering(read(...args)), silent.promise]);
  }

  it('Follower includes every acknowledged append in a linearizable read', async () => {
    for (let round = 0; round < 50; round++) {
      const pod = `pod-${round}`;
      await submitAll(writing.writer, allocate(pod));
      const { answer, head } = await follower.readLinearizable(held(pod), withoutDeadline);
      expect(answer).to.equal(1);
      expect(head.seq).to.be.at.least(writing.replica.head.seq);
      await submitAll(writing.writer, release(pod));
      expect((await follower.readLinearizable(held(pod), withoutDeadline)).answer).to.equal(0);
    }
  });

  it('Follower returns the head at which its answer is true', async () => {
    await submitAll(writing.writer, allocate('a'));
    expect((await follower.readLinearizable(held('a'), withoutDeadline)).head).to.deep.equal(writing.replica.head);
  });

  it('Follower shares one read of the head between waiting reads, and never uses a read that began before', async () => {
    const reading = createLatch();
    ledger.readable = reading.opened;
    const first = follower.readLinearizable(held('a'), withoutDeadline);
    await waitForRetries();
    expect(heads).to.equal(1);
    const later = Array.from({ length: 1_000 }, () => follower.readLinearizable(held('a'), withoutDeadline));
    const read = ledger.head;
    ledger.head = async (signal) => {
      ledger.head = read;
      await submitAll(writing.writer, allocate('a'));
      return read(signal);
    };
    reading.open();
    expect((await first).answer).to.equal(0);
    for (const answer of later) expect((await answer).answer).to.equal(1);
    expect(heads).to.equal(2);
  });

  it('Follower answers waiting reads in slices, so that timers and sockets do not wait for all of them', async () => {
    const turns = countTurns();
    const answeredIn = await Promise.all(
      [0, 1, 2].map(() => follower.readLinearizable(() => turns.spend(20), withoutDeadline)),
    ).finally(turns.end);
    expect(new Set(answeredIn.map(({ answer }) => answer)).size).to.equal(3);
  });

  it('Follower reckons with an answer that takes as long to send as to read', async () => {
    const now = performance.now.bind(performance);
    for (const [ms, turnsOfThree] of [
      [6, 3],
      [1, 1],
    ] as const) {
      performance.now = () => 1_000;
      const turns = countTurns();
      const read = (): number => (turns.spend(ms), turns.spend(0));
      const answeredIn = await Promise.all(
        [0, 1, 2].map(() => follower.readLinearizable(read, withoutDeadline)),
      ).finally(() => {
        turns.end();
        performance.now = now;
      });
      expect(new Set(answeredIn.map(({ answer }) => answer)).size).to.equal(turnsOfThree);
    }
  });

  it('Follower rejects a read at its deadline, not only after it', async () => {
    const now = performance.now.bind(performance);
    performance.now = () => 500;
    ledger.failingReads = Infinity;
    const late = failureOf(follower.readLinearizable(held('a'), { until: 500, signal: never }));
    expect(await late.finally(() => (performance.now = now))).to.have.property('code', 'UNAVAILABLE');
    ledger.failingReads = 0;
  });

  it('Follower reads the head no more after a failure when no caller waits for it', async () => {
    ledger.failingReads = Infinity;
    const caller = new AbortController();
    const left = failureOf(follower.readLinearizable(held('a'), { until: Infinity, signal: caller.signal }));
    await waitForRetries();
    caller.abort();
    await left;
    await sleep(300); // longer than the pause after a failure
    expect(heads).to.equal(1);
    ledger.failingReads = 0;
  });

  it('Follower answers a local read without a read of etcd', async () => {
    await submitAll(writing.writer, allocate('a'));
    expect(follower.readLocal(held('a'))).to.deep.equal({ answer: 0, head: replica.head });
    await follower.readLinearizable(held('a'), withoutDeadline);
    expect(follower.readLocal(held('a')).answer).to.equal(1);
  });

  it('Follower returns a refusal to the caller, and reports any other error as a bug', async () => {
    const refuse = (): never => {
      throw new Refused('SUBNET_UNKNOWN', 'no subnet x is configured');
    };
    const refusal = { code: 'SUBNET_UNKNOWN', message: 'no subnet x is configured' };
    expect(await failureOf(follower.readLinearizable(refuse, withoutDeadline))).to.deep.include(refusal);
    expect(() => follower.readLocal(refuse)).to.throw('no subnet x is configured');
    const bug = (): never => {
      throw new TypeError('oops');
    };
    expect(await failureOf(follower.readLinearizable(bug, withoutDeadline))).to.deep.include({
      code: 'BUG',
      message: 'oops',
    });
    expect((await follower.readLinearizable(held('a'), withoutDeadline)).answer).to.equal(0);
  });

  it('Follower answers no linearizable read while etcd does not reply, and rejects reads whose deadline has passed', async () => {
    ledger.failingReads = Infinity;
    const caller = new AbortController();
    const pendingRead = failureOf(follower.readLinearizable(held('a'), { until: Infinity, signal: caller.signal }));
    const late = failureOf(follower.readLinearizable(held('a'), { until: performance.now() + 50, signal: never }));
    const waiting = follower.readLinearizable(held('a'), withoutDeadline);
    await waitForRetries();
    caller.abort();
    for (const error of [await pendingRead, await late])
      expect(error).to.deep.include({
        code: 'UNAVAILABLE',
        message:
          'etcd cannot be read (etcd does not reply: connection lost): this replica has the ledger up to event 2, and cannot confirm that this is the end. Start a majority of etcd (runbook IpledgerNoWriter). If only this replica is cut off, use another one',
      });
    ledger.failingReads = 0;
    expect((await waiting).answer).to.equal(0);
  });

  it('Follower keeps no listener on the signal of a caller that has its answer or a failure', async () => {
    const caller = new AbortController();
    await follower.readLinearizable(held('a'), { until: Infinity, signal: caller.signal });
    expect(getEventListeners(caller.signal, 'abort')).to.deep.equal([]);
    ledger.failingReads = Infinity;
    await failureOf(follower.readLinearizable(held('a'), { until: 0, signal: caller.signal }));
    expect(getEventListeners(caller.signal, 'abort')).to.deep.equal([]);
    ledger.failingReads = 0;
  });

  it('Follower sends no read for a caller that has already left', async () => {
    expect(
      await failureOf(follower.readLinearizable(held('a'), { until: Infinity, signal: AbortSignal.abort() })),
    ).to.have.property('code', 'UNAVAILABLE');
    await waitForRetries();
    expect(heads).to.equal(0);
  });

  it('Follower follows the log without any reads of clients, and reports its lag', async () => {
    stopping.abort();
    await ended;
    watchesHead = true;
    begin();
    await submitAll(writing.writer, allocate('a'));
    await answerOf(replica.untilReached(writing.replica.head.seq, never));
    expect(follower.readLocal(held('a')).answer).to.equal(1);
    ledger.failingReads = Infinity;
    // The lag grows only while no read of the head succeeds.
    await waitUntil(() => follower.lagMs >= 500, 'a lag');
    ledger.failingReads = 0;
    await waitUntil(() => follower.lagMs <= 200, 'the end of the lag');
  });

  it('Follower rejects a linearizable read while 20,000 reads wait, and answers those', async () => {
    const reading = createLatch();
    ledger.readable = reading.opened;
    const read = () => follower.readLinearizable(held('a'), withoutDeadline);
    const waiting = Array.from({ length: 20_000 }, read);
    expect(await answerOf(failureOf(read())).finally(reading.open)).to.deep.include({
      code: 'OVERLOADED',
      message: '20000 requests are already waiting: try again later',
    });
    expect(await Promise.all(waiting)).to.have.length(20_000);
    expect((await read()).answer).to.equal(0);
  });

  it('Follower stops when the events that follow its state are sealed, and never repeats that read', async () => {
    await submitAll(writing.writer, allocate('a'));
    sealLines(ledger);
    expect(await failureOf(follower.readLinearizable(held('a'), withoutDeadline))).to.have.property(
      'code',
      'NOT_WRITER',
    );
    expect(await ended).to.have.property('code', 'POSITION_GONE');
  });

  it('Follower stops at a damaged ledger, and answers no read from it', async () => {
    memory.put(logKey(3), '{"forged":true}');
    memory.put(headKey, (memory.get(headKey) as string).replace('"seq":2', '"seq":3'));
    expect(await failureOf(follower.readLinearizable(held('a'), withoutDeadline))).to.have.property(
      'code',
      'NOT_WRITER',
    );
    expect(await ended).to.have.property('code', 'LEDGER_DAMAGED');
    expect(() => follower.readLocal(held('a'))).to.throw('is no longer a standby');
  });

  it('Follower reads the log after a change of the head, also for a linearizable read that arrives after the change', async () => {
    stopping.abort();
    await ended;
    const changed = createLatch();
    ledger.watchHead = async function* () {
      await changed.opened;
      yield;
    };
    begin();
    const reading = createLatch();
    ledger.readable = reading.opened;
    const first = follower.readLinearizable(held('a'), withoutDeadline);
    await waitForRetries();
    memory.put(logKey(3), '{"forged":true}');
    changed.open();
    await waitForRetries();
    const later = failureOf(follower.readLinearizable(held('a'), withoutDeadline));
    reading.open();
    expect((await first).answer).to.equal(0);
    expect(await later).to.have.property('code', 'NOT_WRITER');
    expect(await ended).to.have.property('code', 'LEDGER_DAMAGED');
  });

  it('Follower stops when the ledger was rewound, and answers no read from the old state', async () => {
    const before = memory.get(headKey) as string;
    await submitAll(writing.writer, allocate('a'));
    await follower.readLinearizable(held('a'), withoutDeadline);
    memory.put(headKey, before);
    memory.remove(logKey(3));
    expect(await failureOf(follower.readLinearizable(held('a'), withoutDeadline))).to.have.property(
      'code',
      'NOT_WRITER',
    );
    expect(await ended).to.have.property('code', 'LEDGER_DAMAGED');
  });

  it('Follower rejects pending reads when it is stopped', async () => {
    const reading = createLatch();
    ledger.readable = reading.opened;
    const pendingRead = failureOf(follower.readLinearizable(held('a'), withoutDeadline));
    await waitForRetries();
    stopping.abort();
    reading.open();
    expect(await pendingRead).to.have.property('code', 'NOT_WRITER');
    expect(await failureOf(follower.readLinearizable(held('a'), withoutDeadline))).to.have.property(
      'code',
      'NOT_WRITER',
    );
    expect(await ended).to.equal(undefined);
  });
});
