import { expect } from 'chai';
import { allocate } from '../domain/specification.ts';
import { addressKey, headKey, logKey, writerKey } from './keys.ts';
import type { MemoryLedger } from './memory.ts';
import {
  afterAWhile,
  ask,
  failureOf,
  gate,
  never,
  startUnreliable,
  startWriter,
  type Working,
} from './specification.ts';
import type { UnreliableLedger } from './unreliable.ts';

describe('The writer stops', () => {
  let memory: MemoryLedger;
  let ledger: UnreliableLedger;
  let working: Working;
  beforeEach(async () => {
    ({ memory, ledger, working } = await startUnreliable());
  });
  afterEach(async () => void (await working.stop()));

  const submit = (...args: Parameters<typeof ask>) => working.writer.submit(ask(...args));

  it('taking more when 20,000 wait', async () => {
    const held = gate();
    ledger.faults.push(async (append) => {
      await held.opened;
      return append();
    });
    const first = submit(allocate('a'));
    await afterAWhile();
    const question = { answer: () => 0, actor: '', signal: never };
    const waiting = Array.from({ length: 20_000 }, () => working.writer.submit(question));
    const error = await failureOf(working.writer.submit(question));
    expect(error).to.deep.include({
      code: 'OVERLOADED',
      message: '20000 requests are waiting already: try again later',
    });
    held.open();
    await Promise.all([first, ...waiting]);
    await working.writer.submit(question);
  });

  it('with NOT_WRITER for all that waits and all that comes, but for what may have been written', async () => {
    const held = gate();
    ledger.faults.push(async () => {
      await held.opened;
      return { kind: 'unknown', reason: 'connection lost' };
    });
    const inFlight = failureOf(submit(allocate('a')));
    await afterAWhile();
    const waiting = failureOf(submit(allocate('b')));
    const stopped = working.stop();
    held.open();
    expect(await stopped).to.equal(undefined);
    expect(await inFlight).to.deep.include({
      code: 'UNAVAILABLE',
      message:
        'this allocator is not the writer any more, and whether it carried the request out is not known: ask the same again',
    });
    for (const answer of [waiting, failureOf(submit(allocate('c')))])
      expect(await answer).to.have.property('code', 'NOT_WRITER');
  });

  it('when a hundred appends in a row are of unknown outcome: perhaps somebody else has more luck', async () => {
    ledger.faults.push(...Array.from({ length: 200 }, () => ledger.lostRequest));
    expect(await failureOf(submit(allocate('a')))).to.have.property('code', 'UNAVAILABLE');
    expect(ledger.faults.length).to.be.within(90, 110);
    const next = await startWriter(memory);
    await next.writer.submit(ask(allocate('a')));
    await next.stop();
  });

  it('at a bug of its own, which it does not keep from those who wait', async () => {
    working.replica.revisionOf = () => {
      throw new TypeError('oops');
    };
    const errors = await Promise.all([failureOf(submit(allocate('a'))), failureOf(submit(allocate('b')))]);
    for (const error of errors) expect(error).to.deep.include({ code: 'BUG', message: 'oops' });
    expect(await failureOf(submit(allocate('c')))).to.have.property('code', 'NOT_WRITER');
    expect(await working.stop()).to.have.property('message', 'oops');
  });

  it('when another is the writer', async () => {
    const term = memory.put(writerKey, '{}');
    const deposed = await startWriter(memory, { term: term + 1n });
    expect(await failureOf(deposed.writer.submit(ask(allocate('a'))))).to.have.property('code', 'NOT_WRITER');
    expect(await deposed.stop()).to.equal(undefined);
    const { writer, stop } = await startWriter(memory, { term });
    await writer.submit(ask(allocate('a')));
    await stop();
  });

  const tampered: [string, () => void, string][] = [
    [
      'the log goes on with what is no event',
      () => memory.put(logKey(4), '{"forged":true}'),
      'a line of the log is no event',
    ],
    [
      'the head was written by hand',
      () => memory.put(headKey, (memory.get(headKey) as string).replace('"epoch":1', '"epoch":2')),
      'the ledger was rewound',
    ],
    [
      'the head’s event is gone',
      () => memory.put(headKey, (memory.get(headKey) as string).replace('"seq":3', '"seq":4')),
      'the log has no whole command after event 3',
    ],
  ];
  for (const [what, tamper, message] of tampered)
    it(`with LEDGER_DAMAGED, and answers nobody wrong, when ${what}`, async () => {
      tamper();
      expect(await failureOf(submit(allocate('a')))).to.have.property('code', 'NOT_WRITER');
      const ended = (await working.stop()) as Error;
      expect(ended).to.have.property('code', 'LEDGER_DAMAGED');
      expect(ended.message).to.contain(message);
      expect(memory.get(addressKey({ subnet: 'macvlan', address: '172.17.0.11' }))).to.equal(undefined);
    });
});
