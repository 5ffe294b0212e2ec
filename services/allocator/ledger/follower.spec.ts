import { expect } from 'chai';
import { allocate } from '../domain/specification.ts';
import { Refused } from '../domain/refusal.ts';
import { allocationsOfPod } from '../domain/questions.ts';
import { Follower, type Read } from './follower.ts';
import { headKey, logKey } from './keys.ts';
import { MemoryLedger } from './memory.ts';
import { Replica } from './replica.ts';
import {
  afterAWhile,
  carryOut,
  createLedger,
  failureOf,
  gate,
  macvlan,
  never,
  release,
  silent,
  startWriter,
  type Working,
} from './specification.ts';
import { UnreliableLedger } from './unreliable.ts';

/** How many addresses a Pod has. */
const held =
  (pod: string): Read<number> =>
  (state) =>
    allocationsOfPod(state, 'default', pod, `uid-${pod}`).length;

const patiently = { until: Infinity, signal: never };

describe('A follower', () => {
  let memory: MemoryLedger;
  let ledger: UnreliableLedger;
  let writing: Working;
  let replica: Replica;
  let follower: Follower;
  let stopping: AbortController;
  let ended: Promise<unknown>;
  let heads: number;
  let bellRings: boolean;
  beforeEach(async () => {
    memory = new MemoryLedger();
    ledger = new UnreliableLedger(memory);
    writing = await startWriter(memory);
    await carryOut(writing.writer, createLedger(), macvlan);
    replica = await Replica.load(ledger, never);
    [heads, bellRings] = [0, false];
    const { head, bell } = ledger;
    ledger.head = (signal) => {
      heads++;
      return head.call(ledger, signal);
    };
    ledger.bell = async function* (signal) {
      if (bellRings) yield* bell.call(ledger, signal);
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
    follower = new Follower(replica, silent);
    ended = follower.run(stopping.signal).catch((error: unknown) => error);
  }

  it('answers as of now: what was acknowledged before is in it, each time', async () => {
    for (let round = 0; round < 50; round++) {
      const pod = `pod-${round}`;
      await carryOut(writing.writer, allocate(pod));
      const { answer, head } = await follower.ask(held(pod), patiently);
      expect(answer).to.equal(1);
      expect(head.seq).to.be.at.least(writing.replica.head.seq);
      await carryOut(writing.writer, release(pod));
      expect((await follower.ask(held(pod), patiently)).answer).to.equal(0);
    }
  });

  it('answers with the position at which that is true', async () => {
    await carryOut(writing.writer, allocate('a'));
    expect((await follower.ask(held('a'), patiently)).head).to.deep.equal(writing.replica.head);
  });

  it('looks once for all that ask meanwhile, and never answers by a look that began before the question', async () => {
    const look = gate();
    ledger.readable = look.opened;
    const first = follower.ask(held('a'), patiently);
    await afterAWhile();
    expect(heads).to.equal(1);
    const later = Array.from({ length: 1_000 }, () => follower.ask(held('a'), patiently));
    const read = ledger.head;
    ledger.head = async (signal) => {
      ledger.head = read;
      await carryOut(writing.writer, allocate('a'));
      return read(signal);
    };
    look.open();
    expect((await first).answer).to.equal(0);
    for (const answer of later) expect((await answer).answer).to.equal(1);
    expect(heads).to.equal(2);
  });

  it('tells what it knows without looking', async () => {
    await carryOut(writing.writer, allocate('a'));
    expect(follower.tell(held('a'))).to.deep.equal({ answer: 0, head: replica.head });
    await follower.ask(held('a'), patiently);
    expect(follower.tell(held('a')).answer).to.equal(1);
  });

  it('passes on what is refused, and what is a bug', async () => {
    const refuse = (): never => {
      throw new Refused('SUBNET_UNKNOWN', 'no subnet x is configured');
    };
    const refusal = { code: 'SUBNET_UNKNOWN', message: 'no subnet x is configured' };
    expect(await failureOf(follower.ask(refuse, patiently))).to.deep.include(refusal);
    expect(() => follower.tell(refuse)).to.throw('no subnet x is configured');
    const bug = (): never => {
      throw new TypeError('oops');
    };
    expect(await failureOf(follower.ask(bug, patiently))).to.deep.include({ code: 'BUG', message: 'oops' });
    expect((await follower.ask(held('a'), patiently)).answer).to.equal(0);
  });

  it('answers nobody while it cannot look, and says so to who waits no longer', async () => {
    ledger.failingReads = Infinity;
    const patience = new AbortController();
    const asked = failureOf(follower.ask(held('a'), { until: Infinity, signal: patience.signal }));
    const late = failureOf(follower.ask(held('a'), { until: performance.now() + 50, signal: never }));
    const patient = follower.ask(held('a'), patiently);
    await afterAWhile();
    patience.abort();
    for (const error of [await asked, await late])
      expect(error).to.deep.include({
        code: 'UNAVAILABLE',
        message:
          'this replica knows the ledger up to event 2 and could not make sure that this is all: etcd does not answer: connection lost; ask another',
      });
    ledger.failingReads = 0;
    expect((await patient).answer).to.equal(0);
  });

  it('does not ask at all for who is gone already', async () => {
    expect(await failureOf(follower.ask(held('a'), { until: Infinity, signal: AbortSignal.abort() }))).to.have.property(
      'code',
      'UNAVAILABLE',
    );
    await afterAWhile();
    expect(heads).to.equal(0);
  });

  it('follows unasked, and knows how long ago it was up to date', async () => {
    stopping.abort();
    await ended;
    bellRings = true;
    begin();
    await carryOut(writing.writer, allocate('a'));
    await replica.reached(writing.replica.head.seq, never);
    expect(follower.tell(held('a')).answer).to.equal(1);
    ledger.failingReads = Infinity;
    // Only while no look succeeds does it get so late.
    while (follower.behindMs < 1_000) await afterAWhile();
    ledger.failingReads = 0;
    while (follower.behindMs > 200) await afterAWhile();
  });

  it('stops at a damaged ledger, and answers nobody by it', async () => {
    memory.put(logKey(3), '{"forged":true}');
    memory.put(headKey, (memory.get(headKey) as string).replace('"seq":2', '"seq":3'));
    expect(await failureOf(follower.ask(held('a'), patiently))).to.have.property('code', 'NOT_WRITER');
    expect(await ended).to.have.property('code', 'LEDGER_DAMAGED');
    expect(() => follower.tell(held('a'))).to.throw('does not stand by any more');
  });

  it('stops when the ledger was rewound, and answers nobody by what is no longer true', async () => {
    const before = memory.get(headKey) as string;
    await carryOut(writing.writer, allocate('a'));
    await follower.ask(held('a'), patiently);
    memory.put(headKey, before);
    memory.remove(logKey(3));
    expect(await failureOf(follower.ask(held('a'), patiently))).to.have.property('code', 'NOT_WRITER');
    expect(await ended).to.have.property('code', 'LEDGER_DAMAGED');
  });

  it('has nobody waiting when it is told to stop', async () => {
    const look = gate();
    ledger.readable = look.opened;
    const asked = failureOf(follower.ask(held('a'), patiently));
    await afterAWhile();
    stopping.abort();
    look.open();
    expect(await asked).to.have.property('code', 'NOT_WRITER');
    expect(await failureOf(follower.ask(held('a'), patiently))).to.have.property('code', 'NOT_WRITER');
    expect(await ended).to.equal(undefined);
  });
});
