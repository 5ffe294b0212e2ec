import { pino } from 'pino';
import { expect } from 'chai';
import { IpledgerError } from '../../lib/errors.ts';
import type { WatchReply } from '../../proto/ipledger.ts';
import { event, life, position, reply, temporaryFile } from './fakes.ts';
import { follow } from './follow.ts';
import { Model } from './model.ts';
import { nowhere } from './store/file.ts';

interface Logged {
  readonly breaks?: number;
}

describe('Following the ledger', () => {
  let place: ReturnType<typeof temporaryFile>;
  let model: Model;
  let logged: Logged[];
  beforeEach(() => {
    logged = [];
    place = temporaryFile();
    model = new Model(place.file);
  });
  afterEach(() => {
    model.close();
    place.remove();
  });

  /** One after the other, each stream of events until it ends or breaks; gives where each was asked to begin. */
  async function followed(...streams: (WatchReply | IpledgerError)[][]): Promise<number[]> {
    const asked: number[] = [];
    const over = new AbortController();
    const log = pino({ level: 'warn' }, { write: (line) => void logged.push(JSON.parse(line) as Logged) });
    async function* watch(fromSeq: number): AsyncGenerator<WatchReply> {
      const replies = streams.shift();
      if (!replies) return over.abort();
      asked.push(fromSeq);
      for (const each of replies) {
        if (each instanceof IpledgerError) throw each;
        yield each;
      }
    }
    await follow({ model, from: 1, watch, log, signal: over.signal });
    return asked;
  }
  const signOfLife = (seq: number): WatchReply => reply([], position(seq));

  it('keeps what it is told, and goes on where it was', async () => {
    const [given, bound, released, unbound] = life(1) as [never, never, never, never];
    const asked = await followed(
      [signOfLife(4), reply([given, bound]), new IpledgerError('UNAVAILABLE', 'away')],
      [signOfLife(4), reply([released, unbound])],
    );
    expect(asked).to.deep.equal([1, 3]);
    expect(model.position).to.deep.equal(position(4));
    expect(model.store.event(4)).to.deep.equal(unbound);
  });

  it('answers nobody before it knows what there was when it began', async () => {
    expect(model.objection).to.equal('the read model has not heard of the ledger yet');
    const [given, bound] = life(1) as [never, never];
    await followed([signOfLife(2), reply([given], position(1))]);
    expect(model.objection).to.equal('the read model knows 1 of 2 events so far');
    expect(() => model.store)
      .to.throw(IpledgerError)
      .with.property('code', 'UNAVAILABLE');
    await followed([signOfLife(2), reply([bound])]);
    expect(model.objection).to.equal(undefined);
  });

  it('takes in commands whole, however many there are', async () => {
    const events = Array.from({ length: 250 }, (_, index) =>
      event(index + 1, index >= 90 && index < 110 ? { part: index - 89, parts: 20 } : {}),
    );
    const behind: number[] = [];
    const append = model.append.bind(model);
    model.append = (part, at) => {
      behind.push(at.seq);
      append(part, at);
    };
    await followed([signOfLife(250), reply(events)]);
    expect(behind).to.deep.equal([110, 210, 250]);
  });

  for (const [what, broken] of [
    ['whose head is behind what is known', [signOfLife(1)]],
    ['that has another event where it was', [reply([], { ...position(2), hash: 'another' })]],
    ['that goes on from another event', [signOfLife(5), reply([{ ...event(3), prev: 'another' }])]],
    ['that does not reach so far', [new IpledgerError('POSITION_GONE', 'event 3 is beyond the ledger')]],
  ] as const)
    it(`begins anew with a ledger ${what}`, async () => {
      await followed([signOfLife(2), reply(life(1).slice(0, 2))]);
      const asked = await followed([...broken], [signOfLife(1), reply([event(1, { type: 'LedgerCreated' })])]);
      expect(asked).to.deep.equal([3, 1]);
      expect(model.position).to.deep.equal(position(1));
      expect(model.store.event(1).type).to.equal('LedgerCreated');
    });

  it('forgets nothing for a gap in what it is told', async () => {
    const asked = await followed([signOfLife(4), reply([event(1)]), reply([event(3)])], [signOfLife(4)]);
    expect(asked).to.deep.equal([1, 2]);
    expect(model.position).to.deep.equal(position(1));
  });

  it('keeps asking for a first event that is not there, at longer and longer intervals', async () => {
    const gone = new IpledgerError('POSITION_GONE', 'event 1 is sealed: the first live one is event 900');
    const stream = [signOfLife(950), gone];
    expect(await followed(stream, stream, stream)).to.deep.equal([1, 1, 1]);
    expect(model.position).to.deep.equal(nowhere);
    expect(logged.map(({ breaks }) => breaks)).to.deep.equal([0, 1, 2]);
  });
});
