import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { describeState } from '../../domain/testing/describe-state.ts';
import { allocate } from '../../domain/testing/event-fixtures.ts';
import { addressKey, headKey, logKey, writerKey } from '../store/keys.ts';
import type { MemoryLedger } from '../testing/memory-ledger.ts';
import {
  answerOf,
  describeFold,
  logOf,
  waitForRetries,
  requestFor,
  failureOf,
  never,
  startUnreliableWriter,
  startWriter,
  type RunningWriter,
} from '../testing/running-writer.ts';
import type { UnreliableLedger } from '../testing/unreliable-ledger.ts';

const now = performance.now.bind(performance);

describe('The writer at its limits', () => {
  let memory: MemoryLedger;
  let ledger: UnreliableLedger;
  let working: RunningWriter;
  beforeEach(async () => {
    ({ memory, ledger, working } = await startUnreliableWriter());
  });
  afterEach(async () => {
    performance.now = now;
    await working.stop();
  });

  const submit = (...args: Parameters<typeof requestFor>) => working.writer.submit(requestFor(...args));

  it('The writer at its limits rejects requests when 20,000 are waiting', async () => {
    const latch = ledger.holdAppend();
    const first = submit(allocate('a'));
    await waitForRetries();
    const query = { answer: () => 0, actor: '', signal: never };
    const waiting = Array.from({ length: 20_000 }, () => working.writer.submit(query));
    const error = await answerOf(failureOf(working.writer.submit(query))).finally(latch.open);
    expect(error).to.deep.include({
      code: 'OVERLOADED',
      message: '20000 requests are already waiting: try again later',
    });
    await Promise.all([first, ...waiting]);
    await working.writer.submit(query);
  });

  it('The writer at its limits rejects queued and new requests with NOT_WRITER, and with UNAVAILABLE if they may have been written', async () => {
    const latch = ledger.holdAppend(ledger.lostRequest);
    const inFlight = failureOf(submit(allocate('a')));
    await waitForRetries();
    const waiting = failureOf(submit(allocate('b')));
    const stopped = working.stop();
    latch.open();
    expect(await stopped).to.equal(undefined);
    expect(await inFlight).to.deep.include({
      code: 'UNAVAILABLE',
      message:
        'this allocator is no longer the writer, and the outcome of the request is unknown: repeat the same request',
    });
    for (const answer of [waiting, failureOf(submit(allocate('c')))])
      expect(await answer).to.have.property('code', 'NOT_WRITER');
  });

  it('The writer at its limits answers a proven request when it is stopped, and rejects those that were decided during its append', async () => {
    const latch = ledger.holdAppend();
    const inFlight = submit(allocate('a'));
    while (ledger.faults.length > 0) await turn();
    const decided = [failureOf(submit(allocate('b'))), failureOf(submit(allocate('c')))];
    await waitForRetries();
    expect(working.writer.queueLength, 'those that wait for a transaction').to.equal(2);
    const stopped = working.stop();
    latch.open();
    await stopped;
    expect((await answerOf(inFlight)).answer.addresses).to.deep.equal(['172.17.0.11']);
    for (const error of decided) expect(await answerOf(error)).to.have.property('code', 'NOT_WRITER');
    expect(describeState(working.replica.state)).to.deep.equal(describeFold(await logOf(memory)));
  });

  it('The writer at its limits answers a proven request also if the caller of the next one has left during the append', async () => {
    const latch = ledger.holdAppend();
    const inFlight = submit(allocate('a'));
    while (ledger.faults.length > 0) await turn();
    const leaving = new AbortController();
    const left = failureOf(submit(allocate('b'), leaving.signal));
    await waitForRetries();
    leaving.abort();
    latch.open();
    expect((await answerOf(inFlight)).answer.addresses).to.deep.equal(['172.17.0.11']);
    expect(await answerOf(left)).to.have.property('code', 'CANCELLED');
  });

  it('The writer at its limits keeps its term while etcd refuses every append, and continues when etcd accepts an append again', async () => {
    ledger.faults.push(...Array.from({ length: 200 }, () => ledger.refused));
    expect((await submit(allocate('a'))).answer.addresses).to.deep.equal(['172.17.0.11']);
    expect(ledger.faults).to.have.length(0);
  });

  it('The writer at its limits resigns after a hundred consecutive unknown outcomes', async () => {
    ledger.faults.push(...Array.from({ length: 200 }, () => ledger.lostRequest));
    expect(await failureOf(submit(allocate('a')))).to.have.property('code', 'UNAVAILABLE');
    expect(ledger.faults, 'the writer resigns at the 101st').to.have.length(99);
    const next = await startWriter(memory);
    await next.writer.submit(requestFor(allocate('a')));
    await next.stop();
  });

  it('The writer at its limits stops at a bug, and reports it to the waiting callers', async () => {
    performance.now = () => 0; // no turn is over, so both are in a batch, on any machine
    working.replica.revisionOf = () => {
      throw new TypeError('oops');
    };
    const errors = await Promise.all([failureOf(submit(allocate('a'))), failureOf(submit(allocate('b')))]);
    for (const error of errors) expect(error).to.deep.include({ code: 'BUG', message: 'oops' });
    expect(await failureOf(submit(allocate('c')))).to.have.property('code', 'NOT_WRITER');
    expect(await working.stop()).to.have.property('message', 'oops');
  });

  it('The writer at its limits stops when another replica is the writer', async () => {
    const term = memory.put(writerKey, '{}');
    const deposed = await startWriter(memory, { term: term + 1n });
    expect(await failureOf(deposed.writer.submit(requestFor(allocate('a'))))).to.have.property('code', 'NOT_WRITER');
    expect(await deposed.stop()).to.equal(undefined);
    const { writer, stop } = await startWriter(memory, { term });
    await writer.submit(requestFor(allocate('a')));
    await stop();
  });

  const tampered: [string, () => void, string][] = [
    [
      'the next line of the log is not an event',
      () => memory.put(logKey(4), '{"forged":true}'),
      'a line of the log is not an event',
    ],
    [
      'the head was edited manually',
      () => memory.put(headKey, (memory.get(headKey) as string).replace('"epoch":1', '"epoch":2')),
      'the ledger was rewound',
    ],
    [
      'the event of the head is missing',
      () => memory.put(headKey, (memory.get(headKey) as string).replace('"seq":3', '"seq":4')),
      'the log has no complete command after event 3',
    ],
  ];
  for (const [what, tamper, message] of tampered)
    it(`The writer at its limits stops with LEDGER_DAMAGED without a wrong answer when ${what}`, async () => {
      tamper();
      expect(await failureOf(submit(allocate('a')))).to.have.property('code', 'NOT_WRITER');
      const ended = (await working.stop()) as Error;
      expect(ended).to.have.property('code', 'LEDGER_DAMAGED');
      expect(ended.message).to.contain(message);
      expect(memory.get(addressKey({ subnet: 'macvlan', address: '172.17.0.11' }))).to.equal(undefined);
    });
});
