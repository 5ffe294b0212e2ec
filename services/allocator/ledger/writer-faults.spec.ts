import { expect } from 'chai';
import { describeState } from '../domain/describe.ts';
import { allocate, type Untimed } from '../domain/specification.ts';
import { LedgerClock } from './clock.ts';
import { addressKey } from './keys.ts';
import { MemoryLedger } from './memory.ts';
import { Replica } from './replica.ts';
import {
  afterAWhile,
  ask,
  bind,
  carryOut,
  createLedger,
  describeFold,
  failureOf,
  inSmall,
  logOf,
  macvlan,
  release,
  small,
  startUnreliable,
  startWriter,
  typesOf,
  unbind,
  type Working,
} from './specification.ts';
import { type Fault, UnreliableLedger } from './unreliable.ts';

describe('An append of unknown outcome', () => {
  let memory: MemoryLedger;
  let ledger: UnreliableLedger;
  let working: Working;
  let now: number;
  beforeEach(async () => {
    memory = new MemoryLedger();
    ledger = new UnreliableLedger(memory);
    now = Date.parse('2026-01-31T08:00:00.000Z');
    const clock = new LedgerClock({ wall: () => now, monotonic: () => now });
    working = await startWriter(ledger, { replica: await Replica.load(ledger, AbortSignal.timeout(5_000), clock) });
    await carryOut(working.writer, createLedger(), macvlan, small);
  });
  afterEach(async () => {
    await working.stop();
    const log = await logOf(memory);
    expect(describeState(working.replica.state)).to.deep.equal(describeFold(log));
    const fresh = await Replica.load(memory, AbortSignal.timeout(5_000));
    expect(describeState(fresh.state)).to.deep.equal(describeFold(log));
  });

  const submit = (...args: Parameters<typeof ask>) => working.writer.submit(ask(...args));
  const count = async (type: string): Promise<number> =>
    typesOf(await logOf(memory)).filter((each) => each === type).length;

  const outcomes: [string, (ledger: UnreliableLedger) => Fault][] = [
    ['that never arrived', ({ lostRequest }) => lostRequest],
    ['that happened, its reply lost', ({ lostReply }) => lostReply],
    ['that happens just before the next is tried', ({ late }) => late],
    ['that arrives after the next has happened', ({ overtaken }) => overtaken],
  ];
  for (const [what, faultOf] of outcomes)
    describe(what, () => {
      it('is settled: each command is answered once, as if nothing had been', async () => {
        await carryOut(working.writer, allocate('old'), bind('old'));
        ledger.faults.push(faultOf(ledger));
        const [given, again, released, unbound, ended, refused] = await Promise.all([
          submit(allocate('a')),
          submit(allocate('a')),
          submit(release('old')),
          submit(unbind('old')),
          submit(unbind('old')),
          failureOf(submit(allocate('b', { candidates: [['172.17.0.12']] }))),
        ]);
        expect(given.answer).to.deep.equal({ events: 1, addresses: ['172.17.0.12'] });
        expect(again.answer).to.deep.equal({ events: 0, addresses: ['172.17.0.12'] });
        expect([released, unbound, ended].map(({ answer }) => answer.events)).to.deep.equal([1, 1, 0]);
        expect(refused).to.have.property('code', 'ADDRESS_IN_USE');
        await submit(allocate('c'));
        const once = ['AddressReleased', 'AddressUnbound', 'AllocationRefused', 'LedgerCreated'];
        expect(await Promise.all(once.map(count))).to.deep.equal([1, 1, 1, 1]);
        expect(await count('AddressAllocated')).to.equal(3);
        for (const { head } of [given, again, released]) {
          const { hash } = (await logOf(memory))[head.seq - 1] ?? {};
          expect(head.hash).to.equal(hash);
        }
      });

      it('is answered by what happened, not by what is decided later: its deadline may have passed meanwhile', async () => {
        const fault = faultOf(ledger);
        ledger.faults.push((append, batch) => {
          now += 10_000;
          return fault(append, batch);
        });
        const outcome = submit(allocate('a', {}, { deadline: now + 5_000 })).catch((error: unknown) => error);
        let answered = false;
        void outcome.then(() => (answered = true));
        await afterAWhile();
        const there = (await logOf(memory)).some(({ text }) => text.includes('"pod":"a"'));
        if (!there) expect(answered, 'while it may still happen nobody says that it does not').to.be.false;

        await submit(allocate('b'));
        const happened = (await logOf(memory)).some(({ text }) => text.includes('"pod":"a"'));
        if (happened) expect(await outcome).to.have.nested.property('answer.events', 1);
        else expect(await outcome).to.have.property('code', 'DEADLINE_PASSED');
      });
    });

  it('is resolved rightly 100 times of 100', async () => {
    for (let round = 0; round < 100; round++) {
      ledger.faults.push(ledger.lostReply);
      const [{ answer }, released] = await Promise.all([
        submit(allocate(`pod-${round}`, inSmall)),
        submit(release(`pod-${round - 1}`)),
      ]);
      expect(answer.events).to.equal(1);
      expect(released.answer.events).to.equal(round === 0 ? 0 : 1);
    }
    expect(await count('AddressAllocated')).to.equal(100);
    expect(await count('AddressReleased')).to.equal(99);
    expect(ledger.faults).to.have.length(0);
  });

  it('may follow another, in any mixture, and still one of them alone happens', async () => {
    const { lostRequest, lostReply, late, overtaken } = ledger;
    for (const faults of [
      [late, late, late],
      [overtaken, overtaken, lostReply],
      [lostRequest, overtaken, late, lostReply],
      [overtaken, lostRequest, lostRequest],
      [late, overtaken],
    ]) {
      ledger.faults.push(...faults);
      const pod = `pod-${faults.map(({ name }) => name).join('-')}`;
      expect((await submit(allocate(pod))).answer.events).to.equal(1);
      ledger.faults.length = 0;
    }
    await submit(allocate('last'));
    expect(await count('AddressAllocated')).to.equal(6);
  });

  it('that never happened is forgotten, and not in the way of the next', async () => {
    ledger.faults.push(ledger.lostRequest);
    await submit(allocate('a'));
    ledger.faults.push(ledger.lostReply);
    expect((await submit(release('a'))).answer.events).to.equal(1);
  });

  it('is not taken for settled by a writer’s event in its place', async () => {
    const rival = await startWriter(memory);
    ledger.faults.push(async () => {
      await carryOut(rival.writer, allocate('a', { candidates: [['172.17.0.11']] }));
      return { kind: 'unknown', reason: 'connection lost' };
    });
    const { answer } = await submit(allocate('b'));
    expect(answer.addresses).to.deep.equal(['172.17.0.12']);
    await rival.stop();
  });

  it('waits for etcd to be read again; whoever can’t wait is told so', async () => {
    const impatient = new AbortController();
    ledger.faults.push((append) => {
      ledger.failingReads = 5;
      impatient.abort();
      return ledger.lostReply(append, ledger.tried[0] as (typeof ledger.tried)[0]);
    });
    const [patient, gone] = await Promise.all([
      submit(allocate('a')),
      failureOf(submit(allocate('b'), impatient.signal)),
    ]);
    expect(patient.answer.addresses).to.deep.equal(['172.17.0.11']);
    expect(gone).to.deep.include({ code: 'UNAVAILABLE', message: 'etcd takes nothing in: connection lost' });
    expect(ledger.failingReads).to.equal(0);
  });
});

describe('An append that is refused', () => {
  let memory: MemoryLedger;
  let ledger: UnreliableLedger;
  let working: Working;
  beforeEach(async () => {
    ({ memory, ledger, working } = await startUnreliable());
  });
  afterEach(async () => void (await working.stop()));

  const submit = (untimed: Untimed) => working.writer.submit(ask(untimed));

  it('because another wrote first is decided anew, against what that one did', async () => {
    const rival = await startWriter(memory);
    ledger.faults.push(async (append) => {
      await carryOut(rival.writer, allocate('rival', { candidates: [['172.17.0.11']] }));
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

  it('because a claim’s key was edited fences that address, and does the rest', async () => {
    await carryOut(working.writer, allocate('a'), allocate('b'));
    const key = addressKey({ subnet: 'macvlan', address: '172.17.0.11' });
    memory.put(key, (memory.get(key) as string).replace('uid-a', 'uid-of-nobody'));
    const [fenced, other, more] = await Promise.all([
      failureOf(submit(release('a'))),
      submit(release('b')),
      submit(allocate('c')),
    ]);
    expect(fenced).to.have.property('code', 'ADDRESS_FENCED');
    expect(fenced.message).to.contain('172.17.0.11 of subnet macvlan is fenced');
    expect(other.answer.events).to.equal(1);
    expect(more.answer.addresses).to.deep.equal(['172.17.0.13']);
    expect(memory.get(key)).to.contain('uid-of-nobody');
  });

  it('because a fresh address has a key already gives that address to nobody', async () => {
    memory.put(addressKey({ subnet: 'macvlan', address: '172.17.0.11' }), '{}');
    expect((await submit(allocate('a'))).answer.addresses).to.deep.equal(['172.17.0.12']);
    const error = await failureOf(submit(allocate('b', { candidates: [['172.17.0.11']] })));
    expect(error).to.have.property('code', 'ADDRESS_FENCED');
  });

  const rejected = () => Promise.resolve({ kind: 'rejected' as const, reason: 'duplicate key given in txn request' });

  it('because it can’t be is a bug, and says so; the next goes on', async () => {
    ledger.faults.push(rejected);
    const error = await failureOf(submit(allocate('a')));
    const message = "the transaction can't be: duplicate key given in txn request";
    expect(error).to.deep.include({ code: 'BUG', message });
    expect((await submit(allocate('c'))).answer.addresses).to.deep.equal(['172.17.0.11']);
  });

  it('as a batch is tried one by one, so that only who is at fault fails', async () => {
    ledger.faults.push(rejected, (append) => append(), rejected);
    const [first, second, third] = await Promise.all([
      submit(allocate('a')),
      failureOf(submit(allocate('b'))),
      submit(allocate('c')),
    ]);
    expect(first.answer.addresses).to.deep.equal(['172.17.0.11']);
    expect(second).to.have.property('code', 'BUG');
    expect(third.answer.addresses).to.deep.equal(['172.17.0.12']);
  });
});
