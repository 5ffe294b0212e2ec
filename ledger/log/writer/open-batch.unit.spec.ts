import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { allocate } from '../../domain/testing/event-fixtures.ts';
import { claimOf } from '../../domain/state/state.ts';
import { describeState } from '../../domain/testing/describe-state.ts';
import type { IpledgerError } from '../../../lib/errors.ts';
import type { PendingRequest } from '../pending-request.ts';
import { MemoryLedger } from '../testing/memory-ledger.ts';
import {
  type Answer,
  bind,
  countTurns,
  describeFold,
  failureOf,
  logOf,
  macvlan,
  never,
  newId,
  release,
  requestFor,
  silentLog,
  smallAttachment,
  startUnreliableWriter,
  typesOf,
  waitForRetries,
  type RunningWriter,
} from '../testing/running-writer.ts';
import { type EventVersion, eventVersions } from '../../domain/events/schema-version.ts';
import type { UnreliableLedger } from '../testing/unreliable-ledger.ts';
import { Replica } from '../reader/replica.ts';
import { OpenBatch } from './open-batch.ts';
import { RequestQueue } from './request-queue.ts';

describe('A batch of waiting requests', () => {
  const elapsed = performance.now.bind(performance);
  let replica: Replica;
  let queue: RequestQueue;
  let rejected: string[];
  let decisions: number;
  let nowMs: number;
  beforeEach(async () => {
    replica = await Replica.load(new MemoryLedger(), never);
    [queue, rejected, decisions, nowMs] = [new RequestQueue(), [], 0, 5_000];
    performance.now = () => nowMs;
    pushOne({ ...requestFor(macvlan), actor: 'operator' });
    const configured = open();
    configured.decide(queue);
    replica.commit(configured.builder.events, configured.builder.head, 1n);
    [queue, decisions] = [new RequestQueue(), 0];
  });
  afterEach(() => void (performance.now = elapsed));

  /** Puts a request into the queue, and counts its decisions. */
  function pushOne(request: PendingRequest<unknown>): void {
    const command: typeof request.command = (...args) => ((decisions += 1), request.command?.(...args));
    const reject = ({ code }: IpledgerError): void => void rejected.push(code);
    queue.push({ request: { ...request, command }, resolve: () => undefined, reject });
  }
  const push = (actor: string, count: number, more: Partial<PendingRequest<unknown>> = {}): void => {
    for (let pod = 0; pod < count; pod++)
      pushOne({ ...requestFor(allocate(`${actor}-${count}-${pod}`)), actor: `ipledger://${actor}`, ...more });
  };

  /** Opens a batch of at most this many operations. */
  function open(ops = 1_000, isSingle = false): OpenBatch {
    Object.assign(replica, { ledger: { limits: { ops, bytes: 1 << 20 } } });
    const eventVersion = () => eventVersions.at(-1) as EventVersion;
    return new OpenBatch({ replica, newId, log: silentLog, eventVersion }, isSingle);
  }

  it('A batch of waiting requests takes all of them, and then waits without a turn of its own', () => {
    push('watcher', 3);
    const batch = open();
    expect([batch.decide(queue), batch.decided.length, queue.length]).to.deep.equal([false, 3, 0]);
    expect([batch.isFull, batch.isSingle]).to.deep.equal([false, false]);
  });

  it('A batch of waiting requests takes 32 of an identity while others send requests, and does not poll the rest', () => {
    push('watcher', 40);
    push('agent/node-1', 1);
    const batch = open();
    expect([batch.decide(queue), batch.decided.length, queue.length]).to.deep.equal([false, 33, 8]);
  });

  it('A batch of waiting requests takes 128 of them', () => {
    push('watcher', 130);
    const batch = open();
    for (let times = 0; times < 2; times++)
      expect([batch.decide(queue), batch.decided.length, decisions, batch.isFull]).to.deep.equal([
        false,
        128,
        128,
        true,
      ]);
  });

  it('A batch of waiting requests decides no more of them after one that does not fit', () => {
    push('watcher', 9);
    const batch = open(9);
    expect([batch.decide(queue), batch.decided.length, decisions, queue.length]).to.deep.equal([false, 4, 5, 5]);
    push('agent/node-1', 1);
    expect([batch.decide(queue), batch.decided.length, decisions, queue.length]).to.deep.equal([false, 4, 5, 6]);
  });

  it('A batch of waiting requests can be one of a single request', () => {
    push('watcher', 2);
    const batch = open(1_000, true);
    expect([batch.decide(queue), batch.decided.length, queue.length]).to.deep.equal([false, 1, 1]);
    expect([batch.isFull, batch.isSingle]).to.deep.equal([true, true]);
  });

  it('A batch of waiting requests ends its turn when the time of the turn is spent', () => {
    push('watcher', 3, { answer: () => void (nowMs += 20) });
    const batch = open();
    expect([batch.decide(queue), batch.decided.length]).to.deep.equal([true, 1]);
  });

  it('A batch of waiting requests rejects those whose callers have left', () => {
    push('watcher', 1, { signal: AbortSignal.abort() });
    push('watcher', 1);
    const batch = open();
    batch.decide(queue);
    expect([rejected, batch.decided.length, decisions]).to.deep.equal([['CANCELLED'], 1, 1]);
  });

  it('A batch of waiting requests is outdated after more than 100 ms, or when a caller leaves', () => {
    const leaving = new AbortController();
    push('watcher', 2, { signal: leaving.signal });
    const batch = open();
    expect(batch.isOutdated, 'without requests').to.equal(false);
    batch.decide(queue);
    nowMs += 100;
    expect(batch.isOutdated).to.equal(false);
    leaving.abort();
    expect(batch.isOutdated, 'without a caller').to.equal(true);
    push('watcher', 1);
    const later = open();
    later.decide(queue);
    nowMs += 101;
    expect(later.isOutdated).to.equal(true);
  });

  it('A batch of waiting requests returns all of them when its decisions are undone', () => {
    push('watcher', 3);
    const batch = open();
    const before = describeState(replica.state);
    batch.decide(queue);
    expect(batch.rollBack()).to.have.length(3);
    expect([batch.decided.length, describeState(replica.state)]).to.deep.equal([0, before]);
  });
});

describe('During an append, the writer', () => {
  let memory: MemoryLedger;
  let ledger: UnreliableLedger;
  let working: RunningWriter;
  const elapsed = performance.now.bind(performance);
  beforeEach(async () => {
    ({ memory, ledger, working } = await startUnreliableWriter());
    // A busy machine would end turns early, and make decisions old
    const now = elapsed();
    performance.now = () => now;
  });
  afterEach(async () => {
    await working.stop();
    performance.now = elapsed;
  });

  const submit = (...args: Parameters<typeof requestFor>) => working.writer.submit(requestFor(...args));
  const podsInState = (): string[] =>
    ['172.17.0.11', '172.17.0.12', '172.17.0.13'].flatMap(
      (address) => claimOf(working.replica.state, 'macvlan', address)?.allocation?.attachment.pod ?? [],
    );

  /** Waits until the writer has decided for these Pods, which takes it one turn or several. */
  async function untilDecided(...pods: readonly string[]): Promise<void> {
    for (let turns = 0; turns < 10_000 && podsInState().length < pods.length; turns++) await turn();
    expect(podsInState()).to.deep.equal(pods);
  }

  /** A request that expires `validMs` after its first decision, and the time of that decision. */
  function validFor(request: PendingRequest<Answer>, validMs: number) {
    const decidedAt: number[] = [];
    const command: PendingRequest<Answer>['command'] = (now, head) => {
      decidedAt.push(now);
      const built = request.command?.(now, head);
      return built?.type === 'Allocate' ? { ...built, deadline: (decidedAt[0] ?? now) + validMs } : built;
    };
    return { request: { ...request, command }, decidedAt };
  }

  it('During an append, the writer decides the requests that arrive, and sends them when the append is committed', async () => {
    const latch = ledger.holdAppend();
    const before = ledger.tried.length;
    const first = submit(allocate('a'));
    await turn();
    const next = [submit(allocate('b')), submit(allocate('c'))];
    await untilDecided('a', 'b', 'c');
    expect(ledger.tried.length - before).to.equal(1);
    latch.open();
    const answers = await Promise.all([first, ...next]);
    expect(answers.map(({ head }) => head.seq)).to.deep.equal([4, 5, 6]);
    expect(ledger.tried.length - before).to.equal(2);
    expect(describeState(working.replica.state)).to.deep.equal(describeFold(await logOf(memory)));
  });

  it('During an append, the writer writes a claim again with the revision of the append', async () => {
    const latch = ledger.holdAppend();
    const all = [submit(allocate('a'))];
    await turn();
    all.push(submit(bind('a')), submit(release('a')));
    latch.open();
    await Promise.all(all);
    expect(typesOf(await logOf(memory)).slice(-3)).to.deep.equal([
      'AddressAllocated',
      'AddressBound',
      'AddressReleased',
    ]);
    expect(working.replica.state.fenced).to.deep.equal(new Set());
  });

  it('During an append, the writer answers a request that was decided during an append only after its own append is committed', async () => {
    const [one, other] = [ledger.holdAppend(), ledger.holdAppend()];
    const answered: string[] = [];
    const all = [submit(allocate('a')).then(() => answered.push('a'))];
    await turn();
    all.push(submit(allocate('b')).then(() => answered.push('b')));
    all.push(submit(allocate('a')).then(() => answered.push('a again')));
    one.open();
    await waitForRetries();
    expect(answered).to.deep.equal(['a']);
    other.open();
    await Promise.all(all);
    expect(answered).to.deep.equal(['a', 'b', 'a again']);
  });

  for (const fault of ['lostRequest', 'lostReply', 'late'] as const)
    it(`During an append, the writer undoes the decisions when the append fails (${fault}), and makes them again`, async () => {
      const latch = ledger.holdAppend(ledger[fault]);
      const all = [submit(allocate('a'))];
      await turn();
      all.push(submit(allocate('b')), submit(bind('a')), submit(allocate('c')));
      await waitForRetries();
      latch.open();
      const answers = await Promise.all(all);
      expect(answers.map(({ answer }) => answer.addresses[0])).to.deep.equal([
        '172.17.0.11',
        '172.17.0.12',
        undefined,
        '172.17.0.13',
      ]);
      const log = await logOf(memory);
      expect(typesOf(log).filter((type) => type === 'AddressAllocated')).to.have.length(3);
      expect(describeState(working.replica.state)).to.deep.equal(describeFold(log));
    });

  it('During an append, the writer records a repeated refusal only once', async () => {
    for (const pod of ['a', 'b', 'c']) await submit(allocate(pod, smallAttachment));
    const latch = ledger.holdAppend();
    const refusals = [failureOf(submit(allocate('d', smallAttachment)))];
    await turn();
    refusals.push(failureOf(submit(allocate('d', smallAttachment))));
    await waitForRetries();
    latch.open();
    for (const refusal of refusals) expect(await refusal).to.have.property('code', 'SUBNET_FULL');
    expect(typesOf(await logOf(memory)).filter((type) => type === 'AllocationRefused')).to.have.length(1);
  });

  it('During an append, the writer drops the decision for a caller that leaves, and decides the others again', async () => {
    const latch = ledger.holdAppend();
    const leaving = new AbortController();
    const first = submit(allocate('a'));
    await turn();
    const left = failureOf(submit(allocate('b'), leaving.signal));
    const other = submit(allocate('c'));
    await untilDecided('a', 'b', 'c');
    leaving.abort();
    latch.open();
    expect(await left).to.have.property('code', 'CANCELLED');
    expect((await other).answer.addresses).to.deep.equal(['172.17.0.12']);
    await first;
    expect(podsInState()).to.deep.equal(['a', 'c']);
  });

  for (const [what, clocks, validMs] of [
    ['a deadline passes', { wallMs: 4_000, elapsedMs: 0 }, 3_000],
    ['100 ms pass', { wallMs: 0, elapsedMs: 200 }, Infinity],
  ] as const)
    it(`During an append, the writer decides again when ${what} before the append is committed`, async () => {
      const latch = ledger.holdAppend();
      const first = submit(allocate('a'));
      await turn();
      const { request, decidedAt } = validFor(requestFor(allocate('b')), validMs);
      const outcome = working.writer.submit(request).then(
        () => 'allocated',
        (error: unknown) => (error as IpledgerError).code,
      );
      await untilDecided('a', 'b');
      expect(decidedAt.length).to.equal(1);
      const [now, wall] = [performance.now(), Date.now];
      performance.now = () => now + clocks.elapsedMs;
      Date.now = () => wall() + clocks.wallMs;
      try {
        latch.open();
        expect(await outcome).to.equal(validMs === Infinity ? 'allocated' : 'DEADLINE_PASSED');
      } finally {
        Date.now = wall;
      }
      await first;
      expect(decidedAt.length).to.equal(2);
      expect(podsInState()).to.deep.equal(validMs === Infinity ? ['a', 'b'] : ['a']);
    });

  it('During an append, the writer decides a request without a deadline once, if less than 100 ms pass', async () => {
    const latch = ledger.holdAppend();
    const first = submit(allocate('a'));
    await turn();
    let decisions = 0;
    const request = requestFor(bind('a'));
    const next = working.writer.submit({
      ...request,
      command: (...args) => ((decisions += 1), request.command?.(...args)),
    });
    await waitForRetries();
    latch.open();
    await Promise.all([first, next]);
    expect(decisions).to.equal(1);
  });

  it('During an append, the writer continues in a later turn with the requests that one turn has no time for', async () => {
    const latch = ledger.holdAppend();
    const first = submit(allocate('a'));
    await turn();
    const turns = countTurns();
    const decidedIn: number[] = [];
    const slow = (request: PendingRequest<Answer>): PendingRequest<Answer> => ({
      ...request,
      command: (...args) => (decidedIn.push(turns.spend(20)), request.command?.(...args)),
    });
    const next = ['b', 'c'].map((pod) => working.writer.submit(slow(requestFor(allocate(pod)))));
    while (decidedIn.length < 2 && turns.spend(0) < 100) await turn();
    expect([podsInState(), new Set(decidedIn).size]).to.deep.equal([['a', 'b', 'c'], 2]);
    turns.end();
    latch.open();
    await Promise.all([first, ...next]);
  });

  it('During an append, the writer takes at most 32 requests of an identity into a batch while others send requests, and the others join that batch', async () => {
    const from = (actor: string, name: string) =>
      working.writer.submit({ ...requestFor(allocate(name)), actor: `ipledger://${actor}` });
    const sizesOf = async (send: () => Promise<unknown>[]): Promise<number[]> => {
      const latch = ledger.holdAppend();
      const before = ledger.tried.length;
      const first = from('watcher', `first-${before}`);
      await turn();
      const next = send();
      await waitForRetries();
      latch.open();
      await Promise.all([first, ...next]);
      return ledger.tried.slice(before + 1).map(({ events }) => events.length);
    };
    const pods = (name: string) => Array.from({ length: 40 }, (_, index) => from('watcher', `${name}-${index}`));
    const elapsed = performance.now.bind(performance);
    let now = elapsed();
    performance.now = () => now;
    try {
      await from('watcher', 'first');
      now += 2_000;
      expect(await sizesOf(() => pods('alone'))).to.deep.equal([40]);
      await from('agent/node-1', 'other');
      const sizes = await sizesOf(() => [...pods('shared'), from('agent/node-1', 'bind')]);
      expect(sizes).to.deep.equal([33, 8]);
    } finally {
      performance.now = elapsed;
    }
  });

  it('During an append, the writer rejects requests that it has not sent with NOT_WRITER when it stops', async () => {
    const latch = ledger.holdAppend();
    const first = submit(allocate('a'));
    await turn();
    const next = failureOf(submit(allocate('b')));
    await waitForRetries();
    const stopped = working.stop();
    latch.open();
    expect(await stopped).to.equal(undefined);
    expect((await first).answer.addresses).to.deep.equal(['172.17.0.11']);
    expect(await next).to.have.property('code', 'NOT_WRITER');
    expect(describeState(working.replica.state)).to.deep.equal(describeFold(await logOf(memory)));
  });
});
